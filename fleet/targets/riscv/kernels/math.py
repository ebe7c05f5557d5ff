"""exp, log, tanh, pow and similar functions as straight-line code: own polynomials, no library calls.

Values are float64, of one or several lanes; float32 functions are computed in float64 and rounded once.
`fleet.targets.riscv.arithmetic.MAX_ULP` states their errors; tests compare them with mpmath.

Coefficients of exp (float64) and log are those of the Taylor series (of e^x and of artanh), whose remainder on the reduced range is
below the rounding error; the others are interpolations (`coefficients`). Reductions follow Cody and Waite (n ln 2 in two parts).
For float64 `pow` the logarithm is an unevaluated sum of two doubles (Dekker). Special values are those of C99 annex F, as in NumPy.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from fractions import Fraction

from llvmlite import ir

from fleet.targets.riscv.kernels import coefficients
from fleet.targets.riscv.kernels.kernel import F64, I1, I64, Builder, Value, fused, intrinsic, splat, truncated, vector

_LN2_HIGH = struct.unpack("<d", struct.pack("<Q", 0x3FE62E42FEE00000))[0]
"""ln 2 with its low bits cleared: its product with any exponent is exact."""
_LN2_LOW = 1.9082149292705877e-10
_MAGIC = 1.5 * 2.0**52
"""Adding and subtracting it rounds to an integer; the low bits of the sum hold that integer."""
_BIASED = _MAGIC + 1023
"""As above, with the bias of the exponent added: one shift of the low bits makes a power of two."""
_SQRT_HALF = 0x3FE6A09E667F3BCD
_THIRD_HIGH = 1 / 3
_THIRD_LOW = float(Fraction(1, 3) - Fraction(1 / 3))


def bits_of(value: float) -> int:
    """Return the 64 bits of a float64 as a signed integer."""
    return struct.unpack("<q", struct.pack("<d", value))[0]


class Core:
    """Common steps of the functions, on float64 values of `lanes` elements."""

    def __init__(self, builder: Builder, lanes: int = 1) -> None:
        self.b, self.lanes = builder, lanes
        self.f64, self.i64 = vector(F64, lanes), vector(I64, lanes)

    def c(self, value: float) -> Value:
        """Return a float64 constant."""
        return splat(self.f64, value)

    def i(self, value: int) -> Value:
        """Return an i64 constant."""
        return splat(self.i64, value)

    def fma(self, x: Value, y: Value, z: Value) -> Value:
        """Emit x y + z, rounded once."""
        return fused(self.b, x, y, z)

    def magnitude(self, x: Value) -> Value:
        """Emit |x|."""
        return intrinsic(self.b, "llvm.fabs", x)

    def copysign(self, x: Value, sign: Value) -> Value:
        """Emit |x| with the sign of `sign`."""
        return intrinsic(self.b, "llvm.copysign", x, sign)

    def larger(self, x: Value, low: float) -> Value:
        """Emit max(x, low) in one instruction; NaN gives `low`."""
        return intrinsic(self.b, "llvm.maxnum", x, self.c(low))

    def smaller(self, x: Value, high: float) -> Value:
        """Emit min(x, high) in one instruction; NaN gives `high`."""
        return intrinsic(self.b, "llvm.minnum", x, self.c(high))

    def clamp(self, x: Value, low: float, high: float) -> Value:
        """Emit x clamped to [low, high]; NaN stays."""
        b = self.b
        x = b.select(b.fcmp_ordered("<", x, self.c(low)), self.c(low), x)
        return b.select(b.fcmp_ordered(">", x, self.c(high)), self.c(high), x)

    def polynomial(self, x: Value, factors: Sequence[float], last: Value | None = None) -> Value:
        """Emit Horner's scheme with fused steps. factors: lowest power first."""
        value: Value = self.c(factors[-1]) if last is None else last
        for factor in reversed(factors[:-1] if last is None else factors):
            value = self.fma(value, x, self.c(factor))
        return value

    def power_of_two(self, n: Value) -> Value:
        """Emit 2**n for an integer n from -1022 to 1023."""
        b = self.b
        return b.bitcast(b.shl(b.add(n, self.i(1023)), self.i(52)), self.f64)

    def reduce(self, x: Value) -> tuple[Value, Value, Value]:
        """Return n, r, c with x = n ln 2 + r + c, integer n, |r| <= ln 2 / 2 and c below the last bit of r."""
        b = self.b
        t = self.fma(x, self.c(1 / math.log(2)), self.c(_MAGIC))
        n = b.sub(b.bitcast(t, self.i64), self.i(bits_of(_MAGIC)))
        nf = b.fsub(t, self.c(_MAGIC))
        high = self.fma(nf, self.c(-_LN2_HIGH), x)
        low = b.fmul(nf, self.c(_LN2_LOW))
        r = b.fsub(high, low)
        return n, r, b.fsub(b.fsub(high, r), low)

    def expm1_reduced(self, r: Value, c: Value, count: int) -> Value:
        """Emit e**(r + c) - 1 for |r| <= ln 2 / 2."""
        b = self.b
        tail = b.fmul(b.fmul(r, r), self.polynomial(r, [1 / math.factorial(i + 2) for i in range(count)]))
        about = b.fadd(r, tail)
        return b.fadd(r, b.fadd(tail, self.fma(c, about, c)))

    def exp_short(self, x: Value, *, long: bool = False) -> Value:
        """Emit e**x for finite x, -700 <= x <= 700, to 2**-27, or 2**-34 if `long`: enough for a result rounded to float32."""
        b = self.b
        log2e = self.c(1 / math.log(2))
        t = self.fma(x, log2e, self.c(_BIASED))
        r = self.fma(x, log2e, b.fneg(b.fsub(t, self.c(_BIASED))))
        return self._scaled(t, r, coefficients.EXP2_LONG if long else coefficients.EXP2_SHORT)

    def exp2_short(self, y: Value) -> Value:
        """Emit 2**y for -1000 <= y <= 1000, to 2**-27."""
        b = self.b
        t = b.fadd(y, self.c(_BIASED))
        return self._scaled(t, b.fsub(y, b.fsub(t, self.c(_BIASED))), coefficients.EXP2_SHORT)

    def _scaled(self, t: Value, r: Value, ratio: Sequence[float]) -> Value:
        b = self.b
        scale = b.bitcast(b.shl(b.bitcast(t, self.i64), self.i(52)), self.f64)
        return b.fmul(self.polynomial(r, [1.0, *ratio]), scale)

    def split(self, x: Value) -> tuple[Value, Value]:
        """Return m, k with x = m 2**k and m in [sqrt 1/2, sqrt 2), for positive finite x; k as float64."""
        b = self.b
        small = b.fcmp_ordered("<", x, self.c(2.0**-1022))
        bits = b.bitcast(b.select(small, b.fmul(x, self.c(2.0**54)), x), self.i64)
        k = b.ashr(b.sub(bits, self.i(_SQRT_HALF)), self.i(52))
        m = b.bitcast(b.sub(bits, b.shl(k, self.i(52))), self.f64)
        return b.sitofp(b.sub(k, b.select(small, self.i(54), self.i(0))), self.f64), m


