"""Operations of StableHLO that move elements: shapes, windows, gather and scatter."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import dtype_of
from fleet.frontend.mlir.loops import MAX_ROUNDS
from fleet.frontend.mlir.scalars import Rule, constant
from fleet.frontend.mlir.stablehlo.text import StableOperation, numbers, words
from fleet.frontend.mlir.tensors import framed, written


def wanted(b: MlirBuild, op: StableOperation, *names: str) -> list[int]:
    """Return the numbers of an attribute that has one of these names. Raises ModelError without one."""
    found = numbers(op, *names)
    if found is None:
        b.refuse(f"{op.name} without {names[-1]}")
    return found


def shape_of_result(b: MlirBuild, op: StableOperation, number: int = 0) -> tuple[int, ...]:
    """Return the shape of a result. Raises ModelError if a size is unknown."""
    type_ = op.results[number].type
    sizes = type_.get_shape() if isinstance(type_, TensorType) else (-1,)
    if any(s < 0 for s in sizes):
        b.refuse(f"{op.name} gives sizes that its text does not say", "export the model with sizes")
    return sizes


def _constant(b: MlirBuild, op: StableOperation) -> MlirArray:
    value = op.properties.get("value", op.attributes.get("value"))
    return b.refuse("a constant without its value") if value is None else constant(b, value)


def _iota(b: MlirBuild, op: StableOperation) -> MlirArray:
    shape = shape_of_result(b, op)
    (axis,) = wanted(b, op, "iota_dimension", "dimension")
    count = np.arange(shape[axis]).reshape([-1 if n == axis else 1 for n in range(len(shape))])
    return b.known(np.broadcast_to(count, shape), dtype_of(b, op.results[0].type))


def _broadcast(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    dims, shape = wanted(b, op, "broadcast_dimensions", "dimensions"), shape_of_result(b, op)
    order = sorted(range(len(dims)), key=dims.__getitem__)
    spread = [1] * len(shape)
    for axis, size in zip(dims, x.shape, strict=True):
        spread[axis] = size
    return b.broadcast(b.reshape(b.transpose(x, order), spread), shape)


def _reshape(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    return b.reshape(x, shape_of_result(b, op))


def _transpose(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    return b.transpose(x, wanted(b, op, "permutation", "dimensions"))


def _slice(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    start, limit, step = (wanted(b, op, name) for name in ("start_indices", "limit_indices", "strides"))
    size = [len(range(*bounds)) for bounds in zip(start, limit, step, strict=True)]
    return b.window(x, start, size, step)


def _reverse(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    axes = wanted(b, op, "dimensions")
    start = [s - 1 if n in axes else 0 for n, s in enumerate(x.shape)]
    return b.window(x, start, x.shape, [-1 if n in axes else 1 for n in range(x.rank)])


def _concatenate(b: MlirBuild, op: StableOperation, *parts: MlirArray) -> MlirArray:
    return b.concat(parts, wanted(b, op, "dimension")[0])


def spaced(b: MlirBuild, x: MlirArray, value: MlirArray, between: Sequence[int]) -> MlirArray:
    """Return an array with so many values between neighbours, for every dimension."""
    for axis, count in enumerate(between):
        if count and x.shape[axis] > 1:
            long = b.reshape(x, (*x.shape[: axis + 1], 1, *x.shape[axis + 1 :]))
            high = [count if n == axis + 1 else 0 for n in range(long.rank)]
            long = b.emit("pad", long, value, low=[0] * long.rank, high=high)
            shape = [s * (count + 1) if n == axis else s for n, s in enumerate(x.shape)]
            sizes = [s - count if n == axis else s for n, s in enumerate(shape)]
            x = b.window(b.reshape(long, shape), [0] * x.rank, sizes, [1] * x.rank)
    return x


def edged(b: MlirBuild, x: MlirArray, value: MlirArray, low: Sequence[int], high: Sequence[int]) -> MlirArray:
    """Return an array with margins; negative ones cut."""
    cut = [max(0, -n) for n in low], [max(0, -n) for n in high]
    x = b.window(x, cut[0], [s - i - j for s, i, j in zip(x.shape, *cut, strict=True)], [1] * x.rank)
    low, high = [max(0, n) for n in low], [max(0, n) for n in high]
    return b.emit("pad", x, b.reshape(value, ()), low=low, high=high) if any((*low, *high)) else x


def _pad(b: MlirBuild, op: StableOperation, x: MlirArray, value: MlirArray) -> MlirArray:
    low, high, between = (wanted(b, op, n) for n in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    return edged(b, spaced(b, x, b.reshape(value, ()), between), value, low, high)


def _starts(b: MlirBuild, given: Sequence[MlirArray], sizes: Sequence[int], shape: Sequence[int]) -> list[MlirArray]:
    """Where a window starts: it is moved inside."""
    found: list[MlirArray] = []
    for start, size, length in zip(given, sizes, shape, strict=True):
        at = b.emit("maximum", b.cast(b.reshape(start, ()), np.int64), b.known(0, np.int64))
        found.append(b.emit("minimum", at, b.known(length - size, np.int64)))
    return found


def _known(arrays: Sequence[MlirArray]) -> list[int] | None:
    known = [a.known for a in arrays]
    return [int(k.item()) for k in known if k is not None] if all(k is not None for k in known) else None


def _dynamic_slice(b: MlirBuild, op: StableOperation, x: MlirArray, *given: MlirArray) -> MlirArray:
    sizes = wanted(b, op, "slice_sizes")
    starts = _starts(b, given, sizes, x.shape)
    known = _known(starts)
    if known is not None:
        return b.window(x, known, sizes, [1] * x.rank)
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        if size != x.shape[axis]:
            x = b.emit("gather", x, b.emit("add", b.known(np.arange(size, dtype=np.int64)), start), axis=axis)
    return x


def _dynamic_update_slice(b: MlirBuild, _op: StableOperation, x: MlirArray, part: MlirArray, *given: MlirArray) -> MlirArray:
    starts = _starts(b, given, part.shape, x.shape)
    known = _known(starts)
    return written(b, part, x, starts, [1] * x.rank) if known is None else framed(b, part, x, known, 0)


def fields_of(text: str) -> dict[str, list[int]]:
    """Return the lists and numbers of an attribute's text, `offset_dims = [1], index_vector_dim = 1`."""
    found = re.findall(r"(\w+)\s*=\s*(\[[^\]]*\]|-?\d+)", text)
    return {name: [int(n) for n in re.findall(r"-?\d+", value)] for name, value in found}


