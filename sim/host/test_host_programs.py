"""C++ host programs on the simulated hardware: what they leave is what the functional model leaves, at every commit."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from host_programs import Model, compiled, destinations, header, interrupt_main, main_of, model_of, polled, reference, small_mvm

from fleet.engines.base import RunOptions
from fleet.engines.host_port.hardware import HardwarePort
from fleet.engines.host_port.port import Summary
from fleet.engines.host_port.protocol import HostError
from fleet.engines.host_port.server import HostServer
from fleet.engines.rtl_sim.process import SimulationError
from fleet.errors import ComparisonFailure
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.verify.conformance.suite import make_case

SMALL = "hbm_small"
INCLUDE = '#include "fleet_host.h"\n'


@contextmanager
def opened(
    folder: Path, memory: str = "ideal", *, check: bool = True, seed: int = 0
) -> Iterator[tuple[HardwarePort, MappedMemory]]:
    instruction_set, chip = find_device(SMALL)
    images = MappedMemory(chip, folder / "memory")
    options = RunOptions(memory=memory, seed=seed, workdir=folder)
    port = HardwarePort(instruction_set, chip, images, options, check=check)
    try:
        yield port, images
    finally:
        port.close()


def run(
    program: Path, *arguments: object, folder: Path, memory: str = "ideal", check: bool = True, seed: int = 0
) -> tuple[int, Summary, MappedMemory]:
    with opened(folder, memory, check=check, seed=seed) as (port, images):
        code = HostServer(port, images).run([str(program), *map(str, arguments)], timeout=300)
        return code, port.finish(), images


def same(models: list[Model], summary: Summary, images: MappedMemory, folder: Path) -> None:
    commits, expected = reference(SMALL, models, folder)
    found = [(c.instruction, c.digest, c.bytes_written, c.result) for c in summary.commits]
    assert found == [(c.instruction, c.digest, c.bytes_written, c.result) for c in commits]
    assert summary.compared in {None, len(commits)}
    ranges = destinations(SMALL, models)
    assert ranges
    for space, bank, offset, size in ranges:
        assert np.array_equal(images.view(space, offset, size, bank), expected.view(space, offset, size, bank))


def two_models(folder: Path) -> tuple[Path, list[Model]]:
    """A program of two models by namespace: one by registers, twice, one by a binary of several instructions."""
    first, _, _ = small_mvm(SMALL, "first", chin=512, chout=64, ddr=0x10_0000, hbm=0x1_0000, seed=5)
    case = make_case(f"{SMALL}/program/2")
    d = load(find_device(SMALL)[0].description)
    calls = tuple(c for c in case.calls if d.instructions[c.instruction].beats)
    second = Model("second", calls, case.blocks, binary=0x300_0000)
    text = header(SMALL, first, folder / "one", namespace=True) + header(SMALL, second, folder / "two", namespace=True)
    main = main_of(["first", "second"], spaces=True, after="  first_space::first(device);")
    return compiled(INCLUDE + text + main, folder), [first, second, first]


@pytest.mark.parametrize("memory", ["ideal", "fixed", "stall:3", "timed:1"])
def test_two_models(memory: str, tmp_path: Path) -> None:
    program, models = two_models(tmp_path)
    code, summary, images = run(program, tmp_path / "one", tmp_path / "two", folder=tmp_path / "run", memory=memory)
    assert code == 0
    same(models, summary, images, tmp_path / "expected")
    assert summary.cycles is not None
    assert summary.cycles > max(c.end or 0 for c in summary.commits) - 1


def test_cycles_do_not_depend_on_the_host(tmp_path: Path) -> None:
    """A program that dawdles takes as many cycles: time stands still meanwhile."""
    program, _ = two_models(tmp_path / "quick")
    source = (
        (program.parent / "main.cpp")
        .read_text()
        .replace("first_space::first(device);", "usleep(50000); first_space::first(device);")
    )
    slow = compiled(source, tmp_path / "slow")
    folders = program.parent / "one", program.parent / "two"
    runs = [run(p, *folders, folder=tmp_path / f"run{n}", memory="timed:4") for n, p in enumerate((program, slow))]
    assert runs[0][1].cycles == runs[1][1].cycles
    assert [c.end for c in runs[0][1].commits] == [c.end for c in runs[1][1].commits]


@pytest.mark.parametrize("number", [1, 3, 5])
def test_chains_by_registers(number: int, tmp_path: Path) -> None:
    """Programs of the conformance suite without refusals (every fourth has some); copies to HBM, parameter registers included."""
    case = make_case(f"{SMALL}/program/{number}")
    model = model_of(case, "chain")
    text = header(SMALL, model, tmp_path / "weights")
    parameters = "".join(f"  CSB_Write(device, {a // 4}, {v}u);\n" for a, v in case.parameters.items())
    main = main_of(["chain"]).replace("  chain(device);", parameters + "  chain(device);")
    code, summary, _ = run(
        compiled(INCLUDE + text + main, tmp_path), tmp_path / "weights", folder=tmp_path / "run", memory="stall:2"
    )
    assert code == 0
    assert summary.compared == len(case.calls)


def test_interrupt_result_and_identity(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """As on the functional model (tests/engines/test_host_port.py), and counters, which only hardware has."""
    cases = (make_case(f"{SMALL}/mvm_bn/random/{n}") for n in range(100))
    case = next(c for c in cases if c.calls[-1].fields["mvm_start"] & 0x800)
    text = header(SMALL, model_of(case, "argmax"), tmp_path / "weights")
    writes = "\n".join(line for call in case.calls for line in polled(SMALL, call)[:-1])
    body = interrupt_main(
        "argmax",
        writes,
        """
  std::printf("%u %u %u %u\\n", CSB_Read(device, 1), CSB_Read(device, 228), CSB_Read(device, 40), CSB_Read(device, 230));""",
    )
    _, summary, _ = run(compiled(INCLUDE + text + body, tmp_path), tmp_path / "weights", folder=tmp_path / "run")
    commit = summary.commits[-1]
    assert commit.result is not None
    assert commit.start is not None
    assert commit.end is not None
    assert capfd.readouterr().out.splitlines() == ["0 0", f"1 0 {commit.result} {commit.end - commit.start}"]


UNPOLLED = """
int main(int, char** argv) {{
  HANDLE device = open_device();
  HANDLE h2cx = open_h2cx();
  first_load_params(device, h2cx, argv[1]);
  second_load_params(device, h2cx, argv[2]);
{first}
{second}
  return 0;
}}
"""


def unpolled(folder: Path, *, other_unit: bool) -> tuple[Path, list[Model]]:
    """Two instructions, the second started without a look at the first."""
    first, _, _ = small_mvm(SMALL, "first", chin=2048, chout=256, ddr=0x10_0000, hbm=0x1_0000, seed=5)
    second, _, _ = small_mvm(SMALL, "second", chin=64, chout=32, ddr=0x20_0000, hbm=0x10_0000, seed=6)
    if other_unit:
        case = make_case(f"{SMALL}/elementwise/random/1")
        second = model_of(case, "second")
    bodies = {m.name: "\n".join(polled(SMALL, m.calls[0])[:-1]) for m in (first, second)}
    text = header(SMALL, first, folder / "one", namespace=False).replace("storage", "first_storage")
    text += header(SMALL, second, folder / "two").replace("storage", "second_storage")
    return compiled(INCLUDE + text + UNPOLLED.format(**bodies), folder), [first, second]


def test_two_units_at_once_and_nobody_waits(tmp_path: Path) -> None:
    """What is under way when the program ends still commits, in program order."""
    program, models = unpolled(tmp_path, other_unit=True)
    code, summary, images = run(program, tmp_path / "one", tmp_path / "two", folder=tmp_path / "run")
    assert code == 0
    same(models, summary, images, tmp_path / "expected")


def test_a_busy_unit_is_not_started(tmp_path: Path) -> None:
    program, _ = unpolled(tmp_path, other_unit=False)
    with pytest.raises(HostError, match=r"CSB_Write\(33, 0x11f\) .*: started while .* is under way; read register 1 until it is 1"):
        run(program, tmp_path / "one", tmp_path / "two", folder=tmp_path / "run")


def test_a_difference_ends_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model beside is given another weight than the hardware: the first commit that sees it is named."""
    program, _ = two_models(tmp_path)
    with opened(tmp_path / "run") as (port, images):
        beside = port._beside  # pyright: ignore[reportPrivateUsage]
        assert beside is not None
        plain = beside.wrote

        def wrote(space: str, bank: int, offset: int, size: int) -> None:
            plain(space, bank, offset, size)
            if (space, bank) == ("hbm", 3) and offset == 0x1_0000:
                beside._ours.view("hbm", offset + 40, 1, 3)[:] ^= 1  # pyright: ignore[reportPrivateUsage]

        monkeypatch.setattr(beside, "wrote", wrote)
        server = HostServer(port, images)
        with pytest.raises(ComparisonFailure, match=r"commit 0 \(mvm\): rtl and iss differ first here: digest expected") as error:
            server.run([str(program), str(tmp_path / "one"), str(tmp_path / "two")], timeout=300)
    assert error.value.exit_code == 1


