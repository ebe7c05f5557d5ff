"""What docs/arithmetic.md says of attention, in NumPy binary32 operations in its order. Uses nothing of the project."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

F32 = np.float32
LANES = 32


def tree32(values: np.ndarray) -> np.ndarray:
    """float32 [..., 32] -> [...]: five rounds over the pairs (2i, 2i + 1)."""
    while values.shape[-1] > 1:
        values = values[..., 0::2] + values[..., 1::2]
    return values[..., 0]


def dot(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """float16 [..., n] times float16 [..., n], summed beat by beat into a float32 accumulator that starts at +0."""
    lanes = -(-x.shape[-1] // LANES) * LANES
    products = np.zeros((*np.broadcast_shapes(x.shape[:-1], w.shape[:-1]), lanes), F32)
    products[..., : x.shape[-1]] = x.astype(F32) * w.astype(F32)  # exact
    acc = np.zeros(products.shape[:-1], F32)
    for beat in range(0, lanes, LANES):
        acc = acc + tree32(products[..., beat : beat + LANES])
    return acc


def rne16(values: np.ndarray) -> np.ndarray:
    """float32 -> uint16 patterns of FP16; every NaN is 0x7E00."""
    patterns = values.astype(np.float16).view(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7E00), patterns)


def attention(x: np.ndarray, w: np.ndarray, scale: np.float32) -> np.ndarray:
    """x float16 [heads, tokens, n], w float16 [kv, outputs, n] -> uint16 [heads, tokens, outputs]."""
    ratio = x.shape[0] // w.shape[0]
    out = np.empty((x.shape[0], x.shape[1], w.shape[1]), np.uint16)
    with np.errstate(all="ignore"):
        for h in range(x.shape[0]):
            out[h] = rne16(dot(x[h][:, None, :], w[h // ratio][None, :, :]) * scale)
    return out


def rounded(v: Fraction, mantissa: int, low: int, high: int) -> Fraction:
    """v to nearest even with so many bits of mantissa, the smallest spacing 2^low; beyond `high` exponents: OverflowError."""
    if v == 0:
        return v
    exponent = abs(v).numerator.bit_length() - abs(v).denominator.bit_length()
    if abs(v) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - mantissa + 1, low)
    result = round(v / unit) * unit  # Fraction rounds half to even
    if abs(result) >= Fraction(2) ** high:
        raise OverflowError
    return result


def exact_dot(x: np.ndarray, w: np.ndarray, scale: float) -> Fraction:
    """One output out of finite values, with exact rationals; its sign is lost where it is zero."""

    def r32(v: Fraction) -> Fraction:
        return rounded(v, 24, -149, 128)

    acc = Fraction(0)
    for beat in range(0, len(x), LANES):
        terms = [
            Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x[beat : beat + LANES], w[beat : beat + LANES], strict=True)
        ]
        terms += [Fraction(0)] * (LANES - len(terms))
        while len(terms) > 1:
            terms = [r32(terms[i] + terms[i + 1]) for i in range(0, len(terms), 2)]
        acc = r32(acc + terms[0])
    return rounded(r32(acc * Fraction(scale)), 11, -24, 16)
