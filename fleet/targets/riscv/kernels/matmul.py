"""Matrix product with register blocking; vectors, if available, run along the columns.

A tile of the result stays in registers while the inner loop runs over the reduction in ascending order, with one fused multiply-add
per step (float) or multiply and add modulo 2**n (integer). Every element is the sequential sum over k in any tile, so a result
depends neither on the batch nor on the instruction set.

Operands may have any layout (a transposed matrix is read in place). A block of columns of the right operand is first copied into
scratch memory if that costs less than strided access: for many rows, for other dtypes, and for vectors whose elements are not
adjacent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from llvmlite import ir

from fleet.ir.schedule import USUAL_LOOPS, LoopSchedule
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.kernels.kernel import (
    I64,
    POINTER,
    ArrayOperand,
    Builder,
    Value,
    at,
    broadcast_strides,
    contiguous,
    convert,
    element,
    fence,
    fused,
    index,
    is_float,
    isa_of,
    load,
    number,
    spread,
    store,
    vector,
)
from fleet.targets.riscv.kernels.loops import Carried, fold, loop, moved, nest_fold, pieces, shifted

_FLOAT_TILES = {1: (1, 16), 2: (2, 9), 3: (3, 7), 4: (4, 6), 5: (5, 5), 6: (6, 4)}
_INTEGER_TILES = {1: (1, 8), 2: (2, 4)}
"""Rows -> (rows, columns) of a scalar tile. rows * columns accumulators, the right operand's row and one element of the left one
fit the 32 float registers, or the 31 integer registers less those for pointers.
"""
_GROUP = 8
"""Registers per vector: with two rows, two accumulators, a row of the right operand and the next one use all 32."""
_PACK_ROWS = 64
"""From this number of rows on, copying columns pays off if their rows are far apart."""
_NEAR = 512
"""An instruction's offset reaches rows that are at most this many bytes apart."""
_UNROLL = 4


@dataclass(frozen=True)
class ProductShape:
    """The shapes of one product: rows x depth times depth x columns; strides in elements of row and column.

    loops: of its schedule a tile's rows and columns and the steps over the depth are used.
    """

    rows: int
    depth: int
    columns: int
    left: tuple[int, int]
    right: tuple[int, int]
    dtype: np.dtype
    right_dtype: np.dtype
    isa: Isa
    loops: LoopSchedule = USUAL_LOOPS

    @property
    def vectors(self) -> bool:
        """Whether columns are computed in lanes."""
        return self.isa.lanes(self.dtype.itemsize, 1) > 1 and self.columns > 1

    @property
    def height(self) -> int:
        """Rows of a tile, chosen for the best sharing of work."""
        if self.loops.tile:
            limit = self.loops.tile[0]
        elif self.vectors:
            limit = 2
        elif is_float(self.dtype):
            limit = 6 if self.rows % 6 == 0 or self.rows > 24 else 5 if self.rows % 5 == 0 else 4
        else:
            limit = max(_INTEGER_TILES)
        return max(1, min(limit, self.rows))

    @property
    def width(self) -> int:
        """Columns of a whole tile."""
        if self.vectors:
            most = self.loops.tile[1] if self.loops.tile else self.isa.lanes(self.dtype.itemsize, _GROUP)
            most = 1 << (most.bit_length() - 1)
            return min(most, 1 << (self.columns.bit_length() - 1))
        if self.loops.tile:
            return self.loops.tile[1]
        tiles = _FLOAT_TILES if is_float(self.dtype) else _INTEGER_TILES
        return tiles[self.height][1]

    @property
    def packed(self) -> bool:
        """Whether columns are copied first."""
        if self.vectors and (self.right[1] != 1 or self.right_dtype != self.dtype):
            return True
        far = self.right[0] * self.dtype.itemsize > _NEAR if self.right[1] == 1 else self.right[0] != 1
        return self.rows >= _PACK_ROWS and far and not self.vectors

    @property
    def workspace(self) -> int:
        """Bytes of scratch for the copy."""
        return self.depth * self.width * self.dtype.itemsize if self.packed else 0

    def blocks(self) -> list[tuple[int, int, int]]:
        """Return (first column, columns, repetitions)."""
        if self.vectors:
            return pieces(self.columns, self.width, overlap=False)
        full, rest = divmod(self.columns, self.width)
        found = [(0, self.width, full)] if full else []
        return [*found, (full * self.width, rest, 1)] if rest else found


