"""What a comparison need not derive: bounds of weights that are the same, bounds twice, roundings of exact casts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ir_builder import Net, evaluate
from xdsl.ir import Block

from fleet.compare.bounds.bound import Bound, Bounds
from fleet.compare.bounds.fates import FusedArithmetic
from fleet.compare.bounds.golden_values import Values
from fleet.compare.bounds.sides import FloatArithmetic
from fleet.compare.bounds.tolerance import bounded_operations, cumulative_bounds, local_bounds
from fleet.compare.judges.local import local_host_values
from fleet.compare.rules.steps import Arithmetic, BoundStep
from fleet.compare.rules.table import RULES
from fleet.compare.settled import folded, outside_groups, settled
from fleet.compare.traces import ValueComparison, compare_values
from fleet.cosim.comparisons import ComparisonSession
from fleet.engines.trace import Trace
from fleet.ir.build import make
from fleet.ir.dialect import AddOp, CastOp, MulOp, op_id
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
    assert rows["y"].bound.bound_max > 0, "what depends on inputs has its bound"


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


def session(net, other: Tensors, fates: dict[str, str] | None = None):
    """Compare an engine's tensors with the golden as a co-simulation does; without what `fates` excuses."""
    program, inputs = net
    golden = evaluate(program, inputs)
    shown = {n: a for n, a in (golden | other).items() if n not in (fates or {})}
    a, b = (
        Trace(engine, program.hash, outputs={"y": t["y"]}, tensors=t, complete=True)
        for engine, t in (("vm", golden), ("riscv", shown))
    )
    b.meta["fates"] = fates or {}
    result, _ = ComparisonSession(program, inputs, a, {}, Path()).against_golden(a, b)
    return result, {row.op: row for row in result.operations}


def test_weights_that_are_the_same_hand_on_no_error(net) -> None:
    program, inputs = net
    golden = evaluate(program, inputs)
    values = Values(program, inputs, golden)
    wide, narrow = (cumulative_bounds(values, FloatArithmetic(), equal=equal)["y"].array for equal in ((), {"scaled"}))
    exact = local_bounds(values, FloatArithmetic())["y"].array
    np.testing.assert_array_equal(narrow, exact)
    assert (narrow < wide).all()
    result, rows = session(net, {})
    assert (result.verdict, rows["y"].bound.bound_max) == ("pass", exact.max())


@pytest.mark.parametrize("op", ["scaled", "y"])
@pytest.mark.parametrize("at", [0, 5, -1])
def test_a_planted_difference_is_found_wherever_it_is(net, op: str, at: int) -> None:
    wrong = evaluate(*net)[op].copy()
    wrong.reshape(-1)[at] *= np.float32(1.001)
    result, rows = session(net, {op: wrong})
    assert result.verdict == "fail"
    assert rows[op].verdict == "fail"
    assert rows[op].cumulative.mismatches == 1


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_special_weight_on_one_side_is_found(net, value: float) -> None:
    wrong = evaluate(*net)["scaled"].copy()
    wrong[2, 2] = value
    assert session(net, {"scaled": wrong})[0].verdict == "fail"


def test_weights_of_another_dtype_are_not_settled(net) -> None:
    program, _ = net
    golden = evaluate(*net)
    assert settled(program, golden, golden) == {"scaled"}
    assert settled(program, golden, golden | {"scaled": golden["scaled"].astype(np.float64)}) == frozenset()
    assert settled(program, golden, {"y": golden["y"]}) == frozenset()
    special = golden | {"scaled": np.full_like(golden["scaled"], np.nan)}
    assert settled(program, special, special) == frozenset(), "of NaN a bound decides"


def test_a_folded_weight_is_held_by_what_is_computed_of_it(net) -> None:
    """An engine whose passes folded `scaled` shows nothing of it; a product with other weights is beyond its bound."""
    program, inputs = net
    fates = {"scaled": "folded into weight scaled"}
    assert folded(program, fates) == {"scaled"}
    assert folded(program, {"y": "folded into weight y"}) == frozenset(), "it depends on an input"
    result, rows = session(net, {}, fates)
    assert (result.verdict, set(rows)) == ("pass", {"y"})
    scaled = evaluate(program, inputs)["scaled"].copy()
    scaled[3, 1] *= np.float32(1.001)
    result, _ = session(net, {"y": inputs["x"] @ scaled}, fates)
    assert result.verdict == "fail"


def test_inside_a_group_the_shown_number_excuses_nothing(net) -> None:
    """The product may have read `scaled` before it was rounded: its error stays in the bound."""
    program, inputs = net
    operations = bounded_operations(program.operations())
    assert outside_groups({"scaled"}, operations, op_id) == {"scaled"}
    assert outside_groups({"scaled"}, operations, lambda op: "one") == frozenset()
    values = Values(program, inputs, evaluate(program, inputs))
    group = FusedArithmetic(groups={"scaled": "y", "y": "y"})
    for derive in (cumulative_bounds, local_bounds):
        np.testing.assert_array_equal(derive(values, group, equal={"scaled"})["y"].array, derive(values, group)["y"].array)


def test_operations_are_computed_again_if_their_weight_is_another(net) -> None:
    program, inputs = net
    golden = Trace("vm", program.hash, tensors={n: a + 1 for n, a in evaluate(program, inputs).items()}, complete=True)
    same = local_host_values(program, program.weights, golden, inputs, ran=program)
    assert all(same[n] is golden.tensors[n] for n in ("scaled", "y")), "the golden's own, though these are not what they should be"
    other = dict(program.weights, s=program.weights["s"] * 2)
    moved = local_host_values(program, other, golden, inputs, ran=program)
    np.testing.assert_array_equal(moved["scaled"], other["w"] * other["s"])
    assert moved["y"] is golden.tensors["y"], "it reads the golden's own `scaled`"
    again = local_host_values(program, program.weights, golden, inputs)
    np.testing.assert_array_equal(again["scaled"], program.weights["w"] * program.weights["s"])


def test_another_operation_of_the_same_name_is_computed(net) -> None:
    program, inputs = net
    lowered = Net({"x": ((4, 8), "input"), "w": ((8, 3), "weight"), "s": ((1, 3), "weight")}, dict(program.weights))
    sums = lowered.call(AddOp, lowered["w"], lowered["s"], name="scaled")
    other = lowered.program(y=lowered.matmul(lowered["x"], sums, "y"))
    golden = Trace("vm", program.hash, tensors=evaluate(program, inputs), complete=True)
    found = local_host_values(other, other.weights, golden, inputs, ran=program)
    np.testing.assert_array_equal(found["scaled"], program.weights["w"] + program.weights["s"])


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
