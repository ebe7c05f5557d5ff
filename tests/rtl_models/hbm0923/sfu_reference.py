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


def _table(value: Callable[[int], mpmath.mpf], count: int, bits: int) -> F32:
    """`count` values at `bits` significant bits."""
    with mpmath.workprec(200):
        out = []
        for i in range(count):
            mantissa, exponent = mpmath.frexp(value(i))
            out.append(float(mpmath.ldexp(mpmath.nint(mpmath.ldexp(mantissa, bits)), int(exponent) - bits)))
    return np.array(out, np.float32)


def _middle(i: int) -> mpmath.mpf:
    return 1 + (mpmath.mpf(i) + 0.5) / 64


EXP_T = _table(lambda j: mpmath.power(2, mpmath.mpf(j) / 32), 32, 24)
HI = _table(lambda _: mpmath.log(2) / 32, 1, 12)[0]
LO = _table(lambda _: mpmath.log(2) / 32 - mpmath.mpf(float(HI)), 1, 24)[0]
RECIP_Y = _table(lambda i: 1 / _middle(i), 64, 12)
RSQRT_Z = np.stack([_table(lambda i, h=h: 1 / mpmath.sqrt(2**h * _middle(i)), 64, 12) for h in range(2)])


def _float(bits: int) -> np.float32:
    return np.array([bits], np.uint32).view(np.float32)[0]


def exp32(x: F32) -> F32:
    """exp, elementwise."""
    with np.errstate(all="ignore"):
        ok = (x >= -87) & (x <= 88)
        a = np.where(ok, x, np.float32(0))
        n = np.rint(a * _float(0x4238AA3B))
        r = (a + -(n * HI)) + -(n * LO)
        q = r * _float(0x3E2AAAAB)
        q = q + np.float32(0.5)
        q = q * r
        q = q * r
        p = q + r
        whole = n.astype(np.int32)
        t = EXP_T[whole % 32]
        e = np.ldexp(t + t * p, whole // 32).astype(np.float32)
        e = np.where(x < -87, np.float32(0), np.where(x > 88, np.float32(np.inf), e))
        return np.where(np.isnan(x), np.float32(np.nan), e)


def recip(x: F32) -> F32:
    """1 / x, elementwise."""
    bits = x.view(np.uint32)
    k = (bits >> 23 & 255).astype(np.int32) - 127
    m = (bits & 0x7FFFFF | 0x3F800000).view(np.float32)
    y = RECIP_Y[bits >> 17 & 63]
    one = np.float32(1)
    with np.errstate(all="ignore"):
        e = one + -(m * y)
        u = e + one
        u = u * e
        u = u + one
        u = u * e
        result = np.ldexp(y + y * u, -k).astype(np.float32)
        size = np.abs(x)
        result = np.where(size < 2.0**-126, np.float32(np.inf), np.where(size >= 2.0**126, np.float32(0), result))
        return np.where(np.isnan(x), np.float32(np.nan), np.copysign(result, x))


def rsqrt(x: F32) -> F32:
    """1 / sqrt(x), elementwise."""
    bits = x.view(np.uint32)
    exponent = (bits >> 23 & 255).astype(np.int32) - 127
    h = exponent % 2
    k = (exponent - h) // 2
    m = (bits & 0x7FFFFF | 0x3F800000).view(np.float32)
    z = RSQRT_Z[h, bits >> 17 & 63]
    with np.errstate(all="ignore"):
        e = np.float32(1) + -(np.ldexp(m, h) * (z * z))
        u = e * np.float32(0.3125)
        u = u + np.float32(0.375)
        u = u * e
        u = u + np.float32(0.5)
        u = u * e
        result = np.ldexp(z + z * u, -k).astype(np.float32)
        result = np.where(np.isposinf(x), np.float32(0), np.where(x <= -(2.0**-126), np.float32(np.nan), result))
        result = np.where(np.abs(x) < 2.0**-126, np.float32(np.inf), result)
        return np.where(np.isnan(x), np.float32(np.nan), result)


def tree_sum(v: F32) -> F32:
    """sum(v) over the last axis, absent lanes +0."""
    lanes = -(-v.shape[-1] // 32) * 32
    full = np.zeros((*v.shape[:-1], lanes), np.float32)
    full[..., : v.shape[-1]] = v
    beats = full.reshape(*v.shape[:-1], -1, 32)
    with np.errstate(all="ignore"):
        while beats.shape[-1] > 1:
            beats = beats[..., 0::2] + beats[..., 1::2]
        acc = np.zeros(v.shape[:-1], np.float32)
        for b in range(beats.shape[-2]):
            acc = acc + beats[..., b, 0]
    return acc


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


def norm(x: F16, gamma: F16, beta: F16, inv: np.float32, eps: np.float32, layer: bool) -> NDArray[np.uint16]:
    """x: (..., C)."""
    v = x.astype(np.float32)
    with np.errstate(all="ignore"):
        d = v + -(tree_sum(v) * inv)[..., None] if layer else v
        s = tree_sum(d * d) * inv
        r = rsqrt(np.asarray(s + eps, np.float32))
        return rne16((d * r[..., None]) * gamma.astype(np.float32) + beta.astype(np.float32))


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
    with np.errstate(all="ignore"):
        for w, n in enumerate(counts):
            v = x[:, w, :n].astype(np.float32)
            m = np.where(np.isnan(v), -np.inf, v).max(-1, keepdims=True).astype(np.float32)
            e = exp32(v + -m)
            y[:, w, :n] = rne16(e * recip(tree_sum(e))[..., None])
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