def _positions(
    b: MlirBuild, indices: MlirArray, vector: int, mapped: Sequence[int], shape: Sequence[int], sizes: Sequence[int]
) -> tuple[MlirArray, MlirArray | None, list[int]]:
    """Flat positions of the first elements of windows [batch], moved inside; whether they were inside; the batch's shape."""
    if vector == indices.rank:
        indices = b.reshape(indices, (*indices.shape, 1))
    batch = [s for n, s in enumerate(indices.shape) if n != vector]
    order = [n for n in range(indices.rank) if n != vector]
    table = b.cast(b.reshape(b.transpose(indices, [vector, *order]), (len(mapped), math.prod(batch))), np.int64)
    strides = [math.prod(shape[n + 1 :]) for n in range(len(shape))]
    flat, inside = b.known(np.zeros(math.prod(batch), np.int64)), None
    for row, axis in enumerate(mapped):
        at = b.reshape(b.window(table, [row, 0], [1, math.prod(batch)], [1, 1]), (math.prod(batch),))
        moved = b.emit("minimum", b.emit("maximum", at, b.known(0, np.int64)), b.known(shape[axis] - sizes[axis], np.int64))
        here = b.emit("equal", moved, at)
        inside = here if inside is None else b.emit("logical_and", inside, here)
        flat = b.emit("add", flat, b.emit("mul", moved, b.known(strides[axis], np.int64)))
    return flat, inside, batch


def _offsets(shape: Sequence[int], sizes: Sequence[int], dropped: Sequence[int]) -> np.ndarray:
    """Flat positions of a window's elements from its first one, without the dimensions that are dropped."""
    strides = [math.prod(shape[n + 1 :]) for n in range(len(shape))]
    grid: np.ndarray = np.zeros([s for n, s in enumerate(sizes) if n not in dropped], np.int64)
    kept = [n for n in range(len(sizes)) if n not in dropped]
    for place, axis in enumerate(kept):
        grid = grid + (np.arange(sizes[axis]) * strides[axis]).reshape([-1 if k == place else 1 for k in range(len(kept))])
    return grid


