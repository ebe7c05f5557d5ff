"""The systolic template: a set made by one command is a working accelerator, with memories and state registers of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import onnx
import pytest
from hardware_files import hand_written_is_clean, verilator_says
from onnx import TensorProto, helper, numpy_helper
from workspaces import Workspace, make_workspace

from fleet.sdk import generated_files

_PARTS = ("check", "array", "output", "top")


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The set, with a second device whose array is wider. Its name is that of no part."""
    made = make_workspace(tmp_path_factory.mktemp("systolic"))
    made.new_set("cube", "--kind", "systolic")
    devices = made.folder / "sets/cube/cube/devices"
    wide = (devices / "cube_tiny.toml").read_text().replace("cube_tiny", "cube_wide")
    for old, new in (("Dim = 4", "Dim = 8"), ("array = 4", "array = 8"), ("scratchpad = 32", "scratchpad = 24")):
        assert old in wide
        wide = wide.replace(old, new)
    (devices / "cube_wide.toml").write_text(wide)
    return made


def test_model_and_hardware_agree_in_conformance_and_in_random_programs(cube: Workspace) -> None:
    out = cube.fleet("isa", "check", "cube")
    assert "instructions  " not in out
    assert "cases on iss and rtl, 0 failed" in out
    assert "PASS 0 findings" in out
    assert "PASS 12 programs from 0 on, seed 0" in cube.fleet("isa", "fuzz", "cube", "--count", "12")


def test_the_model_of_its_case_agrees_four_ways(cube: Workspace) -> None:
    model = "sets/cube/cube/cases/model.py:forward"
    out = cube.fleet("cosim", model, "--engines", "vm,iss,rtl,riscv", "--device", "cube_tiny", "--memory", "stall:7")
    assert "verdict: PASS (bench: rtl; model: vm, vm-rounded, iss, riscv)" in out
    assert re.search(r"rtl-vs-iss: \d{3} instruction commits, [\d,]+ bytes, every bit", out)
    assert re.search(r"iss-vs-vm-rounded: \d operations, (\d+) elements, worst error / derived bound 0; held: \1 equal", out)


_PRODUCTS = """
import json, sys, tempfile
from pathlib import Path
import numpy as np
import fleet

rng = np.random.default_rng(1)
folder = Path(tempfile.mkdtemp())
wrong, calls = [], 0
TAILS = {
    "raw": "sums",
    "wide scale": "np.clip((sums.astype(np.int64) * 40000 + (1 << 21)) >> 22, -128, 127).astype(np.int8)",
    "saturated": "np.clip(sums, -128, 127).astype(np.int8)",
    "relu after": "np.clip((sums.astype(np.int64) * 3 + (1 << 7)) >> 8, 0, 127).astype(np.int8)",
    "relu before": "np.clip((np.maximum(sums, 0).astype(np.int64) * 3 + (1 << 7)) >> 8, -128, 127).astype(np.int8)",
    "odd": "(np.maximum(np.minimum((sums.astype(np.int64) + 8) // 16, 127), -128)).astype(np.int8)",
}
CASES = [((1, 1, 1), "raw", True), ((40, 33, 18), "raw", True), ((40, 33, 18), "odd", False), ((17, 16, 16), "raw", False)]
CASES += [((17, 9, 5), tail, n % 2 == 0) for n, tail in enumerate(TAILS)]
for (m, k, c), tail, bias in CASES:
    text = TAILS[tail]
    path = folder / "model.py"
    more = f', b: "int32[{c}]"' if bias else ""
    path.write_text(
        "import numpy as np\\n\\n\\n"
        f'def forward(x: "int8[{m}, {k}]", w: "int8[{k}, {c}]"{more}):\\n'
        f"    sums = x.astype(np.int32) @ w.astype(np.int32){' + b' if bias else ''}\\n    return {text}\\n"
    )
    arrays = {"w": rng.integers(-128, 128, (k, c), np.int8)}
    if bias:
        arrays["b"] = rng.integers(-30000, 30000, c).astype(np.int32)
        arrays["b"][0] = 2**31 - 9  # its sums wrap, as NumPy's do
    made = fleet.compile(f"{path}:forward", weights=arrays, inputs={"x": rng.integers(-128, 128, (m, k), np.int8)})
    for device in ("cube_tiny", "cube_wide"):
        trace = made.run("iss", device=device)
        expected = made.run("cpython").outputs
        for name, value in expected.items():
            if not trace.commits or not np.array_equal(trace.outputs[name], value):
                wrong.append([m, k, c, tail, bias, device, len(trace.commits)])
        calls += len(trace.commits)
print(json.dumps({"wrong": wrong, "calls": calls}))
"""


