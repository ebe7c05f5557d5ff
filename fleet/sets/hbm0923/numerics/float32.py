"""Sums over 32-lane beats in binary32, and FP20 (docs/arithmetic.md, "Sums, functions and features of the other units")."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from fleet.sdk import DeviceError

F32 = npt.NDArray[np.float32]

LANES = 32
FP20_BIAS, FP20_MANTISSA = 31, 13
_BLOCK = 4096
"""Dot products computed together: 32 lanes of them take 512 KiB, which fit into the second cache."""


def tree32(v: F32) -> F32:
    """Sum the last axis of 32 lanes with five rounds of adding neighbours. [..., 32] -> [...]."""
    while v.shape[-1] > 1:
        v = v[..., 0::2] + v[..., 1::2]
    return v[..., 0]


def sum_beats(v: F32) -> F32:
    """Return sum(v) of docs/arithmetic.md over axes 0 (beats, ascending) and -1 (lanes): [beats, ..., 32] -> [...]."""
    acc = np.zeros(v.shape[1:-1], np.float32)
    for part in tree32(v):
        acc += part
    return acc


def _lanes_first(v: F32) -> F32:
    """Rearrange [n, length] to [beats, 32, n], +0 in the absent lanes."""
    n, length = v.shape
    beats = -(-length // LANES)
    padded = np.zeros((n, beats * LANES), np.float32)
    padded[:, :length] = v
    return np.ascontiguousarray(padded.reshape(n, beats, LANES).transpose(1, 2, 0))


def dot_products(a: F32, b: F32) -> F32:
    """Return all sum(mul(a[i], b[j])): [n, length] and [m, length] -> [n, m].

    Absent lanes of the last beat are +0. Products of FP16 values are exact; every addition rounds to binary32 in the order of
    docs/arithmetic.md, so BLAS cannot be used. The lanes are the outermost axis, so that the halvings add whole rows.
    """
    left, right = _lanes_first(a), _lanes_first(b)
    n, m = a.shape[0], b.shape[0]
    out = np.zeros((n, m), np.float32)
    wide = min(m, _BLOCK)
    tall = max(1, min(n, _BLOCK // wide))
    products, sums = np.empty((LANES, tall, wide), np.float32), np.empty((LANES // 2, tall, wide), np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for row in range(0, n, tall):
            rows = slice(row, min(row + tall, n))
            for column in range(0, m, wide):
                columns = slice(column, min(column + wide, m))
                acc = out[rows, columns]
                p, s = products[:, : acc.shape[0], : acc.shape[1]], sums[:, : acc.shape[0], : acc.shape[1]]
                for x, y in zip(left[:, :, rows, None], right[:, :, None, columns], strict=True):
                    np.multiply(x, y, out=p)
                    np.add(p[0::2], p[1::2], out=s)
                    np.add(s[0::2], s[1::2], out=p[:8])
                    np.add(p[0:8:2], p[1:8:2], out=s[:4])
                    np.add(s[0:4:2], s[1:4:2], out=p[:2])
                    acc += p[0] + p[1]
    return out


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
