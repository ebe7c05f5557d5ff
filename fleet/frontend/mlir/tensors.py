"""Operations of tensor: sizes, windows, shapes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import dtype_of
from fleet.frontend.mlir.elements import extracted, inserted


def number(b: MlirBuild, array: MlirArray, what: str) -> int:
    """Return a size or position that must be known. Raises ModelError if data decide it."""
    if array.known is None:
        b.refuse(f"{what} depends on data", "sizes and bounds of loops must follow from the shapes")
        raise AssertionError
    return int(array.known.item())


def shape_from(b: MlirBuild, op: Operation, sizes: Sequence[MlirArray]) -> tuple[int, ...]:
    """Return the shape of the result's type, its unknown dimensions taken from `sizes`."""
    given = iter(sizes)
    type_: Any = op.results[0].type
    return tuple(d if d != DYNAMIC_INDEX else number(b, next(given), "a size") for d in type_.get_shape())


def _empty(b: MlirBuild, op: Operation, *sizes: MlirArray) -> MlirArray:
    shape = shape_from(b, op, sizes)
    return b.known(np.broadcast_to(np.zeros((), dtype_of(b, op.results[0].type)), shape))


def _splat(b: MlirBuild, op: Operation, value: MlirArray, *sizes: MlirArray) -> MlirArray:
    return filled(b, value, shape_from(b, op, sizes))


def filled(b: MlirBuild, value: MlirArray, shape: Sequence[int]) -> MlirArray:
    """Return a tensor of one number."""
    if value.known is not None:
        return b.known(np.broadcast_to(value.known.reshape(()), tuple(shape)))
    return b.broadcast(b.reshape(value, ()), shape)


def _dim(b: MlirBuild, _op: Operation, array: MlirArray, axis: MlirArray) -> MlirArray:
    return b.known(array.shape[number(b, axis, "an axis")], np.int64)


def _extract(b: MlirBuild, _op: Operation, array: MlirArray, *indices: MlirArray) -> MlirArray:
    return extracted(b, array, indices)


def _insert(b: MlirBuild, _op: Operation, value: MlirArray, array: MlirArray, *indices: MlirArray) -> MlirArray:
    return inserted(b, value, array, indices)


def _from_elements(b: MlirBuild, op: Operation, *elements: MlirArray) -> MlirArray:
    type_: Any = op.results[0].type
    shape = tuple(type_.get_shape())
    if all(e.known is not None for e in elements):
        return b.known(np.array([e.known for e in elements], dtype_of(b, type_)).reshape(shape))
    return b.reshape(b.concat([b.reshape(e, (1,)) for e in elements], 0), shape)


def _cast(b: MlirBuild, op: Operation, array: MlirArray) -> MlirArray:
    type_: Any = op.results[0].type
    if any(d not in (DYNAMIC_INDEX, s) for d, s in zip(type_.get_shape(), array.shape, strict=True)):
        b.refuse(f"a tensor of shape {list(array.shape)} as {type_}")
    return array


def _reshape(b: MlirBuild, _op: Operation, array: MlirArray, shape: MlirArray) -> MlirArray:
    if shape.known is None:
        b.refuse("a shape depends on data")
        raise AssertionError
    return _shaped(b, array, [int(s) for s in shape.known])


def _shaped(b: MlirBuild, array: MlirArray, shape: Sequence[int]) -> MlirArray:
    if math.prod(shape) != math.prod(array.shape):
        b.refuse(f"a tensor of shape {list(array.shape)} as one of shape {list(shape)}")
    return b.reshape(array, shape)


def _expand(b: MlirBuild, op: Operation, array: MlirArray, *sizes: MlirArray) -> MlirArray:
    return _shaped(b, array, shape_from(b, op, sizes))


def _collapse(b: MlirBuild, op: Operation, array: MlirArray) -> MlirArray:
    collapse: Any = op
    groups = [[int(n.value.data) for n in group.data] for group in collapse.reassociation.data]
    return _shaped(b, array, [math.prod(array.shape[n] for n in group) for group in groups])