def test_products_of_any_size_are_those_of_numpy(cube: Workspace) -> None:
    """Inputs and outputs that are no multiple of the array, more rows than accumulators, every form of result."""
    found = json.loads(cube.python("-c", _PRODUCTS).splitlines()[-1])
    assert found["wrong"] == []
    assert found["calls"] > 5_000


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        ("((sums * 77 + (1 << 8)) >> 9).astype(np.int8)", "sums are scaled in int32, which may wrap; the device scales in int64"),
        (
            "np.clip((sums.astype(np.int64) * 77) >> 9, 0, 127).astype(np.int8)",
            "a scale is (sums * multiplier + 2^(shift - 1)) >> shift",
        ),
        ("np.clip(sums, -100, 127).astype(np.int8)", "results saturate: np.clip(..., -128, 127), or from 0 on, after the scale"),
        ("sums.astype(np.int8)", "results saturate: np.clip(..., -128, 127), or from 0 on, after the scale"),
    ],
)
def test_what_the_device_does_otherwise_stays_on_the_host_with_its_reason(
    cube: Workspace, tail: str, reason: str, tmp_path: Path
) -> None:
    model = tmp_path / "model.py"
    model.write_text(
        'import numpy as np\n\n\ndef forward(x: "int8[3, 4]", w: "int8[4, 5]"):\n'
        f"    sums = x.astype(np.int32) @ w.astype(np.int32)\n    return {tail}\n"
    )
    out = cube.fleet(
        "cosim", f"{model}:forward", "--engines", "vm,iss", "--device", "cube_tiny", "--report", str(tmp_path / "report")
    )
    assert "verdict: PASS" in out
    listing = cube.fleet("compile", "--emit", "accel-regs", f"{model}:forward", "--device", "cube_tiny")
    assert reason in listing


_REFERENCE = """
from fractions import Fraction
from math import floor
import numpy as np
from cube.moves import requantised

rng = np.random.default_rng(0)
sums = np.r_[rng.integers(-(2**31), 2**31, 200), 0, 1, -1, 2**31 - 1, -(2**31)].astype(np.int32)
for multiplier, shift in ((1, 0), (1, 1), (3, 2), (181, 15), (65535, 31), (65535, 0), (32768, 16)):
    for relu in (False, True):
        exact = [floor(Fraction(int(s) * multiplier, 2**shift) + (Fraction(1, 2) if shift else 0)) for s in sums]
        expected = [min(127, max(0 if relu else -128, e)) for e in exact]
        assert requantised(sums, multiplier, shift, relu=relu).tolist() == expected, (multiplier, shift, relu)
"""


def test_results_are_scaled_as_exact_arithmetic_says(cube: Workspace) -> None:
    cube.python("-c", _REFERENCE)


