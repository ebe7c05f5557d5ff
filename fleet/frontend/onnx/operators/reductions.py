"""Reductions, and what is computed along one axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, concat, unary, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.casting import cast
from fleet.frontend.onnx.limits import MAX_UNROLLED
from fleet.frontend.onnx.narrow import Narrow
from fleet.frontend.onnx.registry import operator


def _prod(x: OnnxArray, axes: list[int], keep: bool) -> OnnxArray:
    wide = x.astype(np.int64) if x.dtype.kind in "iu" else x
    return wide.reduce("reduce_prod", axes, keep).astype(x.dtype)


def _mean(x: OnnxArray, axes: list[int], keep: bool) -> OnnxArray:
    return x.mean(axes, keep).astype(x.dtype)


def _log_sum_exp(x: OnnxArray, axes: list[int], keep: bool) -> OnnxArray:
    top = x.max(axes, keepdims=True)
    top = where((top - top).equal(0), top, top.like(0))  # an infinite maximum leaves nothing to subtract
    found = unary("log", unary("exp", x - top).sum(axes, keep))
    return found + (top if keep else top.squeeze(*axes))


def _bool_or(name: str, of_bools: str) -> Callable[[OnnxArray, list[int], bool], OnnxArray]:
    return lambda x, axes, keep: x.reduce(of_bools if x.dtype.kind == "b" else name, axes, keep)


_REDUCE: Mapping[str, Callable[[OnnxArray, list[int], bool], OnnxArray]] = {
    "ReduceSum": lambda x, axes, keep: x.sum(axes, keep),
    "ReduceProd": _prod,
    "ReduceMean": _mean,
    "ReduceMax": _bool_or("reduce_max", "reduce_any"),
    "ReduceMin": _bool_or("reduce_min", "reduce_all"),
    "ReduceL1": lambda x, axes, keep: unary("abs", x).sum(axes, keep),
    "ReduceL2": lambda x, axes, keep: _root((x * x).sum(axes, keep)),
    "ReduceSumSquare": lambda x, axes, keep: (x * x).sum(axes, keep),
    "ReduceLogSum": lambda x, axes, keep: unary("log", x.sum(axes, keep)),
    "ReduceLogSumExp": _log_sum_exp,
}
_EMPTY: Mapping[str, float] = {
    "ReduceSum": 0, "ReduceProd": 1, "ReduceMax": -np.inf, "ReduceMin": np.inf, "ReduceL1": 0, "ReduceL2": 0, "ReduceSumSquare": 0,
    "ReduceLogSum": -np.inf, "ReduceLogSumExp": -np.inf,
}  # fmt: skip
"""What a reduction of no elements gives."""
_STEPWISE = 64
"""Elements of a sum of a narrow type that are rounded one by one."""
_SINCE = {"ReduceSum": 13}
"""Opset from which axes are an input; 18 for all others."""


def _root(x: OnnxArray) -> OnnxArray:
    return unary("sqrt", x if x.dtype.kind == "f" else x.astype(np.float64)).astype(x.dtype)


@operator(*_REDUCE)
def _reduce(n: NodeCall) -> OnnxArray:
    op, x = n.node.op, n.x
    keep = bool(n.attribute("keepdims", 1))
    given: list[int] = n.attribute("axes", [0]) if n.has("axes") else []
    if n.opset >= _SINCE.get(op, 18) and n.optional(1) is not None:
        given = n.integers(1, "its axes")
    axes = sorted({n.axis(a, x.rank) for a in given})
    if not given:
        if n.attribute("noop_with_empty_axes", 0):
            axes = []
        else:
            axes = list(range(x.rank))
    if any(x.shape[a] == 0 for a in axes) and op in _EMPTY:
        shape = [1 if i in axes else d for i, d in enumerate(x.shape) if keep or i not in axes]
        value = _EMPTY[op]
        if x.dtype.kind == "b":
            value = op == "ReduceMin"
        if x.dtype.kind in "iu" and np.isinf(value):
            value = np.iinfo(x.dtype).min if value < 0 else np.iinfo(x.dtype).max
        return n.constant(np.full(shape, value, x.dtype))
    if not axes and given == [] and op in ("ReduceSum", "ReduceProd", "ReduceMean", "ReduceMax", "ReduceMin"):
        return x
    if op == "ReduceSum" and x.narrow is not None and len(axes) == 1 and 0 < x.shape[axes[0]] <= _STEPWISE:
        total = _stepwise(x, axes[0], x.narrow)
        return total if keep else total.squeeze(*axes)
    return _REDUCE[op](x, axes, keep)


def _stepwise(x: OnnxArray, axis: int, narrow: Narrow) -> OnnxArray:
    """A sum of few elements, rounded after each, as ONNX's reference evaluator has it; longer ones are rounded once."""
    total = x.part(axis, 0, 1)
    for i in range(1, x.shape[axis]):
        total = cast(total.of(None) + x.part(axis, i, 1), narrow.dtype)
    return total


