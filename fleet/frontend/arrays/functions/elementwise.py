"""NumPy's functions of each element: operators by their names, tests, rounding, bounds, np.where."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import numpy as np

from fleet.frontend.arrays.arguments import Arguments, Handler
from fleet.frontend.arrays.emitting import builder_of, cast, emit
from fleet.frontend.arrays.functions.shifts import powers, shift
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.operands import array, bitwise, elementwise, loop, numeric, select
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, TracedArray, Value, ValueOperand
from fleet.frontend.reading.wording import words
from fleet.ir.dialect import ClipOp
from fleet.ir.shapes import InferenceError


def _binary(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    a, b = numeric(ev, node, args["x1"]), numeric(ev, node, args["x2"])
    return elementwise(ev, node, bitwise(ev, node, str(args[""]), a, b), a, b)


def _logical_xor(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """`np.logical_xor`: exactly one operand is nonzero."""
    given = (array(ev, node, args["x1"]), array(ev, node, args["x2"]))
    truths = (x if x.dtype.kind == "b" else elementwise(ev, node, "not_equal", x, NumberValue(0)) for x in given)
    return elementwise(ev, node, "not_equal", *truths)


def _shift(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    by = numeric(ev, node, args["x2"])
    if isinstance(by, NumberValue):
        return shift(ev, node, str(args[""]), array(ev, node, args["x1"]), by)
    return _shifted(ev, node, str(args[""]), *loop(ev, node, np.left_shift, args["x1"], by))


def _shifted(ev: Evaluator, node: ast.AST, name: str, x: TracedArray, by: TracedArray) -> TracedArray:
    """By numbers of bits that are in an array: factors out of a table. Less than 0 and more than there are shift everything out."""
    bits = 8 * x.dtype.itemsize
    beyond = elementwise(ev, node, "greater_equal", by, NumberValue(bits))
    if by.dtype.kind == "i":
        beyond = elementwise(ev, node, "logical_or", beyond, elementwise(ev, node, "less", by, NumberValue(0)))
    places = cast(ev, node, select(ev, node, beyond, NumberValue(bits), by), np.dtype(np.int64))
    for table in powers(x.dtype, name):
        factors = emit(ev, node, "gather", [static(ev, node, table, "powers of two"), places])
        x = elementwise(ev, node, "mul" if name == "shift_left" else "floor_div", x, factors)
    return x


def _unary(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, op = numeric(ev, node, args["x"]), str(args[""])
    if op in ("pos", "invert"):
        return ev.domain.unary(ev, node, op, array(ev, node, x))
    return elementwise(ev, node, op, x)


def _square(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    (x,) = loop(ev, node, np.square, args["x"])
    return elementwise(ev, node, "mul", x, x)


def _reciprocal(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        ev.fail("F401", node, f"reciprocal of {words(x)}", "make it a float first")
    return elementwise(ev, node, "div", NumberValue(1), x)


def _isinf(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        return elementwise(ev, node, "not_equal", x, x)
    return elementwise(ev, node, "equal", elementwise(ev, node, "abs", x), NumberValue(math.inf))


def _isfinite(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        return elementwise(ev, node, "equal", x, x)
    return elementwise(ev, node, "less", elementwise(ev, node, "abs", x), NumberValue(math.inf))


_MOST_DECIMALS = 8
"""NumPy has the powers of ten up to here in a table."""


def _round(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """With decimals NumPy scales, rounds and scales back, each in the array's dtype."""
    decimals = ev.integer(node, args["decimals"], "decimals") if "decimals" in args else 0
    x = array(ev, node, args["a"])
    if x.dtype.kind in "iu" and decimals >= 0:  # the same bits, and np.round gives them in their own dtype
        return TracedArray(x.ssa)
    if decimals == 0:
        return elementwise(ev, node, "rint", x)
    if x.dtype.kind != "f" or abs(decimals) > _MOST_DECIMALS:
        ev.fail("F506", node, f"round of {words(x)} with decimals={decimals} is not supported", "scale, np.rint, scale back")
    scale, back = ("mul", "div") if decimals > 0 else ("div", "mul")
    factor = NumberValue(10.0 ** abs(decimals))
    return elementwise(ev, node, back, elementwise(ev, node, "rint", elementwise(ev, node, scale, x, factor)), factor)


def _clip(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """As NumPy has it: an integer beyond the array's own range is no bound, and one bound alone is a maximum or a minimum."""
    x = array(ev, node, args["a"])
    if ("a_min" in args) != ("a_max" in args):
        ev.fail("F208", node, f"np.clip needs {'a_max' if 'a_min' in args else 'a_min'} too", "give None for no bound")
    given = {n: args.get(n, args.get(f"a_{n}")) for n in ("min", "max")}
    bounds = {n: numeric(ev, node, v) for n, v in given.items() if v is not None}
    if x.dtype.kind in "iu":
        bounds = {n: v for n, v in bounds.items() if not _beyond(v, x.dtype, n)}
    if not bounds:
        loop(ev, node, np.positive, x)  # NumPy calls it then, and refuses truth values
        return TracedArray(x.ssa)
    low, high = bounds.get("min"), bounds.get("max")
    if low is None or high is None:
        return elementwise(ev, node, "minimum" if low is None else "maximum", x, *bounds.values())
    types = [builder_of(ev).type_of(node, v) for v in (x, low, high)]
    try:
        dtype = ClipOp.compute_types(types)[-1]
    except InferenceError as error:
        ev.fail("F401", node, str(error))
    if dtype.kind == "f":
        return builder_of(ev).elementwise(node, "clip", [x, low, high])
    return elementwise(ev, node, "minimum", elementwise(ev, node, "maximum", cast(ev, node, x, dtype), low), high)


def _beyond(bound: ValueOperand, dtype: np.dtype, side: str) -> bool:
    if not isinstance(bound, NumberValue) or bound.symbolic or type(bound.value) is not int:
        return False
    limits = np.iinfo(dtype)
    return bound.value <= limits.min if side == "min" else bound.value >= limits.max


def _where(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    condition = array(ev, node, args["condition"])
    if condition.dtype.kind != "b":
        condition = elementwise(ev, node, "not_equal", condition, NumberValue(0))
    chosen = select(ev, node, condition, numeric(ev, node, args["x"]), numeric(ev, node, args["y"]))
    return TracedArray(chosen.ssa, scalar=False)  # an array also where it has no dimensions


HANDLERS: Mapping[str, Handler] = {
    "binary": _binary, "logical_xor": _logical_xor, "shift": _shift, "unary": _unary, "square": _square, "reciprocal": _reciprocal,
    "isinf": _isinf, "isfinite": _isfinite, "round": _round, "clip": _clip, "where": _where,
}  # fmt: skip
