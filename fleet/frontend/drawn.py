"""Arrays that nobody gave, drawn by dtype."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_DATA = (np.dtype(np.int8), np.dtype(np.uint8), np.dtype(np.int16))
"""Integers that hold quantised data. Wider ones may be indices, sizes or exponents, so they are drawn small."""


def drawn_input(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Draw an input: standard normal floats, int8, uint8 and int16 of their whole range, anything else 0 or 1."""
    return rng.standard_normal(tuple(shape)).astype(dtype) if dtype.kind == "f" else _integers(rng, shape, dtype, 2)


def drawn_weight(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Draw a weight: standard normal floats, int8, uint8 and int16 of their whole range, bools, other integers 0 to 9."""
    if dtype.kind == "f":
        return rng.normal(0, 1, tuple(shape)).astype(dtype)
    return _integers(rng, shape, dtype, 2 if dtype == np.bool_ else 10)


def _integers(rng: np.random.Generator, shape: Sequence[int], dtype: np.dtype, end: int) -> np.ndarray:
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max + 1) if dtype in _DATA else (0, end)
    return rng.integers(low, high, tuple(shape)).astype(dtype)
