"""Fits the activation tables: `python -m fleet.sets.hbm0923.numerics.act_fit` prints the tables of `act_tables`.

16 segments of FP16 (x, k, b). The first extends to -infinity and the last to +infinity: there the functions have limits or
asymptotes that FP16 represents exactly. The 14 segments between them are laid from left to right, each as long as a line with FP16
slope and offset stays within a tolerance. The tolerance is the smallest with which 14 segments reach the other tail.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fleet.sets.hbm0923.units.act import SEGMENTS, piecewise

F64 = npt.NDArray[np.float64]
Function = Callable[[float], float]

_GRID = 6144
"""Points of the fit over [-12, 12]: steps of 2^-8."""
_SLOPES = 2
"""FP16 slopes tried on each side of the best one."""


class FunctionShape(NamedTuple):
    """A function and its tails: (slope, offset) below and above."""

    function: Function
    below: tuple[float, float]
    above: tuple[float, float]


def _sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))


def _silu(x: float) -> float:
    return x * _sigmoid(x)


def _gelu(x: float) -> float:
    return x * 0.5 * math.erfc(-x / math.sqrt(2))


def _gelu_tanh(x: float) -> float:
    return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


SHAPES: dict[str, FunctionShape] = {
    "silu": FunctionShape(_silu, (0, 0), (1, 0)),
    "gelu": FunctionShape(_gelu, (0, 0), (1, 0)),
    "gelu_tanh": FunctionShape(_gelu_tanh, (0, 0), (1, 0)),
    "sigmoid": FunctionShape(_sigmoid, (0, 0), (0, 1)),
    "tanh": FunctionShape(math.tanh, (0, -1), (0, 1)),
}
"""gelu is the exact one, with erf."""


def _fp16(v: float) -> float:
    return float(np.float16(v))


def _spread(x: F64, y: F64, slope: float) -> tuple[float, float]:
    """Return (smallest error of a line with that slope, its offset)."""
    r = y - slope * x
    low, high = float(r.min()), float(r.max())
    return (high - low) / 2, (high + low) / 2


def _line(x: F64, y: F64) -> tuple[float, float, float]:
    """Return (error, slope, offset) of the best line with FP16 slope and offset through the points."""
    if x.size == 1:
        offset = _fp16(float(y[0]))
        return abs(offset - float(y[0])), 0.0, offset
    steps = np.diff(y) / np.diff(x)
    low, high = float(steps.min()), float(steps.max())
    # The error is convex in the slope.
    for _ in range(30):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        if _spread(x, y, a)[0] < _spread(x, y, b)[0]:
            high = b
        else:
            low = a
    middle = np.float16((low + high) / 2)
    bits = int(middle.view(np.uint16))
    best = (math.inf, 0.0, 0.0)
    for step in range(-_SLOPES, _SLOPES + 1):
        magnitude = (bits & 0x7FFF) + step
        if 0 <= magnitude < 0x7C00:
            slope = float(np.uint16(bits & 0x8000 | magnitude).view(np.float16))
            offset = _fp16(_spread(x, y, slope)[1])
            error = float(np.abs(y - slope * x - offset).max())
            best = min(best, (error, slope, offset))
    return best


def _lay(x: F64, y: F64, shape: FunctionShape, tolerance: float) -> list[tuple[float, float, float]] | None:
    """Return segments (x, k, b) from the lower tail to the upper one; None if 14 segments between them are not enough."""
    below, above = (np.abs(y - (k * x + b)) <= tolerance for k, b in (shape.below, shape.above))
    at = int(np.argmin(below))  # first point that the lower tail misses
    end = x.size - int(np.argmin(above[::-1]))  # end of the points that the upper tail misses
    segments = [(-math.inf, *shape.below)]
    while at < end:
        if len(segments) == SEGMENTS - 1:
            return None
        good, bad = at + 1, end + 1
        while bad - good > 1:
            middle = (good + bad) // 2
            good, bad = (middle, bad) if _line(x[at:middle], y[at:middle])[0] <= tolerance else (good, middle)
        segments.append((float(x[at]), *_line(x[at:good], y[at:good])[1:]))
        at = good
    segments.append((float(x[end]), *shape.above))
    return segments


def fit(name: str) -> npt.NDArray[np.float16]:
    """Return the table [3, 16] (x, k, b) of a function in `SHAPES`, x ascending from -infinity."""
    shape = SHAPES[name]
    x = (np.arange(_GRID) - _GRID // 2) / 256
    y = np.array([shape.function(v) for v in x.tolist()])
    low, high, best = 0.0, 0.125, _lay(x, y, shape, 0.125)
    for _ in range(14):
        middle = (low + high) / 2
        found = _lay(x, y, shape, middle)
        if found is None:
            low = middle
        else:
            high, best = middle, found
    assert best is not None
    # Fewer than 16: repeat the last one; among equal x the last segment counts.
    best += [best[-1]] * (SEGMENTS - len(best))
    return np.array(best, np.float64).T.astype(np.float16)


def error(name: str, table: npt.NDArray[np.float16]) -> float:
    """Return the largest |y - f(x)| over every finite FP16 x, with y as `act` computes it."""
    bits = np.arange(1 << 16, dtype=np.uint16)
    x = bits.view(np.float16)
    finite = np.isfinite(x)
    true = np.array([SHAPES[name].function(float(v)) for v in x[finite]])
    y = piecewise(bits, table).view(np.float16)[finite]
    with np.errstate(invalid="ignore"):
        return float(np.abs(y - true).max())


def main() -> None:
    """Print the tables as Python, with their errors."""
    for name in SHAPES:
        table = fit(name)
        print(f'    "{name}": (  # error {error(name, table):.7f}')
        for row in table.view(np.uint16):
            print('        "' + " ".join(f"{int(v):04X}" for v in row) + '",')
        print("    ),")


if __name__ == "__main__":
    main()
