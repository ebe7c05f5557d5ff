"""Find the earlier instructions that left on-chip data which a window of instructions reads.

Memories behind ports are files, which can be set from outside. On-chip memory cannot: the instructions that wrote it run once more.
They are found by the ranges that each instruction states to read and write, so this works for every instruction set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fleet.sdk import Call, Device, InstructionSet, Range
from fleet.streams.model_side import refusal

_REGISTERS = "reg"


class Ranges:
    """A set of bytes, by space and bank, as disjoint ranges."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, int], list[tuple[int, int]]] = {}

    def __bool__(self) -> bool:
        return any(self._parts.values())

    def add(self, r: Range) -> None:
        """Add the bytes of a range."""
        self.remove(r)
        self._parts.setdefault((r.space, r.bank), []).append((r.offset, r.offset + r.size))

    def remove(self, r: Range) -> None:
        """Remove the bytes of a range."""
        start, end = r.offset, r.offset + r.size
        left: list[tuple[int, int]] = []
        for a, b in self._parts.get((r.space, r.bank), ()):
            left += [(x, y) for x, y in ((a, min(b, start)), (max(a, end), b)) if x < y]
        self._parts[r.space, r.bank] = left

    def meets(self, r: Range) -> bool:
        """Return whether the set contains a byte of the range."""
        return any(a < r.offset + r.size and r.offset < b for a, b in self._parts.get((r.space, r.bank), ()))


def fillers(
    instruction_set: InstructionSet, device: Device, calls: Sequence[Call], first: int, last: int, outside: Iterable[str]
) -> list[int]:
    """Return the instructions before `first`, ascending, that must run so that `first` to `last` find what they read on the chip.

    outside: spaces that can be set from outside ("ddr", "hbm").
    """
    known = {*outside, _REGISTERS}

    def touched(index: int) -> tuple[list[Range], list[Range]]:
        call = calls[index]
        cls = instruction_set.instructions[call.instruction]
        if refusal(cls, device, call.fields):
            return [], []
        reads, writes = cls.reads(device, call.fields), cls.writes(device, call.fields)
        return [r for r in reads if r.space not in known and r.size], [r for r in writes if r.space not in known and r.size]

    needed = Ranges()
    for index in range(last, first - 1, -1):
        reads, writes = touched(index)
        for r in writes:
            needed.remove(r)
        for r in reads:
            needed.add(r)
    found: list[int] = []
    for index in range(first - 1, -1, -1):
        if not needed:
            break
        reads, writes = touched(index)
        if not any(needed.meets(r) for r in writes):
            continue
        found.append(index)
        for r in writes:
            needed.remove(r)
        for r in reads:
            needed.add(r)
    return found[::-1]
