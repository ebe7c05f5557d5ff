"""Finds hazards of a stream: instructions that depend on each other through memory (RAW, WAR, WAW).

The ranges come from the instruction classes (`reads`, `writes`), byte by byte. For every byte only the nearest earlier instruction
counts: the one that wrote it, or those that read it since that write. Older accesses are ordered through these.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from fleet.sdk import Call, Device, InstructionSet, Range
from fleet.streams.model_side import refusal

HazardKind = Literal["raw", "war", "waw"]
KINDS: tuple[HazardKind, ...] = ("raw", "war", "waw")


@dataclass(frozen=True, order=True)
class Hazard:
    """A dependence. earlier, later: positions in the stream, from 0; space: where they overlap ("hbm" for any port)."""

    later: int
    earlier: int
    kind: HazardKind
    space: str

    @property
    def distance(self) -> int:
        """Instructions from the earlier to the later one; 1 if they are adjacent."""
        return self.later - self.earlier


@dataclass
class _Last:
    """The last instruction that touched each byte of a bank: disjoint ascending ranges with one instruction each."""

    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    who: list[int] = field(default_factory=list[int])

    def _meeting(self, start: int, end: int) -> tuple[int, int]:
        """Return the indices [first, end) of the ranges that overlap [start, end)."""
        return bisect_right(self.ends, start), bisect_left(self.starts, end)

    def of(self, start: int, end: int) -> set[int]:
        """Return all instructions that were the last to touch a byte of [start, end)."""
        first, behind = self._meeting(start, end)
        return set(self.who[first:behind])

    def put(self, start: int, end: int, who: int | None) -> None:
        """Assign the bytes to instruction `who`; None: to no instruction."""
        first, behind = self._meeting(start, end)
        new: list[tuple[int, int, int]] = []
        if first < behind and self.starts[first] < start:
            new.append((self.starts[first], start, self.who[first]))
        if who is not None:
            new.append((start, end, who))
        if first < behind and self.ends[behind - 1] > end:
            new.append((end, self.ends[behind - 1], self.who[behind - 1]))
        self.starts[first:behind] = [n[0] for n in new]
        self.ends[first:behind] = [n[1] for n in new]
        self.who[first:behind] = [n[2] for n in new]


def hazards(instruction_set: InstructionSet, device: Device, calls: Sequence[Call]) -> tuple[Hazard, ...]:
    """Return all hazards of a stream, ordered by the later instruction.

    Illegal calls are refused: they read and write nothing, and count only in distances. Overlaps of one instruction's own operands
    are no hazards. Result and parameter registers are ignored.
    """
    found: set[Hazard] = set()
    writers: dict[tuple[str, int], _Last] = {}
    readers: dict[tuple[str, int], _Last] = {}

    def met(table: dict[tuple[str, int], _Last], r: Range, later: int, kind: HazardKind) -> None:
        last = table.get((r.space, r.bank))
        if last is not None:
            found.update(Hazard(later, i, kind, r.space) for i in last.of(r.offset, r.offset + r.size))

    for later, call in enumerate(calls):
        cls = instruction_set.instructions[call.instruction]
        if refusal(cls, device, call.fields):
            continue
        reads = [r for r in cls.reads(device, call.fields) if r.size]
        writes = [r for r in cls.writes(device, call.fields) if r.size]
        for r in reads:
            met(writers, r, later, "raw")
        for w in writes:
            met(writers, w, later, "waw")
            met(readers, w, later, "war")
        for r in reads:
            readers.setdefault((r.space, r.bank), _Last()).put(r.offset, r.offset + r.size, later)
        for w in writes:
            writers.setdefault((w.space, w.bank), _Last()).put(w.offset, w.offset + w.size, later)
            readers.setdefault((w.space, w.bank), _Last()).put(w.offset, w.offset + w.size, None)
    return tuple(sorted(found))
