"""What the SFU and elementwise instructions compute, written from docs/arithmetic.md with NumPy's binary32 and mpmath's tables.

NumPy's float32 sums and products are single roundings (test_sfu_functions.py holds that against exact rationals); nothing
here uses code of the instruction set. NaN has one pattern wherever bits are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F16 = NDArray[np.float16]


def fraction_of(bits: int) -> Fraction:
    """The value of a finite binary32 pattern."""
    exponent, mantissa = bits >> 23 & 255, bits & 0x7FFFFF
    value = Fraction(mantissa + (0x800000 if exponent else 0)) * Fraction(2) ** (max(exponent, 1) - 150)
    return -value if bits >> 31 else value


def rne32(value: Fraction) -> int:
    """The binary32 pattern nearest to a real number, ties to even; +0 for zero."""
    if value == 0:
        return 0
    sign, value = (0x80000000, -value) if value < 0 else (0, value)
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    if Fraction(2) ** exponent > value:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    steps = round(value / unit)
    bits = steps + ((max(exponent, -126) + 126) << 23)
    return sign | min(bits, 0x7F800000)


I64 = NDArray[np.int64]


def _parabolas(f: Callable[[mpmath.mpf], mpmath.mpf], count: int, r: int, beside: float) -> I64:
    """Columns A, B, C of `count` intervals of 2^18; beside: of the middle."""
    rows = []
    with mpmath.workprec(200):
        for i in range(count):
            v = mpmath.mpf((1 << 18) * i + (1 << 17)) + beside
            low, middle, high = (f(v + side * mpmath.mpf(7) / 8 * (1 << 17)) * 2**r for side in (-1, 0, 1))
            values = middle, (high - low) * 4 / 7, (high + low - 2 * middle) * 16 / 49
            a, b, c = (int(mpmath.nint(value)) for value in values)
            rows.append((a + 2 ** (r - 1), b, c))
    return np.array(rows, np.int64).T


EXP = _parabolas(lambda v: mpmath.power(2, 25 + v / 2**25), 128, 4, 0)
RECIP = _parabolas(lambda v: mpmath.mpf(2) ** 29 / (1 + v / 2**26), 256, 3, 0.5)
RSQRT = np.concatenate(
    [_parabolas(lambda v, h=h: mpmath.mpf(2) ** 29 / mpmath.sqrt(2**h * (1 + v / 2**26)), 256, 3, 0.5) for h in range(2)], axis=1
)


def _parabola(columns: I64, v: I64, r: int) -> I64:
    a, b, c = columns[:, v // 2**18]
    h = v % 2**18 - 2**17
    return (a + b * h // 2**17 + c * (h**2 // 2**17) // 2**16) // 2**r


def exponential(z: I64) -> tuple[I64, I64]:
    """M and N of differences in units of 2^-24."""
    u = (np.maximum(z, -(2**29)) * 0x17154765 + 2**26) // 2**27
    return _parabola(EXP, u % 2**25, 4), -(u // 2**25)


def reciprocal(total: I64) -> tuple[I64, I64]:
    """R and k of sums in units of 2^-36."""
    k = np.array([int(t).bit_length() - 37 for t in total], np.int64)
    return _parabola(RECIP, total // 2 ** (10 + k) - 2**26, 3), k


def scaled(m: I64, r: I64, places: I64) -> NDArray[np.uint16]:
    """rne16(m * r * 2^-(54 + places))."""
    product = m * r
    # What stands below the unit of the result is rounded away: of a normal result 11 digits stay, of others those above 2^-24.
    digits = np.array([int(p).bit_length() for p in product], np.int64)
    drop = np.minimum(np.maximum(digits - 11, 30 + places), 62)
    kept, rest = product >> drop, product & (np.int64(1) << drop) - 1
    half = np.int64(1) << drop - 1
    kept += (rest > half) | ((rest == half) & (kept % 2 == 1))
    return np.ldexp(kept.astype(np.float64), (drop - 54 - places).astype(np.int32)).astype(np.float16).view(np.uint16)


def root(w: int) -> tuple[int, int]:
    """R and k of 1 / sqrt(w), w a positive integer."""
    k = 0
    while w >> 2 * k >= 4:
        k += 1
    upper = w >> 2 * k >= 2
    v = (w * 2**26 // 4**k >> upper) - 2**26
    return int(_parabola(RSQRT[:, 256 * upper :], np.array([v]), 3)[0]), k


def factor(row: list[int], count: int, eps: np.float32, layer: bool) -> np.float32:
    """q of a row's X, in units of 2^-24."""
    if not 0 <= eps < 2**16:
        return np.float32(np.nan)
    squares = sum(x * x for x in row)
    w = (count * squares - (sum(row) ** 2 if layer else 0)) * 2**12 + int(Fraction(float(eps)) * count**2 * 2**60)
    if w == 0:
        return np.float32(np.nan)
    r, k = root(w)
    return np.ldexp(np.float32(np.int64(r if layer else count * r)), 1 - k)


