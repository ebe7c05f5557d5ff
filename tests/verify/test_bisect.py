from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fleet.frontend.source import load
from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dialect import FleetOp
from fleet.ir.program import Program
from fleet.transforms.edit import Edit, identity
from fleet.transforms.passes import Pass, find_pass
from fleet.transforms.pipeline import Pipeline, pipeline
from fleet.verify.bisect import bisect_pass

SOURCE = """import numpy as np
def forward(x: "f32[4, 6]", w: "f32[6, 6]"):
    h = np.tanh(x @ w)
    m = h.mean(-1, keepdims=True)
    y = (h - m) / np.sqrt(h.var(-1, keepdims=True) + 1e-5)
    print(y.sum())
    return np.exp(y)
"""
X = {"x": np.random.default_rng(1).standard_normal((4, 6)).astype("f4")}


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "m.py").write_text(SOURCE)
    w = np.random.default_rng(0).standard_normal((6, 6)).astype("f4")
    return load(f"{tmp_path / 'm.py'}:forward", {"w": w}, X)


def find(edit: Edit, name: str) -> FleetOp:
    return next(op for op in edit.operations() if op.name == f"fleet.{name}")


def wrong_function(edit: Edit) -> None:
    """tanh becomes the sine."""
    op = find(edit, "tanh")
    other = make("sin", list(op.operands))
    other.describe(**identity(op))
    edit.insert_before(op, other)
    edit.replace(op, other.results[0])


def wrong_eps(edit: Edit) -> None:
    """A norm's eps a hundred times as large."""
    from xdsl.dialects.builtin import FloatAttr, f64

    find(edit, "layer_norm").properties["eps"] = FloatAttr(1e-3, f64)


def last_bit(edit: Edit) -> None:
    """A factor one rounding away from 1, where every bit must stay."""
    op = find(edit, "exp")
    factor = constant(float(np.nextafter(np.float32(1), np.float32(2))), op.results[0].type)
    value = edit.insert_before(op, factor, "factor")
    scaled = make("mul", [op.operands[0], value])
    edit.insert_before(op, scaled, "scaled")
    op.operands[0] = scaled.results[0]


def print_gone(edit: Edit) -> None:
    edit.erase(find(edit, "print"), None)


def silently_gone(edit: Edit) -> None:
    op = find(edit, "tanh")
    other = make("tanh", list(op.operands))
    other.describe(id="renamed")
    edit.insert_before(op, other)
    op.results[0].replace_all_uses_with(other.results[0])
    edit.erase(op, None)


def crash(edit: Edit) -> None:
    raise ValueError("list index out of range")


@pytest.mark.parametrize(
    ("bad", "exact", "where", "words"),
    [
        (wrong_function, "bits", "h", "differs in its bits"),
        (wrong_function, "rounding", "h", "times its limit"),
        (last_bit, "bits", "exp.0", "differs in its bits"),
        (wrong_eps, "rounding", "y", "times its limit"),
        (print_gone, "bits", "print.0", "a print is gone"),
        (silently_gone, "bits", "h", "no pass has said what became of it"),
        (crash, "bits", "", "list index out of range"),
    ],
)
def test_a_planted_bad_pass_is_named_with_the_operation(program: Program, bad, exact: str, where: str, words: str) -> None:
    names = ("canonicalise", "cse") if exact == "bits" else ("canonicalise", "cse", "raise-norm")
    planted = Pass("planted", "a bad pass", exact, bad)  # pyright: ignore
    good = tuple(find_pass(n) for n in names)
    found = bisect_pass(program, X, Pipeline("test", (*good, planted, find_pass("dce"))))
    assert [s.name for s in found.stages] == list(names)
    assert found.fault is not None
    assert found.fault.name == "planted"
    assert found.fault.op == where
    assert words in found.fault.what
    if where not in ("", "print.0"):
        assert found.fault.at.startswith(str(Path(program.source_name))) or ":" in found.fault.at


@pytest.mark.parametrize("name", ["vm", "raise", "riscv", "accel"])
def test_the_pipelines_keep_the_results(program: Program, name: str) -> None:
    found = bisect_pass(program, X, pipeline(name))
    assert found.fault is None
    assert [s.name for s in found.stages] == [p.name for p in pipeline(name).passes]
    assert all(s.compared > 2 and s.worst <= 1 for s in found.stages)
    assert {s.exact for s in found.stages} == ({"bits"} if name == "vm" else {"bits", "rounding"})


def test_the_program_given_is_left_alone(program: Program) -> None:
    before = str(program.module)
    bisect_pass(program, X, pipeline("riscv"))
    assert str(program.module) == before


def test_a_wide_value_that_narrow_operations_made(tmp_path: Path) -> None:
    """NumPy's square root is a float64: the cube before it was rounded to float32, the GELU that is raised does not round there."""
    body = "return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))"
    (tmp_path / "gelu.py").write_text(f'import numpy as np\ndef forward(x: "f32[4, 6]"):\n    {body}\n')
    found = load(f"{tmp_path / 'gelu.py'}:forward", {}, X)
    assert bisect_pass(found, X, pipeline("raise")).fault is None


LOOP = """import numpy as np
def forward(x: "f32[4, 6]", w: "f32[6, 6]", n: "int64"):
    total = x * 1
    i = 0
    while i < n:
        total = np.tanh(total @ w) * 1
        if total.sum() > 0:
            total = total + np.exp(total) * 0.125
        else:
            total = total.T.T - 0.5
        i = i + 1
    return total
"""


@pytest.fixture
def looping(tmp_path: Path) -> Program:
    """A loop that stays a loop, with a decision in it."""
    (tmp_path / "loop.py").write_text(LOOP)
    w = np.random.default_rng(0).standard_normal((6, 6)).astype("f4")
    found = load(f"{tmp_path / 'loop.py'}:forward", {"w": w}, ROUNDS)
    assert [op.name for op in found.operations() if op.regions] == ["fleet.while"]
    return found


ROUNDS = {**X, "n": np.array(3)}


@pytest.mark.parametrize("bad", [wrong_function, last_bit])
def test_a_pass_that_is_wrong_in_bodies_alone_is_named(looping: Program, bad: Callable[[Edit], None]) -> None:
    def inside(edit: Edit) -> None:
        if edit.inside and any(op.name in {"fleet.tanh", "fleet.exp"} for op in edit.operations()):
            with contextlib.suppress(StopIteration):
                bad(edit)

    planted = Pass("planted", "a pass that is wrong in bodies", "bits", inside)
    found = bisect_pass(looping, ROUNDS, Pipeline("test", (find_pass("canonicalise"), planted, find_pass("dce"))))
    assert [s.name for s in found.stages] == ["canonicalise"]
    assert found.fault is not None
    assert found.fault.name == "planted"


@pytest.mark.parametrize("name", ["vm", "raise", "riscv", "accel"])
def test_the_pipelines_keep_what_loops_give(looping: Program, name: str) -> None:
    found = bisect_pass(looping, ROUNDS, pipeline(name))
    assert found.fault is None
    assert len(found.stages) == len(pipeline(name).passes)
