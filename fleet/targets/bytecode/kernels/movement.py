"""The VM's operations that move data, and einsum: their hints contain more than axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from operator import itemgetter, methodcaller
from typing import Any, TypeAlias

import numpy as np

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.shapes import MAX_ELEMENTS
from fleet.targets.bytecode.hints import DispatchInfo, parse_type, sequence

MovementKernel: TypeAlias = Callable[..., Any]


def _transpose(info: DispatchInfo) -> MovementKernel:
    permutation = sequence(info.attrs, "permutation") or None  # missing: reverse all dimensions, as in the seeds
    return methodcaller("transpose", permutation)


def _reshape(info: DispatchInfo) -> MovementKernel:
    shape, _ = parse_type(info.out_types[0])
    if not shape:
        return lambda x: np.reshape(x, ())[()]  # one element of an array is a NumPy scalar
    return methodcaller("reshape", shape)


def _broadcast_to(info: DispatchInfo) -> MovementKernel:
    shape, _ = parse_type(info.out_types[0])
    if -1 not in shape:
        return lambda x: np.broadcast_to(x, shape)

    def run(x: Any) -> Any:
        own = (1,) * (len(shape) - x.ndim) + x.shape
        return np.broadcast_to(x, tuple(o if s == -1 else s for s, o in zip(shape, own, strict=True)))

    return run


def _slice(info: DispatchInfo) -> MovementKernel:
    starts, sizes = sequence(info.attrs, "start"), sequence(info.attrs, "size")
    steps = sequence(info.attrs, "step") or (1,) * len(starts)
    dims = list(zip(starts, sizes, steps, strict=True))
    if not any(a < 0 or n < 0 for a, n, _ in dims) and not (info.in_types and "?" in info.in_types[0]):
        window = tuple(_window(a, n, s) for a, n, s in dims)
        return itemgetter(window)

    def run(x: Any) -> Any:
        return x[tuple(_late_window(*d, size) for d, size in zip(dims, x.shape, strict=True))]

    return run


def _window(start: int, size: int, step: int) -> slice:
    """Return the slice of `size` elements start, start + step ... A stop before the first element has no number, hence None."""
    if size == 0:
        return slice(0, 0)
    stop = start + (size - 1) * step + (1 if step > 0 else -1)
    return slice(start, None if stop < 0 else stop, step)


def _late_window(start: int, size: int, step: int, dimension: int) -> slice:
    """Return the window into a dimension of unknown size. Raises IndexError if it exceeds the dimension."""
    first = start + dimension if start < 0 else start
    if size < 0:
        size = len(range(first, dimension if step > 0 else -1, step))
    if size and not (0 <= first < dimension and 0 <= first + (size - 1) * step < dimension):
        raise IndexError(f"a slice from {start} of size {size} by {step} leaves a dimension of {dimension}")
    return _window(first, size, step)


def _gather(info: DispatchInfo) -> MovementKernel:
    axis = info.attrs.get("axis", 0)
    if axis == 0:
        return operator.getitem
    return lambda x, indices: np.take(x, indices, axis)


def _concat(info: DispatchInfo) -> MovementKernel:
    axis = info.attrs["axis"]
    return lambda *parts: np.concatenate(parts, axis)


def _pad(info: DispatchInfo) -> MovementKernel:
    widths = list(zip(sequence(info.attrs, "low"), sequence(info.attrs, "high"), strict=True))
    if any(n < 0 for width in widths for n in width):
        raise ValueError("a width below 0")

    def run(x: Any, value: Any) -> Any:
        shape = tuple([low + n + high for n, (low, high) in zip(x.shape, widths, strict=True)])
        if math.prod(shape) > MAX_ELEMENTS:
            raise ValueError(f"a result of more than {MAX_ELEMENTS} elements")
        # What numpy.pad does, order in memory included, without its 20 microseconds of Python.
        padded = np.full(shape, value, x.dtype, order="F" if x.flags.fnc else "C")
        padded[tuple([slice(low, low + n) for n, (low, _) in zip(x.shape, widths, strict=True)])] = x
        return padded

    return run


def _dim(info: DispatchInfo) -> MovementKernel:
    axis = info.attrs["axis"]
    return lambda x: x.shape[axis]


def _cast(info: DispatchInfo) -> MovementKernel:
    _, dtype = parse_type(info.out_types[0])
    if info.python_result:
        return lambda x: dtype.type(x).item()
    if dtype.kind not in "iuf":
        return methodcaller("astype", dtype)
    # NumPy drops an imaginary part with a warning.
    return lambda x: (x.real if x.dtype.kind == "c" else x).astype(dtype)


def splat(info: DispatchInfo) -> MovementKernel:
    """Fill an array with a number: the seeds' operator."""
    shape, dtype = parse_type(info.out_types[0])
    if -1 in shape:
        raise ValueError(f"a splat of shape {info.out_types[0]}, which must be known")
    return lambda x: np.full(shape, x, dtype)


MOVEMENT: Mapping[type[FleetOp], Callable[[DispatchInfo], MovementKernel]] = {
    d.TransposeOp: _transpose,
    d.ReshapeOp: _reshape,
    d.BroadcastToOp: _broadcast_to,
    d.SliceOp: _slice,
    d.GatherOp: _gather,
    d.ConcatOp: _concat,
    d.PadOp: _pad,
    d.DimOp: _dim,
    d.CastOp: _cast,
}
