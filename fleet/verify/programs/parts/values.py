"""Operands of programs: dtypes, shapes, layouts, and arrays with every kind of special value."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

ProgramArray: TypeAlias = np.ndarray[Any, np.dtype[Any]]

DTYPES: tuple[str, ...] = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64"),
)
LAYOUTS: tuple[str, ...] = ("contiguous", "strided", "reversed", "broadcast", "0-d", "empty", "transposed")

_SHAPES: tuple[tuple[int, ...], ...] = (
    *((3, 4), (4, 4), (2, 3), (3, 3), (5,), (8,), (2, 3, 4), (3, 2, 2), (1, 4), (4, 1), (2, 1, 3), (17,), (33,), (1,), (1, 1)),
    *((2, 2, 2, 2), (9, 2)),
)
_EMPTY: tuple[tuple[int, ...], ...] = ((0,), (0, 3), (3, 0), (2, 0, 2))
_EDGES = tuple(sign * ((1 << bits) + by) for bits in (7, 8, 15, 16, 31, 32, 53, 63) for by in (-1, 0, 1) for sign in (1, -1))
"""Limits of the integer ranges, and their neighbours."""
_SPECIAL = (np.nan, np.inf, -np.inf, -0.0, 0.0)


def layout_of(value: ProgramArray) -> str:
    """Return the layout's name from the strides of CPython's array."""
    if value.size == 0:
        return "empty"
    if value.ndim == 0:
        return "0-d"
    steps = [s for s, n in zip(value.strides, value.shape, strict=True) if n > 1]
    if 0 in steps:
        return "broadcast"
    if min(steps, default=1) < 0:
        return "reversed"
    if value.flags.c_contiguous:
        return "contiguous"
    return "transposed" if steps != sorted(steps, reverse=True) else "strided"


def draw_shape(rng: np.random.Generator) -> tuple[int, ...]:
    """Draw a shape, mostly with one to three dimensions; some are empty, some have no dimension."""
    kind = rng.random()
    if kind < 0.08:
        return _EMPTY[int(rng.integers(len(_EMPTY)))]
    return () if kind < 0.16 else _SHAPES[int(rng.integers(len(_SHAPES)))]


def draw_array(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> ProgramArray:
    """Draw plain numbers, numbers mixed with special values, or numbers at the ends of the range."""
    kind = rng.random()
    if dtype.kind == "b":
        return np.asarray(rng.random(shape) < 0.5)
    if dtype.kind in "iu":
        return _integers(rng, dtype, shape, kind)
    if kind < 0.2:
        found = np.asarray(rng.integers(-3, 4, shape), np.float64)  # ties and zeros
    elif kind < 0.8:
        found = np.asarray(rng.standard_normal(shape) * 2)
    else:
        with np.errstate(all="ignore"):
            found = np.asarray(rng.standard_normal(shape) * np.exp(rng.uniform(-1, 1, shape) * np.log(float(np.finfo(dtype).max))))
    with np.errstate(all="ignore"):
        found = np.array(found, dtype)
    if kind > 0.55 or kind < 0.1:
        places = np.asarray(rng.random(shape) < 0.2)
        found[places] = rng.choice(np.array(_SPECIAL), int(np.count_nonzero(places))).astype(dtype)
    return found


def _integers(rng: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...], kind: float) -> ProgramArray:
    info = np.iinfo(dtype)
    if kind < 0.7:
        low = 0 if dtype.kind == "u" else -6
        return np.asarray(rng.integers(low, 7, shape)).astype(dtype)
    found = np.asarray(rng.integers(info.min, info.max, shape, dtype, endpoint=True))
    if kind > 0.85:
        ends = np.array([info.min, info.max, 0, 1, info.max - 1], dtype)
        places = np.asarray(rng.random(shape) < 0.4)
        found = np.array(found)
        found[places] = rng.choice(ends, int(np.count_nonzero(places)))
    return np.array(found, dtype)


def number_text(rng: np.random.Generator, dtype: np.dtype[Any]) -> str:
    """Draw a number for use beside arrays of a dtype: mostly a Python number, or a NumPy one with its own dtype."""
    kind = rng.random()
    if kind < 0.2:
        other = DTYPES[int(rng.integers(len(DTYPES)))] if rng.random() < 0.5 else dtype.name
        text = {"b": "True", "i": str(int(rng.integers(-3, 7))), "u": str(int(rng.integers(0, 9)))}.get(np.dtype(other).kind, "")
        name = "bool_" if other == "bool" else other
        return f"np.{name}({text or round(float(rng.standard_normal()), 3)})"
    if dtype.kind == "f" and kind < 0.35:
        return ("np.nan", "np.inf", "-np.inf", "-0.0", "0.0", "float('nan')")[int(rng.integers(6))]
    if dtype.kind == "f" and kind < 0.7:
        return str(round(float(rng.standard_normal() * 3), 3))
    if kind > 0.96:
        return ("True", "False")[int(rng.integers(2))]
    if kind > 0.94:
        return str(_EDGES[int(rng.integers(len(_EDGES)))])
    if dtype.kind in "iu" and kind > 0.88:
        return str(int(np.iinfo(dtype).max if rng.random() < 0.5 else np.iinfo(dtype).min))
    return str(int(rng.integers(0 if dtype.kind == "u" else -3, 6)))
