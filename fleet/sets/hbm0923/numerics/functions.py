"""exp32, recip and rsqrt bit for bit (docs/arithmetic.md): table and polynomial in binary32, in the order defined there.

The tables come from exact integer arithmetic, and all later steps are IEEE 754 additions and multiplications. So no bit depends on
a mathematical library.
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]

_ONE = np.float32(1)
_MIN_NORMAL = np.float32(2.0**-126)
_TABLE_BITS = 12
_STEPS = 64


def _rounded(v: Fraction, bits: int) -> float:
    """Round v > 0 to so many significant bits, to nearest; exact as binary64. No rounded value here is a tie."""
    exponent = v.numerator.bit_length() - v.denominator.bit_length()
    exponent -= v < Fraction(2) ** exponent
    unit = Fraction(2) ** (exponent + 1 - bits)
    return float(round(v / unit) * unit)


def _ln2() -> Fraction:
    """Return ln 2 = 2 artanh(1/3) to 200 bits."""
    return sum((Fraction(2, (2 * i + 1) * 3 ** (2 * i + 1)) for i in range(64)), Fraction(0))


def _exp_table() -> list[float]:
    """Return rne32(2^(j / 32)), j = 0 ... 31: the 32nd root as five square roots, each rounded down (which composes)."""
    table: list[float] = []
    for j in range(32):
        twice = 1 << (24 * 32 + j)
        for _ in range(5):
            twice = isqrt(twice)
        table.append((twice + 1) // 2 / 2.0**23)  # from twice the mantissa: 2^(j / 32) is not a tie
    return table


def _rsqrt_table() -> list[list[float]]:
    """Return 1 / sqrt(2^h * (1 + (i + 1/2) / 64)) to 12 bits; all values are in (1/2, 1)."""
    square = [[Fraction(128, (129 + 2 * i) << h) * (1 << 2 * _TABLE_BITS + 2) for i in range(_STEPS)] for h in range(2)]
    return [[(isqrt(int(s)) + 1) // 2 / 2.0**_TABLE_BITS for s in row] for row in square]


EXP_TABLE: F32 = np.array(_exp_table(), np.float32)
LN2_HI = np.float32(_rounded(_ln2() / 32, _TABLE_BITS))
LN2_LO = np.float32(_rounded(_ln2() / 32 - Fraction(float(LN2_HI)), 24))
"""Both parts are positive."""
STEPS_PER_E = np.uint32(0x4238AA3B).view(np.float32)
SIXTH = np.uint32(0x3E2AAAAB).view(np.float32)
RECIP_TABLE: F32 = np.array([_rounded(Fraction(128, 129 + 2 * i), _TABLE_BITS) for i in range(_STEPS)], np.float32)
RSQRT_TABLE: F32 = np.array(_rsqrt_table(), np.float32)


def _mantissa(x: F32) -> tuple[F32, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return, for a normal |x|: m in [1, 2), the upper six bits of its mantissa, and the exponent."""
    bits = x.view(np.int32)
    m = ((bits & 0x7FFFFF) | 0x3F800000).view(np.float32)
    return m, bits >> 17 & 63, (bits >> 23 & 255) - 127


def exp32(x: F32) -> F32:
    """Return the exponential; any shape."""
    inside = (x >= -87) & (x <= 88)
    v = np.where(inside, x, np.float32(0))
    n = np.rint(v * STEPS_PER_E)
    r = (v - n * LN2_HI) - n * LN2_LO
    q = r * SIXTH
    q += np.float32(0.5)
    q *= r
    q *= r
    q += r
    steps = n.astype(np.int32)
    t = EXP_TABLE[steps & 31]
    e = t + t * q
    # The value is normal before and after, so the power of two is an addition to the exponent.
    e = (e.view(np.int32) + ((steps >> 5) << 23)).view(np.float32)
    outside = np.where(x > 88, np.float32(np.inf), np.where(x < -87, np.float32(0), np.float32(np.nan)))
    return np.where(inside, e, outside)


def recip(x: F32) -> F32:
    """Return the reciprocal; any shape."""
    magnitude = np.abs(x)
    inside = (magnitude >= _MIN_NORMAL) & (magnitude < np.float32(2.0**126))
    m, i, k = _mantissa(np.where(inside, magnitude, _ONE))
    y = RECIP_TABLE[i]
    e = _ONE - m * y
    u = (e + _ONE) * e
    u = (u + _ONE) * e
    value = np.ldexp(y + y * u, -k)
    outside = np.where(magnitude < _MIN_NORMAL, np.float32(np.inf), np.where(np.isnan(x), x, np.float32(0)))
    return np.copysign(np.where(inside, value, outside), x)


def rsqrt(x: F32) -> F32:
    """Return the reciprocal of the square root; any shape."""
    inside = (x >= _MIN_NORMAL) & (x < np.float32(np.inf))
    m, i, exponent = _mantissa(np.where(inside, x, _ONE))
    h = exponent & 1
    z = RSQRT_TABLE[h, i]
    e = _ONE - np.ldexp(m, h) * (z * z)
    u = e * np.float32(0.3125)
    u += np.float32(0.375)
    u *= e
    u += np.float32(0.5)
    u *= e
    value = np.ldexp(z + z * u, -(exponent >> 1))
    outside = np.where(np.abs(x) < _MIN_NORMAL, np.float32(np.inf), np.where(x > 0, np.float32(0), np.float32(np.nan)))
    return np.where(inside, value, outside)
