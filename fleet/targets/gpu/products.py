"""Matrix products, linear layers and attention.

What follows a product (bias, activation, residual) is computed before its element is stored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fleet.ir.dialect import FleetOp
from fleet.ir.expand import MASKED
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import numpy_dtype
from fleet.targets.gpu.builder import TextBuilder
from fleet.targets.gpu.statements import Pointer, TextOperand
from fleet.targets.gpu.tensor_tiles import TensorProduct, tensor_tile_of
from fleet.targets.gpu.tiles import TILES, Finish, ItemProduct, ProductTile, offset_of, tile_of
from fleet.targets.riscv.isa import DEFAULT_ISA
from fleet.targets.riscv.kernels.composite import ElementRow, activation, softmax_row
from fleet.targets.riscv.kernels.kernel import ArrayOperand, broadcast_strides, element, index, load, number
from fleet.targets.riscv.kernels.loops import moved
from fleet.targets.riscv.kernels.operations import attention_of
from fleet.targets.riscv.plan import refuse
from fleet.transforms.schedule_loops import ScheduleChoices, loops_of

MOST = 2**31 - 1024
"""Elements of an array: kernels count them in 32 bits."""


def emit_tiled_matmul(b: TextBuilder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit out = lhs @ rhs; shapes must fit (`operations.workspace` checks them)."""
    _tiles(b, out, operands[0], operands[1], lambda value, _: value, _tiles_of(op).get(loops_of(op).tile))


def emit_tiled_linear(b: TextBuilder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit out = activation(x @ weight + bias) + residual."""
    found = attributes_of(op)
    rest = list(operands[2:])
    bias = rest.pop(0) if found["bias"] else None
    residual = rest.pop(0) if found["residual"] else None
    dtype = out.dtype

    def read(array: ArrayOperand, indices: Sequence[TextOperand]) -> TextOperand:
        strides = broadcast_strides(array, out.shape)
        assert strides is not None, "shapes are checked before code is made"
        return load(b, array, offset_of(b, indices, strides), dtype)

    def finish(value: TextOperand, indices: Sequence[TextOperand]) -> TextOperand:
        if bias is not None:
            value = b.fadd(value, read(bias, indices))
        value = activation(b, found["activation"], value, dtype)
        return value if residual is None else b.fadd(value, read(residual, indices))

    _tiles(b, out, operands[0], operands[1], finish, _tiles_of(op).get(loops_of(op).tile))


def _tiles_of(op: FleetOp) -> dict[tuple[int, ...], ProductTile]:
    """Return rows and columns -> tile of a product."""
    size = numpy_dtype(op.results[0].type).itemsize
    have = [ProductTile(1), *(ProductTile(per, depth) for per, depth, _ in reversed(TILES))]
    return {(tile.side, tile.side): tile for tile in have if tile.per * size <= 32}


def _other_tile(op: FleetOp, tile: tuple[int, ...]) -> str | None:
    have = _tiles_of(op)
    return None if tile in have else f"of {', '.join(f'{rows} x {columns}' for rows, columns in have)}"


GPU_CHOICES = ScheduleChoices(frozenset({"order", "tile", "unroll"}), _other_tile)
"""Work items are on a GPU what threads and vectors are elsewhere."""


def _tiles(
    b: TextBuilder, out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand, finish: Finish, asked: ProductTile | None = None
) -> None:
    lead, (rows, columns) = math.prod(out.shape[:-2]), out.shape[-2:]
    if _on_tensor_cores(b, lhs, rhs):
        large = tensor_tile_of(lead, rows, columns, asked and asked.side)
        b.fleet_flow.in_groups(lead * large.groups(rows, columns), TensorProduct(b, out, lhs, rhs, finish, large).emit)
    else:
        tile = asked or tile_of(lead, rows, columns, out.dtype)
        b.fleet_flow.in_groups(lead * tile.groups(rows, columns), ItemProduct(b, out, lhs, rhs, finish, tile).emit)


def _on_tensor_cores(b: TextBuilder, lhs: ArrayOperand, rhs: ArrayOperand) -> bool:
    """Return whether tensor cores multiply the operands; cuBLAS leaves them arrays of float16 that lie as it cannot read them."""
    if lhs.dtype == rhs.dtype == np.float16:
        return b.matmul != "exact"
    return b.matmul == "bfloat16" and lhs.dtype == rhs.dtype == np.float32


def emit_attention_launches(b: TextBuilder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit multi-head attention in three launches: scores, the softmax of their rows in place, their product with the values."""
    a = attention_of(op, [out, *operands], DEFAULT_ISA)
    mask = operands[3] if len(operands) > 3 else None
    dtype, group = out.dtype, a.heads // a.kv_heads
    lead = (a.sequences, a.kv_heads, group)
    shape = (*lead, a.queries, a.keys)
    count = math.prod(shape)
    if count > MOST:
        raise refuse(op, f"{count:,} scores; expected at most {MOST:,}", "use a shorter sequence")
    b.common = count * dtype.itemsize
    scores = ArrayOperand(Pointer("scratch", element(dtype), space="common"), dtype, shape)

    def by_head(array: ArrayOperand, heads: int, *, turned: bool = False) -> ArrayOperand:
        """Return an array as matrices by sequence and head; heads of keys and values serve several of queries."""
        rows, (down, along) = array.shape[-2], array.strides[-2:]
        width = array.shape[-1] // heads
        sequence = array.strides[0] if len(array.shape) == 3 else 0
        head = (heads // a.kv_heads * width * along, width * along if heads > a.kv_heads else 0)
        matrix = ((width, rows), (along, down)) if turned else ((rows, width), (down, along))
        return replace(array, shape=(*lead, *matrix[0]), given=(sequence, *head, *matrix[1]))

    steps = broadcast_strides(mask, (a.sequences, a.queries, a.keys)) if mask is not None else None

    def finish(value: TextOperand, indices: Sequence[TextOperand]) -> TextOperand:
        sequence, _, _, query, key = indices
        if a.scale != 1.0:
            value = b.fmul(value, number(dtype, a.scale))
        if mask is not None and steps is not None:
            value = b.fadd(value, load(b, mask, offset_of(b, (sequence, query, key), steps), dtype))
        if a.causal:
            last = b.add(query, index(a.keys - a.queries), flags=("nsw",))
            value = b.select(b.icmp_signed("<=", key, last), value, number(dtype, MASKED[dtype.name]))
        return value

    def row(indices: Sequence[TextOperand]) -> None:
        line = ElementRow(b, scores, moved(b, index(0), indices[0], a.keys), 1, a.keys)
        softmax_row(b, line, line)

    _tiles(b, scores, by_head(a.q, a.heads), by_head(a.k, a.kv_heads, turned=True), finish)
    b.fleet_flow.spread_out((count // a.keys,), row)
    _tiles(b, by_head(out, a.heads), scores, by_head(a.v, a.kv_heads), lambda value, _: value)