def product_of(lhs: ArrayOperand, rhs: ArrayOperand, dtype: np.dtype, isa: Isa, loops: LoopSchedule) -> ProductShape:
    """Return the product of the last two dimensions of two arrays (their pointers do not matter)."""
    left, right = (lhs.strides[-2], lhs.strides[-1]), (rhs.strides[-2], rhs.strides[-1])
    return ProductShape(lhs.shape[-2], lhs.shape[-1], rhs.shape[-1], left, right, dtype, rhs.dtype, isa, loops)


def emit_matmul(b: Builder, out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand, scratch: Value, loops: LoopSchedule) -> None:
    """Emit out = lhs @ rhs. Operands are converted to the result's dtype; `scratch` has the product's workspace.

    Shapes must fit: lhs [..., M, K], rhs [..., K, N], out [..., M, N], leading dimensions broadcast.
    """
    out, lhs, rhs = collapsed(out, lhs, rhs)
    lead = out.shape[:-2]
    product = product_of(lhs, rhs, out.dtype, isa_of(b), loops)
    strides = [out.strides[:-2], *(lead_strides(a, lead) for a in (lhs, rhs))]

    def matrix(offsets: list[Value], _: Carried) -> Carried:
        emit_product(b, product, (out, offsets[0]), (lhs, offsets[1]), (rhs, offsets[2]), scratch)
        return []

    nest_fold(b, lead, strides, [index(0)] * 3, [], matrix, 1)


def collapsed(out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand) -> tuple[ArrayOperand, ArrayOperand, ArrayOperand]:
    """Return the same product with leading dimensions of the left operand merged into its rows, if the right one has none."""
    lead = lhs.shape[:-2]
    if any(n != 1 for n in rhs.shape[:-2]) or not lead or lhs.strides[:-1] != _rows_of(lhs) or out.strides[:-1] != _rows_of(out):
        return out, lhs, rhs
    rows = int(np.prod(lhs.shape[:-1], dtype=np.int64))
    left = ArrayOperand(lhs.pointer, lhs.dtype, (rows, lhs.shape[-1]), lhs.strides[-2:])
    right = ArrayOperand(rhs.pointer, rhs.dtype, rhs.shape[-2:], rhs.strides[-2:])
    return ArrayOperand(out.pointer, out.dtype, (rows, out.shape[-1]), out.strides[-2:]), left, right


def _rows_of(array: ArrayOperand) -> tuple[int, ...]:
    """Return strides of the dimensions before the last, if they are contiguous."""
    return tuple(s * array.strides[-2] for s in contiguous(array.shape[:-1]))


