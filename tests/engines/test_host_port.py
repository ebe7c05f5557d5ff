"""C++ host programs on engine `iss`: what a generated header does, two models in one program, another instruction set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from host_programs import (
    Model,
    compiled,
    destinations,
    header,
    interrupt_main,
    main_of,
    model_of,
    polled,
    reference,
    small_mvm,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.engines.host_port.model import ModelPort
from fleet.engines.host_port.port import Summary
from fleet.engines.host_port.protocol import MessageKind
from fleet.engines.host_port.server import HostServer
from fleet.errors import FleetError
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash, find_device
from fleet.targets.driver import DDR_BASE
from fleet.verify.conformance.suite import make_case

SMALL = "hbm_small"

PRINT = """
  uint16_t values[{count}];
  DDR_Read(h2cx, values, {address}, sizeof values);
  for (uint16_t v : values) std::printf("%04x\\n", v);
"""


def run(program: Path, *arguments: object, folder: Path, device: str = SMALL) -> tuple[int, Summary, MappedMemory]:
    """Exit code, summary and the memory that the program leaves."""
    instruction_set, chip = find_device(device)
    memory = MappedMemory(chip, folder)
    port = ModelPort(instruction_set, chip, memory)
    code = HostServer(port, memory).run([str(program), *map(str, arguments)], timeout=60)
    return code, port.finish(), memory


def agree(device: str, models: list[Model], memory: MappedMemory, summary: Summary, folder: Path) -> None:
    """Every commit, and every byte of every destination, is what the functional model leaves."""
    commits, expected = reference(device, models, folder)
    assert list(summary.commits) == commits
    ranges = destinations(device, models)
    assert ranges
    for space, bank, offset, size in ranges:
        assert np.array_equal(memory.view(space, offset, size, bank), expected.view(space, offset, size, bank))


def test_library_compiles_without_a_warning(tmp_path: Path) -> None:
    source = '#include "fleet_host.h"\n#include "fleet_host.h"\nint main() { return 0; }\n'
    compiled(source, tmp_path, "-Wpedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast")


def test_a_product_by_registers(tmp_path: Path) -> None:
    model, output, want = small_mvm(SMALL, "mvm", chin=200, chout=40, ddr=0x4_0000, hbm=0x1000, seed=3)
    text = header(SMALL, model, tmp_path / "weights")
    after = PRINT.format(count=40, address=f"{output}ull + {DDR_BASE}ull")
    program = compiled('#include "fleet_host.h"\n' + text + main_of(["mvm"], after=after + "  std::fflush(stdout);"), tmp_path)
    code, summary, memory = run(program, tmp_path / "weights", folder=tmp_path / "memory")
    assert code == 0
    agree(SMALL, [model], memory, summary, tmp_path / "expected")
    found = memory.view("ddr", output, 80).view("<f2").astype(np.float64)
    # Exact sums, one rounding to binary32, one to FP16.
    assert np.abs(found - want).max() <= 2**-10 * np.abs(want).max()
    assert np.abs(want).max() > 0.1


def test_what_it_prints_is_what_memory_holds(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model, output, _ = small_mvm(SMALL, "mvm", chin=64, chout=32, ddr=0x100, hbm=0x40, seed=4)
    text = header(SMALL, model, tmp_path / "weights")
    after = PRINT.format(count=32, address=output + DDR_BASE)
    program = compiled('#include "fleet_host.h"\n' + text + main_of(["mvm"], after=after), tmp_path)
    _, _, memory = run(program, tmp_path / "weights", folder=tmp_path / "memory")
    printed = [int(line, 16) for line in capfd.readouterr().out.splitlines()]
    assert printed == memory.view("ddr", output, 64).view("<u2").tolist()
    assert any(printed)


@pytest.mark.parametrize("way", ["regs", "aux"])
@pytest.mark.parametrize("number", [1, 3])
def test_chains_of_instructions(number: int, way: str, tmp_path: Path) -> None:
    """Programs of the conformance suite: instructions that read what others wrote, parameter registers."""
    case = make_case(f"{SMALL}/program/{number}")
    d = load(find_device(SMALL)[0].description)
    by_form = [d.instructions[c.instruction].beats > 0 for c in case.calls]
    if way == "aux":
        calls = tuple(c for c, has in zip(case.calls, by_form, strict=True) if has)
        model = Model("chain", calls, case.blocks, binary=0x300_0000)
    else:
        model = model_of(case, "chain")
    parameters = "".join(f"  CSB_Write(device, {a // 4}, {v}u);\n" for a, v in case.parameters.items())
    text = header(SMALL, model, tmp_path / "weights")
    main = main_of(["chain"]).replace("  chain(device);", parameters + "  chain(device);")
    program = compiled('#include "fleet_host.h"\n' + text + main, tmp_path)
    code, summary, memory = run(program, tmp_path / "weights", folder=tmp_path / "memory")
    assert code == 0
    commits, expected = reference(SMALL, [model], tmp_path / "expected", case.parameters)
    assert len(commits) > 2
    assert list(summary.commits) == commits
    for space, bank, offset, size in destinations(SMALL, [model]):
        assert np.array_equal(memory.view(space, offset, size, bank), expected.view(space, offset, size, bank))


def test_two_models_in_one_program(tmp_path: Path) -> None:
    """Both have the same names inside; one is issued by registers, the other by a binary; they run in turn."""
    first, _, _ = small_mvm(SMALL, "first", chin=128, chout=64, ddr=0x10_0000, hbm=0x1_0000, seed=5)
    second, _, _ = small_mvm(SMALL, "second", chin=256, chout=32, ddr=0x20_0000, hbm=0x2_0000, seed=6)
    second = Model("second", second.calls, second.blocks, binary=0x30_0000)
    text = header(SMALL, first, tmp_path / "one", namespace=True) + header(SMALL, second, tmp_path / "two", namespace=True)
    again = "  first_space::first(device);"
    program = compiled('#include "fleet_host.h"\n' + text + main_of(["first", "second"], spaces=True, after=again), tmp_path)
    code, summary, memory = run(program, tmp_path / "one", tmp_path / "two", folder=tmp_path / "memory")
    assert code == 0
    assert len(summary.commits) == 3
    agree(SMALL, [first, second, first], memory, summary, tmp_path / "expected")


def test_interrupt_result_and_identity(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The other way to wait, the result register, operands that are read back, the description's hash."""
    cases = (make_case(f"{SMALL}/mvm_bn/random/{n}") for n in range(100))
    argmax = next(c for c in cases if c.calls[-1].fields["mvm_start"] & 0x800)
    model = model_of(argmax, "argmax")
    text = header(SMALL, model, tmp_path / "weights")
    writes = "\n".join(line for call in model.calls for line in polled(SMALL, call)[:-1])
    body = interrupt_main(
        "argmax",
        writes,
        """
  std::printf("%u %u %u\\n", CSB_Read(device, 1), CSB_Read(device, 228), CSB_Read(device, 40));
  std::printf("%08x %u\\n", CSB_Read(device, 229), CSB_Read(device, 7));""",
    )
    program = compiled('#include "fleet_host.h"\n' + text + body, tmp_path)
    _, summary, memory = run(program, tmp_path / "weights", folder=tmp_path / "memory")
    lines = capfd.readouterr().out.splitlines()
    at = argmax.calls[-1].fields["mvm_argmax_addr"] + 4 * (argmax.calls[-1].fields["mvm_win"] - 1)
    index = int(memory.view("ddr", at, 4).view("<u4")[0])
    assert lines[0] == "0 0"
    assert lines[1] == f"1 0 {index}"
    assert lines[2].startswith(description_hash(*find_device(SMALL))[:8])
    assert lines[2].endswith(f" {argmax.calls[-1].fields['mvm_chout_slice']}")
    assert summary.commits[-1].result == index