def test_the_simulation_dies(tmp_path: Path) -> None:
    """It is killed while the program works: one line, and the program ends."""
    body = "int main() { HANDLE d = open_device(); while (CSB_Read(d, 1) != 1) usleep(1000); return 0; }\n"
    program = compiled(INCLUDE + body, tmp_path)
    with opened(tmp_path / "run") as (port, images):
        pid = port._simulation.pid  # pyright: ignore[reportPrivateUsage]
        timer = threading.Timer(1.0, lambda: os.kill(pid, signal.SIGKILL))
        timer.start()
        with pytest.raises(SimulationError, match=r"the simulation crashed \(SIGKILL\)"):
            HostServer(port, images).run([str(program)], timeout=60)
        timer.join()


def test_time_is_limited_while_the_simulation_waits(tmp_path: Path) -> None:
    """The program is stopped and cannot ask: the limit ends it, and the simulation ends with the port."""
    body = "int main() { HANDLE d = open_device(); CSB_Read(d, 1); for (;;) pause(); }\n"
    program = compiled(INCLUDE + body, tmp_path)
    with opened(tmp_path / "run") as (port, images):
        pid = port._simulation.pid  # pyright: ignore[reportPrivateUsage]
        with pytest.raises(HostError, match="did not end within 1 s"):
            HostServer(port, images).run([str(program)], timeout=1)
    before = time.monotonic()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert time.monotonic() - before < 5
