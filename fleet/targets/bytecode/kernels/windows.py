"""Windows of convolutions and poolings: pad, reshape and gather by a table of places, in one step.

`numpy.pad` and `numpy.take` define the result. Where the table is that of a window that slides, the compiled kernel
(`fleet.targets.bytecode.kernels.window_kernel`) copies the same elements. `FLEET_KERNEL=numpy` selects NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fleet.sdk.native import target
from fleet.targets.bytecode.kernels.window_kernel import GEOMETRY, can_copy, library

_DTYPES = frozenset({np.dtype(t).str for t in (np.float32, np.int32)})
_LEAST = 1 << 10
"""Minimum number of elements for which the kernel's call pays off."""


@dataclass(frozen=True)
class PaddedPlanes:
    """Planes [..., height, width] and their padding: (before, after) of each of the two."""

    shape: tuple[int, ...]
    padding: tuple[tuple[int, int], tuple[int, int]]

    @property
    def padded(self) -> tuple[int, int]:
        """Height and width with the padding."""
        height, width = (n + low + high for n, (low, high) in zip(self.shape[-2:], self.padding, strict=True))
        return height, width


def geometry_of(table: npt.NDArray[np.integer[Any]], planes: PaddedPlanes) -> npt.NDArray[np.int64] | None:
    """Return what `GEOMETRY` names, or None if the table [window, places] is not that of a sliding window.

    table: of every element of every window, its place in a padded plane.
    """
    height, width = planes.padded
    if table.ndim != 2 or not table.size or table.min() != 0 or table.max() >= height * width:
        return None
    window = [_progression(axis) for axis in np.divmod(table[:, 0], width)]
    places = [_progression(axis) for axis in np.divmod(table[0, :], width)]
    (ky, dy), (kx, dx) = window
    (rows, sy), (columns, sx) = places
    if ky * kx != table.shape[0] or rows * columns != table.shape[1]:
        return None
    y = (np.arange(ky) * dy)[:, None, None, None] + (np.arange(rows) * sy)[:, None]
    x = (np.arange(kx) * dx)[:, None, None] + np.arange(columns) * sx
    if y.max() >= height or x.max() >= width or not np.array_equal((y * width + x).reshape(table.shape), table):
        return None
    (low_y, _), (low_x, _) = planes.padding
    values = (*planes.shape[-2:], low_y, low_x, ky, kx, dy, dx, sy, sx, rows, columns)
    assert len(values) == len(GEOMETRY)
    return np.array(values, np.int64)


def _progression(axis: npt.NDArray[np.integer[Any]]) -> tuple[int, int]:
    """Return (count, distance) of the different values, as far as two of them say."""
    values = np.unique(axis)
    return values.size, max(1, int(values[1] - values[0])) if values.size > 1 else 1


class SlidingWindows:
    """One step: called with the planes, the padding's value if there is padding, and the table.

    Args:
        planes: shape and padding; a call with another shape takes NumPy's path.
        separate: what the separate steps compute, called with the same values: NumPy's path.
    """

    def __init__(self, planes: PaddedPlanes, separate: Callable[..., Any]) -> None:
        self._planes, self._separate = planes, separate
        self._lead = math.prod(planes.shape[:-2])
        self._known: tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.int64] | None] | None = None
        """A copy of the last table, whose array may change between runs, and its geometry; replaced together, for threads."""

    def __call__(self, x: Any, *rest: Any) -> Any:
        """Return [..., window, places]. rest: the padding's value, if there is padding, and the table."""
        table = rest[-1]
        for_target = target()
        if for_target is None or not can_copy(for_target) or not self._takes(x, table):
            return self._separate(x, *rest)
        known = self._known
        if known is None or not np.array_equal(known[0], table):
            copy = table.copy()
            known = self._known = copy, geometry_of(copy, self._planes)
        geometry = known[1]
        if geometry is None:
            return self._separate(x, *rest)
        fill = np.zeros(1, x.dtype)
        if len(rest) > 1:
            fill[0] = rest[0]
        out = np.empty((*x.shape[:-2], *table.shape), x.dtype)
        library(for_target)["windows"](x.ctypes.data, out.ctypes.data, fill.ctypes.data, self._lead, geometry.ctypes.data)
        return out

    def _takes(self, x: Any, table: Any) -> bool:
        if not isinstance(x, np.ndarray) or not isinstance(table, np.ndarray) or table.dtype.kind != "i":
            return False
        fits = x.dtype.str in _DTYPES and x.shape == self._planes.shape and x.flags.c_contiguous and x.flags.aligned
        return fits and self._lead * table.size >= _LEAST


def separate_steps(steps: Sequence[Callable[..., Any]], padded: bool) -> Callable[..., Any]:
    """Return the steps pad (if `padded`), reshape and gather, in this order, as one function of their operands."""

    def run(x: Any, *rest: Any) -> Any:
        for i, step in enumerate(steps[:-1]):
            x = step(x, rest[0]) if padded and i == 0 else step(x)
        return steps[-1](x, rest[-1])

    return run
