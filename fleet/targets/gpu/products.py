"""Matrix products for groups of work items, and attention.

A group computes a tile of 16 x 16 elements, an item one of them: tiles of both operands are copied to memory that the group shares,
and each item sums its products over the depth in ascending order, one fused multiply-add a step, as on riscv. So the bits do not
depend on the tiles. What follows a product (bias, activation, residual) is computed before the element is stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.targets.gpu.builder import TextBuilder
from fleet.targets.gpu.statements import Pointer, TextOperand
from fleet.targets.riscv.isa import DEFAULT_ISA
from fleet.targets.riscv.kernels.attention import Attention, finish_scores
from fleet.targets.riscv.kernels.composite import ElementRow, activation, softmax_row
from fleet.targets.riscv.kernels.kernel import (
    ArrayOperand,
    Carried,
    broadcast_strides,
    element,
    fused,
    index,
    is_float,
    load,
    number,
    store,
)
from fleet.targets.riscv.kernels.loops import fold, loop, moved
from fleet.targets.riscv.kernels.matmul import lead_strides
from fleet.targets.riscv.kernels.operations import attention_of

TILE = 16
"""Rows and columns of a tile."""
Finish = Callable[[TextOperand, Sequence[TextOperand]], TextOperand]
"""Takes a product's element and its indices; returns what is stored."""


