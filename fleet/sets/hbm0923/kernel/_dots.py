"""Exact dot products of FP16 rows in binary64. A vector holds rows of b side by side, so every lane is one sum.

A product of two FP16 is exact in binary64, and so is every partial sum, in any order, as long as sum(|a|) * max(|b|) is less than
2^53 of the unit that all products are multiples of. The code measures both rows in bits, `needs` of a and `spans` of b. A row of a
that needs many is the sum of two, a row of its upper and one of its lower bits, whose dot products are added without a second
rounding. Where need + span is above `EXACT_BITS` even so, the caller sums again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from llvmlite import ir

from fleet.sdk.native_ir import F32, F64, I16, I32, I64, POINTER, NativeEmitter, Value, splat, vector
from fleet.sets.hbm0923.kernel._lanes import VectorLanes, eight_columns
from fleet.sets.hbm0923.kernel._sizes import NOT_FINITE, UNIT

ARGUMENTS = (
    ("a", POINTER), ("a_rows", I64), ("b", POINTER), ("b_stride", I64), ("b_rows", I64), ("beats", I64), ("most", I64),
    ("wide", POINTER), ("sums", POINTER), ("owners", POINTER), ("needs", POINTER), ("spans", POINTER), ("out", POINTER),
    ("out_stride", I64),
)  # fmt: skip
_INFINITY = 0x7F800000
_ONE_EXPONENT = 1 << 23
"""Subtracted from a magnitude, it turns a zero into the largest of all, which no minimum takes."""
_SMALLEST = 113
"""Exponent field in binary32 of FP16's smallest normal: below it the unit stays."""


def emit_dots(module: Value, lanes: VectorLanes) -> None:
    """Emit `dots(...)`: out[i, j] = a[i] . b[j], rounded once, if need[i] + span[j] <= EXACT_BITS. Returns the largest such sum.

    a: FP16, contiguous rows of 32 * beats. b: FP16, rows `b_stride` bytes apart. most: need of a row of a that is not split.
    wide, sums: room for binary64, two rows of 32 * beats and two vectors for each row of a. owners: room for i64, one a row of a.
    needs, spans: i32, one a row of a, one a row of b. out: binary32, rows `out_stride` bytes apart. The latter two have room for
    whole vectors.
    """
    e = NativeEmitter(module, "dots", I64, ARGUMENTS)
    b, width = e.builder, lanes.width
    wide_type, mask_type = vector(F64, width), vector(I32, width)
    tile, pointers = e.room(wide_type, UNIT), e.room(POINTER, width)
    seen = _Seen(e, lanes)
    worst_need, worst_span = e.room(I32), e.room(mask_type)
    e.store(ir.Constant(I32, -NOT_FINITE), worst_need, align=4)
    e.store(splat(mask_type, -NOT_FINITE), worst_span, align=64)
    rows_at = e.room(I64)
    e.store(e["a_rows"], rows_at, align=8)
    with e.loop(0, e["a_rows"]) as i:
        need = _split(e, lanes, *_widen(e, lanes, seen, i), i, rows_at)
        e.store(need, e["needs"], e.scaled(i, 4), align=4)
        e.store(_larger(e, need, e.load(I32, worst_need, align=4)), worst_need, align=4)
    size = 8 * width
    rows = e.load(I64, rows_at, align=8)
    fours = b.and_(rows, e.number(-4))
    with e.loop(0, e["b_rows"], width) as first:
        with e.loop(0, width) as i:
            last = b.sub(e["b_rows"], e.number(1))
            row = b.add(first, i)
            # Lanes beyond the last row compute that row again; these results are not used.
            row = b.select(b.icmp_signed("<", row, last), row, last)
            e.store(e.at(e["b"], b.mul(row, e["b_stride"])), pointers, e.scaled(i, 8), align=8)
        seen.clear()
        with e.loop(0, rows) as i:
            e.store(splat(wide_type, 0.0), e["sums"], e.scaled(i, size), align=8)
        with e.loop(0, e["beats"]) as beat:
            _fill(e, lanes, seen, pointers, tile, e.scaled(beat, 2 * UNIT))
            with e.loop(0, fours, 4) as i:
                _add(e, lanes, tile, beat, [b.add(i, e.number(k)) for k in range(4)])
            with e.loop(fours, rows) as i:
                _add(e, lanes, tile, beat, [i])
        span = b.add(b.sub(seen.top(), seen.unit()), splat(mask_type, 11))
        span = b.select(seen.odd(), splat(mask_type, NOT_FINITE), span)
        e.store(span, e["spans"], e.scaled(first, 4), align=4)
        e.store(_larger(e, span, e.load(mask_type, worst_span, align=64)), worst_span, align=64)
        with e.loop(e["a_rows"], rows) as i:
            owner = e.load(I64, e["owners"], e.scaled(b.sub(i, e["a_rows"]), 8), align=8)
            low, high = (e.load(wide_type, e["sums"], e.scaled(row, size), align=8) for row in (i, owner))
            e.store(_odd_sum(e, high, low), e["sums"], e.scaled(owner, size), align=8)
        with e.loop(0, e["a_rows"]) as i:
            rounded = b.fptrunc(e.load(wide_type, e["sums"], e.scaled(i, size), align=8), vector(F32, width))
            e.store(rounded, e["out"], b.add(b.mul(i, e["out_stride"]), e.scaled(first, 4)), align=4)
    span = e.call(f"llvm.vector.reduce.smax.v{width}i32", I32, e.load(mask_type, worst_span, align=64))
    b.ret(b.sext(b.add(span, e.load(I32, worst_need, align=4)), I64))