def _woven(b: MlirBuild, array: MlirArray, batch: Sequence[int], window: Sequence[int], places: Sequence[int]) -> MlirArray:
    """Return an array [batch, window] with the window's dimensions at these places of the result."""
    rank = len(batch) + len(window)
    rest = iter(range(len(batch)))
    order = [len(batch) + list(places).index(n) if n in places else next(rest) for n in range(rank)]
    return b.transpose(b.reshape(array, (*batch, *window)), order)


def _windows_at(
    b: MlirBuild, x: MlirArray, flat: MlirArray, batch: Sequence[int], offsets: np.ndarray, places: Sequence[int]
) -> MlirArray:
    """Return the elements at `offsets` from each of the positions `flat`."""
    every = b.emit("add", b.reshape(flat, (math.prod(batch), 1)), b.known(offsets.reshape(1, -1)))
    found = b.emit("gather", b.reshape(x, (math.prod(x.shape),)), every, axis=0)
    return _woven(b, found, batch, offsets.shape, places)


def _gather(b: MlirBuild, op: StableOperation, x: MlirArray, indices: MlirArray) -> MlirArray:
    fields = fields_of(words(op, "dimension_numbers"))
    if fields.get("operand_batching_dims"):
        return _batched_gather(b, op, x, indices, fields)
    sizes = wanted(b, op, "slice_sizes")
    mapped, dropped = fields.get("start_index_map", []), fields.get("collapsed_slice_dims", [])
    flat, _, batch = _positions(b, indices, fields.get("index_vector_dim", [0])[0], mapped, x.shape, sizes)
    places = fields.get("offset_dims", [])
    if (
        len(mapped) == 1
        and dropped == mapped
        and all(s == n for a, (s, n) in enumerate(zip(sizes, x.shape, strict=True)) if a != mapped[0])
    ):
        axis, stride = mapped[0], math.prod(x.shape[mapped[0] + 1 :])
        rows = flat if stride == 1 else b.emit("floor_div", flat, b.known(stride, np.int64))
        taken = b.emit("gather", x, rows, axis=axis)
        window = [s for n, s in enumerate(x.shape) if n != axis]
        order = [axis, *(n for n in range(x.rank) if n != axis)]
        return _woven(b, b.transpose(taken, order), batch, window, places)
    return _windows_at(b, x, flat, batch, _offsets(x.shape, sizes, dropped), places)


def _batched_gather(
    b: MlirBuild, op: StableOperation, x: MlirArray, indices: MlirArray, fields: Mapping[str, list[int]]
) -> MlirArray:
    batching, vector = fields["operand_batching_dims"], fields.get("index_vector_dim", [0])[0]
    mapped = [*fields.get("start_index_map", []), *batching]
    dropped = sorted([*fields.get("collapsed_slice_dims", []), *batching])
    sizes = wanted(b, op, "slice_sizes")
    indices = _with_batches(b, indices, vector, fields["start_indices_batching_dims"])
    flat, _, batch = _positions(b, indices, vector, mapped, x.shape, sizes)
    return _windows_at(b, x, flat, batch, _offsets(x.shape, sizes, dropped), fields.get("offset_dims", []))


def _with_batches(b: MlirBuild, indices: MlirArray, vector: int, batching: Sequence[int]) -> MlirArray:
    """Return indices of the batch dimensions too: they become ordinary ones whose index is the position in the batch."""
    if not batching:
        return indices
    if vector == indices.rank:
        indices = b.reshape(indices, (*indices.shape, 1))
    parts = [b.cast(indices, np.int64)]
    for axis in batching:
        shape = [1 if n == vector else s for n, s in enumerate(indices.shape)]
        count = np.arange(shape[axis], dtype=np.int64).reshape([-1 if n == axis else 1 for n in range(len(shape))])
        parts.append(b.known(np.ascontiguousarray(np.broadcast_to(count, shape))))
    return b.concat(parts, vector)


