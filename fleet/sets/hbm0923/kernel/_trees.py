"""Dot products as trees of 32, rounded at every step. A vector holds rows of b side by side, so every lane is one sum."""

from __future__ import annotations

from llvmlite import ir

from fleet.sdk.native_ir import F32, I64, POINTER, NativeEmitter, Value, vector
from fleet.sets.hbm0923.kernel._lanes import VectorLanes, eight_columns
from fleet.sets.hbm0923.kernel._sizes import UNIT

ARGUMENTS = (
    ("a", POINTER), ("a_rows", I64), ("b", POINTER), ("b_stride", I64), ("b_rows", I64), ("beats", I64),
    ("out", POINTER), ("out_stride", I64),
)  # fmt: skip


def emit_trees(module: Value, lanes: VectorLanes) -> None:
    """Emit `trees(...)`: out[i, j] += the beats of a[i] * b[j], ascending.

    a: binary32, contiguous rows of 32 * beats. b: FP16, rows `b_stride` bytes apart. out: binary32, rows `out_stride` bytes apart,
    with room for whole vectors.
    """
    e = NativeEmitter(module, "trees", ir.VoidType(), ARGUMENTS)
    b, typ = e.builder, vector(F32, lanes.width)
    tile, pointers = e.room(typ, UNIT), e.room(POINTER, lanes.width)
    with e.loop(0, e["b_rows"], lanes.width) as first:
        with e.loop(0, lanes.width) as i:
            last = b.sub(e["b_rows"], e.number(1))
            row = b.add(first, i)
            # Lanes beyond the last row compute that row again; these results are not used.
            row = b.select(b.icmp_signed("<", row, last), row, last)
            e.store(e.at(e["b"], b.mul(row, e["b_stride"])), pointers, e.scaled(i, 8), align=8)
        with e.loop(0, e["beats"]) as beat:
            _fill(e, lanes, pointers, tile, e.scaled(beat, 2 * UNIT))
            with e.loop(0, e["a_rows"]) as i:
                row = e.at(e["a"], e.scaled(b.add(b.mul(i, e["beats"]), beat), 4 * UNIT))
                into = e.at(e["out"], b.add(b.mul(i, e["out_stride"]), e.scaled(first, 4)))
                total = _tree(e, lanes, row, tile, 0, UNIT)
                e.store(b.fadd(e.load(typ, into, align=4), total), into, align=4)
    b.ret_void()


def _tree(e: NativeEmitter, lanes: VectorLanes, row: Value, tile: Value, first: int, count: int) -> Value:
    """Return the sum of `count` products from lane `first` on, adding neighbours first."""
    if count > 1:
        half = count // 2
        left = _tree(e, lanes, row, tile, first, half)
        return e.builder.fadd(left, _tree(e, lanes, row, tile, first + half, half))
    size = 4 * lanes.width
    x = e.broadcast(e.load(F32, row, 4 * first, align=4), lanes.width)
    return e.builder.fmul(x, e.load(vector(F32, lanes.width), tile, size * first, align=size))


def _fill(e: NativeEmitter, lanes: VectorLanes, pointers: Value, tile: Value, offset: Value) -> None:
    """Fill tile[lane]: the values of `width` rows in that lane, as binary32."""
    b, size = e.builder, 4 * lanes.width
    with e.loop(0, UNIT // 8) as k:
        into = e.at(tile, e.scaled(k, 8 * size))
        for n, column in enumerate(eight_columns(e, lanes, pointers, b.add(offset, e.scaled(k, 16)))):
            e.store(column, into, n * size, align=size)
