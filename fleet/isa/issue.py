"""The two ways in which instructions reach the hardware: register writes, and a binary that it fetches itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from fleet.errors import DeviceError
from fleet.isa.codec_binary import BEAT
from fleet.isa.description import Description
from fleet.sdk import Call, InstructionSet

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
        """Number of beats of 64 bytes."""
        return self.size // BEAT


def check_ways(instruction_set: InstructionSet, description: Description, *, aux: bool, load: bool, hints: tuple[str, str]) -> None:
    """Raises DeviceError, with one of the hints, for a set whose hardware cannot fetch a binary or fill its own HBM.

    aux, load: whether it shall.
    """
    if aux and description.fetch is None:
        raise DeviceError("its hardware cannot fetch a binary", where=instruction_set.name, hint=hints[0])
    if load and instruction_set.loader is None:
        raise DeviceError("its instructions cannot fill the HBM", where=instruction_set.name, hint=hints[1])


def runs(description: Description, calls: Sequence[Call]) -> Iterator[tuple[int, int, bool]]:
    """(first, count, whether they have a binary form): the calls in order, cut where that changes."""
    first = 0
    for has_form, group in groupby(calls, key=lambda c: description.instructions[c.instruction].beats > 0):
        count = len(list(group))
        yield first, count, has_form
        first += count
