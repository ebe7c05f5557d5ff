"""Which earlier instructions left what a window of instructions reads in memories inside the hardware.

Memories behind ports are files, which are put right from outside. What stands on the chip is not: the instructions that wrote it
run once more. Which ones follows from what each says that it reads and writes, so it holds for every instruction set.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fleet.sdk import Call, Device, InstructionSet, Range
from fleet.streams.model_side import refusal

__all__ = ["Ranges", "fillers"]

_REGISTERS = "reg"


class Ranges:
    """A set of bytes, by space and bank, as disjoint ranges."""

    def __init__(self) -> None:
        self._parts: dict[tuple[str, int], list[tuple[int, int]]] = {}

    def __bool__(self) -> bool:
        return any(self._parts.values())

    def add(self, r: Range) -> None:
        """Puts bytes in."""
        self.remove(r)
        self._parts.setdefault((r.space, r.bank), []).append((r.offset, r.offset + r.size))

    def remove(self, r: Range) -> None:
        """Takes bytes out."""
        start, end = r.offset, r.offset + r.size
        left: list[tuple[int, int]] = []
        for a, b in self._parts.get((r.space, r.bank), ()):
            left += [(x, y) for x, y in ((a, min(b, start)), (max(a, end), b)) if x < y]
        self._parts[r.space, r.bank] = left

    def meets(self, r: Range) -> bool:
        """Whether some byte of the range is in."""
        return any(a < r.offset + r.size and r.offset < b for a, b in self._parts.get((r.space, r.bank), ()))


def fillers(
    instruction_set: InstructionSet, device: Device, calls: Sequence[Call], first: int, last: int, outside: Iterable[str]
) -> list[int]:
    """Numbers of instructions before `first`, ascending, that must run for `first` to `last` to find what they read on the chip.

    outside: spaces that are put right from outside ("ddr", "hbm").
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
