"""Arrays that nobody gave, drawn by dtype."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_DATA = (np.dtype(np.int8), np.dtype(np.uint8), np.dtype(np.int16))
"""Integers that hold quantised data. Wider ones may be indices, sizes or exponents, so they are drawn small."""
_MAGNITUDES = 8
"""Numbers of the first axis' entries have so many magnitudes, each half the one before: some sums saturate, others do not."""


def drawn_input(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Draw an input: standard normal floats, int8, uint8 and int16 from their whole range, anything else 0 or 1."""
    return rng.standard_normal(tuple(shape)).astype(dtype) if dtype.kind == "f" else _integers(rng, shape, dtype, 2)


def drawn_weight(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Draw a weight: standard normal floats, int8, uint8 and int16 from their whole range, bools, other integers 0 to 9."""
    if dtype.kind == "f":
        return rng.normal(0, 1, tuple(shape)).astype(dtype)
    return _integers(rng, shape, dtype, 2 if dtype == np.bool_ else 10)


def _integers(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype, end: int) -> np.ndarray:
    if dtype not in _DATA:
        return rng.integers(0, end, tuple(shape)).astype(dtype)
    ends = np.iinfo(dtype)
    whole = rng.integers(ends.min, ends.max + 1, tuple(shape)).astype(dtype)
    if whole.ndim == 0:
        return whole
    shifts = np.arange(len(whole)) % _MAGNITUDES * (ends.bits // _MAGNITUDES)
    return whole >> shifts.reshape(-1, *(1,) * (whole.ndim - 1)).astype(dtype)
