"""Classes of calls: the most awkward remainder of the sizes, the row layout, the modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from fleet.sdk import Range
from fleet.verify.coverage.values import FieldPlace, remainder

SHAPES = ("whole", "over", "short", "other")
"""Classes of a call's most awkward remainder, none to any; see `shape_of`."""
STRIDES = ("dense", "padded", "wider")
"""Rows are contiguous; have gaps smaller than a row; have gaps of a row or more."""

AWKWARD = ("short", "over", "other", "whole")
"""`SHAPES`, most awkward first."""

_NARROW = 4  # smaller sizes have one bin per value instead


def sizes_of(found: Sequence[FieldPlace]) -> tuple[FieldPlace, ...]:
    """Return the fields whose remainders count: sizes of more than a few bits, without a list of allowed values."""
    return tuple(p for p in found if p.field.kind == "size" and p.field.allowed is None and p.field.width > _NARROW and p.free)


def crossed_modes(found: Sequence[FieldPlace]) -> tuple[FieldPlace, ...]:
    """Return the mode fields in which an instruction's calls may differ."""
    return tuple(p for p in found if p.field.kind == "mode" and p.free)


@lru_cache(maxsize=1 << 16)
def _remainder(value: int, blocks: tuple[int, ...]) -> str:
    """Return "over" or "short" for the largest block where that holds; else "whole" or "other" by the smallest block."""
    if value <= 1:
        return "whole"
    for block in reversed(blocks):
        if value >= block - 1 and (found := remainder(value, block)) in {"over", "short"}:
            return found
    return remainder(value, blocks[0]) if value % blocks[0] == 0 else "other"


def shape_of(sizes: Sequence[FieldPlace], fields: Mapping[str, int], blocks: tuple[int, ...]) -> str:
    """Return "short" if a size is one short of a multiple of a block, else "over", "other" or "whole". 0 and 1 are whole."""
    met = {_remainder(p.field.get(fields[p.register.name]), blocks) for p in sizes}
    return next((s for s in AWKWARD if s in met), "whole")


def offending(
    sizes: Sequence[FieldPlace], fields: Mapping[str, int], blocks: tuple[int, ...], shape: str
) -> tuple[FieldPlace, ...]:
    """Return the sizes that prevent a shape: the more awkward ones, or all if no size is awkward enough."""
    ranks = [AWKWARD.index(_remainder(p.field.get(fields[p.register.name]), blocks)) for p in sizes]
    wanted = AWKWARD.index(shape)
    if any(r < wanted for r in ranks):
        return tuple(p for p, r in zip(sizes, ranks, strict=True) if r < wanted)
    return () if wanted in ranks or shape == "whole" else tuple(sizes)


def shapes_left(place: FieldPlace, blocks: tuple[int, ...]) -> frozenset[str]:
    """Return the shapes that a size can give a call, given its width, alignment and limit."""
    low, high = (0, (1 << place.field.width) - 1) if place.limit is None else (place.limit.low, place.limit.high)
    step = max(1, place.field.align)
    first = -(-low // step) * step
    # Shapes are periodic in the largest block.
    return frozenset(_remainder(v, blocks) for v in range(first, min(high, first + 4 * step * blocks[-1]) + 1, step))


def near_shape(place: FieldPlace, now: int, blocks: tuple[int, ...], shape: str) -> list[int]:
    """Return values near the present one that have the shape, ascending."""
    step, top = max(1, place.field.align), (1 << place.field.width) - 1
    low, high = (0, top) if place.limit is None else (place.limit.low, min(top, place.limit.high))
    values = {1} if shape == "whole" else set[int]()
    for block in blocks:
        whole = max(1, now // block) * block
        values |= {whole - 1, whole, whole + 1, whole + block - 1, whole + block, whole + block + 1}
    values |= {now - 2, now - 1, now, now + 1, now + 2}
    return sorted(v for v in values if v > 0 and low <= v <= high and v % step == 0 and _remainder(v, blocks) == shape)


def stride_of(ranges: Sequence[Range], bases: Sequence[int]) -> str | None:
    """Return the class of the widest gap between rows of one operand; None without a range.

    A range belongs to the operand with the largest base at or below it; bases: values of the call's address fields, ascending. Only
    the first bank of a space is checked, because all banks have the same layout.
    """
    best: str | None = None
    last: dict[str, tuple[int, int, int]] = {}  # space -> base, end of the last range, its size
    for space, offset, size in sorted((r.space, r.offset, r.size) for r in ranges if r.bank == 0 and r.size):
        base = max((b for b in bases if b <= offset), default=-1)
        known = last.get(space)
        found = "dense"
        if known is not None and known[0] == base and offset > known[1]:
            found = "padded" if offset - known[1] < min(size, known[2]) else "wider"
        best = widest(best, found)
        last[space] = base, offset + size, size
    return best


def widest(a: str | None, b: str | None) -> str | None:
    """Return the wider one in the order of `STRIDES`."""
    if a is None or b is None:
        return a or b
    return a if STRIDES.index(a) >= STRIDES.index(b) else b
