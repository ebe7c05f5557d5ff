"""Matrix product: register blocked, columns of the right operand packed so that the inner loop is contiguous.

A tile of the result stays in registers while the inner loop runs over the reduction in ascending order with one fused
multiply-add a step (float) or multiply and add modulo 2**n (integer): every element is the sequential sum over k, whatever
tile it falls into, so a result does not depend on the batch that it was computed in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fleet.targets.riscv._kernel import (
    Array,
    Builder,
    Carried,
    Value,
    broadcast_strides,
    convert,
    index,
    is_float,
    load,
    loop,
    nest,
    number,
    store,
)
from fleet.targets.riscv._kernel import (
    fold as fold_loop,
)

_FLOAT_TILES = {1: (1, 16), 2: (2, 8), 3: (3, 5), 4: (4, 4)}
_INTEGER_TILES = {1: (1, 8), 2: (2, 4)}
"""Rows and columns of a tile by the number of rows of the left operand; the last entry for more rows.

rows * columns accumulators plus rows + 1 operands fit the 32 float registers, or what pointers leave of 31 integer ones.
"""
_PACK_ROWS = 8
"""From so many rows on, copying the columns costs less than walking them with a stride."""


@dataclass(frozen=True)
class _Shape:
    rows: int
    depth: int
    columns: int
    tile: tuple[int, int]

    @property
    def packed(self) -> bool:
        return self.rows >= _PACK_ROWS


def _shape(lhs: tuple[int, ...], rhs: tuple[int, ...], dtype: np.dtype) -> _Shape:
    tiles = _FLOAT_TILES if is_float(dtype) else _INTEGER_TILES
    return _Shape(lhs[-2], lhs[-1], rhs[-1], tiles[min(max(1, lhs[-2]), len(tiles))])


def workspace(lhs: tuple[int, ...], rhs: tuple[int, ...], dtype: np.dtype) -> int:
    """Bytes of scratch that the product of these shapes needs."""
    shape = _shape(lhs, rhs, dtype)
    return shape.depth * shape.tile[1] * dtype.itemsize if shape.packed else 0


def emit_matmul(b: Builder, out: Array, lhs: Array, rhs: Array, scratch: Value) -> None:
    """out = lhs @ rhs. Operands are converted to the result's dtype; `scratch` has `workspace` bytes.

    Shapes must fit: lhs [..., M, K], rhs [..., K, N], out [..., M, N], leading dimensions broadcast.
    """
    _Product(b, out, lhs, rhs, scratch).emit()


class _Product:
    def __init__(self, b: Builder, out: Array, lhs: Array, rhs: Array, scratch: Value) -> None:
        self.b, self.out, self.lhs, self.rhs = b, out, lhs, rhs
        self.shape = _shape(lhs.shape, rhs.shape, out.dtype)
        self.columns = Array(scratch, out.dtype, (self.shape.depth * self.shape.tile[1],))

    def emit(self) -> None:
        lead = self.out.shape[:-2]
        strides = [self.out.strides[:-2], *(self._lead(a, lead) for a in (self.lhs, self.rhs))]
        nest(self.b, lead, strides, [index(0)] * 3, lambda offsets: self._matrix(*offsets))

    def _lead(self, array: Array, lead: tuple[int, ...]) -> tuple[int, ...]:
        strides = broadcast_strides(Array(array.pointer, array.dtype, (*array.shape[:-2], 1)), (*lead, 1))
        assert strides is not None, "shapes are checked before code is made"
        matrix = array.shape[-2] * array.shape[-1]
        return tuple(s * matrix for s in strides[:-1])

    def _matrix(self, out: Value, lhs: Value, rhs: Value) -> None:
        b, width = self.b, self.shape.tile[1]
        full, rest = divmod(self.shape.columns, width)
        loop(b, full, lambda j: self._columns(out, lhs, rhs, b.mul(j, index(width)), width))
        if rest:
            self._columns(out, lhs, rhs, index(full * width), rest)

    def _columns(self, out: Value, lhs: Value, rhs: Value, first: Value, width: int) -> None:
        b = self.b
        height = self.shape.tile[0]
        full, rest = divmod(self.shape.rows, height)
        right = b.add(rhs, first)
        if self.shape.packed:
            self._pack(right, width)
        loop(b, full, lambda i: self._tile(out, lhs, right, first, b.mul(i, index(height)), height, width))
        if rest:
            self._tile(out, lhs, right, first, index(full * height), rest, width)

    def _pack(self, right: Value, width: int) -> None:
        b = self.b

        def row(k: Value) -> None:
            source = b.add(right, b.mul(k, index(self.shape.columns)))
            target = b.mul(k, index(width))
            for j in range(width):
                value = load(b, self.rhs, b.add(source, index(j)), self.out.dtype)
                store(b, self.columns, b.add(target, index(j)), value)

        loop(b, self.shape.depth, row)

    def _tile(self, out: Value, lhs: Value, right: Value, first: Value, row: Value, height: int, width: int) -> None:
        b, dtype = self.b, self.out.dtype
        left = b.add(lhs, b.mul(row, index(self.shape.depth)))
        step = width if self.shape.packed else self.shape.columns
        source = self.columns if self.shape.packed else self.rhs
        begin = index(0) if self.shape.packed else right

        def body(k: Value, sums: Carried) -> Carried:
            at = b.add(begin, b.mul(k, index(step)))
            xs = [load(b, self.lhs, b.add(left, b.add(k, index(i * self.shape.depth))), dtype) for i in range(height)]
            result: Carried = list(sums)
            for j in range(width):
                y = convert(b, load(b, source, b.add(at, index(j))), source.dtype, dtype)
                for i, x in enumerate(xs):
                    n = i * width + j
                    result[n] = b.fma(x, y, sums[n]) if is_float(dtype) else b.add(b.mul(x, y), sums[n])
            return result

        sums = fold_loop(b, self.shape.depth, [number(dtype, 0)] * (height * width), body)
        target = b.add(b.add(out, first), b.mul(row, index(self.shape.columns)))
        for n, value in enumerate(sums):
            i, j = divmod(n, width)
            store(b, self.out, b.add(target, index(i * self.shape.columns + j)), value)
