"""Functions that move elements, as sequences of operations; NumPy itself determines where each element comes from.

The function runs on arrays of complex numbers whose imaginary parts are the positions of the elements. Each element of the result
gives its source position, or, as a real number, the value that fills it. The result is cut into boxes in which positions are an
affine function of the index; each box is a part of the operands, and the boxes are joined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fleet.ir.expansion import Expansion
from fleet.ir.library.arrays import Array, concat, filled, iota, take
from fleet.ir.library.call import CallOperand, LibraryCall
from fleet.ir.shapes import InferenceError

_NAMES = """
    append asfortranarray atleast_1d atleast_2d atleast_3d block broadcast_arrays broadcast_to column_stack compress concatenate
    copy delete diag diagflat diagonal dsplit dstack expand_dims fft.fftshift fft.ifftshift flip hsplit hstack insert
    lib.stride_tricks.sliding_window_view linalg.diagonal linalg.matrix_transpose matrix_transpose moveaxis pad ravel repeat reshape
    resize roll rollaxis rot90 split squeeze stack swapaxes take tile transpose unstack vsplit vstack"""
MOVING = frozenset(_NAMES.split())
"""Functions that move elements."""
_PADS = frozenset({"constant", "edge", "reflect", "symmetric", "wrap"})
_MODES = frozenset({"constant", "wrap", "clip", "raise"})
_MOVED = frozenset({"A", "x", "arys", "arrays", "arr", "values", "a", "m", "array", "tup", "ary", "args", "v", "constant_values"})
"""Parameters whose elements are moved; an operand as another parameter would decide the positions, which only the run knows."""
_MOST_BOXES = 256
_MOST_ELEMENTS = 1 << 20


def moves(call: LibraryCall, operands: Sequence[Array]) -> bool:
    """Return whether the call moves elements, to positions that depend only on its numbers."""
    if call.function not in MOVING or sum(o.size for o in operands) > _MOST_ELEMENTS:
        return False
    given: Mapping[str, Any] = call.bound()
    mode = given.get("mode", "constant")
    if given.get("reflect_type", "even") != "even":  # which computes
        return False
    if any(_holds_operand(v) for k, v in given.items() if k not in _MOVED):
        return False
    return mode in (_PADS if call.function == "pad" else _MODES)


def _holds_operand(value: Any) -> bool:
    return any(_holds_operand(v) for v in value) if isinstance(value, tuple | list) else isinstance(value, CallOperand)


def moved(s: Expansion, call: LibraryCall, operands: Sequence[Array], dtype: np.dtype, output: int) -> Array:
    """Return one array of the call's result, in `dtype`. Raises InferenceError if there are too many separate positions."""
    starts = np.cumsum([0, *(o.size for o in operands)])
    places = [(1j * np.arange(first + 1, first + o.size + 1)).reshape(o.shape) for first, o in zip(starts, operands, strict=False)]
    found = _flat(LibraryCall(call.function, call.arguments, tuple((k, v) for k, v in call.keywords if k != "dtype")).run(places))[
        output
    ]
    row = concat([o.reshape(o.size).astype(dtype) for o in operands]) if operands else filled(s, (0,), 0, dtype)
    return _Boxes(s, row).of(np.asarray(found, complex))


def _flat(value: Any) -> list[Any]:
    return [leaf for v in value for leaf in _flat(v)] if isinstance(value, tuple | list) else [value]


class _Boxes:
    def __init__(self, s: Expansion, row: Array) -> None:
        self.s, self.row = s, row
        self.left = _MOST_BOXES

    def of(self, found: Any) -> Array:
        """Build the array for some positions, with at most so many boxes."""
        self.left -= 1
        if self.left < 0:
            raise InferenceError(f"elements from more than {_MOST_BOXES} places")
        own = found.imag > 0
        if not own.any():
            values = found.real.reshape(-1)
            if not values.size or (values == values[0]).all() or np.isnan(values).all():
                return self._number(found.shape, float(values[0]) if values.size else 0.0)
        elif own.all() and (part := self._part(found.imag.astype(np.int64) - 1)) is not None:
            return part
        axis, at = _cut(found, own)
        low, high = np.split(found, [at], axis)
        return concat([self.of(low), self.of(high)], axis)

    def _number(self, shape: Sequence[int], value: float) -> Array:
        whole = self.row.dtype.kind != "f"
        if whole and not (math.isfinite(value) and value == int(value)):
            raise InferenceError(f"{value} among elements of {self.row.dtype}")
        return filled(self.s, shape, int(value) if whole else value, self.row.dtype)

    def _part(self, places: np.ndarray) -> Array | None:
        """Return elements at affine positions; None if they are not affine."""
        first = int(places.reshape(-1)[0])
        strides = [int(np.take(places, 1, d).reshape(-1)[0]) - first if n > 1 else 0 for d, n in enumerate(places.shape)]
        grids = [s * np.arange(n).reshape(-1, *[1] * (places.ndim - d - 1))
                 for d, (s, n) in enumerate(zip(strides, places.shape, strict=True))]  # fmt: skip
        if not (places == first + sum(grids, np.zeros((), np.int64))).all():
            return None
        kept = tuple(n if s else 1 for n, s in zip(places.shape, strides, strict=True))
        if all(s == math.prod(kept[d + 1 :]) for d, s in enumerate(strides) if s):
            return self.row[first : first + math.prod(kept)].reshape(*kept).broadcast(*places.shape)
        index: Array | None = None
        for d, (stride, n) in enumerate(zip(strides, kept, strict=True)):
            if n > 1:
                along = (iota(self.s, n) * stride).reshape(-1, *[1] * (places.ndim - d - 1))
                index = along if index is None else index + along
        assert index is not None
        return take(self.row, (index + first).reshape(*kept)).broadcast(*places.shape)


def _cut(found: np.ndarray, own: np.ndarray) -> tuple[int, int]:
    """Return the axis and index at which a row of boxes ends: the last cut before positions follow another rule."""
    best = (-1, 0)
    for axis, size in enumerate(found.shape):
        if size < 2:
            continue
        lines = np.moveaxis(found, axis, 0)
        kinds = np.moveaxis(own, axis, 0)
        change = (kinds[1:] != kinds[:-1]).reshape(size - 1, -1).any(1)
        steps = np.diff(lines, axis=0)
        bend = np.zeros(size - 1, bool)
        if size > 2:
            bend[1:] = (steps[1:] != steps[:-1]).reshape(size - 2, -1).any(1)
        ends = np.flatnonzero(change | bend) + 1
        if ends.size and ends[0] > best[1]:
            best = (axis, int(ends[0]))
    if best[0] >= 0:
        return best
    axis = int(np.argmax(found.shape))  # every line is affine, and the whole is not
    return axis, found.shape[axis] // 2