@operator("ArgMax", "ArgMin")
def _arg(n: NodeCall) -> OnnxArray:
    x = n.x
    axis = n.axis(n.attribute("axis", 0), x.rank)
    name = "argmax" if n.node.op == "ArgMax" else "argmin"
    last = bool(n.attribute("select_last_index", 0))
    source = x.part(axis, x.shape[axis] - 1, x.shape[axis], -1) if last else x
    found = source.build.emit(name, [source], axis=axis)
    if last:
        found = (x.shape[axis] - 1) - found
    return found.unsqueeze(axis) if n.attribute("keepdims", 1) else found


@operator("Hardmax")
def _hardmax(n: NodeCall) -> OnnxArray:
    """Before opset 13 everything from the axis on is one dimension."""
    x, axis = n.x, n.axis(n.attribute("axis", -1 if n.opset >= 13 else 1), n.x.rank)
    if n.opset < 13:
        x, axis = x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:])), 1
    n.bounded(x.shape[axis])
    best = x.build.emit("argmax", [x], axis=axis).unsqueeze(axis)
    shape = [1] * x.rank
    shape[axis] = x.shape[axis]
    places = n.constant(np.arange(x.shape[axis], dtype=np.int64).reshape(shape))
    return places.equal(best).astype(x.dtype).reshape(*n.x.shape)


def _flipped(x: OnnxArray, axis: int) -> OnnxArray:
    return x.part(axis, x.shape[axis] - 1, x.shape[axis], -1)


@operator("CumSum", "CumProd")
def _cumulative(n: NodeCall) -> OnnxArray:
    x = n.x
    axis = n.axis(n.integers(1, "its axis")[0], x.rank)
    turned = bool(n.attribute("reverse", 0))
    x = _flipped(x, axis) if turned else x
    product = n.node.op == "CumProd"
    if n.attribute("exclusive", 0):
        low = [0] * x.rank
        low[axis] = 1
        x = x.part(axis, 0, x.shape[axis] - 1).pad(low, [0] * x.rank, int(product))
    found = _cumulative_product(n, x, axis) if product else _cumulative_sum(x, axis)
    return _flipped(found, axis) if turned else found


def _cumulative_sum(x: OnnxArray, axis: int) -> OnnxArray:
    wide = x.astype(np.int64) if x.dtype.kind in "iu" else x
    return x.build.emit("cumsum", [wide], axis=axis).astype(x.dtype)


def _cumulative_product(n: NodeCall, x: OnnxArray, axis: int) -> OnnxArray:
    count = x.shape[axis]
    if count > MAX_UNROLLED:
        n.refuse(f"a product along {count} elements, at most {MAX_UNROLLED} are read")
    parts = [x.part(axis, 0, 1)]
    for i in range(1, count):
        parts.append(parts[-1] * x.part(axis, i, 1))
    return concat(parts, axis)
