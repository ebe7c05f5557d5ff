"""Floor division and remainder as in NumPy: the remainder has the divisor's sign, integers divided by 0 give 0.

The floating remainder is exact (C's fmod): long division that subtracts the divisor times powers of two, without rounding. Floating
values are processed one at a time, because the number of steps depends on them.
"""

from __future__ import annotations

import math

import numpy as np
from llvmlite import ir

from fleet.targets.riscv.kernels.kernel import F32, F64, I64, Builder, Value, flow_of, intrinsic, is_float, lanes_of, number
from fleet.targets.riscv.kernels.math import Core

FMOD_STEPS = 2200
"""Maximum steps of a long division of two float64 numbers: the range of their exponents, including subnormal ones."""


def floor_divide(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit `numpy.floor_divide`."""
    if is_float(dtype):
        return _floating(b, x, y, dtype)[0]
    return _integers(b, x, y, dtype)[0]


def modulo(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit `numpy.remainder`."""
    if is_float(dtype):
        return _floating(b, x, y, dtype)[1]
    return _integers(b, x, y, dtype)[1]


def _integers(b: Builder, x: Value, y: Value, dtype: np.dtype) -> tuple[Value, Value]:
    lanes = lanes_of(x)
    zero, one = number(dtype, 0, lanes), number(dtype, 1, lanes)
    none = b.icmp_signed("==", y, zero)
    if dtype.kind == "u":
        safe = b.select(none, one, y)
        return b.select(none, zero, b.udiv(x, safe)), b.select(none, zero, b.urem(x, safe))
    minus = b.icmp_signed("==", y, number(dtype, -1, lanes))  # the smallest integer by -1 overflows: negate instead
    safe = b.select(b.or_(none, minus), one, y)
    quotient, rest = b.sdiv(x, safe), b.srem(x, safe)
    away = b.and_(b.icmp_signed("!=", rest, zero), b.icmp_signed("<", b.xor(rest, safe), zero))
    quotient = b.select(away, b.sub(quotient, one), quotient)
    rest = b.select(away, b.add(rest, safe), rest)
    quotient = b.select(none, zero, b.select(minus, b.neg(x), quotient))
    return quotient, b.select(none, zero, rest)


def _floating(b: Builder, x: Value, y: Value, dtype: np.dtype) -> tuple[Value, Value]:
    """Emit quotient and remainder in NumPy's steps, each rounded to the dtype."""

    def c(value: float) -> Value:
        return number(dtype, value)

    rest = _fmod(b, x, y, dtype)
    ratio = b.fdiv(x, y)
    quotient = b.fdiv(b.fsub(x, rest), y)
    apart = b.xor(b.fcmp_ordered("<", y, c(0)), b.fcmp_ordered("<", rest, c(0)))
    some = b.fcmp_unordered("!=", rest, c(0))
    shift = b.and_(some, apart)
    rest = b.select(shift, b.fadd(rest, y), rest)
    quotient = b.select(shift, b.fsub(quotient, c(1)), quotient)
    rest = b.select(some, rest, intrinsic(b, "llvm.copysign", c(0), y))
    whole = intrinsic(b, "llvm.floor", quotient)
    whole = b.select(b.fcmp_ordered(">", b.fsub(quotient, whole), c(0.5)), b.fadd(whole, c(1)), whole)
    nothing = intrinsic(b, "llvm.copysign", c(0), ratio)
    result = b.select(b.fcmp_ordered("==", quotient, c(0)), nothing, whole)
    by_zero = b.fcmp_ordered("==", y, c(0))
    return b.select(by_zero, ratio, result), b.select(by_zero, c(math.nan), rest)


def _fmod(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit C's fmod: the sign of x; NaN if x is infinite or y is zero."""
    core = Core(b)
    wide = [b.fpext(v, F64) for v in (x, y)] if dtype.itemsize == 4 else [x, y]
    size, by = (core.magnitude(v) for v in wide)
    inf, zero = ir.Constant(F64, math.inf), ir.Constant(F64, 0.0)
    bad = b.or_(b.fcmp_unordered(">=", size, inf), b.fcmp_unordered("==", by, zero))
    bad = b.or_(bad, b.fcmp_unordered("uno", by, by))
    start = b.select(bad, zero, size)
    step = b.select(bad, inf, by)

    def subtract(rest: Value) -> Value:
        shift = b.sub(_exponent(b, rest), _exponent(b, step))
        scaled = step
        for _ in range(3):  # up to 2**2098, which needs more than two factors
            now = b.select(b.icmp_signed("<", shift, ir.Constant(I64, 1000)), shift, ir.Constant(I64, 1000))
            scaled = b.fmul(scaled, core.power_of_two(now))
            shift = b.sub(shift, now)
        part = b.select(b.fcmp_ordered(">", scaled, rest), b.fmul(scaled, ir.Constant(F64, 0.5)), scaled)
        return b.fsub(rest, part)

    rest = flow_of(b).repeated(start, lambda rest: b.fcmp_ordered(">=", rest, step), subtract)
    value = core.copysign(b.select(bad, ir.Constant(F64, math.nan), rest), wide[0])
    return b.fptrunc(value, F32) if dtype.itemsize == 4 else value


def _exponent(b: Builder, x: Value) -> Value:
    """Return the exponent of a positive number, plus 1023; below 1 for subnormal ones."""
    small = b.fcmp_ordered("<", x, ir.Constant(F64, 2.0**-1022))
    bits = b.bitcast(b.select(small, b.fmul(x, ir.Constant(F64, 2.0**54)), x), I64)
    exponent = b.lshr(bits, ir.Constant(I64, 52))
    return b.sub(exponent, b.select(small, ir.Constant(I64, 54), ir.Constant(I64, 0)))
