"""RMS norm and layer norm (docs/arithmetic.md, "Norm"): exact sums in one pass, a root by parabolas, then binary32."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fleet.sets.hbm0923.numerics.parabolas import I64, INTERVALS, PLACES, RSQRT

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

EPS_LIMIT = 1 << 16
"""Every eps of a legal norm is below."""
_DIGITS = 26
"""Fraction digits of the argument of RSQRT in both binades."""
_MIDDLE = 1 << PLACES - 1
_SPLIT = 1.5 * 2.0**48
"""Added and subtracted, it leaves a number's multiple of 2^-4."""
_UNITS: F64 = np.ldexp(1.0, [[24], [8], [28], [48]])
"""Of the sums of x, of the upper parts' squares, of products and of the lower parts' squares."""
_EXACT_SUM, _EXACT_DEVIATION = 1 << 13, 1 << 12
"""Channels of which binary64 holds every sum here, and every deviation."""


def scaled_eps(eps: np.float32, channels: int) -> int | None:
    """Return floor(C^2 * eps * 2^60); None if eps is negative, NaN or not below 2^16."""
    if not 0 <= eps < EPS_LIMIT:
        return None
    numerator, denominator = float(eps).as_integer_ratio()
    return (numerator * channels**2 << 60) // denominator


class Moments(NamedTuple):
    """Sums over the X = x * 2^24 of each row, exact where all of them are finite.

    first: of X. square: of X^2. finite: [rows].
    """

    first: I64
    square: list[int]
    finite: npt.NDArray[np.bool_]


def moments(x: F64) -> Moments:
    """Return the sums of [rows, channels]."""
    upper = x + _SPLIT
    upper -= _SPLIT
    lower = x - upper
    # Each of these sums is exact in binary64; together they have 96 digits.
    total = np.zeros((4, len(x)), np.int64)
    finite = np.ones(len(x), np.bool_)
    for i in range(0, x.shape[-1], _EXACT_SUM):
        high, low = upper[:, i : i + _EXACT_SUM], lower[:, i : i + _EXACT_SUM]
        squares = [np.einsum("rc,rc->r", a, b) for a, b in ((high, high), (high, low), (low, low))]
        sums = np.stack([x[:, i : i + _EXACT_SUM].sum(axis=-1), *squares])
        finite &= np.isfinite(sums[1])
        sums *= _UNITS
        total += sums.astype(np.int64)
    square = [(high << 40) + (both << 21) + low for high, both, low in total[1:].T.tolist()]
    return Moments(total[0], square, finite)


def root(w: Sequence[int]) -> tuple[I64, I64]:
    """Return (R, k) with 1 / sqrt(w) = R * 2^-(29 + k) but for 0.81 * 2^-27 of it; R has 29 digits. w: at least 1."""
    k = [v.bit_length() - 1 >> 1 for v in w]
    top = np.array([(v << _DIGITS) >> 2 * n for v, n in zip(w, k, strict=True)], np.int64)
    half = top >> _DIGITS + 1  # 1 in the upper binade
    top >>= half
    interval = (top >> PLACES) - (1 << _DIGITS - PLACES) + half * (INTERVALS["rsqrt"] // 2)
    return RSQRT(interval, (top & 2 * _MIDDLE - 1) - _MIDDLE), np.array(k, np.int64)


def factors(sums: Moments, channels: int, eps: int | None, *, layer: bool) -> F32:
    """Return q of docs/arithmetic.md for each row: the binary32 factor of its deviations.

    NaN where a row is not finite or W = 0, and everywhere without a legal eps. eps: of `scaled_eps`.
    """
    if eps is None:
        return np.full(len(sums.first), np.nan, np.float32)
    if layer:
        w = [(channels * s - f * f << 12) + eps for f, s in zip(sums.first.tolist(), sums.square, strict=True)]
    else:
        w = [(channels * s << 12) + eps for s in sums.square]
    found = sums.finite & np.array([v != 0 for v in w])
    if not found.all():
        w = [v if f else 1 for v, f in zip(w, found.tolist(), strict=True)]
    r, k = root(w)
    q = np.ldexp((r if layer else r * channels).astype(np.float32), 1 - k)
    q[~found] = np.nan
    return q


def deviations(x: F64, first: I64, channels: int) -> F32:
    """Return C * x less the sum of the row, rounded once. first: that sum in units of 2^-24."""
    if channels <= _EXACT_DEVIATION:
        d = x * channels
        d -= (first * 2.0**-24)[:, None]
        return d.astype(np.float32)
    units = (x * 2.0**24).astype(np.int64)
    units *= channels
    units -= first[:, None]
    return units.astype(np.float32) * np.float32(2.0**-24)


@np.errstate(all="ignore")
def normalise(x: F32, gamma: F32, beta: F32, channels: int, eps: np.float32, *, layer: bool) -> F32:
    """Return y before it is rounded to FP16.

    Args:
        x: [rows, lanes], 0 in lanes beyond the channels; overwritten.
        gamma, beta: [lanes].
        channels: C.
        eps: added to the mean of the squares.
        layer: subtract the mean.
    """
    exact = x.astype(np.float64)
    sums = moments(exact)
    y = deviations(exact, sums.first, channels) if layer else x
    y *= factors(sums, channels, scaled_eps(eps, channels), layer=layer)[:, None]
    y *= gamma
    y += beta
    return y