def _larger(e: NativeEmitter, x: Value, y: Value) -> Value:
    return e.builder.select(e.builder.icmp_signed(">", x, y), x, y)


class _Seen:
    """The largest and the smallest magnitude other than 0 that each lane of a vector has seen, as binary32 patterns."""

    def __init__(self, e: NativeEmitter, lanes: VectorLanes) -> None:
        self._e, self._type = e, vector(I32, lanes.width)
        self._largest, self._smallest = e.room(self._type), e.room(self._type)

    def clear(self) -> None:
        """Forget all."""
        self._e.store(splat(self._type, 0), self._largest, align=64)
        self._e.store(splat(self._type, -1), self._smallest, align=64)

    def add(self, values: Sequence[Value]) -> None:
        """Update the extremes with vectors of binary32."""
        e, b = self._e, self._e.builder
        largest, smallest = self._load(self._largest), self._load(self._smallest)
        for value in values:
            magnitude = b.and_(b.bitcast(value, self._type), splat(self._type, 0x7FFFFFFF))
            less = b.sub(magnitude, splat(self._type, _ONE_EXPONENT))
            largest = b.select(b.icmp_unsigned(">", magnitude, largest), magnitude, largest)
            smallest = b.select(b.icmp_unsigned("<", less, smallest), less, smallest)
        e.store(largest, self._largest, align=64)
        e.store(smallest, self._smallest, align=64)

    def top(self) -> Value:
        """The exponent field of the largest."""
        return self._e.builder.lshr(self._load(self._largest), splat(self._type, 23))

    def unit(self) -> Value:
        """The exponent field of what has the same unit as the smallest; large if there was none."""
        b = self._e.builder
        field = b.add(b.lshr(self._load(self._smallest), splat(self._type, 23)), splat(self._type, 1))
        return b.select(b.icmp_signed(">", field, splat(self._type, _SMALLEST)), field, splat(self._type, _SMALLEST))

    def odd(self) -> Value:
        """Return whether any of the values was infinite or NaN."""
        return self._e.builder.icmp_unsigned(">=", self._load(self._largest), splat(self._type, _INFINITY))

    def _load(self, where: Value) -> Value:
        return self._e.load(self._type, where, align=64)


def _widen(e: NativeEmitter, lanes: VectorLanes, seen: _Seen, i: Value) -> tuple[Value, Value]:
    """Convert row i of a to binary64. Returns its need: the bits of sum(|a|) in the row's unit; and that sum's exponent field."""
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
    unit = e.call(f"llvm.vector.reduce.smin.v{width}i32", I32, seen.unit())
    odd = e.call(f"llvm.vector.reduce.or.v{width}i1", ir.IntType(1), seen.odd())
    # Exact, like the products' sums: at most 2^13 magnitudes of 40 bits.
    amount = e.call(f"llvm.vector.reduce.fadd.v{width}f64", F64, ir.Constant(F64, 0.0), e.load(wide, total, align=64))
    field = b.lshr(b.bitcast(amount, I64), e.number(52))
    # Below 2^(field - 1022) of units of 2^(unit - 137).
    need = b.sub(b.add(b.trunc(field, I32), ir.Constant(I32, 137 - 1022)), unit)
    return b.select(odd, ir.Constant(I32, NOT_FINITE), need), field