def test_words_of_a_binary_are_patched(tmp_path: Path) -> None:
    """What X_update of a header does: the address of the output moves."""
    model, output, _ = small_mvm(SMALL, "moved", chin=64, chout=32, ddr=0x1000, hbm=0, seed=8)
    model = Model("moved", model.calls, model.blocks, binary=0x8_0000)
    text = header(SMALL, model, tmp_path / "weights")
    word = DDR_BASE + 0x8_0000 + 64 + 4 * 11  # the twelfth word of the first task: register 13
    program = compiled(
        '#include "fleet_host.h"\n'
        + text
        + main_of(["moved"], after=f"  DDR_Update(h2cx, {word}, {output + 0x400});\n  moved(device);"),
        tmp_path,
    )
    _, summary, memory = run(program, tmp_path / "weights", folder=tmp_path / "memory")
    assert len(summary.commits) == 2
    assert np.array_equal(memory.view("ddr", output, 64), memory.view("ddr", output + 0x400, 64))
    assert memory.view("ddr", output, 64).any()


def test_many_accesses(tmp_path: Path) -> None:
    """More than the library collects, and the server reads at once; a transfer in between comes after them."""
    body = """
#include "fleet_host.h"
int main() {
  HANDLE device = open_device(), h2cx = open_h2cx();
  for (uint32_t i = 0; i < 30001; ++i) CSB_Write(device, 2 + i % 3, i);
  uint32_t zero = 1;
  DDR_Read(h2cx, &zero, 0x200000000, sizeof zero);
  if (zero != 0) return 3;
  return CSB_Read(device, 2) == 30000 && CSB_Read(device, 3) == 29998 && CSB_Read(device, 4) == 29999 ? 0 : 4;
}
"""
    instruction_set, chip = find_device(SMALL)
    memory = MappedMemory(chip, tmp_path / "memory")
    server = HostServer(ModelPort(instruction_set, chip, memory), memory)
    assert server.run([str(compiled(body, tmp_path))], timeout=60) == 0
    assert server.accesses == 30004


