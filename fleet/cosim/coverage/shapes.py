"""What a call is like: its most awkward remainder, how the rows that it touches lie, its modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from fleet.cosim.coverage.values import Place, remainder
from fleet.isa.contract import Range

__all__ = ["SHAPES", "STRIDES", "crossed_modes", "shape_of", "sizes_of", "stride_of", "widest"]

SHAPES = ("whole", "over", "short", "other")
"""The most awkward remainder of a call's sizes, from none to any; see `shape_of`."""
STRIDES = ("dense", "padded", "wider")
"""Rows that touch; with gaps smaller than a row; with gaps of a row or more."""

_NARROW = 4  # sizes of so few bits have a bin a value instead


def sizes_of(found: Sequence[Place]) -> tuple[Place, ...]:
    """The fields whose remainders count: sizes that are not listed one by one and have some bits."""
    return tuple(p for p in found if p.field.kind == "size" and p.field.allowed is None and p.field.width > _NARROW and p.free)


def crossed_modes(found: Sequence[Place]) -> tuple[Place, ...]:
    """The mode fields that an instruction's calls may differ in."""
    return tuple(p for p in found if p.field.kind == "mode" and p.free)


@lru_cache(maxsize=1 << 16)
def _remainder(value: int, blocks: tuple[int, ...]) -> str:
    """By the largest block that it is whole, one over or one short of; else whether it is whole in the smallest."""
    if value <= 1:
        return "whole"
    for block in reversed(blocks):
        if value >= block - 1 and (found := remainder(value, block)) in {"over", "short"}:
            return found
    return remainder(value, blocks[0]) if value % blocks[0] == 0 else "other"


def shape_of(sizes: Sequence[Place], fields: Mapping[str, int], blocks: tuple[int, ...]) -> str:
    """ "short" where a size is one short of a multiple of a block, else "over", "other", "whole". 0 and 1 are whole."""
    met = {_remainder(p.field.get(fields[p.register.name]), blocks) for p in sizes}
    return next((s for s in ("short", "over", "other") if s in met), "whole")


def stride_of(ranges: Sequence[Range], bases: Sequence[int]) -> str | None:
    """The widest gap between rows of one operand; None without a range.

    A range belongs to the operand with the largest base that is not behind it; bases: values of the call's address fields,
    ascending. Only the first bank of a space is looked at: the others hold the same.
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
    """The later of two in `STRIDES`."""
    if a is None or b is None:
        return a or b
    return a if STRIDES.index(a) >= STRIDES.index(b) else b
