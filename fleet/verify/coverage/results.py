"""Classes of written data: special values among the elements, by dtype."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.isa.memory import as_bytes
from fleet.sdk import Write

RESULTS: dict[str, tuple[str, ...]] = {
    "f": ("ordinary", "zero", "subnormal", "largest", "inf", "nan"),
    "i": ("ordinary", "zero", "negative", "least", "largest"),
    "u": ("ordinary", "zero", "largest"),
}
"""Kind of dtype -> classes. ordinary: every element is a normal number in no other class."""
SPECIAL = frozenset({"inf", "nan", "least", "largest"})
"""Overflow, invalid and saturated results: the classes that count as saturation in a cross."""


def result_classes(dtype: str) -> tuple[str, ...]:
    """Return the classes of a dtype in NumPy's notation ("<f2"); empty for an unknown dtype."""
    return RESULTS.get(np.dtype(dtype).kind, ()) if dtype else ()


def _of(data: np.ndarray, dtype: str) -> set[str]:
    kind = np.dtype(dtype)
    if data.size % kind.itemsize:
        return set()
    values = np.ascontiguousarray(data).view(kind)
    if kind.kind == "f":
        return _floats(values, kind)
    least, most = np.iinfo(kind).min, np.iinfo(kind).max
    low, high = int(values.min()), int(values.max())
    found = {"largest"} if high == most else set[str]()
    if kind.kind == "i" and low == least:
        found.add("least")
    if kind.kind == "i" and low < 0:
        found.add("negative")
    if not np.all(values):
        found.add("zero")
    return found or {"ordinary"}


def _floats(values: np.ndarray, kind: np.dtype[np.generic]) -> set[str]:
    """Classify by the bit patterns of the magnitudes, which have the same order as the numbers."""
    bits = 8 * kind.itemsize
    unsigned = values.view(f"<u{kind.itemsize}")
    size = unsigned & np.array((1 << (bits - 1)) - 1, unsigned.dtype)
    info = np.finfo(kind.name)
    infinite = int(((1 << info.nexp) - 1) << info.nmant)
    normal = 1 << info.nmant
    found: set[str] = set()
    high, low = int(size.max()), int(size.min())
    if high > infinite:
        found.add("nan")
    if high >= infinite - 1:  # else there is no special value
        if bool((size == infinite).any()):
            found.add("inf")
        if bool((size == infinite - 1).any()):
            found.add("largest")
    if low == 0:
        found.add("zero")
    if low < normal and bool(((size > 0) & (size < normal)).any()):
        found.add("subnormal")
    return found or {"ordinary"}


def results_of(writes: Sequence[Write], default: str) -> frozenset[str]:
    """Return the classes of an instruction's writes. default: dtype of writes that name none; empty if no dtype is known."""
    found: set[str] = set()
    for w in writes:
        dtype = w.dtype or default
        if dtype and w.data.size and w.space != "reg":
            found |= _of(as_bytes(w.data), dtype)
    if len(found) > 1:
        found.discard("ordinary")
    return frozenset(found)