_AS_FOUND = """
import json
from fleet.verify.coverage.bins import space_of
from fleet.streams.model_side import refusal
from fleet.verify.conformance.suite import make_case
from fleet.isa.registry import find_device

set_, device = find_device("cube_tiny")
aims = [k for k in space_of(set_, device).open if k.startswith("mvin:cross:mvin_rows.target=accumulator:") and k.endswith(":4+")]
aims += [k for k in space_of(set_, device).open if k.startswith("compute:cross:") and k.endswith(":1")]
names = [f"cube_tiny/{name}/illegal/{seed}" for name in set_.instructions for seed in range(4)]
names += [f"cube_tiny/{key.split(':')[0]}/aimed/{key}/{seed}" for key in aims for seed in range(4)]
wrong = []
for name in names:
    case = make_case(name)
    found = tuple(refusal(set_.instructions[c.instruction], device, c.fields) or 0 for c in case.calls)
    if found != case.causes:
        wrong.append(name)
print(json.dumps({"cases": len(names), "aims": len(aims), "wrong": wrong}))
"""


def test_calls_are_refused_as_the_state_that_they_find_says(cube: Workspace) -> None:
    """Configuration among illegal variants, and between an aimed call and its turn, changes what is legal."""
    found = json.loads(cube.python("-c", _AS_FOUND).splitlines()[-1])
    assert found["aims"] > 10
    assert found["wrong"] == []


@contextmanager
def _edited_top(cube: Workspace, edits: Sequence[tuple[str, str]]) -> Generator[None]:
    """The set's top module with other text for as long as the block runs; each old text stands there once."""
    top = cube.folder / "sets/cube/cube/rtl/cube_top.sv"
    right = wrong = top.read_text()
    for old, new in edits:
        assert wrong.count(old) == 1
        wrong = wrong.replace(old, new)
    top.write_text(wrong)
    try:
        yield
    finally:
        top.write_text(right)


_FAULTS = (
    (
        "scratchpad_data  = arrived[8*Dim-1:0];",
        "scratchpad_data  = arrived[8*Dim-1:0] ^ (8*Dim)'(scratchpad_row == 16'd10 ? 1 << 20 : 0);",
    ),
    ("step_q <= 17'(rows) ? scratchpad_q : '0;", "step_q <= 17'(rows) ? scratchpad_q : (8*Dim)'(5 << 8);"),
    ("= sums[32*n +: 32] +", "= sums[32*n +: 32] + 32'(accumulator_row == 16'd14 && n == 1) +"),
    ("store_stride_q <= 32'd64;", "store_stride_q <= 32'd32;"),
)


@pytest.fixture
def faulty(cube: Workspace) -> Iterator[Workspace]:
    """Three memories with a fault each, and a register that reset leaves with another value."""
    with _edited_top(cube, _FAULTS):
        yield cube


def test_faults_on_chip_are_told_by_memory_row_and_column(faulty: Workspace) -> None:
    told = {
        "mvin/directed/4": r"scratchpad row 10, column 2: expected 0x\w\w = -?\d+, found 0x\w\w = ",
        "preload/directed/2": "array row 3, column 1: expected 0x00 = 0, found 0x05 = 5",
        "compute/directed/4": r"accumulator row 14, column 1: expected 0x\w{8} = -?\d+, found 0x\w{8} = ",
        "mvout/directed/0": "ddr 0x",  # rows stand 32 bytes apart
    }
    for case, line in told.items():
        faulty.fleet("stream", "run", f"cube_tiny/{case}", code=1)
        page = faulty.fleet("why", code=1)
        assert re.search(line, page), page
        assert re.search(r"first beat .*cycle \d+ of the replay", page), page


_STRAYS = (
    (
        "scratchpad_q  <= scratchpad[scratchpad_read];",
        "scratchpad_q  <= scratchpad[scratchpad_read]; if (scratchpad_we) accumulator[AccumulatorDepth-1] <= '0;",
    ),
    ("multiplier_q   <= op_q.rs1[15:0];", "multiplier_q   <= op_q.rs1[15:0]; load_stride_q <= load_stride_q + 32'd64;"),
)


@pytest.fixture
def straying(cube: Workspace) -> Iterator[Workspace]:
    """Moves into the scratchpad clear an accumulator row, and config_output changes a stride: the hardware tells neither."""
    with _edited_top(cube, _STRAYS):
        yield cube