def lead_strides(array: ArrayOperand, lead: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides over a product's leading dimensions, to which the array's own are broadcast."""
    strides = broadcast_strides(ArrayOperand(array.pointer, array.dtype, array.shape[:-2], array.strides[:-2]), lead)
    assert strides is not None, "shapes are checked before code is made"
    return strides


Place = tuple[ArrayOperand, Value]
"""An array and the offset of a matrix's first element in it."""


def emit_product(b: Builder, product: ProductShape, out: Place, lhs: Place, rhs: Place, scratch: Value) -> None:
    """Emit one matrix product. The last two dimensions of `out` give its strides; columns must be adjacent there."""
    _Emitter(b, product, out, lhs, rhs, scratch).emit()


class _Emitter:
    def __init__(self, b: Builder, product: ProductShape, out: Place, lhs: Place, rhs: Place, scratch: Value) -> None:
        self.b, self.p = b, product
        self.out, self.lhs, self.rhs = out, lhs, rhs
        self.scratch = ArrayOperand(scratch, product.dtype, (product.depth * product.width,)) if product.packed else None

    def emit(self) -> None:
        for first, width, times in self.p.blocks():
            loop(self.b, times, lambda j, first=first, width=width: self._columns(moved(self.b, index(first), j, width), width))

    def _columns(self, first: Value, width: int) -> None:
        b, height = self.b, self.p.height
        right = moved(b, self.rhs[1], first, self.p.right[1])
        if self.scratch is not None:
            self._pack(self.scratch, right, width)
        full, rest = divmod(self.p.rows, height)
        loop(b, full, lambda i: self._tile(right, first, moved(b, index(0), i, height), height, width))
        if rest:
            self._tile(right, first, index(full * height), rest, width)

    def _pack(self, scratch: ArrayOperand, right: Value, width: int) -> None:
        b, array = self.b, self.rhs[0]
        down, along = self.p.right
        if self.p.vectors and width > 1 and along != 1:
            self._pack_across(scratch, right, width)
            return

        def row(k: Value) -> None:
            source = moved(b, right, k, down)
            target = moved(b, index(0), k, width)
            if self.p.vectors:
                store(b, scratch, target, load(b, array, source, scratch.dtype, width))
                return
            for j in range(width):
                value = load(b, array, shifted(b, source, j * along), scratch.dtype)
                store(b, scratch, shifted(b, target, j), value)

        loop(b, self.p.depth, row, 2)

    def _pack_across(self, scratch: ArrayOperand, right: Value, width: int) -> None:
        """Copy rows of lanes that are not adjacent, with strided vector loads."""
        b, array = self.b, self.rhs[0]
        down, along = self.p.right
        stored = ir.IntType(8) if array.dtype.kind == "b" else element(array.dtype)
        lanes = ir.Constant(vector(I64, width), [j * along for j in range(width)])

        def row(k: Value) -> None:
            base = at(b, array, moved(b, right, k, down))
            places = b.gep(base, [lanes], inbounds=True, source_etype=stored)
            places.type = vector(POINTER, width)  # llvmlite assumes a single address
            value = _gather(b, places, stored, width, array.dtype.itemsize)
            if array.dtype.kind == "b":
                value = b.icmp_unsigned("!=", value, ir.Constant(value.type, [0] * width))
            store(b, scratch, moved(b, index(0), k, width), convert(b, value, array.dtype, scratch.dtype))

        loop(b, self.p.depth, row, 2)

    def _tile(self, right: Value, first: Value, row: Value, height: int, width: int) -> None:
        b, dtype = self.b, self.p.dtype
        lanes = width if self.p.vectors else 1
        left = moved(b, self.lhs[1], row, self.p.left[0])
        source, begin, down, along = self.rhs[0], right, *self.p.right
        if self.scratch is not None:
            source, begin, down, along = self.scratch, index(0), width, 1
        count = 1 if lanes > 1 else width

        def multiply_add(x: Value, y: Value, z: Value) -> Value:
            return fused(b, x, y, z) if is_float(dtype) else b.add(b.mul(x, y), z)

        def body(k: Value, sums: Carried) -> Carried:
            fence(b)
            start = moved(b, begin, k, down)
            ys = [load(b, source, shifted(b, start, j * along), dtype, lanes) for j in range(count)]
            result: Carried = list(sums)
            for i in range(height):
                place = moved(b, shifted(b, left, i * self.p.left[0]), k, self.p.left[1])
                x = spread(b, load(b, self.lhs[0], place, dtype), lanes)
                for j, y in enumerate(ys):
                    result[i * count + j] = multiply_add(x, y, result[i * count + j])
            return result

        zero = number(dtype, 0, lanes)
        sums = fold(b, self.p.depth, [zero] * (height * count), body, self.p.loops.unroll or _UNROLL)
        down, across = self.out[0].strides[-2], self.out[0].strides[-1]
        assert across == 1 or self.p.columns == 1
        target = moved(b, moved(b, self.out[1], row, down), first, 1)
        for n, value in enumerate(sums):
            i, j = divmod(n, count)
            store(b, self.out[0], shifted(b, target, i * down + j), value)


def _gather(b: Builder, places: Value, stored: Value, lanes: int, align: int) -> Value:
    """Emit `llvm.masked.gather`: constant strides become strided vector loads."""
    type_ = vector(stored, lanes)
    short = {"float": "f32", "double": "f64"}.get(str(stored), str(stored))
    name = f"llvm.masked.gather.v{lanes}{short}.v{lanes}p0"
    mask_type = vector(ir.IntType(1), lanes)
    types = [places.type, ir.IntType(32), mask_type, type_]
    found = b.module.globals.get(name) or ir.Function(b.module, ir.FunctionType(type_, types), name)
    mask = ir.Constant(mask_type, [1] * lanes)
    return b.call(found, [places, ir.Constant(ir.IntType(32), align), mask, ir.Constant(type_, ir.Undefined)])
