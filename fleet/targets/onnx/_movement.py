"""Operations that move data as ONNX nodes; the docs' table is made of the docstrings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.ir.dialect import FleetOp
from fleet.ir.library.call import LibraryCall
from fleet.ir.operations.operation import attributes_of
from fleet.ir.shapes import UNKNOWN
from fleet.targets.onnx._emitter import EmittedValue, OnnxEmitter, Unsupported, result_of
from fleet.targets.onnx.types import stand_in

_LAST, _FIRST = (1 << 63) - 1, -(1 << 63)
"""Ends of a slice without limit."""


def transpose(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Transpose`."""
    return e.node("Transpose", values, *result_of(op), perm=list(attributes_of(op)["permutation"]))


def reshape(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Reshape`."""
    return e.reshape(values[0], result_of(op)[1])


def broadcast_to(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Expand`."""
    dtype, shape = result_of(op)
    return e.node("Expand", [values[0], e.integers([1 if d == UNKNOWN else d for d in shape])], dtype, shape)


def slice_(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Slice` of the dimensions that are cut."""
    a = attributes_of(op)
    start, size = a["start"], a["size"]
    step = a.get("step") or [1] * len(start)
    dims = values[0].shape
    cut = [i for i, d in enumerate(dims) if (start[i], step[i]) != (0, 1) or size[i] not in (d, -1)]
    if not cut:
        return e.node("Identity", values, *result_of(op))
    windows = [_window(start[i], size[i], step[i]) for i in cut]
    bounds = [e.integers([w[k] for w in windows]) for k in range(3)]
    return e.node("Slice", [values[0], bounds[0], bounds[1], e.integers(cut), bounds[2]], *result_of(op))


def _window(start: int, size: int, step: int) -> tuple[int, int, int]:
    """Return start, end and step for ONNX, where -1 is the last element and cannot be an end before the first or after the last."""
    if size == 0:
        return 0, 0, 1
    if size < 0:
        return start, _LAST if step > 0 else _FIRST, step
    end = start + (size - 1) * step + (1 if step > 0 else -1)
    if step > 0 and start < 0 <= end:
        return start, _LAST, step
    return start, _FIRST if step < 0 and start >= 0 > end else end, step


def gather(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Gather`."""
    indices = values[1] if values[1].dtype.name in ("int32", "int64") else e.cast(values[1], np.int64)
    return e.node("Gather", [values[0], indices], *result_of(op), axis=int(attributes_of(op).get("axis", 0)))


def library(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """Of NumPy's own functions `ndarray.view` between dtypes of one size: `BitCast`, of truth values `Cast`."""
    call, dtype = LibraryCall.parse(attributes_of(op)["call"]), result_of(op)[0]
    x = values[0]
    if call.function != "ndarray.view" or x.dtype.itemsize != dtype.itemsize:
        raise Unsupported("has no operator of ONNX")
    return e.cast(x, dtype) if "b" in (x.dtype.kind, dtype.kind) else e.bits(x, dtype)


def check(e: OnnxEmitter, _op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Gather` of place 0 of one element; where the condition is false of place 1, which ends the run. It is an output, so that
    no optimisation leaves it out.
    """
    place = e.cast(e.node("Not", values, np.bool_, ()), np.int64)
    return e.node("Gather", [e.constant(np.ones(1, np.bool_)), place], np.bool_, ())


def scatter(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`ScatterND` of rows. Of several updates of one row without a reduction, ONNX leaves open which one stays."""
    dtype, shape = result_of(op)
    reduction = attributes_of(op)["reduction"]
    if dtype.kind == "b" and reduction != "none":
        raise Unsupported(f"of truth values, combined by {reduction}")
    rows = e.reshape(e.cast(values[1], np.int64), [values[1].shape[0], 1])
    inputs = [e.cast(values[0], dtype), rows, e.cast(values[2], dtype)]
    return e.node("ScatterND", inputs, dtype, shape, **({} if reduction == "none" else {"reduction": reduction}))


def concat(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Concat`, its operands cast to their common dtype."""
    dtype, shape = result_of(op)
    return e.node("Concat", [e.cast(v, dtype) for v in values], dtype, shape, axis=int(attributes_of(op)["axis"]))


def pad(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Pad` with a constant."""
    a, (dtype, shape) = attributes_of(op), result_of(op)
    fill = e.cast(values[1], dtype)
    if fill.rank:
        fill = e.reshape(fill, [])
    wide = stand_in("Pad", dtype)
    inputs = [e.cast(e.cast(values[0], dtype), wide), e.integers([*a["low"], *a["high"]]), e.cast(fill, wide)]
    return e.cast(e.node("Pad", inputs, wide, shape), dtype)


# ---- sizes of the run


def dim(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Shape`, its one element as a scalar."""
    axis = int(attributes_of(op)["axis"])
    size = e.node("Shape", values, np.int64, (1,), start=axis, end=axis + 1)
    return e.cast(e.reshape(size, []), result_of(op)[0])


def _sizes(e: OnnxEmitter, shape: Sequence[int], sizes: Sequence[EmittedValue]) -> EmittedValue:
    """Return a shape with the run's sizes in place of unknown ones."""
    left = list(sizes)
    return _vector(e, [left.pop(0) if d == UNKNOWN else e.integers([d]) for d in shape])


def _vector(e: OnnxEmitter, parts: Sequence[EmittedValue]) -> EmittedValue:
    """Return a vector of int64 from numbers."""
    vectors = [v if v.rank else e.reshape(e.cast(v, np.int64), [1]) for v in parts]
    return vectors[0] if len(vectors) == 1 else e.node("Concat", vectors, np.int64, (len(vectors),), axis=0)


def item(e: OnnxEmitter, _op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Reshape` to a scalar."""
    return values[0] if not values[0].rank else e.reshape(values[0], ())


def dynamic_reshape(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Reshape` to a shape that nodes compute."""
    dtype, shape = result_of(op)
    return e.node("Reshape", [values[0], _sizes(e, shape, values[1:])], dtype, shape)


def dynamic_broadcast(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Expand` to a shape that nodes compute."""
    dtype, shape = result_of(op)
    return e.node("Expand", [e.cast(values[0], dtype), _sizes(e, shape, values[1:])], dtype, shape)


def dynamic_slice(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Slice` with bounds that nodes compute."""
    a = attributes_of(op)
    starts, ends = _vector(e, values[1::2]), _vector(e, values[2::2])
    return e.node("Slice", [values[0], starts, ends, e.integers(a["axes"]), e.integers(a["step"])], *result_of(op))


def arange(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Range`."""
    return e.node("Range", [e.cast(v, np.int64) for v in values], np.int64, result_of(op)[1])


def tri(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Range` of the rows, `Range` of the columns, `GreaterOrEqual`."""
    dtype, shape = result_of(op)
    rows, columns, diagonal = (e.cast(v, np.int64) for v in values)
    zero, one = e.number(0, np.int64), e.number(1, np.int64)
    counted = [e.node("Range", [zero, n, one], np.int64, (d,)) for n, d in zip((rows, columns), shape, strict=True)]
    last = e.node("Add", [e.reshape(counted[0], [-1, 1]), diagonal], np.int64, (shape[0], 1))
    return e.cast(e.node("GreaterOrEqual", [last, counted[1]], np.bool_, shape), dtype)
