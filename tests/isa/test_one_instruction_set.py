"""A set of one instruction, installed from a temporary folder, goes all the way: nothing of the project knows its name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fleet.isa import registry
from fleet.isa.codec import decode_writes, disassemble, interrupt, register_writes
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call, Device, InstructionSet, Range
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.settings import settings
from fleet.verify.conformance.suite import make_case, names

ROOT = Path(__file__).parent.parent.parent

MODEL = ROOT / "tests" / "fixtures" / "one_instruction_set" / "model.py"

# Runs in a process of its own, as a user's would: the set is on the import path and nowhere else.
RUN = """\
import json, sys
from pathlib import Path
import numpy as np
from fleet.engines.base import RunOptions
from fleet.engines.registry import engines
from fleet.frontend.source import load

model, data, device, workdir, *names = sys.argv[1:]
with np.load(data) as z:
    arrays = dict(z)
inputs = {n: arrays[n] for n in ("a", "b")}
program = load(model + ":forward", {"w": arrays["w"]}, inputs)
for name in names:
    options = RunOptions(device=device, workdir=Path(workdir) / name, memory="stall", seed=3)
    trace = engines()[name].engine.run(program, inputs, options)
    assert trace.complete
    print(json.dumps({
        "engine": name,
        "hash": trace.description_hash,
        "outputs": {k: v.tolist() for k, v in trace.outputs.items()},
        "placement": trace.placement,
        "commits": [[c.seq, c.instruction, list(c.ops), c.digest, c.bytes_written, c.result] for c in trace.commits],
        "cycles": [[c.start, c.end, sum(c.cycles.values())] for c in trace.commits if c.end is not None],
    }))