Combine = Callable[[MlirArray, MlirArray], MlirArray]
"""What becomes of elements and of updates to them."""


def scattered(
    b: MlirBuild, op: StableOperation, x: MlirArray, indices: MlirArray, updates: MlirArray, reduction: str | Combine
) -> MlirArray:
    """`x` with windows written, or combined with it; a window that is not inside as a whole is left out, as XLA does it.

    reduction: of fleet's scatter, or any function: then windows are combined one after the other, or all at once if none of
    them meets another.
    """
    fields = fields_of(words(op, "scatter_dimension_numbers"))
    batching, vector = fields.get("input_batching_dims", []), fields.get("index_vector_dim", [0])[0]
    indices = _with_batches(b, indices, vector, fields.get("scatter_indices_batching_dims", []))
    mapped = [*fields.get("scatter_dims_to_operand_dims", []), *batching]
    dropped = [*fields.get("inserted_window_dims", []), *batching]
    places = fields.get("update_window_dims", [])
    window = [updates.shape[n] for n in places]
    rest = iter(window)
    sizes = [1 if n in dropped else next(rest) for n in range(x.rank)]
    count = math.prod(x.shape)
    flat, inside, batch = _positions(b, indices, vector, mapped, x.shape, sizes)
    offsets = _offsets(x.shape, sizes, dropped)
    every = b.emit("add", b.reshape(flat, (math.prod(batch), 1)), b.known(offsets.reshape(1, -1)))
    if inside is not None:
        here = b.broadcast(b.reshape(inside, (math.prod(batch), 1)), every.shape)
        every = b.emit("where", here, every, b.known(np.full(every.shape, count, np.int64)))
    order = [n for n in range(updates.rank) if n not in places] + list(places)
    values = b.reshape(b.transpose(updates, order), (math.prod(updates.shape),))
    long = b.concat([b.reshape(x, (count,)), b.known(np.zeros(1, x.dtype))], 0)  # the last place takes what is left out
    at = b.reshape(every, (math.prod(every.shape),))
    if isinstance(reduction, str):
        done = b.emit("scatter", long, at, values, reduction=reduction)
    else:
        apart = any(numbers(op, "unique_indices") or []) or _apart(at, count)
        done = _combined(b, long, at, values, 1 if apart else math.prod(batch), reduction)
    return b.reshape(b.window(done, [0], [count], [1]), x.shape)


def _apart(places: MlirArray, end: int) -> bool:
    """Return whether no place is known to be met twice, but for that of what is left out."""
    if places.known is None:
        return False
    met = places.known[places.known < end]
    return len(np.unique(met)) == met.size


def _combined(b: MlirBuild, long: MlirArray, places: MlirArray, values: MlirArray, parts: int, combine: Combine) -> MlirArray:
    """Combine elements at places with values, in so many parts, one after the other."""
    if parts > MAX_ROUNDS:
        b.refuse(
            f"a scatter of {parts:,} updates by a function of its own",
            f"at most {MAX_ROUNDS:,} are followed; unique_indices = true says that none meets another",
        )
    size = places.shape[0] // max(parts, 1)
    for n in range(parts):
        at, given = (b.window(a, [n * size], [size], [1]) for a in (places, values))
        long = b.emit("scatter", long, at, combine(b.emit("gather", long, at, axis=0), given), reduction="none")
    return long


def windows(b: MlirBuild, x: MlirArray, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> list[MlirArray]:
    """Return, for every place of the kernel, the elements that it meets, one for each place of the window."""
    size = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(x.shape, kernel, stride, dilation, strict=True)]
    return [
        b.window(x, [k * d for k, d in zip(place, dilation, strict=True)], size, stride)
        for place in itertools.product(*(range(k) for k in kernel))
    ]


RULES: Mapping[str, Rule] = {
    "constant": _constant, "iota": _iota, "broadcast_in_dim": _broadcast, "reshape": _reshape, "transpose": _transpose,
    "slice": _slice, "reverse": _reverse, "concatenate": _concatenate, "pad": _pad, "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice, "gather": _gather,
}  # fmt: skip
"""Operation without its dialect -> what computes it."""
