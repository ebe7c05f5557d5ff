"""What a comparison need not derive: bounds of weights that are the same, bounds twice, roundings of exact casts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from ir_builder import Net, evaluate
from xdsl.ir import Block

from fleet.compare.bounds.bound import Bound, Bounds
from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.bounds.tolerance import bounded_operations, cumulative_bounds, local_bounds
from fleet.compare.rules.steps import Arithmetic, BoundStep
from fleet.compare.rules.table import RULES
from fleet.compare.traces import ValueComparison, compare_values
from fleet.engines.trace import Trace
from fleet.ir.build import make
from fleet.ir.dialect import CastOp, MulOp, op_id
from fleet.ir.types import tensor_type

Array = np.ndarray
Tensors = dict[str, Array]


@pytest.fixture
def net():
    """y = x @ (w * s), w and s weights."""
    rng = np.random.default_rng(0)
    w, s = rng.standard_normal((8, 3)).astype(np.float32), np.full((1, 3), 0.37, np.float32)
    made = Net({"x": ((4, 8), "input"), "w": ((8, 3), "weight"), "s": ((1, 3), "weight")}, {"w": w, "s": s})
    scaled = made.call(MulOp, made["w"], made["s"], name="scaled")
    return made.program(y=made.matmul(made["x"], scaled, "y")), {"x": rng.standard_normal((4, 8)).astype(np.float32)}


def compared(net, other: Tensors, local: dict[str, tuple[Array, Array]] | None = None, bounds: Bounds | None = None):
    program, inputs = net
    golden = evaluate(program, inputs)
    values = Values(program, inputs, golden)
    spec = ValueComparison(
        "riscv-vs-vm", "bound", "?", bounds=bounds or cumulative_bounds(values, FloatArithmetic()),
        local=local or {}, local_bounds=local_bounds(values, FloatArithmetic()),
    )  # fmt: skip
    a, b = (
        Trace(engine, program.hash, outputs={"y": t["y"]}, tensors=t, complete=True)
        for engine, t in (("vm", golden), ("riscv", golden | other))
    )
    result, _ = compare_values(spec, a, b, program, same_program=True)
    return result, {row.op: row for row in result.operations}


def test_weights_that_are_the_same_on_both_sides_ask_for_no_bound(net) -> None:
    result, rows = compared(net, {})
    assert (result.verdict, result.elements) == ("pass", 36)
    assert rows["scaled"].bound is None
    assert (rows["scaled"].ways.equal, rows["scaled"].verdict) == (24, "pass")
    assert rows["y"].bound.bound_max > 0, "what depends on inputs has its bound, with the weights' own roundings in it"


def test_one_weight_that_differs_is_held_to_its_bound(net) -> None:
    scaled = evaluate(*net)["scaled"].copy()
    scaled[3, 1] *= np.float32(1.001)
    result, rows = compared(net, {"scaled": scaled})
    assert result.verdict == "fail"
    assert rows["scaled"].bound.violations == 1
    scaled[3, 1] = np.nextafter(evaluate(*net)["scaled"][3, 1], np.float32(9))
    result, rows = compared(net, {"scaled": scaled})
    assert (result.verdict, rows["scaled"].ways.accumulated) == ("pass", 1)


def test_weights_that_a_device_computes_otherwise_alone_are_held_to_their_bound(net) -> None:
    """Both sides show the same number; on the reference's own operands the device gives another."""
    scaled = evaluate(*net)["scaled"]
    wrong = scaled.copy()
    wrong[0, 0] += 1
    result, rows = compared(net, {}, local={"scaled": (scaled, wrong)})
    assert result.verdict == "fail"
    assert "alone, on the same inputs" in rows["scaled"].reason
    result, rows = compared(net, {}, local={"scaled": (scaled, scaled)})
    assert (result.verdict, rows["scaled"].bound) == ("pass", None)


def test_every_bound_is_derived_once(net) -> None:
    program, inputs = net
    derived = cumulative_bounds(Values(program, inputs, evaluate(program, inputs)), FloatArithmetic())
    walks: list[int] = []

    def steps() -> Iterator[Bound]:
        walks.append(1)
        yield from (derived[op_id(op)] for op in bounded_operations(program.operations()))

    result, _ = compared(net, {}, bounds=Bounds(bounded_operations(program.operations()), steps))
    assert result.verdict == "pass"
    assert len(walks) == 1, "pictures take their bounds on the same walk"


EXACT = [
    ("int8", "float16"), ("uint8", "float16"), ("int8", "float32"), ("uint16", "float32"), ("int32", "float64"),
    ("bool", "float16"), ("float16", "float32"), ("float32", "float64"), ("float32", "float32"),
]  # fmt: skip
ROUNDED = [
    ("int16", "float16"), ("int32", "float32"), ("int64", "float64"), ("uint32", "float32"), ("float64", "float32"),
    ("float32", "float16"),
]  # fmt: skip


def bound_of_cast(source: str, target: str, x: Array) -> Array:
    op = make("cast", [Block(arg_types=[tensor_type(x.shape, np.dtype(source))]).args[0]], dtype=target)
    step = BoundStep(op, [x.astype(np.float64)], [np.zeros(x.shape)], np.dtype(target), Arithmetic())
    return np.broadcast_to(RULES[CastOp](step), x.shape)


@pytest.mark.parametrize(("source", "target"), EXACT)
def test_a_cast_that_holds_every_value_rounds_nothing(source: str, target: str) -> None:
    kind = np.dtype(source).kind
    ends = np.array([0, 1] if kind == "b" else [np.iinfo(source).min, np.iinfo(source).max] if kind in "iu" else [1, 1e-3])
    x = ends.astype(source)
    np.testing.assert_array_equal(x.astype(target).astype(np.float64), x.astype(np.float64))
    assert not bound_of_cast(source, target, x).any()


@pytest.mark.parametrize(("source", "target"), ROUNDED)
def test_a_cast_that_rounds_has_its_rounding(source: str, target: str) -> None:
    x = np.array([np.iinfo(source).max - 1 if np.dtype(source).kind in "iu" else 1 / 3]).astype(source)
    moved = np.abs(x.astype(target).astype(np.longdouble) - x.astype(np.longdouble))
    assert 0 < moved[0] <= bound_of_cast(source, target, x)[0]