def _concat(b: MlirBuild, op: Operation, *parts: MlirArray) -> MlirArray:
    concat: Any = op
    return b.concat(parts, int(concat.dim.value.data))


def _bounds(b: MlirBuild, op: Any, given: Mapping[str, Sequence[MlirArray]]) -> list[list[MlirArray]]:
    """Return offsets, sizes and strides, each known or computed."""
    found: list[list[MlirArray]] = []
    for name in ("offsets", "sizes", "strides"):
        rest = iter(given[name])
        values = op.properties[f"static_{name}"].get_values()
        found.append([b.known(v, np.int64) if v != DYNAMIC_INDEX else next(rest) for v in values])
    return found


def _groups(op: Any, operands: Sequence[MlirArray]) -> list[list[MlirArray]]:
    """Return the operands by the segments of the operation."""
    sizes = [int(v) for v in op.properties["operandSegmentSizes"].get_values()]
    rest = iter(operands)
    return [[next(rest) for _ in range(n)] for n in sizes]


def _extract_slice(b: MlirBuild, op: Operation, *operands: MlirArray) -> MlirArray:
    (array,), *rest = _groups(op, operands)
    offsets, sizes, strides = _bounds(b, op, dict(zip(("offsets", "sizes", "strides"), rest, strict=True)))
    size, step = [number(b, s, "a size") for s in sizes], [number(b, s, "a stride") for s in strides]
    if min(step, default=1) < 1:
        b.refuse("a stride of a window below 1")
    found = array
    if all(o.known is not None for o in offsets):
        start = [number(b, o, "an offset") for o in offsets]
        for o, n, s, whole in zip(start, size, step, array.shape, strict=True):
            if o < 0 or n < 0 or (n and o + (n - 1) * s >= whole):
                b.refuse(f"a window from {o} of {n} elements by {s} in a dimension of size {whole}")
        found = b.window(array, start, size, step)
    else:
        for axis, (offset, n, s) in enumerate(zip(offsets, size, step, strict=True)):
            places = b.emit("add", b.known(np.arange(n, dtype=np.int64) * s), b.reshape(offset, ()))
            found = b.emit("gather", found, places, axis=axis)
    return _ranked(b, op.results[0].type, found)


def _ranked(b: MlirBuild, type_: Any, array: MlirArray) -> MlirArray:
    """Return an array without the dimensions of size 1 that a type of lower rank lacks."""
    wanted = list(type_.get_shape())
    if len(wanted) == array.rank:
        return array
    kept: list[int] = []
    left = list(wanted)
    for n, size in enumerate(array.shape):
        rest = array.rank - n
        if left and (left[0] == size or left[0] == DYNAMIC_INDEX) and not (size == 1 and rest > len(left) and left[0] != 1):
            kept.append(size)
            left.pop(0)
        elif size != 1:
            b.refuse(f"a window of shape {list(array.shape)} as {type_}")
    return b.reshape(array, kept)


def _insert_slice(b: MlirBuild, op: Operation, *operands: MlirArray) -> MlirArray:
    (part,), (whole,), *rest = _groups(op, operands)
    offsets, sizes, strides = _bounds(b, op, dict(zip(("offsets", "sizes", "strides"), rest, strict=True)))
    size, step = [number(b, s, "a size") for s in sizes], [number(b, s, "a stride") for s in strides]
    part = _shaped(b, part, size)
    if any(o.known is None for o in offsets):
        return written(b, part, whole, offsets, step)
    start = [number(b, o, "an offset") for o in offsets]
    for o, n, s, length in zip(start, size, step, whole.shape, strict=True):
        if o < 0 or s < 1 or (n and o + (n - 1) * s >= length):
            b.refuse(f"a window from {o} of {n} elements by {s} in a dimension of size {length}")
    if 0 in size:
        return whole
    if any(s != 1 and n > 1 for s, n in zip(step, size, strict=True)):
        return written(b, part, whole, offsets, step)
    return framed(b, part, whole, start, 0)


