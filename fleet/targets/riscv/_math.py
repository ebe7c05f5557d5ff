"""exp, log, tanh and pow as straight-line code: own polynomials, no library calls.

float32 functions are computed in float64 and rounded once. How far they may be from the exact value stands in
`fleet.targets.riscv.arithmetic.MAX_ULP`; tests hold it against mpmath.

Coefficients are those of the Taylor series (of e^x and of artanh), whose remainder on the reduced range is below the
rounding error; reductions follow Cody and Waite (n ln 2 in two parts) and, for float64 `pow`, carry the logarithm as
an unevaluated sum of two doubles (Dekker). Special values are those of C99 annex F, which NumPy gives too.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from fractions import Fraction

from llvmlite import ir

from fleet.targets.riscv._kernel import F64, I64, Builder, Value

_LN2_HIGH = struct.unpack("<d", struct.pack("<Q", 0x3FE62E42FEE00000))[0]
"""ln 2 with its low bits cleared: its product with any exponent is exact."""
_LN2_LOW = 1.9082149292705877e-10
_MAGIC = 1.5 * 2.0**52
"""Adding and subtracting it rounds to an integer, whose value stands in the low bits of the sum."""
_SQRT_HALF = 0x3FE6A09E667F3BCD
_THIRD_HIGH = 1 / 3
_THIRD_LOW = float(Fraction(1, 3) - Fraction(1 / 3))


def _bits(value: float) -> int:
    return struct.unpack("<q", struct.pack("<d", value))[0]


class Functions:
    """Emits functions of float64 values; `single` means that the result is rounded to float32 afterwards."""

    def __init__(self, builder: Builder, single: bool) -> None:
        self.b, self.single = builder, single

    def exp(self, x: Value) -> Value:
        """e**x: 0 below, infinity above the range, NaN for NaN."""
        return self._exp(self._clamp(x, -746.0, 710.0), None)

    def log(self, x: Value) -> Value:
        """The natural logarithm: -infinity of 0, NaN below 0."""
        b = self.b
        k, m = self._split(x)
        f = b.fsub(m, _c(1.0))
        s = b.fdiv(f, b.fadd(m, _c(1.0)))
        z = b.fmul(s, s)
        rest = b.fmul(z, self._polynomial(z, [2 / (2 * i + 3) for i in range(7 if self.single else 11)]))
        half = b.fmul(b.fmul(_c(0.5), f), f)
        inner = b.fma(k, _c(_LN2_LOW), b.fmul(s, b.fadd(half, rest)))
        y = b.fma(k, _c(_LN2_HIGH), b.fsub(f, b.fsub(half, inner)))
        y = b.select(b.fcmp_ordered("==", x, _c(math.inf)), _c(math.inf), y)
        y = b.select(b.fcmp_ordered("==", x, _c(0.0)), _c(-math.inf), y)
        return b.select(b.fcmp_ordered(">=", x, _c(0.0)), y, _c(math.nan))

    def tanh(self, x: Value) -> Value:
        """The hyperbolic tangent as t / (t + 2) with t = e**(2 |x|) - 1; the sign of zero stays."""
        b = self.b
        y = self._clamp(b.fmul(_c(2.0), self._abs(x)), 0.0, 44.0)
        n, r, c = self._reduce(y)
        power = self._power_of_two(n)
        t = b.fma(power, self._expm1(r, c), b.fsub(power, _c(1.0)))
        return self._copysign(b.fdiv(t, b.fadd(t, _c(2.0))), x)

    def pow(self, x: Value, y: Value) -> Value:
        """x**y with all special cases of C99."""
        b = self.b
        size, magnitude = self._abs(x), self._abs(y)
        if self.single:
            ph, pl = b.fmul(y, self.log(size)), None
        else:
            high, low = self._log_pair(size)
            ph = b.fmul(y, high)
            pl = b.fma(y, low, b.fma(y, high, b.fneg(ph)))
            # Beyond the range of exp the correction is meaningless (and NaN when the product overflowed).
            pl = b.select(b.fcmp_ordered("<", self._abs(ph), _c(800.0)), pl, _c(0.0))
        z = self._exp(self._clamp(ph, -760.0, 760.0), pl)
        grows = b.fcmp_ordered(">", y, _c(0.0))
        z = b.select(b.fcmp_ordered("==", size, _c(math.inf)), b.select(grows, _c(math.inf), _c(0.0)), z)
        z = b.select(b.fcmp_ordered("==", size, _c(0.0)), b.select(grows, _c(0.0), _c(math.inf)), z)
        z = b.select(b.fcmp_ordered("==", size, _c(1.0)), _c(1.0), z)
        # From 2**53 on every float64 is an even integer, infinity included.
        below = b.fcmp_ordered("<", magnitude, _c(2.0**53))
        whole = b.fptosi(b.select(below, magnitude, _c(2.0**53)), I64)
        integer = b.or_(b.not_(below), b.fcmp_ordered("==", b.sitofp(whole, F64), magnitude))
        odd = b.and_(integer, b.trunc(whole, ir.IntType(1)))
        z = b.select(odd, self._copysign(z, x), z)
        finite = b.and_(b.fcmp_ordered("<", x, _c(0.0)), b.fcmp_ordered("!=", size, _c(math.inf)))
        z = b.select(b.and_(finite, b.not_(integer)), _c(math.nan), z)
        z = b.select(b.fcmp_unordered("uno", x, y), _c(math.nan), z)
        one = b.or_(b.fcmp_ordered("==", y, _c(0.0)), b.fcmp_ordered("==", x, _c(1.0)))
        return b.select(one, _c(1.0), z)

    def _abs(self, x: Value) -> Value:
        return _call(self.b, "llvm.fabs", [x])

    def _copysign(self, x: Value, sign: Value) -> Value:
        return _call(self.b, "llvm.copysign", [x, sign])

    def _clamp(self, x: Value, low: float, high: float) -> Value:
        """x within [low, high]; NaN stays."""
        x = self.b.select(self.b.fcmp_ordered("<", x, _c(low)), _c(low), x)
        return self.b.select(self.b.fcmp_ordered(">", x, _c(high)), _c(high), x)

    def _polynomial(self, x: Value, coefficients: Sequence[float]) -> Value:
        """Horner with fused steps, lowest power first."""
        value: Value = _c(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            value = self.b.fma(value, x, _c(coefficient))
        return value

    def _power_of_two(self, n: Value) -> Value:
        b = self.b
        return b.bitcast(b.shl(b.add(n, ir.Constant(I64, 1023)), ir.Constant(I64, 52)), F64)

    def _reduce(self, x: Value) -> tuple[Value, Value, Value]:
        """x = n ln 2 + r + c with integer n, |r| <= ln 2 / 2 and c below the last bit of r."""
        b = self.b
        t = b.fma(x, _c(1 / math.log(2)), _c(_MAGIC))
        n = b.sub(b.bitcast(t, I64), ir.Constant(I64, _bits(_MAGIC)))
        nf = b.fsub(t, _c(_MAGIC))
        high = b.fma(nf, _c(-_LN2_HIGH), x)
        low = b.fmul(nf, _c(_LN2_LOW))
        r = b.fsub(high, low)
        return n, r, b.fsub(b.fsub(high, r), low)

    def _expm1(self, r: Value, c: Value) -> Value:
        b = self.b
        count = 9 if self.single else 12
        tail = b.fmul(b.fmul(r, r), self._polynomial(r, [1 / math.factorial(i + 2) for i in range(count)]))
        about = b.fadd(r, tail)
        return b.fadd(r, b.fadd(tail, b.fma(c, about, c)))

    def _exp(self, x: Value, extra: Value | None) -> Value:
        """e**(x + extra), |x| <= 760; the scale is applied in two steps so that subnormal results round once."""
        b = self.b
        n, r, c = self._reduce(x)
        if extra is not None:
            c = b.fadd(c, extra)
        half = b.ashr(n, ir.Constant(I64, 1))
        value = b.fmul(b.fadd(_c(1.0), self._expm1(r, c)), self._power_of_two(half))
        return b.fmul(value, self._power_of_two(b.sub(n, half)))

    def _split(self, x: Value) -> tuple[Value, Value]:
        """x = m 2**k with m in [sqrt 1/2, sqrt 2), for positive finite x; k as float64."""
        b = self.b
        small = b.fcmp_ordered("<", x, _c(2.0**-1022))
        bits = b.bitcast(b.select(small, b.fmul(x, _c(2.0**54)), x), I64)
        k = b.ashr(b.sub(bits, ir.Constant(I64, _SQRT_HALF)), ir.Constant(I64, 52))
        m = b.bitcast(b.sub(bits, b.shl(k, ir.Constant(I64, 52))), F64)
        return b.sitofp(b.sub(k, b.select(small, ir.Constant(I64, 54), ir.Constant(I64, 0))), F64), m

    def _log_pair(self, x: Value) -> tuple[Value, Value]:
        """log x as high + low with a relative error near 2**-64, for positive finite x.

        log m = 2 s (1 + s**2 / 3 + s**4 / 5 + ...), s = (m - 1) / (m + 1); s and s**2 / 3 as pairs, the rest plain.
        """
        b = self.b
        k, m = self._split(x)
        f = b.fsub(m, _c(1.0))
        g = b.fadd(m, _c(1.0))
        g_low = b.fsub(m, b.fsub(g, _c(1.0)))
        s = b.fdiv(f, g)
        minus = b.fneg(s)
        s_low = b.fdiv(b.fma(minus, g_low, b.fma(minus, g, f)), g)
        z = b.fmul(s, s)
        z_low = b.fma(b.fmul(_c(2.0), s), s_low, b.fma(s, s, b.fneg(z)))
        c = b.fmul(z, _c(_THIRD_HIGH))
        c_low = b.fma(z_low, _c(_THIRD_HIGH), b.fma(z, _c(_THIRD_LOW), b.fma(z, _c(_THIRD_HIGH), b.fneg(c))))
        tail = b.fmul(b.fmul(z, z), self._polynomial(z, [1 / (2 * i + 5) for i in range(11)]))
        p = b.fadd(c, tail)
        p_low = b.fadd(b.fadd(b.fsub(c, p), tail), c_low)
        q = b.fmul(s, p)
        q_low = b.fadd(b.fma(s, p, b.fneg(q)), b.fma(s, p_low, b.fmul(s_low, p)))
        v = b.fadd(s, q)
        v_low = b.fadd(b.fadd(b.fsub(s, v), q), b.fadd(s_low, q_low))
        v, v_low = b.fmul(_c(2.0), v), b.fmul(_c(2.0), v_low)
        a = b.fmul(k, _c(_LN2_HIGH))
        h = b.fadd(a, v)
        h_low = b.fadd(b.fadd(b.fsub(a, h), v), b.fma(k, _c(_LN2_LOW), v_low))
        high = b.fadd(h, h_low)
        return high, b.fadd(b.fsub(h, high), h_low)


def _c(value: float) -> Value:
    return ir.Constant(F64, value)


def _call(b: Builder, name: str, arguments: list[Value]) -> Value:
    return b.call(b.module.declare_intrinsic(name, [F64], ir.FunctionType(F64, [F64] * len(arguments))), arguments)
