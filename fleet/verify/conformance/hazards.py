"""Which instructions of a stream depend on each other through memory: read after write, write after read, write after write.

Taken from the ranges that the instruction classes declare (`reads`, `writes`), byte by byte: of every byte only the nearest earlier
instruction counts that wrote it, or that read it since it was last written. What is further back is ordered through that one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from fleet.sdk import Call, Device, InstructionSet, Range
from fleet.streams.model_side import refusal

__all__ = ["KINDS", "Hazard", "HazardKind", "hazards"]

HazardKind = Literal["raw", "war", "waw"]
KINDS: tuple[HazardKind, ...] = ("raw", "war", "waw")


@dataclass(frozen=True, order=True)
class Hazard:
    """earlier, later: places in the stream, from 0; space: in which they meet ("hbm" whatever the port)."""

    later: int
    earlier: int
    kind: HazardKind
    space: str

    @property
    def distance(self) -> int:
        """Instructions from the earlier to the later one, 1 where they follow each other."""
        return self.later - self.earlier


@dataclass
class _Last:
    """Who touched the bytes of a bank last: disjoint ranges, ascending, each of one instruction."""

    starts: list[int] = field(default_factory=list[int])
    ends: list[int] = field(default_factory=list[int])
    who: list[int] = field(default_factory=list[int])

    def _meeting(self, start: int, end: int) -> tuple[int, int]:
        """First and behind last of the ranges that meet [start, end)."""
        return bisect_right(self.ends, start), bisect_left(self.starts, end)

    def of(self, start: int, end: int) -> set[int]:
        """Everybody who touched a byte of [start, end) last."""
        first, behind = self._meeting(start, end)
        return set(self.who[first:behind])

    def put(self, start: int, end: int, who: int | None) -> None:
        """The bytes are now `who`'s; nobody's with None."""
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
    """All hazards of a stream, in order of the later instruction.

    Illegal calls are refused, read and write nothing, and count in distances only. What one instruction does to its own operands
    is no hazard. Result and parameter registers are not looked at.
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
