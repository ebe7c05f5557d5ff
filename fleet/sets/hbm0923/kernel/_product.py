"""The matrix product on packed weights: it reads codes and scales directly from the device's memory.

It processes one block of channels at a time. For every group, the block's codes are unpacked once into a tile that stays in the
first cache, four inputs of each channel per dword. Then every token's digits are multiplied by the tile. A group's sum is exact in
integers and in binary64. The sum over groups, in binary64 too, is exact in most cases, and rounded to binary32 when it is complete.
Where it may have lost a bit that this rounding depends on, the result is `UNDECIDED`: the caller computes it again.
"""

from __future__ import annotations

from collections.abc import Sequence

from llvmlite import ir

from fleet.sdk.native_ir import F64, I8, I32, I64, POINTER, NativeEmitter, Value, splat, vector
from fleet.sets.hbm0923.kernel._extremes import Extremes
from fleet.sets.hbm0923.kernel._lanes import QUADS, VectorLanes, eight_columns, transpose
from fleet.sets.hbm0923.kernel._rounding import relative_error, round_or_leave
from fleet.sets.hbm0923.kernel._sizes import DIGITS, UNIT
from fleet.sets.hbm0923.numerics.sum_bounds import LARGEST_CODE

_MAX_UNITS = 4
_AHEAD = 256
"""Bytes of a stream that are asked for ahead of time: there are as many streams as channels, more than the processor follows."""
_FACTORS = 8
"""Groups whose scales are read at a time."""
ARGUMENTS = (
    ("ports", POINTER), ("tout", I64), ("size", I64), ("chout", I64), ("units", I64), ("all_units", I64),
    ("code_offsets", POINTER), ("scale_offsets", POINTER), ("tokens", I64),
    ("digits", POINTER), ("starts", POINTER), ("counts", POINTER), ("scales", POINTER), ("corrections", POINTER),
    ("amounts", POINTER), ("steps", POINTER), ("sums", POINTER), ("out", POINTER), ("row", I64),
)  # fmt: skip