def test_state_that_changes_although_nothing_says_so_is_told(straying: Workspace) -> None:
    why = "differs after the last instruction although no observed write says so: expected"
    undefined = "what stood there before (undefined), found 0; no instruction writes this row"
    told = {
        "mvin/directed/4": f"accumulator row 15, column 0 {why} {undefined}",
        "config_output/directed/0": f"state register load_stride {why} 64, found 128; no instruction writes this register",
    }
    for case, line in told.items():
        out = straying.fleet("stream", "run", f"cube_tiny/{case}", code=1)
        assert line in out, out
        page = straying.fleet("why", code=1)
        assert re.search(rf"instruction +\d+: {case.split('/')[0]} ", page), page
        assert re.search(rf"address +{line.split(' differs')[0]}\n", page), page


_CUT = """
import json
from dataclasses import replace
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

spaces, wrong, cuts = set(), [], 0
with StreamRunner("cube_tiny") as runner:
    for number in range(6):
        whole = make_case(f"cube_tiny/program/{number}")
        (outcome,) = runner.run(whole)
        end = {(b.space, b.offset): b.data.tobytes() for b in runner.found.blocks()}
        for cut in range(1, len(whole.calls)):
            (first,) = runner.run(replace(whole, calls=whole.calls[:cut], causes=None))
            blocks = runner.found.blocks()
            (second,) = runner.run(replace(whole, calls=whole.calls[cut:], causes=None, blocks=blocks))
            found = {(b.space, b.offset): b.data.tobytes() for b in runner.found.blocks()}
            commits = [c.architectural for c in second.found] == [c.architectural for c in outcome.found[cut:]]
            if not (outcome.passed and first.passed and second.passed and commits and found == end):
                wrong.append([number, cut, commits, *second.reasons])
            spaces |= {b.space for b in blocks}
            cuts += 1
print(json.dumps({"wrong": wrong, "cuts": cuts, "spaces": sorted(spaces)}))
"""


def test_programs_go_on_where_they_were_cut(cube: Workspace) -> None:
    """On memories and state registers as the first part left them, at every place of random programs."""
    found = json.loads(cube.python("-c", _CUT).splitlines()[-1])
    assert found["wrong"] == []
    assert found["cuts"] > 40
    assert found["spaces"] == ["accumulator", "array", "ddr", "scratchpad", "state"]


def _sources(cube: Workspace) -> list[Path]:
    rtl = cube.folder / "sets/cube/cube/rtl"
    return [*(rtl / "generated" / f for f in generated_files("cube")), *(rtl / f"cube_{part}.sv" for part in _PARTS)]


@pytest.mark.parametrize("dim", [2, 4, 8, 16])
def test_its_hardware_is_clean_for_the_linter(cube: Workspace, dim: int, tmp_path: Path) -> None:
    copies = []
    for file in _sources(cube):  # the linter's wrapper cannot stand the blank
        copies.append(tmp_path / file.name)
        copies[-1].write_text(file.read_text())
    sizes = [f"-GDim={dim}", f"-GArrayDepth={dim}", "-GScratchpadDepth=100"]
    assert verilator_says(copies, "--top-module", "cube_top", *sizes) == ""


def test_slang_finds_nothing_in_its_hardware(cube: Workspace) -> None:
    assert hand_written_is_clean("cube_top", _sources(cube))