def framed(b: MlirBuild, part: MlirArray, whole: MlirArray, start: Sequence[int], axis: int) -> MlirArray:
    """Return `whole` with a window in its middle, a piece a side: from `axis` on; before it they are of one size."""
    if axis == whole.rank:
        return part

    def piece(begin: int, end: int) -> MlirArray:
        sizes = [end - begin if n == axis else s for n, s in enumerate(whole.shape)]
        return b.window(whole, [begin if n == axis else 0 for n in range(whole.rank)], sizes, [1] * whole.rank)

    begin, end = start[axis], start[axis] + part.shape[axis]
    middle = framed(b, part, piece(begin, end), start, axis + 1)
    return b.concat([piece(0, begin), middle, piece(end, whole.shape[axis])], axis)


def written(b: MlirBuild, part: MlirArray, whole: MlirArray, offsets: Sequence[MlirArray], step: Sequence[int]) -> MlirArray:
    """Return `whole` with a window that data place, or that has strides: each element looks whether it is of the window."""
    found, here = part, None
    for axis, (offset, stride) in enumerate(zip(offsets, step, strict=True)):
        n, length = part.shape[axis], whole.shape[axis]
        count = b.emit("sub", b.known(np.arange(length, dtype=np.int64)), b.reshape(offset, ()))
        place = b.emit("floor_div", count, b.known(stride, np.int64))
        within = b.emit("equal", b.emit("mul", place, b.known(stride, np.int64)), count)
        for name, limit in (("greater_equal", 0), ("less", n)):
            within = b.emit("logical_and", within, b.emit(name, place, b.known(limit, np.int64)))
        place = b.emit("minimum", b.emit("maximum", place, b.known(0, np.int64)), b.known(n - 1, np.int64))
        found = b.emit("gather", found, place, axis=axis)
        within = b.reshape(within, [length] + [1] * (whole.rank - axis - 1))
        here = within if here is None else b.emit("logical_and", here, within)
    return found if here is None else b.emit("where", here, found, whole)


def pad_parts(b: MlirBuild, op: Operation, operands: Sequence[MlirArray]) -> tuple[MlirArray, list[list[int]], Any]:
    """Return a pad's operand, its margins below and above, and the value that fills them."""
    pad: Any = op
    (array,), low, high = _groups(op, operands)
    ends: list[list[int]] = []
    for name, rest in (("static_low", iter(low)), ("static_high", iter(high))):
        values = pad.properties[name].get_values()
        ends.append([int(v) if v != DYNAMIC_INDEX else number(b, next(rest), "a margin") for v in values])
    last = pad.regions[0].block.last_op
    return array, ends, last.operands[0]


def _transpose(b: MlirBuild, op: Operation, array: MlirArray, _out: MlirArray) -> MlirArray:
    return b.transpose(array, _numbers(op, "permutation"))


def _broadcast(b: MlirBuild, op: Operation, array: MlirArray, out: MlirArray) -> MlirArray:
    added = _numbers(op, "dimensions")
    shape = [1 if n in added else s for n, s in enumerate(out.shape)]
    return b.broadcast(_shaped(b, array, shape), out.shape)


def _numbers(op: Any, name: str) -> list[int]:
    return [int(v) for v in op.properties[name].get_values()]


def _fill(b: MlirBuild, _op: Operation, value: MlirArray, out: MlirArray) -> MlirArray:
    return filled(b, value, out.shape)


def _copy(_b: MlirBuild, _op: Operation, array: MlirArray, _out: MlirArray) -> MlirArray:
    return array


Rule = Callable[..., MlirArray]

RULES: Mapping[str, Rule] = {
    "tensor.empty": _empty, "tensor.splat": _splat, "tensor.dim": _dim, "tensor.extract": _extract, "tensor.insert": _insert,
    "tensor.from_elements": _from_elements, "tensor.cast": _cast, "tensor.reshape": _reshape, "tensor.expand_shape": _expand,
    "tensor.collapse_shape": _collapse, "tensor.concat": _concat, "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice, "linalg.transpose": _transpose, "linalg.broadcast": _broadcast, "linalg.fill": _fill,
    "linalg.copy": _copy,
}  # fmt: skip
"""Operation -> what computes it."""