def emit_product(module: Value, lanes: VectorLanes) -> None:
    """Emit `product(...) -> i64`: out[t, c] of every token and channel. Returns whether any of them is `UNDECIDED`.

    ports: addresses of the HBM ports' streams; channel c is number c / tout of port c % tout, `size` bytes each.
    units, all_units: of a group, of the input. code_offsets, scale_offsets: of every group in a channel's bytes (i64).
    digits ... steps: results of `split`. sums: room for a block's binary64 of every token. out: binary32, `row` bytes per token,
    with room for whole blocks.
    """
    e = NativeEmitter(module, "product", I64, ARGUMENTS)
    b = e.builder
    pointers = e.room(POINTER, lanes.block)
    staging = e.room(vector(I8, _MAX_UNITS * UNIT // 2), lanes.block)
    tile = e.room(vector(I8, 4 * lanes.width), _MAX_UNITS * QUADS * lanes.vectors)
    factors = e.room(vector(F64, lanes.width), _FACTORS * lanes.vectors)
    seen = [Extremes(e, lanes) for _ in range(lanes.vectors)]
    left_over = e.room(I64)
    e.store(e.number(0), left_over, align=8)
    groups = b.sdiv(b.add(e["all_units"], b.sub(e["units"], e.number(1))), e["units"])
    with e.loop(0, e["chout"], lanes.block) as first:
        with e.loop(0, lanes.block) as i:
            last = b.sub(e["chout"], e.number(1))
            channel = b.add(first, i)
            # Lanes beyond the last channel compute that channel again; these results are not used.
            channel = b.select(b.icmp_signed("<", channel, last), channel, last)
            port = e.load(POINTER, e["ports"], e.scaled(b.urem(channel, e["tout"]), 8), align=8)
            stream = e.at(port, b.mul(b.udiv(channel, e["tout"]), e["size"]))
            e.store(stream, pointers, e.scaled(i, 8), align=8)
        with e.loop(0, b.mul(e["tokens"], e.number(lanes.block // lanes.width))) as i:
            e.store(splat(vector(F64, lanes.width), 0.0), e["sums"], e.scaled(i, 8 * lanes.width), align=64)
        for extremes in seen:
            extremes.clear()
        with e.loop(0, groups) as g:
            left = b.sub(e["all_units"], b.mul(g, e["units"]))
            units = b.select(b.icmp_signed("<", left, e["units"]), left, e["units"])
            _fill_tile(e, lanes, pointers, staging, tile, e.load(I64, e["code_offsets"], e.scaled(g, 8)), units)
            turn = b.and_(g, e.number(_FACTORS - 1))
            with b.if_then(b.icmp_signed("==", turn, e.number(0))):
                _fill_factors(e, lanes, pointers, factors, seen, e.load(I64, e["scale_offsets"], e.scaled(g, 8)))
            of_group = e.at(factors, e.scaled(turn, 8 * lanes.block))
            with e.loop(0, e["tokens"]) as t:
                row = e.at(e["sums"], e.scaled(t, 8 * lanes.block))
                _one_group(e, lanes, b.add(b.mul(g, e["tokens"]), t), units, tile, of_group, row)
        error = relative_error(e, groups)
        with e.loop(0, e["tokens"]) as t:
            row, out = e.at(e["sums"], e.scaled(t, 8 * lanes.block)), e.at(e["out"], b.add(b.mul(t, e["row"]), e.scaled(first, 4)))
            _round_row(e, lanes, t, seen, error, row, out, left_over)
    b.ret(e.load(I64, left_over, align=8))


def _fill_tile(
    e: NativeEmitter, lanes: VectorLanes, pointers: Value, staging: Value, tile: Value, offset: Value, units: Value
) -> None:
    """Fill tile[unit][quad][vector]: `width` channels times four codes, each + 8."""
    b, dwords, row = e.builder, vector(I32, 4), _MAX_UNITS * UNIT // 2
    # The ports' streams have equal offsets in their memories, so their lines would evict each other from the first cache. Read
    # every stream once, into a place where that does not happen.
    with e.loop(0, lanes.block) as i:
        source, into = e.at(e.load(POINTER, pointers, e.scaled(i, 8), align=8), offset), e.at(staging, e.scaled(i, row))
        # Into the second cache: in the first the streams would evict each other.
        ahead = e.at(source, e.number(_AHEAD))
        e.call("llvm.prefetch.p0", ir.VoidType(), ahead, *(ir.Constant(I32, n) for n in (0, 2, 1)))
        complete = b.icmp_signed("==", units, e.number(_MAX_UNITS))
        with b.if_else(complete) as (whole, part):
            with whole:
                e.store(e.load(vector(I8, row), source), into, align=row)
            with part, b.if_else(b.icmp_signed("==", units, e.number(_MAX_UNITS // 2))) as (half, less):
                with half:
                    e.store(e.load(vector(I8, row // 2), source), into, align=row // 2)
                with less, e.loop(0, units) as u:
                    at = e.scaled(u, UNIT // 2)
                    e.store(e.load(dwords, source, at), into, at, align=16)
    with e.loop(0, units) as u, e.loop(0, lanes.vectors) as j:
        at = e.at(staging, b.add(e.scaled(u, UNIT // 2), e.scaled(j, row * lanes.width)))
        rows = [e.load(dwords, at, row * i, align=16) for i in range(lanes.width)]
        # Row r of each four channels. A 4 x 4 transposition of dwords within 128 bits brings the channels together.
        parts = [e.concatenate(rows[r::4]) for r in range(4)]
        into = e.at(tile, b.mul(b.add(e.scaled(u, QUADS * lanes.vectors), j), e.number(4 * lanes.width)))
        for k, column in enumerate(transpose(e, parts)):
            raw = b.bitcast(column, vector(I8, 4 * lanes.width))
            low = b.and_(raw, splat(raw.type, 15))
            # Shift dwords: there is no shift of bytes.
            high = b.bitcast(b.lshr(column, splat(column.type, 4)), raw.type)
            high = b.and_(high, splat(raw.type, 15))
            for half, nibbles in enumerate((low, high)):
                place = (2 * k + half) * lanes.vectors * 4 * lanes.width
                e.store(lanes.codes(e, nibbles), into, place, align=4 * lanes.width)


def _fill_factors(
    e: NativeEmitter, lanes: VectorLanes, pointers: Value, factors: Value, seen: Sequence[Extremes], offset: Value
) -> None:
    """Fill factors[group][vector]: the block's scales of eight groups, as binary64. seen: their extremes, one a vector.

    The scales are contiguous: 2,048 inputs have 16, 32 or 64 groups; fewer are padded with zeros to a beat of 16.
    """
    size = 8 * lanes.width
    for j, extremes in enumerate(seen):
        columns = eight_columns(e, lanes, e.at(pointers, j * size), offset)
        extremes.add(columns)
        for n, column in enumerate(columns):
            wide = e.builder.fpext(column, vector(F64, lanes.width))
            e.store(wide, factors, (n * lanes.vectors + j) * size, align=min(size, 64))


def _one_group(e: NativeEmitter, lanes: VectorLanes, index: Value, units: Value, tile: Value, factors: Value, row: Value) -> None:
    """Emit sums += sum of the group * scale for one token and group; separate code for every number of digits."""
    b = e.builder
    x = e.at(e["digits"], e.load(I64, e["starts"], e.scaled(index, 8), align=8))
    unit = e.load(F64, e["scales"], e.scaled(index, 8), align=8)
    correction = e.load(F64, e["corrections"], e.scaled(index, 8), align=8)
    count = e.load(I32, e["counts"], e.scaled(index, 4), align=4)
    leave = b.append_basic_block("added")
    cases = [b.append_basic_block(f"digits{n}") for n in range(1, DIGITS + 1)]
    switch = b.switch(count, cases[-1])
    for n, case in enumerate(cases[:-1], 1):
        switch.add_case(ir.Constant(I32, n), case)
    for n, case in enumerate(cases, 1):
        b.position_at_end(case)
        sums = _sums(e, lanes, n, x, units, tile)
        for j in range(lanes.vectors):
            of_group = _combined(e, lanes, [sums[d][j] for d in range(n)], unit, correction)
            size, typ = 8 * lanes.width, of_group.type
            factor, before = (e.load(typ, at, j * size, align=min(size, 64)) for at in (factors, row))
            e.store(lanes.multiply_add(e, of_group, factor, before), row, j * size, align=min(size, 64))
        b.branch(leave)
    b.position_at_end(leave)


def _sums(e: NativeEmitter, lanes: VectorLanes, digits: int, x: Value, units: Value, tile: Value) -> list[list[Value]]:
    """Return the sums [digit][vector], int32: at most 128 * 15 * 128 in magnitude."""
    b = e.builder
    typ, size = vector(I32, lanes.width), 4 * lanes.width
    slots = [e.room(typ) for _ in range(digits * lanes.vectors)]
    for slot in slots:
        e.store(splat(typ, 0), slot, align=size)
    column = e.scaled(units, UNIT)
    with e.loop(0, units) as u:
        codes_at = e.at(tile, e.scaled(u, QUADS * lanes.vectors * size))
        codes = [
            [e.load(vector(I8, size), codes_at, (q * lanes.vectors + j) * size, align=size) for q in range(QUADS)]
            for j in range(lanes.vectors)
        ]
        columns = [e.at(x, b.add(e.scaled(column, d), e.scaled(u, UNIT))) for d in range(digits)]
        quads = [[e.load(I32, at, 4 * q, align=4) for q in range(QUADS)] for at in columns]
        sums = lanes.unit(e, [e.load(typ, slot, align=size) for slot in slots], codes, quads)
        for slot, value in zip(slots, sums, strict=True):
            e.store(value, slot, align=size)
    return [[e.load(typ, slots[d * lanes.vectors + j], align=size) for j in range(lanes.vectors)] for d in range(digits)]


def _round_row(
    e: NativeEmitter, lanes: VectorLanes, t: Value, seen: Sequence[Extremes], error: Value, row: Value, out: Value, left_over: Value
) -> None:
    """Round a token's complete sums of a block to binary32; what their error leaves open becomes `UNDECIDED`.

    The bound of a sum of magnitudes is 7, the largest code, times the sum of the token's magnitudes, times the channel's largest
    scale. The padding behind the last group's scales is among those scales and may be NaN; then the result is `UNDECIDED`.
    """
    b, width = e.builder, lanes.width
    amount, step = (e.load(F64, e[name], e.scaled(t, 8), align=8) for name in ("amounts", "steps"))
    amount = b.fmul(amount, ir.Constant(F64, float(LARGEST_CODE)))
    for j, extremes in enumerate(seen):
        total = e.load(vector(F64, width), row, 8 * width * j, align=min(8 * width, 64))
        result = round_or_leave(e, total, extremes, amount, step, error, left_over)
        e.store(result, out, 4 * width * j, align=4)


def _combined(e: NativeEmitter, lanes: VectorLanes, sums: list[Value], unit: Value, correction: Value) -> Value:
    """Return binary64 of unit * (sums[0] + 256 sums[1] + ... + correction).

    Two digits fit into 32 bits together. From there on every step is exact in binary64: the contribution of the higher digits, and
    the total, stay below 2^53 in magnitude (15 * 128 * 2^40 is less than 2^51).
    """
    b = e.builder
    pairs = [
        b.add(sums[d], b.shl(sums[d + 1], splat(sums[d].type, 8))) if d + 1 < len(sums) else sums[d] for d in range(0, len(sums), 2)
    ]
    width = pairs[0].type.count
    typ = vector(F64, width)
    total = b.sitofp(pairs[-1], typ)
    for pair in reversed(pairs[:-1]):
        total = lanes.scaled_sum(e, total, 65536.0, b.sitofp(pair, typ))
    return b.fmul(b.fadd(total, e.broadcast(correction, width)), e.broadcast(unit, width))