def _split(e: NativeEmitter, lanes: VectorLanes, need: Value, field: Value, i: Value, rows_at: Value) -> Value:
    """Split row i of `wide` if it needs too many bits: the lower ones go into a new row. Returns what both need.

    need, field: from `_widen`.
    """
    b, wide = e.builder, vector(F64, lanes.width)
    length = e.scaled(e["beats"], UNIT)
    before = b.block
    many = b.and_(b.icmp_signed(">", need, b.trunc(e["most"], I32)), b.icmp_signed("<", need, ir.Constant(I32, NOT_FINITE)))
    split, done = b.append_basic_block("split"), b.append_basic_block("whole")
    b.cbranch(many, split, done)
    b.position_at_end(split)
    new = e.load(I64, rows_at, align=8)
    e.store(b.add(new, e.number(1)), rows_at, align=8)
    e.store(i, e["owners"], e.scaled(b.sub(new, e["a_rows"]), 8), align=8)
    source, into = (e.at(e["wide"], e.scaled(b.mul(row, length), 8)) for row in (i, new))
    # The upper row's unit is 2^-most of the power of two above the sum of magnitudes. Adding 1.5 * 2^52 units rounds to one.
    unit_field = b.sub(field, b.sub(e["most"], e.number(1)))
    pattern = b.or_(b.shl(b.add(unit_field, e.number(52)), e.number(52)), e.number(1 << 51))
    rounder = e.broadcast(b.bitcast(pattern, F64), lanes.width)
    with e.loop(0, length, lanes.width) as k:
        at = e.scaled(k, 8)
        value = e.load(wide, source, at, align=8)
        high = b.fsub(b.fadd(value, rounder), rounder)
        e.store(b.fsub(value, high), into, at, align=8)
        e.store(high, source, at, align=8)
    # Magnitudes add up to 2^most upper units and half a one a lane, and the lower bits to half a one a lane.
    bits = b.sub(e.number(64), e.call("llvm.ctlz.i64", I64, b.sub(length, e.number(1)), ir.Constant(ir.IntType(1), 0)))
    upper = b.trunc(b.add(e["most"], e.number(1)), I32)
    both = _larger(e, upper, b.add(b.trunc(bits, I32), b.sub(need, upper)))
    after = b.block
    b.branch(done)
    b.position_at_end(done)
    result = b.phi(I32)
    result.add_incoming(need, before)
    result.add_incoming(both, after)
    return result


def _odd_sum(e: NativeEmitter, x: Value, y: Value) -> Value:
    """Return x + y; if that is not exact, its last bit is odd, so that a rounding to fewer bits is as that of the exact sum."""
    b, integers = e.builder, vector(I64, x.type.count)
    total = b.fadd(x, y)
    part = b.fsub(total, x)
    lost = b.fadd(b.fsub(x, b.fsub(total, part)), b.fsub(y, part))
    zero, one = splat(x.type, 0.0), splat(integers, 1)
    pattern = b.bitcast(total, integers)
    even = b.icmp_signed("==", b.and_(pattern, one), splat(integers, 0))
    outwards = b.icmp_signed("==", b.fcmp_ordered(">", lost, zero), b.fcmp_ordered(">", total, zero))
    moved = b.add(pattern, b.select(outwards, one, splat(integers, -1)))
    chosen = b.select(b.and_(even, b.fcmp_ordered("!=", lost, zero)), moved, pattern)
    return b.bitcast(chosen, x.type)


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


def _fill(e: NativeEmitter, lanes: VectorLanes, seen: _Seen, pointers: Value, tile: Value, offset: Value) -> None:
    """Fill tile[lane]: the values of `width` rows in that lane, as binary64."""
    b, size = e.builder, 8 * lanes.width
    with e.loop(0, UNIT // 8) as k:
        into = e.at(tile, e.scaled(k, 8 * size))
        columns = eight_columns(e, lanes, pointers, b.add(offset, e.scaled(k, 16)))
        seen.add(columns)
        for n, column in enumerate(columns):
            e.store(b.fpext(column, vector(F64, lanes.width)), into, n * size, align=min(size, 64))
