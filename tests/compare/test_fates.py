"""Comparing an engine whose passes fused operations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.compare.bounds.fates import completed, fates_of, fused_groups
from fleet.cosim.comparisons import ComparisonSession
from fleet.engines.base import RunOptions
from fleet.engines.interp import ENGINE
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load
from fleet.ir.dialect import op_id
from fleet.ir.lowering_options import LoweringOptions
from fleet.ir.program import Program

SOURCE = """import numpy as np
def forward(x: "f32[6, 8]", w: "f32[8, 8]", b: "f32[8]", g: "f32[8]"):
    h = np.maximum(x @ (w * 2.0) + b, 0)
    m = h.mean(-1, keepdims=True)
    y = (h - m) / np.sqrt(h.var(-1, keepdims=True) + 1e-5) * g + b
    e = np.exp(y - y.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    return p, p.argmax(-1)
"""
RNG = np.random.default_rng(0)
X = {"x": RNG.standard_normal((6, 8)).astype("f4")}
FUSED = RunOptions(lowering=LoweringOptions(pipeline="riscv"))


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    path = tmp_path_factory.mktemp("model") / "m.py"
    path.write_text(SOURCE)
    weights = {n: RNG.standard_normal(s).astype("f4") for n, s in (("w", (8, 8)), ("b", 8), ("g", 8))}
    return load(f"{path}:forward", weights, X)


def compared(program: Program, other: Trace):
    golden = VM.run(program, X, RunOptions())
    return ComparisonSession(program, X, golden, {}, Path())._float("interp-vs-vm", "question", golden, other, of_source=False)[0]


def test_fused_operations_are_not_missing(program: Program) -> None:
    trace = ENGINE.run(program, X, FUSED)
    comparison = compared(program, trace)
    assert comparison.verdict == "pass", comparison.reasons
    rows = {row.op: row for row in comparison.operations}
    skipped = {n.what: n.why for n in comparison.not_compared}
    assert {"h", "y", "p"} <= rows.keys()
    assert skipped["m"] == "fused into y"
    assert skipped["e"] == "fused into p"
    assert "folded into weight" in skipped["mul.0"]
    assert not rows.keys() & skipped.keys()
    compared_or_told = rows.keys() | skipped.keys()
    assert {op_id(op) for op in program.operations() if op.name not in ("fleet.constant", "fleet.print")} <= compared_or_told


def test_a_fused_group_has_a_local_bound_of_its_own(program: Program) -> None:
    trace = ENGINE.run(program, X, FUSED)
    y = next(row for row in compared(program, trace).operations if row.op == "y")
    assert y.local is not None
    assert y.local_bound is not None
    assert 0 < y.local_bound.bound_max < y.bound.bound_max
    assert y.local_bound.violations == 0


def test_a_wrong_fused_operation_is_found_at_its_id(program: Program) -> None:
    trace = ENGINE.run(program, X, FUSED)
    trace.tensors["y"] = trace.tensors["y"] + np.float32(0.01)
    comparison = compared(program, trace)
    assert comparison.verdict == "fail"
    assert comparison.divergence is not None
    assert comparison.divergence.ops == ("y",)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("m", "fused into nothing"),
        ("m", "fused into add.0"),  # which comes before it
        ("p", "fused into argmax.0"),  # an output
        ("m", "folded into weight w"),  # an input changes it
        ("p", "not needed"),  # an output
        ("m", "the same as nothing"),
        ("m", ""),
    ],
)
def test_words_alone_excuse_nothing(program: Program, name: str, why: str) -> None:
    trace = ENGINE.run(program, X, RunOptions())
    del trace.tensors[name]
    if name == "p":
        del trace.outputs["p"]
        trace.tensors.pop("argmax.0", None)
    trace.meta["fates"] = {name: why}
    assert fates_of(program, trace) == {}
    assert compared(program, trace).verdict == "fail"


def test_a_trace_without_fates_fails_over_what_is_missing(program: Program) -> None:
    trace = ENGINE.run(program, X, FUSED)
    trace.meta = {}
    comparison = compared(program, trace)
    assert comparison.verdict == "fail"
    assert any("m: interp kept no value of it" in reason for reason in comparison.reasons)


def test_groups_and_the_tensors_between(program: Program) -> None:
    trace = ENGINE.run(program, X, FUSED)
    fates = fates_of(program, trace)
    groups = fused_groups(program, fates)
    assert groups["m"] == groups["y"] == "y"
    whole = completed(program, X, trace.tensors, fates)
    np.testing.assert_array_equal(whole["m"], whole["h"].mean(-1, keepdims=True))
    golden = VM.run(program, X, RunOptions())
    assert whole.keys() >= golden.tensors.keys()


GELU_OF_NUMBERS = """import numpy as np
def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
def forward(x: "f32[6, 8]", w: "f32[8, 8]", v: "f32[8, 8]"):
    s = (x @ w) / np.sqrt(np.float32(16))
    return gelu(s) @ v
"""


def test_a_number_that_was_folded_and_then_fused_is_not_missing(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(GELU_OF_NUMBERS)
    weights = {n: RNG.standard_normal((8, 8)).astype("f4") for n in ("w", "v")}
    program = load(f"{path}:forward", weights, X)
    trace = ENGINE.run(program, X, FUSED)
    golden = VM.run(program, X, RunOptions())
    comparison = ComparisonSession(program, X, golden, {}, Path())._float("interp-vs-vm", "", golden, trace, of_source=False)[0]
    assert comparison.verdict == "pass", comparison.reasons
    skipped = {n.what: n.why for n in comparison.not_compared}
    roots = [op_id(op) for op in program.operations() if op.name == "fleet.sqrt"]
    assert any(skipped.get(r, "").startswith("folded into") for r in roots), skipped


def test_groups_that_share_what_has_no_tensor_are_one(tmp_path: Path) -> None:
    """Of a node with two results the shared part is known to no one: neither result can be held against it alone."""
    path = tmp_path / "m.py"
    path.write_text(
        "import numpy as np\n"
        'def forward(x: "f32[6, 8]"):\n    s = np.exp(x)\n    a = s * 2\n    b = s + 1\n    t = np.tanh(x)\n    c = t - b\n'
        "    return a, c\n"
    )
    program = load(f"{path}:forward", {}, X)
    assert fused_groups(program, {"s": "fused into a"}) == {"s": "b", "a": "b", "b": "b"}
    assert fused_groups(program, {"t": "fused into c"}) == {"t": "c", "c": "c"}
    assert fused_groups(program, {}) == {}


def test_numbers_of_a_composite_may_go_after_a_comparison_has_bounded_it(tmp_path: Path) -> None:
    """Bounding `clip` for another comparison expands it; the steps use its limits, and are not of the program."""
    path = tmp_path / "m.py"
    path.write_text(
        "import numpy as np\n"
        "def cut(w, std=0.02):\n    return np.clip(w, -2 * std, 2 * std)\n"
        "def forward(x: 'f32[6, 8]', w: 'f32[8, 8]'):\n    return x @ cut(w)\n"
    )
    program = load(f"{path}:forward", {"w": RNG.standard_normal((8, 8)).astype("f4")}, X)
    golden, other = VM.run(program, X, RunOptions()), ENGINE.run(program, X, FUSED)
    session = ComparisonSession(program, X, golden, {}, Path())
    for _ in range(2):
        comparison, _ = session.against_golden(golden, other)
        assert comparison.verdict == "pass", comparison.reasons