def fp20(bits: int) -> np.float32:
    """FP20 as binary32."""
    if not bits >> 13 & 63:
        return np.float32(-0.0 if bits >> 19 & 1 else 0.0)
    return np.float32((-1.0) ** (bits >> 19 & 1) * 2.0 ** ((bits >> 13 & 63) - 31) * (1 + (bits & 0x1FFF) / 8192))


def fp20_of(value: float) -> int:
    """A positive value as FP20, cut off."""
    mantissa, exponent = np.frexp(value)
    return (int(exponent) + 30 << 13) + int((mantissa * 2 - 1) * 8192)


def canonical32(x: F32) -> NDArray[np.uint32]:
    """Bits, one NaN."""
    return np.where(np.isnan(x), np.uint32(0x7FC00000), x.astype(np.float32).view(np.uint32))


def rne16(x: F32) -> NDArray[np.uint16]:
    """binary32 to the bits of FP16, NaN as 0x7E00."""
    with np.errstate(all="ignore"):
        return np.where(np.isnan(x), np.uint16(0x7E00), x.astype(np.float16).view(np.uint16))


def norm(x: F16, gamma: F16, beta: F16, eps: np.float32, layer: bool) -> NDArray[np.uint16]:
    """x: (..., C)."""
    count = x.shape[-1]
    y = np.empty(x.shape, np.uint16)
    for at in np.ndindex(x.shape[:-1]):
        v = x[at].astype(np.float64)
        if not np.isfinite(v).all():
            y[at] = 0x7E00
            continue
        units = (v * 2.0**24).astype(np.int64)
        q = factor(units.tolist(), count, eps, layer)
        # An integer becomes binary32 with one rounding.
        d = (units * count - units.sum()).astype(np.float32) * np.float32(2.0**-24) if layer else x[at].astype(np.float32)
        with np.errstate(all="ignore"):
            y[at] = rne16(d * q * gamma.astype(np.float32) + beta.astype(np.float32))
    return y


def pos_emb(x: F16, table: F16) -> NDArray[np.uint16]:
    """x, table: (..., D)."""
    v, t = x.astype(np.float32), table.astype(np.float32)
    y = np.empty_like(v)
    with np.errstate(all="ignore"):
        y[..., 0::2] = v[..., 0::2] * t[..., 0::2] + -(v[..., 1::2] * t[..., 1::2])
        y[..., 1::2] = v[..., 0::2] * t[..., 1::2] + v[..., 1::2] * t[..., 0::2]
    return rne16(y)


def softmax(x: F16, counts: NDArray[np.int64]) -> NDArray[np.uint16]:
    """x: (H, W, C), counts: (W,) positions that count; positions behind them give +0."""
    y = np.zeros(x.shape, np.uint16)
    for h, w in np.ndindex(*x.shape[:2]):
        v = x[h, w, : counts[w]].astype(np.float64)
        if np.isnan(v).any() or not np.isfinite(v.max()):
            y[h, w, : counts[w]] = 0x7E00
            continue
        m, n = exponential((np.maximum(v - v.max(), -32) * 2**24).astype(np.int64))
        r, k = reciprocal(np.array([sum(m * 2**11 // 2**n)]))
        y[h, w, : counts[w]] = scaled(m, r, n + k)
    return y


def act(x: F16, table: F16) -> NDArray[np.uint16]:
    """x: any shape; table: 48 values x, k, b."""
    xs, ks, bs = table[:16].astype(np.float32), table[16:32].astype(np.float32), table[32:48].astype(np.float32)
    v = x.astype(np.float32)
    with np.errstate(all="ignore"):
        below = xs <= v[..., None]
        j = np.where(below.any(-1), 15 - np.argmax(below[..., ::-1], -1), 0)
        y = ks[j] * v + bs[j]
        return rne16(np.where((ks[j] == 0) & ~np.isnan(v), bs[j], y))


def elementwise(a: F16, b: F16, mode: int) -> NDArray[np.uint16]:
    """mode 0: a + b, 1: a - b, 2: a * b."""
    u, v = a.astype(np.float32), b.astype(np.float32)
    with np.errstate(all="ignore"):
        return rne16(u + v if mode == 0 else u + -v if mode == 1 else u * v)
