"""Elements of tensors by computed positions: `tensor.extract` of arrays of positions, `tensor.insert`."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fleet.frontend.mlir.build import MlirArray, MlirBuild


def extracted(b: MlirBuild, array: MlirArray, indices: Sequence[MlirArray]) -> MlirArray:
    """Return `array[indices]`, the indices broadcast against each other."""
    if not indices:
        return array
    one = _along_an_axis(b, array, indices)
    if one is not None:
        return one
    if all(i.known is not None and i.known.size == 1 for i in indices):
        start = [int(i.known.item()) for i in indices if i.known is not None]
        inside(b, start, array.shape)
        return b.reshape(b.window(array, start, [1] * array.rank, [1] * array.rank), ())
    flat = b.known(0, np.int64)
    for index, size in zip(indices, array.shape, strict=True):
        flat = b.emit("add", b.emit("mul", flat, b.known(size, np.int64)), index)
    return b.emit("gather", b.reshape(array, (math.prod(array.shape),)), flat, axis=0)


def _along_an_axis(b: MlirBuild, array: MlirArray, indices: Sequence[MlirArray]) -> MlirArray | None:
    """Return the elements if one position is computed and the others go over their whole dimensions, each a loop of its own."""
    rank = max(i.rank for i in indices)
    computed = [n for n, i in enumerate(indices) if i.known is None or i.known.size == 1]
    if len(computed) != 1 or array.rank < 2:
        return None
    axis = computed[0]
    loops: list[int] = []
    for n, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
        if n == axis:
            continue
        known = index.known
        if known is None or known.size != size or known.reshape(-1).tolist() != list(range(size)) or size == 1:
            return None
        loops.append(rank - known.ndim + known.shape.index(size))
    index = indices[axis]
    own = [rank - index.rank + n for n, size in enumerate(index.shape) if size != 1]
    if set(own) & set(loops) or len(set(loops)) != len(loops):
        return None
    if index.known is not None:
        inside(b, [int(index.known.item())], [array.shape[axis]])
    taken = b.emit("gather", array, b.reshape(index, [s for s in index.shape if s != 1]), axis=axis)
    order = [*loops[:axis], *own, *loops[axis:]]
    taken = b.transpose(taken, sorted(range(len(order)), key=order.__getitem__))
    shape = [1] * rank
    for size, loop in zip(taken.shape, sorted(order), strict=True):
        shape[loop] = size
    return b.reshape(taken, shape)


def inside(b: MlirBuild, index: Sequence[int], shape: Sequence[int]) -> None:
    """Raise ModelError for a position that a tensor does not have."""
    for i, size in zip(index, shape, strict=True):
        if not 0 <= i < size:
            b.refuse(f"index {i} of a dimension of size {size}")


def inserted(b: MlirBuild, number: MlirArray, array: MlirArray, indices: Sequence[MlirArray]) -> MlirArray:
    """Return `array` with one element changed."""
    here: MlirArray | None = None
    for n, (index, size) in enumerate(zip(indices, array.shape, strict=True)):
        count = b.known(np.arange(size, dtype=np.int64).reshape([-1] + [1] * (array.rank - n - 1)))
        same = b.emit("equal", count, index)
        here = same if here is None else b.emit("logical_and", here, same)
    if here is None:
        return number
    return b.emit("where", here, b.broadcast(number, array.shape), array)
