"""The two ways in which instructions reach the hardware: register writes, and a binary that it fetches itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from fleet.isa.codec_binary import BEAT
from fleet.isa.description import Description
from fleet.sdk import Call

__all__ = ["ISSUES", "Binary", "runs"]

ISSUES: tuple[str, ...] = ("regs", "aux")
"""Names of the ways: "regs" writes the registers of every instruction, "aux" the address of a binary (docs/instruction-sets.md)."""


@dataclass(frozen=True)
class Binary:
    """The binary form of calls [first, first + count) of a segment: `size` bytes at `offset` of a memory space."""

    first: int
    count: int
    space: str
    offset: int
    size: int

    @property
    def beats(self) -> int:
        """64-byte beats."""
        return self.size // BEAT


def runs(description: Description, calls: Sequence[Call]) -> Iterator[tuple[int, int, bool]]:
    """(first, count, whether they have a binary form): the calls in order, cut where that changes."""
    first = 0
    for has_form, group in groupby(calls, key=lambda c: description.instructions[c.instruction].beats > 0):
        count = len(list(group))
        yield first, count, has_form
        first += count
