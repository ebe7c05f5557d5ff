"""2^g, 1 / s and 1 / sqrt(w) in integers, by a table of parabolas (docs/arithmetic.md, "Softmax" and "Norm").

The tables come from exact integer arithmetic, so that no bit depends on a mathematical library.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, repeat
from math import isqrt

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]

PLACES = 18
"""Digits of the argument inside an interval, and so of a factor that a DSP48E2 takes."""
INTERVALS = {"exp": 128, "recip": 256, "rsqrt": 512}
"""rsqrt: half of them for 1 <= w < 2, the others for 2 <= w < 4."""
EXP_DIGITS, RECIP_DIGITS = 25, 29
"""Fraction digits of 2^g, 1 <= 2^g < 2, and of 1 / s and 1 / sqrt(w), between 1/2 and 1."""
_NODES = 1, 8, 15
"""Sixteenths of an interval where a parabola meets its function: the middle, and 7/8 of the way from there to both ends."""
_FIXED = 192
"""Fraction digits of roots of two; what their products lose is far below any rounding here."""


@dataclass(frozen=True)
class Parabolas:
    """A function of the interval's number and of the argument in it, less its middle, in 2^18ths of the interval's length.

    value = (a + (b h >> 17) + (c (h^2 >> 17) >> 16)) >> extra, where >> rounds down; a has half a unit of the result in it.

    Attributes:
        a, b, c: [intervals].
        extra: digits of a, b and c below those of the result.
    """

    a: I64
    b: I64
    c: I64
    extra: int

    def __call__(self, interval: I64, h: I64) -> I64:
        """Return the function; interval and h of one shape, -2^17 <= h < 2^17."""
        value = h * h
        value >>= PLACES - 1
        value *= self.c[interval]
        value >>= 16
        slope = self.b[interval]
        slope *= h
        slope >>= PLACES - 1
        value += slope
        value += self.a[interval]
        value >>= self.extra
        return value


def _nearest(numerator: int, denominator: int) -> int:
    return (2 * numerator + denominator) // (2 * denominator)


def _parabolas(function: Callable[[int, int], int], intervals: int, digits: int, extra: int) -> Parabolas:
    """Return the parabolas through the nodes. function: of the interval and of sixteenths of it, in units of 2^-_FIXED."""
    unit = 1 << _FIXED - digits - extra
    a: list[int] = []
    b: list[int] = []
    c: list[int] = []
    for i in range(intervals):
        low, middle, high = (function(i, node) for node in _NODES)
        a.append(_nearest(middle, unit) + (1 << extra - 1))
        b.append(_nearest(4 * (high - low), 7 * unit))
        c.append(_nearest(16 * (high + low - 2 * middle), 49 * unit))
    return Parabolas(np.array(a, np.int64), np.array(b, np.int64), np.array(c, np.int64), extra)


def _powers(steps: int) -> list[int]:
    """Return 2^(p / steps) for p = 0 ... steps, in units of 2^-_FIXED; steps: a power of two."""
    root = 2 << _FIXED
    for _ in range(steps.bit_length() - 1):
        root = isqrt(root << _FIXED)
    return list(accumulate(repeat(root, steps), lambda v, r: v * r >> _FIXED, initial=1 << _FIXED))


def _exp() -> Parabolas:
    """2^g, 0 <= g < 1."""
    powers = _powers(16 * INTERVALS["exp"])
    return _parabolas(lambda i, node: powers[16 * i + node], INTERVALS["exp"], EXP_DIGITS, 4)


def _recip() -> Parabolas:
    """1 / s, 1 <= s < 2, at the middle of what the digits of h leave open."""
    parts = INTERVALS["recip"] << PLACES + 1
    sixteenth = parts // (16 * INTERVALS["recip"])

    def function(i: int, node: int) -> int:
        return (parts << _FIXED) // (parts + (16 * i + node) * sixteenth + 1)

    return _parabolas(function, INTERVALS["recip"], RECIP_DIGITS, 3)


def _rsqrt() -> Parabolas:
    """1 / sqrt(w), 1 <= w < 4, at the middle of what the digits of h leave open."""
    half = INTERVALS["rsqrt"] // 2
    parts = half << PLACES + 1
    sixteenth = parts // (16 * half)

    def function(i: int, node: int) -> int:
        upper, j = divmod(i, half)
        return isqrt((parts << 2 * _FIXED) // (parts + (16 * j + node) * sixteenth + 1 << upper))

    return _parabolas(function, 2 * half, RECIP_DIGITS, 3)


EXP, RECIP, RSQRT = _exp(), _recip(), _rsqrt()
