"""Exact dot products of FP16 rows in binary64. A vector holds rows of b side by side, so every lane is one sum.

A product of two FP16 is exact in binary64, and so is every partial sum, in any order, as long as sum(|a|) * max(|b|) is less than
2^53 of the unit that all products are multiples of. Elsewhere the sum may have lost bits, no more than a bound says; where the
rounding to binary32 depends on them, the result is `UNDECIDED`: the caller computes it again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from llvmlite import ir

from fleet.sdk.native_ir import F32, F64, I16, I32, I64, POINTER, NativeEmitter, Value, splat, vector
from fleet.sets.hbm0923.kernel._extremes import Extremes
from fleet.sets.hbm0923.kernel._lanes import VectorLanes, eight_columns
from fleet.sets.hbm0923.kernel._rounding import relative_error, round_or_leave
from fleet.sets.hbm0923.kernel._sizes import UNIT

ARGUMENTS = (
    ("a", POINTER), ("a_rows", I64), ("b", POINTER), ("b_stride", I64), ("b_rows", I64), ("beats", I64), ("wide", POINTER),
    ("sums", POINTER), ("amounts", POINTER), ("steps", POINTER), ("out", POINTER), ("out_stride", I64),
)  # fmt: skip


def emit_dots(module: Value, lanes: VectorLanes) -> None:
    """Emit `dots(...) -> i64`: out[i, j] = a[i] . b[j], rounded once. Returns whether any of them is `UNDECIDED`.

    a: FP16, contiguous rows of 32 * beats. b: FP16, rows `b_stride` bytes apart. wide, sums: room for binary64, a row of 32 * beats
    and a vector for each row of a. amounts, steps: binary64, one a row of a: its magnitudes added up, and a power of two that all
    are multiples of. out: binary32, rows `out_stride` bytes apart with room for whole vectors.
    """
    e = NativeEmitter(module, "dots", I64, ARGUMENTS)
    b, width = e.builder, lanes.width
    wide_type, size = vector(F64, width), 8 * width
    tile, pointers = e.room(wide_type, UNIT), e.room(POINTER, width)
    seen = Extremes(e, lanes)
    left_over = e.room(I64)
    e.store(e.number(0), left_over, align=8)
    with e.loop(0, e["a_rows"]) as i:
        _widen(e, lanes, seen, i)
    fours = b.and_(e["a_rows"], e.number(-4))
    error = relative_error(e, e.scaled(e["beats"], UNIT))
    with e.loop(0, e["b_rows"], width) as first:
        with e.loop(0, width) as i:
            last = b.sub(e["b_rows"], e.number(1))
            row = b.add(first, i)
            # Lanes beyond the last row compute that row again; these results are not used.
            row = b.select(b.icmp_signed("<", row, last), row, last)
            e.store(e.at(e["b"], b.mul(row, e["b_stride"])), pointers, e.scaled(i, 8), align=8)
        seen.clear()
        with e.loop(0, e["a_rows"]) as i:
            e.store(splat(wide_type, 0.0), e["sums"], e.scaled(i, size), align=8)
        with e.loop(0, e["beats"]) as beat:
            _fill(e, lanes, seen, pointers, tile, e.scaled(beat, 2 * UNIT))
            with e.loop(0, fours, 4) as i:
                _add(e, lanes, tile, beat, [b.add(i, e.number(k)) for k in range(4)])
            with e.loop(fours, e["a_rows"]) as i:
                _add(e, lanes, tile, beat, [i])
        with e.loop(0, e["a_rows"]) as i:
            amount, step = (e.load(F64, e[name], e.scaled(i, 8), align=8) for name in ("amounts", "steps"))
            total = e.load(wide_type, e["sums"], e.scaled(i, size), align=8)
            rounded = round_or_leave(e, total, seen, amount, step, error, left_over)
            e.store(rounded, e["out"], b.add(b.mul(i, e["out_stride"]), e.scaled(first, 4)), align=4)
    b.ret(e.load(I64, left_over, align=8))


def _widen(e: NativeEmitter, lanes: VectorLanes, seen: Extremes, i: Value) -> None:
    """Convert row i of a to binary64, and store what its magnitudes add up to and the unit of all."""
    b, width = e.builder, lanes.width
    half, single, wide = vector(I16, width), vector(F32, width), vector(F64, width)
    total = e.room(wide)
    e.store(splat(wide, 0.0), total, align=64)
    seen.clear()
    length = e.scaled(e["beats"], UNIT)
    base = b.mul(i, length)
    with e.loop(0, length, width) as k:
        at = b.add(base, k)
        value = lanes.to_float(e, e.load(half, e["a"], e.scaled(at, 2), align=2))
        seen.add([value])
        exact = b.fpext(value, wide)
        e.store(exact, e["wide"], e.scaled(at, 8), align=8)
        magnitude = b.bitcast(b.and_(b.bitcast(value, vector(I32, width)), splat(vector(I32, width), 0x7FFFFFFF)), single)
        e.store(b.fadd(e.load(wide, total, align=64), b.fpext(magnitude, wide)), total, align=64)
    # Exact: at most 2^13 magnitudes of 40 bits.
    amount = e.call(f"llvm.vector.reduce.fadd.v{width}f64", F64, ir.Constant(F64, 0.0), e.load(wide, total, align=64))
    e.store(amount, e["amounts"], e.scaled(i, 8), align=8)
    e.store(b.fpext(seen.common_unit_of_all(), F64), e["steps"], e.scaled(i, 8), align=8)


def _add(e: NativeEmitter, lanes: VectorLanes, tile: Value, beat: Value, rows: Sequence[Value]) -> None:
    """Add a beat's products of one, two or four rows of a. Four chains of additions, so that they run in parallel."""
    b, size = e.builder, 8 * lanes.width
    typ, chains = vector(F64, lanes.width), 4 // len(rows)
    sums = [[e.load(typ, e["sums"], e.scaled(i, size), align=8), *[splat(typ, 0.0)] * (chains - 1)] for i in rows]
    starts = [e.at(e["wide"], e.scaled(b.add(b.mul(i, e["beats"]), beat), 8 * UNIT)) for i in rows]
    for lane in range(UNIT):
        column = e.load(typ, tile, size * lane, align=size)
        for start, chain in zip(starts, sums, strict=True):
            x = e.broadcast(e.load(F64, start, 8 * lane, align=8), lanes.width)
            chain[lane % chains] = lanes.multiply_add(e, x, column, chain[lane % chains])
    for i, chain in zip(rows, sums, strict=True):
        e.store(reduce(b.fadd, chain), e["sums"], e.scaled(i, size), align=8)


def _fill(e: NativeEmitter, lanes: VectorLanes, seen: Extremes, pointers: Value, tile: Value, offset: Value) -> None:
    """Fill tile[lane]: the values of `width` rows in that lane, as binary64."""
    b, size = e.builder, 8 * lanes.width
    with e.loop(0, UNIT // 8) as k:
        into = e.at(tile, e.scaled(k, 8 * size))
        columns = eight_columns(e, lanes, pointers, b.add(offset, e.scaled(k, 16)))
        seen.add(columns)
        for n, column in enumerate(columns):
            e.store(b.fpext(column, vector(F64, lanes.width)), into, n * size, align=min(size, 64))
