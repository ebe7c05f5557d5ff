"""Splits features into digits: every group of a token becomes signed base-256 digits, as few as its values need.

In units of 2^-24 an FP16 is an integer of at most 41 bits. Trailing zero bits common to all values of a group are shifted out; the
rest is written as v = d0 + 256 d1 + 65536 d2 ... with digits -128 ... 127. That is exact: nothing is rounded, and the number of
digits depends only on the data.
"""

from __future__ import annotations

import math

from llvmlite import ir

from fleet.sdk.native_ir import F64, I8, I16, I32, I64, POINTER, NativeEmitter, Value, splat, vector
from fleet.sets.hbm0923.kernel._sizes import DIGITS, UNIT

_EIGHT = 8
_BIASES = 0x8080808080808080
ARGUMENTS = (
    ("x", POINTER), ("surface", I64), ("tokens", I64), ("chin", I64), ("units", I64),
    ("digits", POINTER), ("starts", POINTER), ("counts", POINTER), ("scales", POINTER), ("corrections", POINTER),
    ("amounts", POINTER), ("steps", POINTER),
)  # fmt: skip


def emit_split(module: Value) -> None:
    """Emit `split(...) -> i64`: bytes of digits written, or -1 if a lane is not finite.

    x, surface: token t's unit u at x + u * surface + 64 * t. chin: lanes at or beyond it count as +0. units: per group. digits:
    columns of 32 bytes per unit, `counts[g, t]` of them from `starts[g, t]` on, the lowest digit first. In each eight inputs the
    even ones come first, so that the low nibbles of four bytes of codes match one dword, the high ones the next. scales[g, t]:
    binary64 value of the lowest digit's unit. corrections[g, t]: -8 times the group's sum in that unit, because codes are
    multiplied as code + 8. amounts[t]: binary64, sum of the token's magnitudes. steps[t]: binary64, a power of two that they all
    are multiples of.
    """
    e = NativeEmitter(module, "split", I64, ARGUMENTS)
    b = e.builder
    v8, h8 = vector(I64, _EIGHT), vector(I16, _EIGHT)
    values = e.room(v8, 4 * 4)
    position, odd = e.room(I64), e.room(h8)
    sums = {name: e.room(v8) for name in ("any", "largest", "sum", "amount")}
    all_units = b.sdiv(b.add(e["chin"], e.number(UNIT - 1)), e.number(UNIT))
    groups = b.sdiv(b.add(all_units, b.sub(e["units"], e.number(1))), e["units"])
    e.store(e.number(0), position)
    e.store(splat(h8, 0), odd)
    with e.loop(0, e["tokens"]) as t:
        e.store(ir.Constant(F64, 0.0), e["amounts"], e.scaled(t, 8))
        e.store(ir.Constant(F64, math.inf), e["steps"], e.scaled(t, 8))
    with e.loop(0, groups) as g:
        first = b.mul(g, e["units"])
        left = b.sub(all_units, first)
        units = b.select(b.icmp_signed("<", left, e["units"]), left, e["units"])
        column = e.scaled(units, UNIT)
        with e.loop(0, e["tokens"]) as t:
            for slot in sums.values():
                e.store(splat(v8, 0), slot)
            with e.loop(0, units) as u:
                unit = b.add(first, u)
                source = e.at(e["x"], b.add(b.mul(unit, e["surface"]), e.scaled(t, 64)))
                valid = b.sub(e["chin"], e.scaled(unit, UNIT))
                for k in range(4):
                    _load_eight(e, source, valid, k, e.at(values, b.add(e.scaled(u, 256), e.number(64 * k))), sums, odd)
            together = e.call("llvm.vector.reduce.or.v8i64", I64, e.load(v8, sums["any"], align=64))
            largest = e.call("llvm.vector.reduce.umax.v8i64", I64, e.load(v8, sums["largest"], align=64))
            total = e.call("llvm.vector.reduce.add.v8i64", I64, e.load(v8, sums["sum"], align=64))
            # 2^40 is above every value: a group of zeros is shifted by 40 bits and keeps one digit.
            shift = e.call("llvm.cttz.i64", I64, b.or_(together, e.number(1 << 40)), ir.Constant(ir.IntType(1), 1))
            largest = b.lshr(largest, shift)
            count = e.number(1)
            for n in range(1, DIGITS):
                count = b.add(count, b.zext(b.icmp_unsigned(">", largest, e.number(_largest(n))), I64))
            index = b.add(b.mul(g, e["tokens"]), t)
            start = e.load(I64, position, align=8)
            e.store(start, e["starts"], e.scaled(index, 8))
            e.store(b.trunc(count, I32), e["counts"], e.scaled(index, 4))
            exponent = b.shl(b.add(shift, e.number(1023 - 24)), e.number(52))
            step = b.bitcast(exponent, F64)
            e.store(step, e["scales"], e.scaled(index, 8))
            _note_token(e, e.scaled(t, 8), step, e.load(v8, sums["amount"], align=64))
            correction = b.sitofp(e.scaled(b.ashr(total, shift), -8), F64)
            e.store(correction, e["corrections"], e.scaled(index, 8))
            into = e.at(e["digits"], start)
            wide = e.broadcast(shift, _EIGHT)
            with e.loop(0, e.scaled(units, 4)) as k:
                v = b.ashr(e.load(v8, values, e.scaled(k, 64), align=64), wide)
                # Adding 128 in every byte, then subtracting it from each byte alone, leaves balanced digits.
                v = b.xor(b.add(v, splat(v8, _BIASES)), splat(v8, _BIASES))
                at = e.at(into, e.scaled(k, _EIGHT))
                with e.loop(0, count) as d:
                    digit = b.lshr(v, e.broadcast(e.scaled(d, 8), _EIGHT))
                    e.store(b.trunc(digit, vector(I8, _EIGHT)), at, b.mul(d, column))
            e.store(b.add(start, b.mul(count, column)), position)
    worst = e.call("llvm.vector.reduce.umax.v8i16", I16, e.load(h8, odd, align=16))
    finite = b.icmp_unsigned("<", worst, ir.Constant(I16, 0x7C00))
    b.ret(b.select(finite, e.load(I64, position, align=8), e.number(-1)))


