"""Ranges that a call reads and writes, stored so that hazards between two calls are found quickly."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.sdk import Call, Device, InstructionSet, Range

_Table = dict[tuple[str, int], list[tuple[int, int]]]


class Touched:
    """Ranges of one call: (space, bank) -> (start, end), ascending."""

    def __init__(self, reads: Sequence[Range], writes: Sequence[Range]) -> None:
        self.reads, self.writes = _table(reads), _table(writes)

    def starts(self, space: str) -> list[int]:
        """Return the starts of the ranges in the first bank of a space."""
        return [r[0] for table in (self.reads, self.writes) for r in table.get((space, 0), ())]

    def waits_for(self, earlier: Touched) -> bool:
        """Return whether this call has a hazard with an earlier one: one of them writes what the other touches."""
        return (
            _meet(self.reads, earlier.writes) or _meet(self.writes, earlier.writes) or _meet(self.writes, earlier.reads)
        )  # fmt: skip


def touched_by(instruction_set: InstructionSet, device: Device, call: Call) -> Touched:
    """Return the ranges of a legal call."""
    cls = instruction_set.instructions[call.instruction]
    return Touched(cls.reads(device, call.fields), cls.writes(device, call.fields))


def nearest(earlier: Sequence[Touched], call: Touched) -> int | None:
    """Return the distance, in instructions, to the nearest call with which the next one would have a hazard, or None.

    It equals the least distance of `fleet.verify.conformance.hazards`: a call in between that overwrites shared bytes is nearer.
    """
    return next((d for d, t in enumerate(reversed(earlier), 1) if call.waits_for(t)), None)


def _table(ranges: Sequence[Range]) -> _Table:
    found: _Table = {}
    for r in ranges:
        if r.size:
            found.setdefault((r.space, r.bank), []).append((r.offset, r.offset + r.size))
    return {key: _merged(rows) for key, rows in found.items()}


def _merged(rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Merge ranges into disjoint, non-adjacent ones, ascending."""
    rows.sort()
    found = rows[:1]
    for start, end in rows[1:]:
        if start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        else:
            found.append((start, end))
    return found


def _meet(a: _Table, b: _Table) -> bool:
    for key, mine in a.items():
        its = b.get(key)
        if its is not None and mine[0][0] < its[-1][1] and its[0][0] < mine[-1][1] and _rows_meet(mine, its):
            return True
    return False


def _rows_meet(a: list[tuple[int, int]], b: list[tuple[int, int]]) -> bool:
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i][0] < b[j][1] and b[j][0] < a[i][1]:
            return True
        if a[i][1] <= b[j][1]:
            i += 1
        else:
            j += 1
    return False