def test_products_of_quantised_onnx_models_run_on_it(cube: Workspace) -> None:
    """The weight's cast is folded by the front end, zero points and scales stand around the product."""
    rng = np.random.default_rng(0)
    weight, one, zero = rng.integers(-128, 128, (20, 9)).astype(np.int8), np.float32(0.01), np.int8(0)
    known = [numpy_helper.from_array(np.asarray(v), n) for n, v in (("w", weight), ("s", one), ("z", zero))]
    whole = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
    coded = helper.make_node("QLinearMatMul", ["x", "s", "z", "w", "s", "z", "s", "z"], ["y"])
    for name, node, dtype in (("whole", whole, TensorProto.INT32), ("coded", coded, TensorProto.INT8)):
        ports = [helper.make_tensor_value_info("x", TensorProto.INT8, [7, 20])], [helper.make_tensor_value_info("y", dtype, [7, 9])]
        graph = helper.make_graph([node], name, *ports, known)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
        onnx.save(model, cube.folder / f"{name}.onnx")
        out = cube.fleet("cosim", f"{name}.onnx", "--engines", "vm,iss,onnxruntime", "--device", "cube_tiny")
        assert "verdict: PASS" in out
        assert re.search(r"iss-vs-vm-rounded: \d+ operations, \d+ elements", out)


def test_a_sweep_keeps_the_rules_of_the_hardware(cube: Workspace) -> None:
    model = "sets/cube/cube/cases/model.py:forward"
    out = cube.fleet("sweep", model, "--device", "cube_tiny", "--over", "Dim=4,8", "array=4,8")
    assert "2 points" in out
    assert "the front by time, SQNR:" in out
    assert "SQNR inf dB" in out
    assert "without figures" not in out


def test_a_commit_before_the_answer_to_a_write_is_found(cube: Workspace) -> None:
    """With any results and any cycles: by the bench, where the memory takes its time."""
    ready = "state_q == StFetch || state_q == StSend || state_q == StAnswers;"
    edits = [("asked_d == rows ? StAnswers", "asked_d == rows ? StCommit"), (f"ddr_bready_o  = {ready}", "ddr_bready_o  = 1'b1;")]
    suite = cube.folder / "sets/cube/cube/conformance.py"
    right = suite.read_text()
    suite.write_text(right.replace('"write_back": 2 * rows + 1', '"write_back": rows'))
    try:
        with _edited_top(cube, edits):
            assert "  PASS " in cube.fleet("stream", "run", "cube_tiny/mvout/directed/2", "--memory", "ideal")
            out = cube.fleet("stream", "run", "cube_tiny/mvout/directed/2", "--memory", "fixed:20", code=1)
    finally:
        suite.write_text(right)
    said = r"the instruction commits before its writes are answered \(commit \d+, opcode 0x6\), cycle \d+: no response yet to \d+ "
    assert re.search(said, out), out


def test_a_device_whose_sizes_do_not_fit_is_refused(cube: Workspace) -> None:
    file = cube.folder / "sets/cube/cube/devices/cube_tiny.toml"
    right = file.read_text()
    file.write_text(right.replace("array = 4", "array = 5"))
    try:
        out = cube.fleet("isa", "check", "cube", code=2)
    finally:
        file.write_text(right)
    assert "cube_tiny.toml: breaks 'ArrayDepth == Dim': the array has as many rows as columns; the rule is in sweep.toml" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["isa", "new", "mvin", "--kind", "systolic"], "mvin: is the name of an instruction or a memory"),
        (["isa", "new", "other", "--kind", "systolic", "--op", "add"], "--instruction, --op and --extends are for --kind vector"),
        (["isa", "new", "other", "--kind", "cube"], "'cube' is not one of"),
    ],
)
def test_what_the_command_does_not_take(cube: Workspace, arguments: list[str], message: str) -> None:
    out = cube.fleet(*arguments, code=2)
    assert message in out
    assert not (cube.folder / "sets" / arguments[2]).exists()


def test_an_instruction_like_one_with_state_has_its_state(cube: Workspace) -> None:
    cube.new_set("more", "--extends", "cube")
    for name, like in (("mvin_too", "mvin"), ("config_too", "config_dma")):
        cube.fleet("isa", "add", "more", name, "--like", like)
    out = cube.fleet("isa", "check", "more", "--no-rtl", "--draws", "4", "--device", "more_cube_tiny")
    assert "more on more_cube_tiny: 8 instructions" in out
    assert "PASS 0 findings" in out
