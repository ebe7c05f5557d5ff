"""What was written: which odd values stand among the elements, by their dtype."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.sdk import Write

__all__ = ["RESULTS", "SPECIAL", "result_classes", "results_of"]

RESULTS: dict[str, tuple[str, ...]] = {
    "f": ("ordinary", "zero", "subnormal", "largest", "inf", "nan"),
    "i": ("ordinary", "zero", "negative", "least", "largest"),
    "u": ("ordinary", "zero", "largest"),
}
"""Kind of dtype -> classes. ordinary: every element is a normal number that is none of the others."""
SPECIAL = frozenset({"inf", "nan", "least", "largest"})
"""Overflow, invalid, saturated: what counts as saturation in a cross."""


def result_classes(dtype: str) -> tuple[str, ...]:
    """The classes of a dtype as NumPy writes it ("<f2"); none for an unknown one."""
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
    """By the patterns of the magnitudes: they are ordered as the numbers are."""
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
    if high >= infinite - 1:  # only then is it worth a second look
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
    """Classes that an instruction's writes show; default: dtype of writes that name none. Empty where no dtype is known."""
    found: set[str] = set()
    for w in writes:
        dtype = w.dtype or default
        if dtype and w.data.size and w.space != "reg":
            found |= _of(w.data.reshape(-1).view(np.uint8), dtype)
    if len(found) > 1:
        found.discard("ordinary")
    return frozenset(found)
