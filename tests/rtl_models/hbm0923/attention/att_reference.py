"""What docs/arithmetic.md says of attention, in integers and exact rationals. Uses nothing of the project."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

UNIT = 24
"""Every finite FP16 is an integer of units of 2^-24."""


def exact_sums(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """float16 [t, n] times float16 [o, n], finite -> Python integers [t, o] in units of 2^-48."""
    left, right = (np.ldexp(v.astype(np.float64), UNIT).astype(np.int64) for v in (x, w))
    # Thirds of 14 bits: their products are below 2^28, and sums of 2^12 of them below 2^40.
    mask = (1 << 14) - 1
    thirds = [[v & mask, v >> 14 & mask, v >> 28] for v in (left, right)]
    total = np.zeros((x.shape[0], w.shape[0]), object)
    for i, a in enumerate(thirds[0]):
        for j, b in enumerate(thirds[1]):
            total += np.matmul(a, b.T).astype(object) << 14 * (i + j)
    return total


def nearest(units: int) -> float:
    """An integer of units of 2^-48 to 24 significant bits, ties to even; a zero is +0."""
    lost = max(abs(units).bit_length() - 24, 0)
    kept, rest = divmod(abs(units), 1 << lost)
    kept += 2 * rest > 1 << lost or (2 * rest == 1 << lost and kept % 2 == 1)
    return np.ldexp(np.float64(kept if units >= 0 else -kept), lost - 2 * UNIT)


def special(x: list[float], w: list[float]) -> float | None:
    """The sum if a lane is not finite: NaN or an infinity."""
    found: set[float] = set()
    for a, b in zip(x, w, strict=True):
        if math.isnan(a) or math.isnan(b):
            return np.nan
        if abs(a) == np.inf or abs(b) == np.inf:
            if a == 0 or b == 0:
                return np.nan
            found.add(np.inf if (a > 0) == (b > 0) else -np.inf)
    return (found.pop() if len(found) == 1 else np.nan) if found else None


def dots(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """float16 [t, n] times float16 [o, n] -> float32 [t, o]."""
    finite = [np.where(np.isfinite(v), v, np.float16(0)) for v in (x, w)]
    sums = exact_sums(*finite)
    out = np.array([[nearest(v) for v in row] for row in sums], np.float32)
    for i in range(x.shape[0]):
        for j in range(w.shape[0]):
            if not (np.isfinite(x[i]).all() and np.isfinite(w[j]).all()):
                found = special(x[i].tolist(), w[j].tolist())
                if found is not None:
                    out[i, j] = found
    return out


def rne16(values: np.ndarray) -> np.ndarray:
    """float32 -> uint16 patterns of FP16; every NaN is 0x7E00."""
    patterns = values.astype(np.float16).view(np.uint16)
    return np.where(np.isnan(values), np.uint16(0x7E00), patterns)


def attention(x: np.ndarray, w: np.ndarray, scale: np.float32) -> np.ndarray:
    """x float16 [heads, tokens, n], w float16 [kv, outputs, n] -> uint16 [heads, tokens, outputs]."""
    ratio = x.shape[0] // w.shape[0]
    with np.errstate(all="ignore"):
        return np.stack([rne16(dots(x[h], w[h // ratio]) * scale) for h in range(x.shape[0])])


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
    """One output out of finite values, with exact rationals alone; its sign is lost where it is zero."""
    total = sum((Fraction(float(a)) * Fraction(float(b)) for a, b in zip(x, w, strict=True)), Fraction(0))
    return rounded(rounded(rounded(total, 24, -149, 128) * Fraction(scale), 24, -149, 128), 11, -24, 16)