"""

ImportFrom = Callable[[Path], None]


@pytest.fixture
def vector_tiny(installed_set: Path, import_from: ImportFrom) -> tuple[InstructionSet, Device]:
    import_from(installed_set)
    return registry.find_device("vector_tiny")


def fields(**changes: int) -> dict[str, int]:
    return {"vadd_a": 0x0, "vadd_b": 0x400, "vadd_out": 0x800, "vadd_beats": 3, "vadd_start": 1, **changes}


def test_codec(vector_tiny: tuple[InstructionSet, Device]) -> None:
    instruction_set, _ = vector_tiny
    call = Call("vadd", fields())
    writes = register_writes(instruction_set, call)
    assert writes == [(0x10, 0), (0x14, 0x400), (0x18, 0x800), (0x1C, 3), (0x20, 1)]
    assert decode_writes(instruction_set, writes) == call
    assert disassemble(instruction_set, call) == "vadd a=0x0 b=0x400 out=0x800 beats=3 start=1"
    assert interrupt(instruction_set) == (0x40, 0x44, 1, 2, 0x48)


def test_semantics(vector_tiny: tuple[InstructionSet, Device], tmp_path: Path) -> None:
    instruction_set, device = vector_tiny
    vadd = instruction_set.instructions["vadd"]
    memory = MappedMemory(device, tmp_path / "images")
    rng = np.random.default_rng(7)
    a, b = rng.integers(-(2**31), 2**31, (2, 48), dtype=np.int64)
    memory.view("ddr", 0x0, 192)[:] = a.astype("<i4").view(np.uint8)
    memory.view("ddr", 0x400, 192)[:] = b.astype("<i4").view(np.uint8)
    (write,) = vadd.execute(device, fields(), memory)
    # Python integers wrapped by hand, so that nothing is shared with what is tested.
    expected = [((int(x) + int(y) + 2**31) % 2**32) - 2**31 for x, y in zip(a, b, strict=True)]
    assert write.data.view("<i4").tolist() == expected
    assert any(abs(int(x) + int(y)) >= 2**31 for x, y in zip(a, b, strict=True)), "no sum wraps: the test shows nothing"
    assert vadd.writes(device, fields()) == [Range(write.space, write.offset, write.data.size)]
    assert not memory.view("ddr", 0x800, 192).any(), "execute must leave memory alone"
    memory.close()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, None),
        ({"vadd_out": 0x0}, None),
        ({"vadd_beats": 16}, None),
        ({"vadd_beats": 17}, "vadd_beats is 17, expected 1 to 16"),
        ({"vadd_beats": 0}, "vadd_beats is 0"),
        ({"vadd_b": 0x420}, "vadd_b is 0x420, expected a multiple of 64"),
        ({"vadd_out": 65536 - 64}, "leaves DDR of 65536 bytes"),
        ({"vadd_out": 0x40}, "overlaps vadd_a"),
        ({"vadd_start": 3}, "vadd_start is 3"),
    ],
)
def test_legality(vector_tiny: tuple[InstructionSet, Device], changes: dict[str, int], message: str | None) -> None:
    instruction_set, device = vector_tiny
    problems = instruction_set.instructions["vadd"].legal(device, fields(**changes))
    assert (not problems) if message is None else any(message in p for p in problems)


def test_layout_is_the_inverse_of_itself(vector_tiny: tuple[InstructionSet, Device]) -> None:
    layout = vector_tiny[0].layout
    tensor = np.arange(-30, 30, dtype=np.int32).reshape(3, 20)
    data = layout.pack(tensor)
    assert data.size == layout.size((3, 20), np.dtype(np.int32)) == 256
    assert layout.unpack(data, (3, 20), np.dtype(np.int32)).tolist() == tensor.tolist()


@pytest.fixture(scope="module")
def arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(11)
    # 30 x 20 elements are 38 beats: three instructions for each addition on a device that takes 16 at once.
    return {n: rng.integers(-(2**31), 2**31, (30, 20), dtype=np.int64).astype(np.int32) for n in ("a", "b", "w")}


def run(installed: Path, folder: Path, arrays: dict[str, np.ndarray], *names: str) -> dict[str, dict]:
    shutil.copy(MODEL, folder / "model.py")
    np.savez(folder / "data.npz", **arrays)
    path = os.pathsep.join([str(installed), str(ROOT)])
    command = [sys.executable, "-c", RUN, folder / "model.py", folder / "data.npz", "vector_tiny", folder / "work", *names]
    result = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-4000:]
    lines = [json.loads(line) for line in result.stdout.splitlines() if line.startswith('{"engine"')]
    assert [line["engine"] for line in lines] == list(names)
    return {line["engine"]: line for line in lines}


def check_outputs(trace: dict, arrays: dict[str, np.ndarray]) -> None:
    total = arrays["a"].astype(np.int64) + arrays["b"]
    expected = [(total + arrays["w"]).astype(np.int32), total.astype(np.int32)]
    assert [np.array(v, np.int32).tolist() for v in trace["outputs"].values()] == [e.tolist() for e in expected]
    assert set(trace["placement"].values()) == {"device"}
    assert [c[:2] for c in trace["commits"]] == [[n, "vadd"] for n in range(6)]
    assert sum(c[4] for c in trace["commits"]) == 2 * 38 * 64


def test_end_to_end(installed_set: Path, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    traces = run(installed_set, tmp_path, arrays, "iss", "rtl")
    for trace in traces.values():
        check_outputs(trace, arrays)
    iss, rtl = traces["iss"], traces["rtl"]
    assert rtl["commits"] == iss["commits"]
    assert rtl["hash"] == iss["hash"]
    assert len(rtl["hash"]) == 64
    assert len(rtl["cycles"]) == 6
    assert all(end > start and total > 0 for start, end, total in rtl["cycles"])
    assert all(abs((end - start) - total) <= 1 for start, end, total in rtl["cycles"])


def fleet_command(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(installed), str(ROOT)])
    command = [sys.executable, "-m", "fleet.cli.main", *arguments]
    return subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path}, cwd=folder, capture_output=True, text=True, check=False, timeout=600
    )


def test_the_command_compares_and_reports(installed_set: Path, tmp_path: Path) -> None:
    model = f"{installed_set / 'model.py'}:forward"
    options = ("--engines", "iss,rtl", "--device", "vector_tiny", "--memory", "stall:7", "--report", "reports/add")
    result = fleet_command(installed_set, tmp_path, "cosim", model, *options)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "PASS      rtl-vs-iss: 2 instruction commits, 1,280 bytes, every bit" in result.stdout
    page = (tmp_path / "reports" / "add" / "index.html").read_text()
    # The device multiplies nothing, so it has no roofline.
    assert "vector_tiny" in page
    assert "Roofline:" not in page


def test_a_call_without_a_field_is_one_line(installed_set: Path, tmp_path: Path) -> None:
    lowering = installed_set / "vector_add" / "lowering.py"
    lowering.write_text(lowering.read_text().replace('                "vadd_start": 1,\n', ""))
    model = f"{installed_set / 'model.py'}:forward"
    result = fleet_command(installed_set, tmp_path, "compile", "--emit", "accel-regs", model, "--device", "vector_tiny")
    assert result.returncode == 2
    line = "fleet: vadd: fields: missing vadd_start; unit 'vadd' has vadd_a, vadd_b, vadd_out, vadd_beats, vadd_start\n"
    assert result.stderr.endswith(line), result.stderr


def test_a_wrong_adder_is_found(installed_set: Path, tmp_path: Path, arrays: dict[str, np.ndarray]) -> None:
    top = installed_set / "vector_add" / "rtl" / "vector_add_top.sv"
    text = top.read_text()
    assert "sum[32*i +: 32] = a_q[32*i +: 32] + b_q[32*i +: 32]" in text
    # Lane 5 of 16 loses its carry into bit 31.
    wrong = "sum[32*i +: 32] = (a_q[32*i +: 32] + b_q[32*i +: 32]) ^ ((i == 5) ? {a_q[32*i + 30] & b_q[32*i + 30], 31'd0} : 32'd0)"
    top.write_text(text.replace("sum[32*i +: 32] = a_q[32*i +: 32] + b_q[32*i +: 32]", wrong))
    traces = run(installed_set, tmp_path, arrays, "iss", "rtl")
    assert traces["rtl"]["commits"] != traces["iss"]["commits"]
    assert traces["rtl"]["outputs"] != traces["iss"]["outputs"]


def test_its_conformance_cases_agree(vector_tiny: tuple[InstructionSet, Device], tmp_path: Path) -> None:
    """The suite knows of the set what its source says, and nothing else."""
    found = names("vector_tiny", random=range(4), programs=range(5))
    assert len(found) == 16 + 4 + 5
    with StreamRunner("vector_tiny", tmp_path / "streams") as runner:
        for name in found:
            case = make_case(name)
            for outcome in runner.run(case, settings("vector_tiny", case.seed, every=False)):
                assert outcome.passed, (name, outcome.setting, outcome.reasons)
                assert outcome.bytes_compared