def _note_token(e: NativeEmitter, at: Value, step: Value, magnitudes: Value) -> None:
    """Count a group's magnitudes, eight sums in units of 2^-24, and its step to its token."""
    b = e.builder
    amount = b.sitofp(e.call("llvm.vector.reduce.add.v8i64", I64, magnitudes), F64)
    amount = b.fadd(e.load(F64, e["amounts"], at, align=8), b.fmul(amount, ir.Constant(F64, 2.0**-24)))
    e.store(amount, e["amounts"], at, align=8)
    known = e.load(F64, e["steps"], at, align=8)
    e.store(b.select(b.fcmp_ordered("<", step, known), step, known), e["steps"], at, align=8)


def _largest(digits: int) -> int:
    """Return the largest integer with so many digits of -128 ... 127."""
    return sum(127 << 8 * d for d in range(digits))


def _load_eight(e: NativeEmitter, source: Value, valid: Value, k: int, into: Value, sums: dict[str, Value], odd: Value) -> None:
    """Load eight features as integers in units of 2^-24, evens first; only `valid` lanes of the unit count."""
    b = e.builder
    h8, v8 = vector(I16, _EIGHT), vector(I64, _EIGHT)
    h = e.load(h8, source, 16 * k, align=2)
    lanes = ir.Constant(v8, [ir.Constant(I64, _EIGHT * k + i) for i in range(_EIGHT)])
    h = b.select(b.icmp_signed("<", lanes, e.broadcast(valid, _EIGHT)), h, splat(h8, 0))
    h = e.shuffle(h, h, [0, 2, 4, 6, 1, 3, 5, 7])
    magnitude = b.and_(h, splat(h8, 0x7FFF))
    seen = e.load(h8, odd, align=16)
    e.store(b.select(b.icmp_unsigned(">", magnitude, seen), magnitude, seen), odd, align=16)
    field = b.lshr(magnitude, splat(h8, 10))
    normal = b.zext(b.icmp_unsigned("!=", field, splat(h8, 0)), h8)
    digits = b.or_(b.and_(h, splat(h8, 0x3FF)), b.shl(normal, splat(h8, 10)))
    v = b.shl(b.zext(digits, v8), b.zext(b.sub(field, normal), v8))
    sign = b.sext(b.ashr(h, splat(h8, 15)), v8)
    value = b.sub(b.xor(v, sign), sign)
    e.store(value, into, align=64)
    largest = e.load(v8, sums["largest"], align=64)
    e.store(b.or_(e.load(v8, sums["any"], align=64), v), sums["any"], align=64)
    e.store(b.select(b.icmp_unsigned(">", v, largest), v, largest), sums["largest"], align=64)
    for name, term in (("sum", value), ("amount", v)):
        e.store(b.add(e.load(v8, sums[name], align=64), term), sums[name], align=64)