class Functions(Core):
    """Emits functions of float64 values. single: the result is rounded to float32 afterwards."""

    def __init__(self, builder: Builder, single: bool, lanes: int = 1) -> None:
        super().__init__(builder, lanes)
        self.single = single

    def exp(self, x: Value) -> Value:
        """Emit e**x: 0 below, infinity above the range, NaN for NaN."""
        if self.single:
            return self.exp_short(self.clamp(x, -110.0, 90.0), long=True)
        return self._exp(self.clamp(x, -746.0, 710.0), None)

    def log(self, x: Value) -> Value:
        """Emit the natural logarithm: -infinity for 0, NaN below 0."""
        b, c = self.b, self.c
        k, m = self.split(x)
        f = b.fsub(m, c(1.0))
        s = b.fdiv(f, b.fadd(m, c(1.0)))
        z = b.fmul(s, s)
        rest = b.fmul(z, self.polynomial(z, [2 / (2 * i + 3) for i in range(7 if self.single else 11)]))
        half = b.fmul(b.fmul(c(0.5), f), f)
        inner = self.fma(k, c(_LN2_LOW), b.fmul(s, b.fadd(half, rest)))
        y = self.fma(k, c(_LN2_HIGH), b.fsub(f, b.fsub(half, inner)))
        y = b.select(b.fcmp_ordered("==", x, c(math.inf)), c(math.inf), y)
        y = b.select(b.fcmp_ordered("==", x, c(0.0)), c(-math.inf), y)
        return b.select(b.fcmp_ordered(">=", x, c(0.0)), y, c(math.nan))

    def log1p(self, x: Value) -> Value:
        """Emit log(1 + x): the logarithm of the rounded sum, with a correction for the rounding."""
        b, c = self.b, self.c
        u = b.fadd(x, c(1.0))
        lost = b.select(b.fcmp_ordered(">", x, c(1.0)), b.fsub(c(1.0), b.fsub(u, x)), b.fsub(x, b.fsub(u, c(1.0))))
        y = b.fadd(self.log(u), b.fdiv(lost, u))
        plain = b.or_(b.fcmp_ordered("==", u, c(math.inf)), b.fcmp_ordered("==", u, c(0.0)))
        y = b.select(plain, self.log(u), y)
        return b.select(b.fcmp_ordered("==", u, c(1.0)), x, y)

    def expm1(self, x: Value) -> Value:
        """Emit e**x - 1: -1 below, infinity above the range; tiny arguments and the sign of zero stay."""
        b, c = self.b, self.c
        y = self.clamp(x, -45.0, 710.0)
        n, r, low = self.reduce(y)
        p = self.expm1_reduced(r, low, 9 if self.single else 12)
        # In two steps: 2**n itself may overflow although the result does not.
        top = b.select(b.icmp_signed(">", n, self.i(1000)), self.i(1000), n)
        inner = b.fadd(p, b.fsub(c(1.0), self.power_of_two(b.sub(self.i(0), top))))
        grown = b.fmul(b.fmul(inner, self.power_of_two(top)), self.power_of_two(b.sub(n, top)))
        y = b.select(b.icmp_signed("==", n, self.i(0)), p, grown)
        return self.copysign(y, x)

    def tanh(self, x: Value) -> Value:
        """Emit the hyperbolic tangent as t / (t + 2) with t = e**(2 |x|) - 1; the sign of zero stays."""
        b = self.b
        y = b.fmul(self.c(2.0), self.magnitude(x))
        y = b.select(b.fcmp_ordered(">", y, self.c(44.0)), self.c(44.0), y)
        n, r, c = self.reduce(y)
        power = self.power_of_two(n)
        t = self.fma(power, self.expm1_reduced(r, c, 9 if self.single else 12), b.fsub(power, self.c(1.0)))
        return self.copysign(b.fdiv(t, b.fadd(t, self.c(2.0))), x)

    def erf(self, x: Value) -> Value:
        """Emit the error function. float32: one odd polynomial up to |x| = 4, where it is 1; float64: two ranges."""
        b, c = self.b, self.c
        y = self.clamp(x, -4.0, 4.0) if self.single else self.clamp(x, -6.0, 6.0)
        z = b.fmul(y, y)
        if self.single:
            return b.fmul(y, self.polynomial(self.fma(z, c(0.125), c(-1.0)), coefficients.ERF_WIDE))
        near = self.fma(y, self.polynomial(z, [coefficients.ERF_NEAR[0] - 1.0, *coefficients.ERF_NEAR[1:]]), y)
        a = self.magnitude(y)
        t = b.fdiv(b.fsub(a, c(2.25)), b.fadd(a, c(2.25)))
        beyond = b.fmul(self._exp(b.fneg(z), None), self.polynomial(t, coefficients.ERFC_FAR))
        far = self.copysign(b.fsub(c(1.0), beyond), y)
        return b.select(b.fcmp_unordered("<", a, c(1.0)), near, far)

    def sigmoid(self, x: Value) -> Value:
        """Emit 1 / (1 + e**-x)."""
        y = self.clamp(x, -745.0, 740.0)
        return self.b.fdiv(self.c(1.0), self.b.fadd(self.c(1.0), self._exp(self.b.fneg(y), None)))

    def rsqrt(self, x: Value) -> Value:
        """Emit 1 / sqrt x."""
        return self.b.fdiv(self.c(1.0), intrinsic(self.b, "llvm.sqrt", x))

    def pow(self, x: Value, y: Value) -> Value:
        """Emit x**y with all special cases of C99."""
        b, c = self.b, self.c
        size, magnitude = self.magnitude(x), self.magnitude(y)
        if self.single:
            ph, pl = b.fmul(y, self.log(size)), None
        else:
            high, low = self._log_pair(size)
            ph = b.fmul(y, high)
            pl = self.fma(y, low, self.fma(y, high, b.fneg(ph)))
            # Beyond the range of exp the correction is meaningless (and NaN if the product overflowed).
            pl = b.select(b.fcmp_ordered("<", self.magnitude(ph), c(800.0)), pl, c(0.0))
        z = self._exp(self.clamp(ph, -760.0, 760.0), pl)
        grows = b.fcmp_ordered(">", y, c(0.0))
        z = b.select(b.fcmp_ordered("==", size, c(math.inf)), b.select(grows, c(math.inf), c(0.0)), z)
        z = b.select(b.fcmp_ordered("==", size, c(0.0)), b.select(grows, c(0.0), c(math.inf)), z)
        z = b.select(b.fcmp_ordered("==", size, c(1.0)), c(1.0), z)
        # From 2**53 on every float64 is an even integer, infinity included.
        below = b.fcmp_ordered("<", magnitude, c(2.0**53))
        whole = truncated(b, b.select(below, magnitude, c(2.0**53)))
        integer = b.or_(b.not_(below), b.fcmp_ordered("==", b.sitofp(whole, self.f64), magnitude))
        odd = b.and_(integer, b.trunc(whole, vector(I1, self.lanes)))
        z = b.select(odd, self.copysign(z, x), z)
        finite = b.and_(b.fcmp_ordered("<", x, c(0.0)), b.fcmp_ordered("!=", size, c(math.inf)))
        z = b.select(b.and_(finite, b.not_(integer)), c(math.nan), z)
        z = b.select(b.fcmp_unordered("uno", x, y), c(math.nan), z)
        one = b.or_(b.fcmp_ordered("==", y, c(0.0)), b.fcmp_ordered("==", x, c(1.0)))
        return b.select(one, c(1.0), z)

    def _exp(self, x: Value, extra: Value | None) -> Value:
        """Emit e**(x + extra), |x| <= 760; the scale is applied in two steps, so that subnormal results round once."""
        b = self.b
        n, r, c = self.reduce(x)
        if extra is not None:
            c = b.fadd(c, extra)
        half = b.ashr(n, self.i(1))
        grown = b.fadd(self.c(1.0), self.expm1_reduced(r, c, 9 if self.single else 12))
        value = b.fmul(grown, self.power_of_two(half))
        return b.fmul(value, self.power_of_two(b.sub(n, half)))

    def _log_pair(self, x: Value) -> tuple[Value, Value]:
        """Return log x as high + low with a relative error near 2**-64, for positive finite x.

        log m = 2 s (1 + s**2 / 3 + s**4 / 5 + ...), s = (m - 1) / (m + 1); s and s**2 / 3 as pairs, the rest plain.
        """
        b, fma = self.b, self.fma
        k, m = self.split(x)
        f = b.fsub(m, self.c(1.0))
        g = b.fadd(m, self.c(1.0))
        g_low = b.fsub(m, b.fsub(g, self.c(1.0)))
        s = b.fdiv(f, g)
        minus = b.fneg(s)
        s_low = b.fdiv(fma(minus, g_low, fma(minus, g, f)), g)
        z = b.fmul(s, s)
        z_low = fma(b.fmul(self.c(2.0), s), s_low, fma(s, s, b.fneg(z)))
        third, third_low = self.c(_THIRD_HIGH), self.c(_THIRD_LOW)
        c = b.fmul(z, third)
        c_low = fma(z_low, third, fma(z, third_low, fma(z, third, b.fneg(c))))
        tail = b.fmul(b.fmul(z, z), self.polynomial(z, [1 / (2 * i + 5) for i in range(11)]))
        p = b.fadd(c, tail)
        p_low = b.fadd(b.fadd(b.fsub(c, p), tail), c_low)
        q = b.fmul(s, p)
        q_low = b.fadd(fma(s, p, b.fneg(q)), fma(s, p_low, b.fmul(s_low, p)))
        v = b.fadd(s, q)
        v_low = b.fadd(b.fadd(b.fsub(s, v), q), b.fadd(s_low, q_low))
        v, v_low = b.fmul(self.c(2.0), v), b.fmul(self.c(2.0), v_low)
        a = b.fmul(k, self.c(_LN2_HIGH))
        h = b.fadd(a, v)
        h_low = b.fadd(b.fadd(b.fsub(a, h), v), fma(k, self.c(_LN2_LOW), v_low))
        high = b.fadd(h, h_low)
        return high, b.fadd(b.fsub(h, high), h_low)


def call_reduction(b: Builder, name: str, value: Value, start: Value | None = None) -> Value:
    """Emit `llvm.vector.reduce.<name>` of a vector, beginning with `start` if the reduction takes one (in lane order)."""
    element = value.type.element
    short = {"float": "f32", "double": "f64"}.get(str(element), str(element))
    full = f"llvm.vector.reduce.{name}.v{value.type.count}{short}"
    types = [value.type] if start is None else [element, value.type]
    found = b.module.globals.get(full) or ir.Function(b.module, ir.FunctionType(element, types), full)
    return b.call(found, [value] if start is None else [start, value])