def test_programs_of_a_script_use_one_device(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    body = """
#include "fleet_host.h"
int main() {
  HANDLE device = open_device();
  std::printf("%u\\n", CSB_Read(device, 2));
  CSB_Write(device, 2, CSB_Read(device, 2) + 32);
}
"""
    program = compiled(body, tmp_path)
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\n{program} && {program} && exec {program}\n")
    script.chmod(0o755)
    assert run(script, folder=tmp_path / "memory")[0] == 0
    assert capfd.readouterr().out == "0\n32\n64\n"


_NUMBERS = st.one_of(st.integers(0, 300), st.integers(0, 2**32 - 1))
_VALUES = st.one_of(st.integers(0, 300), st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1))


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(messages=st.lists(st.tuples(st.integers(0, 20), _NUMBERS, _VALUES, _VALUES), max_size=20))
def test_any_message_has_an_answer_or_is_refused(messages: list[tuple[int, int, int, int]], tmp_path: Path) -> None:
    """Whatever a program sends: nothing but errors for people comes of it."""
    instruction_set, chip = find_device(SMALL)
    memory = MappedMemory(chip, tmp_path / "memory")
    server = HostServer(ModelPort(instruction_set, chip, memory), memory)
    refusals: list[str] = []
    for message in messages:
        asks = message[0] in {MessageKind.HELLO, MessageKind.READ, MessageKind.SYNC, MessageKind.BYE}
        try:
            reply = server._message(*message)  # pyright: ignore[reportPrivateUsage]
        except FleetError as error:
            refusals.append(str(error))
        else:
            assert (reply is not None) == asks
    assert not any("\n" in line for line in refusals)


def test_transfers(tmp_path: Path) -> None:
    """Both memories, both directions, to their last byte."""
    body = """
#include "fleet_host.h"
int main() {
  HANDLE h2cx = open_h2cx(), c2hx = open_c2hx();
  const uint8_t bytes[5] = {1, 2, 3, 4, 5};
  uint8_t back[5] = {};
  HBM_Write(h2cx, bytes, (7ull << 28) + (4ull << 20) - 5, 5);
  HBM_Read(c2hx, back, (7ull << 28) + (4ull << 20) - 5, 5);
  if (std::memcmp(bytes, back, 5) != 0) return 3;
  DDR_Write(h2cx, bytes, 0x200000000 + (64ull << 20) - 5, 5);
  DDR_Read(c2hx, back, 0x200000000 + (64ull << 20) - 4, 4);
  if (std::memcmp(bytes + 1, back, 4) != 0) return 4;
  DDR_Update(h2cx, 0x200000000, 0x04030201);
  DDR_Write(h2cx, nullptr, 0, 0);
  return 0;
}
"""
    code, _, memory = run(compiled(body, tmp_path), folder=tmp_path / "memory")
    assert code == 0
    assert memory.view("hbm", (4 << 20) - 5, 5, 7).tolist() == [1, 2, 3, 4, 5]
    assert memory.view("ddr", (64 << 20) - 5, 5).tolist() == [1, 2, 3, 4, 5]
    assert memory.view("ddr", 0, 5).tolist() == [1, 2, 3, 4, 0]


def test_another_instruction_set(installed_set: Path, import_from: Callable[[Path], None], tmp_path: Path) -> None:
    """Registers, units and the start come from the description: the vector adder, which has neither HBM nor a binary."""
    import_from(installed_set)
    numbers = {r.name: r.number for r in load(find_device("vector_tiny")[0].description).registers}
    body = """
#include "fleet_host.h"
int main() {{
  HANDLE device = open_device(), h2cx = open_h2cx();
  uint32_t a[16], b[16], sum[16];
  for (uint32_t i = 0; i < 16; ++i) {{
    a[i] = i * i;
    b[i] = 0xffffffffu - i;
  }}
  DDR_Write(h2cx, a, 0x200000000, sizeof a);
  DDR_Write(h2cx, b, 0x200000040, sizeof b);
  CSB_Write(device, {vadd_b}, 64);
  CSB_Write(device, {vadd_out}, 128);
  CSB_Write(device, {vadd_beats}, 1);
  if (CSB_Read(device, {vadd_status}) != 0) return 3;
  CSB_Write(device, {vadd_start}, 1);
  while (CSB_Read(device, {vadd_status}) != 1) {{}}
  DDR_Read(h2cx, sum, 0x200000080, sizeof sum);
  for (uint32_t i = 0; i < 16; ++i) {{
    if (sum[i] != i * i - i - 1) return 4;
  }}
  return 0;
}}
"""
    code, summary, _ = run(compiled(body.format(**numbers), tmp_path), folder=tmp_path / "memory", device="vector_tiny")
    assert code == 0
    assert [c.instruction for c in summary.commits] == ["vadd"]
