"""NumPy's reductions: sums, extremes, means, variances, positions, and sums so far."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import numpy as np

from fleet.frontend.arrays.arguments import Arguments, Handler, axes_of, axis_of, keeps, reduced_axes
from fleet.frontend.arrays.emitting import cast, emit
from fleet.frontend.arrays.operands import array, elementwise
from fleet.frontend.arrays.sizes import dims_of, flat, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words


def _reduce(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, op = array(ev, node, args["a"]), str(args[""])
    axes = reduced_axes(ev, node, op, x, args)
    if op in ("reduce_any", "reduce_all") and x.dtype.kind != "b":
        x = elementwise(ev, node, "not_equal", x, NumberValue(0))
    return emit(ev, node, op, [x], axes=axes, keepdims=keeps(ev, node, args))


def variance(ev: Evaluator, node: ast.Call, args: Arguments) -> TracedArray:
    """np.var; with ddof in the steps that NumPy takes."""
    x = array(ev, node, args["a"])
    axes = reduced_axes(ev, node, "var", x, args)
    ddof = ev.static(args["ddof"]) if "ddof" in args else 0
    if ddof is None:
        ev.fail("F404", node, f"ddof must be a number known from the source, found {words(args['ddof'])}")
    if ddof == 0:
        return emit(ev, node, "var", [x], axes=axes, keepdims=keeps(ev, node, args))
    if x.dtype == np.float16:
        ev.fail("F401", node, "var of float16 with ddof is not supported", "cast to float32 first")
    if x.dtype.kind != "f":
        x = cast(ev, node, x, np.dtype(float))
    if any(x.shape[a] < 0 for a in axes):
        ev.unknown(node, "var with ddof over a dimension whose size only the run knows")
    count = math.prod(x.shape[a] for a in axes)
    mean = elementwise(ev, node, "div", emit(ev, node, "reduce_sum", [x], axes=axes, keepdims=True), NumberValue(float(count)))
    off = elementwise(ev, node, "sub", x, mean)
    total = emit(ev, node, "reduce_sum", [elementwise(ev, node, "mul", off, off)], axes=axes, keepdims=keeps(ev, node, args))
    return elementwise(ev, node, "div", total, NumberValue(float(max(count - ddof, 0))))


def _std(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return elementwise(ev, node, "sqrt", variance(ev, node, args))


def _ptp(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    axes, keepdims = reduced_axes(ev, node, "ptp", x, args), keeps(ev, node, args)
    parts = [emit(ev, node, op, [x], axes=axes, keepdims=keepdims) for op in ("reduce_max", "reduce_min")]
    return elementwise(ev, node, "sub", *parts)


def _average(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """np.average without weights: a mean, but NumPy divides the operand's size by the result's."""
    x = array(ev, node, args["a"])
    axes = axes_of(ev, node, len(x.shape), args.get("axis"))
    if any(d == 0 for i, d in enumerate(x.shape) if i not in axes):
        ev.fail("F305", node, f"average of {words(x)} has no elements, which NumPy refuses", "np.mean takes it")
    return emit(ev, node, "mean", [x], axes=axes, keepdims=keeps(ev, node, args))


def _count_nonzero(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    x = x if x.dtype.kind == "b" else elementwise(ev, node, "not_equal", x, NumberValue(0))
    axes = reduced_axes(ev, node, "count_nonzero", x, args)
    return emit(ev, node, "reduce_sum", [x], axes=axes, keepdims=keeps(ev, node, args))


def _arg(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, op = array(ev, node, args["a"]), str(args[""])
    kept: list[int | NumberValue] = [1] * len(x.shape)
    if args.get("axis") is None or (not x.shape and not reduced_axes(ev, node, op, x, args)):
        result = emit(ev, node, op, [x if len(x.shape) == 1 else flat(ev, node, x)], axis=0)
    else:
        axis = axis_of(ev, node, len(x.shape), args["axis"])
        result = emit(ev, node, op, [x], axis=axis)
        kept = dims_of(result)
        kept.insert(axis, 1)
    return reshaped(ev, node, result, kept) if keeps(ev, node, args) else result


def _cumsum(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    if not x.shape or args.get("axis") is None:
        x = x if len(x.shape) == 1 else flat(ev, node, x)
    axis = 0 if args.get("axis") is None else axis_of(ev, node, len(x.shape), args["axis"])
    return emit(ev, node, "cumsum", [x], axis=axis)


HANDLERS: Mapping[str, Handler] = {
    "average": _average, "reduce": _reduce, "var": variance, "std": _std, "ptp": _ptp, "count_nonzero": _count_nonzero, "arg": _arg,
    "cumsum": _cumsum,
}  # fmt: skip