def emit_tiled_matmul(b: TextBuilder, _op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit out = lhs @ rhs; shapes must fit (`operations.workspace` checks them)."""
    _tiles(b, out, operands[0], operands[1], lambda value, _: value)


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
        return load(b, array, _offset(b, indices, strides), dtype)

    def finish(value: TextOperand, indices: Sequence[TextOperand]) -> TextOperand:
        if bias is not None:
            value = b.fadd(value, read(bias, indices))
        value = activation(b, found["activation"], value, dtype)
        return value if residual is None else b.fadd(value, read(residual, indices))

    _tiles(b, out, operands[0], operands[1], finish)


def _offset(b: TextBuilder, indices: Sequence[TextOperand], strides: Sequence[int]) -> TextOperand:
    found: TextOperand = index(0)
    for i, stride in zip(indices, strides, strict=True):
        found = moved(b, found, i, stride)
    return found


def _tiles(b: TextBuilder, out: ArrayOperand, lhs: ArrayOperand, rhs: ArrayOperand, finish: Finish) -> None:
    lead, (rows, columns), depth, dtype = out.shape[:-2], out.shape[-2:], lhs.shape[-1], out.dtype
    down, across = -(-rows // TILE), -(-columns // TILE)
    flow, stored = b.fleet_flow, element(dtype)
    zero = number(dtype, 0)

    def shared(name: str) -> ArrayOperand:
        b.raw(b.surface.shared.format(type=b.surface.types[str(stored)], name=name, count=TILE * TILE))
        return ArrayOperand(Pointer(name, stored, space="shared"), dtype, (TILE, TILE))

    def place(y: TextOperand, x: TextOperand) -> TextOperand:
        return moved(b, x, y, TILE)

    def below(i: TextOperand, size: int) -> list[TextOperand]:
        """Return the condition that an index of a tile is one of the matrix, if tiles reach beyond it."""
        return [b.icmp_signed("<", i, index(size))] if size % TILE else []

    def group() -> None:
        left, right = shared("left"), shared("right")
        number_, inside = b.number(b.surface.group), b.number(b.surface.inside)
        batch, tile_row, tile_column = b.indices(number_, (math.prod(lead), down, across))
        y, x = b.indices(inside, (TILE, TILE))
        row, column = moved(b, y, tile_row, TILE), moved(b, x, tile_column, TILE)
        indices = b.indices(batch, lead)
        starts = [_offset(b, indices, lead_strides(a, lead)) for a in (lhs, rhs)]

        def copied(
            target: ArrayOperand, source: ArrayOperand, start: TextOperand, at: Sequence[TextOperand], fits: list[TextOperand]
        ) -> None:
            def read() -> TextOperand:
                return load(b, source, moved(b, moved(b, start, at[0], source.strides[-2]), at[1], source.strides[-1]), dtype)

            value = flow.chosen(_every(b, fits), read, zero) if fits else read()
            store(b, target, place(y, x), value)

        def tile(first: TextOperand, count: int, total: TextOperand) -> TextOperand:
            k_left, k_right = moved(b, x, first, 1), moved(b, y, first, 1)
            ends = [below(i, depth) if count < TILE else [] for i in (k_left, k_right)]
            copied(left, lhs, starts[0], (row, k_left), [*below(row, rows), *ends[0]])
            copied(right, rhs, starts[1], (k_right, column), [*below(column, columns), *ends[1]])
            b.raw(b.surface.barrier)

            def step(k: TextOperand, carried: Carried) -> Carried:
                p, q = load(b, left, place(y, k)), load(b, right, place(k, x))
                return [fused(b, p, q, carried[0]) if is_float(dtype) else b.add(carried[0], b.mul(p, q))]

            (total,) = fold(b, count, [total], step)
            b.raw(b.surface.barrier)
            return total

        full, rest = divmod(depth, TILE)
        (total,) = fold(b, full, [zero], lambda i, carried: [tile(moved(b, index(0), i, TILE), TILE, carried[0])])
        if rest:
            total = tile(index(full * TILE), rest, total)

        def write() -> None:
            where = [*indices, row, column]
            store(b, out, _offset(b, where, out.strides), finish(total, where))

        fits = [*below(row, rows), *below(column, columns)]
        if fits:
            flow.when(_every(b, fits), write)
        else:
            write()

    flow.in_groups(math.prod(lead) * down * across, group)


def _every(b: TextBuilder, conditions: Sequence[TextOperand]) -> TextOperand:
    found = conditions[0]
    for condition in conditions[1:]:
        found = b.and_(found, condition)
    return found


def attention_scratch(a: Attention) -> int:
    """Return the bytes that a work item needs: the scores of a query."""
    return -(-a.keys * a.out.dtype.itemsize // 8) * 8


def emit_attention_items(b: TextBuilder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit multi-head attention, one work item per query of a head of a sequence: scores, softmax, the sum of the values."""
    a = attention_of(op, [out, *operands], DEFAULT_ISA)
    mask = operands[3] if len(operands) > 3 else None
    keys, dtype = a.keys, out.dtype
    steps = broadcast_strides(mask, (a.sequences, a.queries, keys)) if mask is not None else None
    width, group, out_width = a.q.shape[-1] // a.heads, a.heads // a.kv_heads, a.v.shape[-1] // a.kv_heads
    scores = ArrayOperand(Pointer("scratch", element(dtype), space="scratch"), dtype, (1, keys))
    line = ElementRow(b, scores, index(0), 1, keys)
    zero = number(dtype, 0)

    def query(indices: Sequence[TextOperand]) -> None:
        sequence, head, i = indices
        shared = head if group == 1 else b.make(head.type, f"({{0}} / {group})", head, index=True)

        def start(array: ArrayOperand, head_of: TextOperand, columns: int) -> TextOperand:
            first = index(0) if a.sequences == 1 else moved(b, index(0), sequence, array.strides[0])
            return moved(b, first, head_of, columns * array.strides[-1])

        q = moved(b, start(a.q, head, width), i, a.q.strides[-2])
        k, v = start(a.k, shared, width), start(a.v, shared, out_width)

        def score(j: TextOperand) -> None:
            def step(d: TextOperand, carried: Carried) -> Carried:
                x = load(b, a.q, moved(b, q, d, a.q.strides[-1]), dtype)
                y = load(b, a.k, moved(b, moved(b, k, j, a.k.strides[-2]), d, a.k.strides[-1]), dtype)
                return [fused(b, x, y, carried[0])]

            line.put(j, fold(b, width, [zero], step)[0])

        loop(b, keys, score)
        added = None
        if mask is not None and steps is not None:
            added = ElementRow(b, mask, moved(b, moved(b, index(0), sequence, steps[0]), i, steps[1]), steps[2], keys)
        finish_scores(b, a, line, i, added)
        softmax_row(b, line, line)

        def value(d: TextOperand) -> None:
            def step(j: TextOperand, carried: Carried) -> Carried:
                y = load(b, a.v, moved(b, moved(b, v, j, a.v.strides[-2]), d, a.v.strides[-1]), dtype)
                return [fused(b, line.get(j, dtype), y, carried[0])]

            place = moved(b, moved(b, start(out, head, out_width), i, out.strides[-2]), d, out.strides[-1])
            store(b, out, place, fold(b, keys, [zero], step)[0])

        loop(b, out_width, value)

    b.fleet_flow.spread_out((a.sequences, a.heads, a.queries), query)
