"""Sorts of StableHLO: which arrays are compared, and how, is found by trying numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import dtype_of
from fleet.frontend.mlir.stablehlo.elementwise import ordered
from fleet.frontend.mlir.stablehlo.movement import wanted
from fleet.frontend.mlir.stablehlo.regions import SAMPLES, StableRegions, only
from fleet.frontend.mlir.stablehlo.text import StableOperation, numbers


def _keys(r: StableRegions, op: StableOperation, arrays: Sequence[MlirArray]) -> list[tuple[int, bool]]:
    """Return the operands that are compared, one after the other where those before are equal, and whether the largest is first.

    Found by trying numbers. Raises ModelError if the comparison is of another kind.
    """
    found: list[tuple[int, bool]] = []
    while True:
        rest = [n for n in range(len(arrays)) if n not in dict(found)]
        if not any(_before(r, op, arrays, pairs) for pairs in _pairs(arrays, rest)):
            return found
        key = next(
            (
                (n, down)
                for n in rest
                for down in (False, True)
                if _decides(r, op, arrays, n, [k for k in rest if k != n], down=down)
            ),
            None,
        )
        if key is None:
            r.b.refuse("a sort by a comparison of its own", "arrays are compared one after the other, ascending or descending")
        found.append(key)


def _samples(array: MlirArray) -> Sequence[float]:
    return SAMPLES if array.dtype.kind == "f" else (-1, 0, 2) if array.dtype.kind == "i" else (0, 1)


def _pairs(arrays: Sequence[MlirArray], varied: Sequence[int]) -> Iterator[dict[int, tuple[float, float]]]:
    """Yield pairs of elements of these arrays: all equal, and each alone greater or less."""
    yield {}
    for n in varied:
        high = _samples(arrays[n])[-1]
        yield {n: (0, high)}
        yield {n: (high, 0)}


def _decides(
    r: StableRegions, op: StableOperation, arrays: Sequence[MlirArray], key: int, rest: Sequence[int], *, down: bool
) -> bool:
    """Return whether array `key` decides wherever its elements differ, whatever those of the others are."""
    samples = _samples(arrays[key])
    return all(
        _before(r, op, arrays, {**others, key: (x, y)}) is (x > y if down else x < y)
        for x in samples
        for y in samples
        if x != y
        for others in _pairs(arrays, rest)
    )


def _before(
    r: StableRegions, op: StableOperation, arrays: Sequence[MlirArray], pairs: Mapping[int, tuple[float, float]]
) -> bool | None:
    """What the comparison says of two elements of each array; 0 and 0 where none are given."""
    given = [r.b.known(pairs.get(n, (0, 0))[side], a.dtype) for n, a in enumerate(arrays) for side in range(2)]
    (found,) = r.block(only(op), given)
    if found.known is None:
        r.b.refuse("a sort by a comparison that data decide")
    return bool(found.known.item())


def sort(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Return the arrays in the order that the region says. Raises ModelError if it compares in another way than `_keys` knows."""
    b, axis = r.b, (numbers(op, "dimension") or [-1])[0] % operands[0].rank
    order: MlirArray | None = None
    for key, down in reversed(_keys(r, op, operands)):  # each order keeps that of the keys behind it
        x = operands[key]
        own = _order(b, x if order is None else _along(b, x, order, axis), axis, down=down)
        order = own if order is None else _along(b, order, own, axis)
    b.begin(op)
    return list(operands) if order is None else [_along(b, a, order, axis) for a in operands]


def _order(b: MlirBuild, x: MlirArray, axis: int, *, down: bool) -> MlirArray:
    """Positions that sort; of equal elements the first one comes first, either way."""
    if not down:
        return b.emit("argsort", x, axis=axis)
    if x.dtype.kind == "f":
        return b.emit("argsort", b.emit("neg", x), axis=axis)
    turned = b.known(-1 if x.dtype.kind == "i" else np.iinfo(x.dtype).max, x.dtype) if x.dtype.kind != "b" else None
    return b.emit("argsort", b.emit("logical_not", x) if turned is None else b.emit("bitwise_xor", x, turned), axis=axis)


def _along(b: MlirBuild, x: MlirArray, order: MlirArray, axis: int) -> MlirArray:
    """`np.take_along_axis`."""
    strides = [math.prod(x.shape[n + 1 :]) for n in range(x.rank)]
    rest = sum(
        (np.arange(s, dtype=np.int64) * strides[n]).reshape([-1 if k == n else 1 for k in range(x.rank)])
        for n, s in enumerate(x.shape)
        if n != axis
    ) + np.zeros(order.shape, np.int64)
    flat = b.emit("add", b.emit("mul", order, b.known(strides[axis], np.int64)), b.known(rest))
    return b.emit("gather", b.reshape(x, (math.prod(x.shape),)), flat, axis=0)


def top_k(r: StableRegions, op: StableOperation, operands: Sequence[MlirArray]) -> list[MlirArray]:
    """Return the largest elements along the last dimension, descending, and their positions.

    Floats are in the total order of IEEE 754, as XLA has it: NaN stands before all, and -0.0 behind 0.0.
    """
    b, (x,) = r.b, operands
    axis, (count,) = x.rank - 1, wanted(b, op, "k")
    shape = (*x.shape[:-1], count)
    keys = ordered(b, x) if x.dtype.kind == "f" else x
    order = b.window(_order(b, keys, axis, down=True), [0] * x.rank, shape, [1] * x.rank)
    return [_along(b, x, order, axis), b.cast(order, dtype_of(b, op.results[1].type))]
