"""Softmax bit for bit in fixed point (docs/arithmetic.md, "Softmax"): exact differences and sums, one rounding to FP16."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fleet.sets.hbm0923.numerics.mvm import NAN16
from fleet.sets.hbm0923.numerics.parabolas import EXP, EXP_DIGITS, I64, INTERVALS, PLACES, RECIP, RECIP_DIGITS

F32 = npt.NDArray[np.float32]

STEPS_PER_E = 0x17154765
"""log2(e) in units of 2^-28."""
_LOWEST = -(1 << 29)
"""-32 in units of 2^-24: what lies lower counts as this, whose exponential is 0 in every sum and result."""
SUM_DIGITS = 36
"""Fraction digits of the terms of a sum."""
_POWERS: F32 = np.ldexp(np.float32(1), 32 - EXP_DIGITS - RECIP_DIGITS - np.arange(48))
"""Weight of the product's upper digits, by n."""
_MIDDLE = 1 << PLACES - 1
_SUM_BITS = SUM_DIGITS + 16
"""Of a sum of fewer than 2^16 terms."""


def exponential(z: I64) -> tuple[I64, I64]:
    """Return (M, n) with exp(z / 2^24) = M * 2^-(25 + n) but for 1.3 * 2^-25 of it: M has 26 digits, 2^25 for z = 0.

    z: any shape, -2^29 ... 0; overwritten.
    """
    z *= STEPS_PER_E
    z += 1 << 26
    z >>= 27
    n = z >> EXP_DIGITS
    np.negative(n, out=n)
    interval = z >> PLACES
    interval &= INTERVALS["exp"] - 1
    z &= 2 * _MIDDLE - 1
    z -= _MIDDLE
    return EXP(interval, z), n


def reciprocal(total: I64) -> tuple[I64, I64]:
    """Return (R, k) with 2^36 / total = R * 2^-(29 + k) but for 1.6 * 2^-27 of it: R has 29 digits. total: 2^36 ... 2^52 - 1."""
    # binary64 holds the total's upper digits exactly, and rounds none of them up to the next power of two.
    k = np.frexp(total.astype(np.float64))[1].astype(np.int64) - (SUM_DIGITS + 1)
    top = total << (_SUM_BITS - SUM_DIGITS - 1) - k
    top >>= _SUM_BITS - 1 - 8 - PLACES
    return RECIP(top >> PLACES & INTERVALS["recip"] - 1, (top & 2 * _MIDDLE - 1) - _MIDDLE), k


def _rounded(y: F32) -> npt.NDArray[np.int32]:
    """Return the bits of y in FP16. 0 <= y < 1."""
    # binary32's own rounding beside 1/2, whose digits end where those of FP16's subnormals do.
    subnormal = (y + np.float32(0.5)).view(np.int32)
    subnormal -= 0x3F000000
    bits = y.view(np.int32)
    normal = bits >> 13
    normal &= 1
    normal += bits
    normal += (1 << 12) - 1 - (112 << 23)
    normal >>= 13
    return np.where(y < np.float32(2**-14), subnormal, normal)


@np.errstate(invalid="ignore")
def softmax(x: npt.NDArray[np.float16], valid: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint16]:
    """Return the bits of y: +0 where not valid, NaN in a row that has none or holds +infinity.

    x, valid: [rows, lanes]; each row has a valid lane.
    """
    v = x.astype(np.float32)
    m = np.where(valid, v, np.float32(-np.inf)).max(axis=-1, keepdims=True)
    spoiled = ~np.isfinite(m)
    z = v.astype(np.float64)
    z -= np.where(spoiled, 0, m)
    z *= 1 << 24
    # NaN counts as the lowest here.
    mantissa, n = exponential(np.fmax(np.minimum(z, 0, out=z), _LOWEST, out=z).astype(np.int64))
    term = mantissa << SUM_DIGITS - EXP_DIGITS
    term >>= n
    term *= valid
    factor, k = reciprocal(np.maximum(term.sum(axis=-1, keepdims=True), 1 << SUM_DIGITS))
    # The product has 54 or 55 digits. binary32 holds the upper ones, and that there are others, in a digit of its own.
    mantissa *= factor
    rest = mantissa & (1 << 32) - 1
    mantissa >>= 32
    mantissa |= rest != 0
    y = mantissa.astype(np.float32)
    y *= _POWERS[n]
    y *= np.ldexp(np.float32(1), -k)
    bits = _rounded(y)
    bits *= valid
    if spoiled.any():
        bits[valid & spoiled] = NAN16
    return bits.astype(np.uint16)
