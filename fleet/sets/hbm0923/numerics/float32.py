"""FP20 (docs/arithmetic.md, "Functions and features of the other units")."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fleet.sdk import DeviceError

FP20_BIAS, FP20_MANTISSA = 31, 13


def fp20_value(word: int) -> np.float32:
    """Return FP20 (sign 19, exponent 18:13, mantissa 12:0) as binary32, exactly; exponent 0 is a zero of that sign."""
    sign, exponent, mantissa = word >> 19 & 1, word >> FP20_MANTISSA & 63, word & ((1 << FP20_MANTISSA) - 1)
    bits = 0 if exponent == 0 else (exponent + 127 - FP20_BIAS) << 23 | mantissa << (23 - FP20_MANTISSA)
    return np.uint32(sign << 31 | bits).view(np.float32)


def fp20_word(value: Fraction | int) -> int:
    """Return the FP20 nearest to a number (ties to even); numbers below 2^-30 become zero.

    Raises:
        DeviceError: the number is outside FP20.
    """
    v = abs(Fraction(value))
    sign = 1 << 19 if value < 0 else 0
    exponent = v.numerator.bit_length() - v.denominator.bit_length() if v else -FP20_BIAS
    exponent -= v < Fraction(2) ** exponent
    if exponent < 1 - FP20_BIAS:
        return sign
    mantissa = round(v / Fraction(2) ** (exponent - FP20_MANTISSA))  # rounds half to even
    word = ((exponent + FP20_BIAS) << FP20_MANTISSA) + mantissa - (1 << FP20_MANTISSA)
    if word >= 1 << 19:
        raise DeviceError(f"{float(value):g} does not fit in FP20, expected less than 2^33")
    return sign | word
