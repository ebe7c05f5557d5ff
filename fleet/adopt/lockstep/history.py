"""The memory of the ports over the time of a run, and the memory that the model expects."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fleet.adopt.lockstep.events import MemoryWrite

Key = tuple[int, int]
"""(memory, address) of a byte."""


@dataclass(frozen=True)
class _Byte:
    times: list[int]
    writes: list[MemoryWrite]


class WriteHistory:
    """The bytes that a design wrote through its ports. writes: in the order of time; before: initial memory."""

    def __init__(self, writes: Sequence[MemoryWrite], before: Mapping[Key, int]) -> None:
        self._before, self._writes = before, writes
        self._times = [w.time for w in writes]
        self._bytes: dict[Key, _Byte] = {}
        for w in writes:
            found = self._bytes.setdefault((w.space, w.address), _Byte([], []))
            found.times.append(w.time)
            found.writes.append(w)

    def written(self, after: int, until: int) -> Iterator[Key]:
        """The bytes that were written after a time and up to another; a byte may come twice."""
        for w in self._writes[bisect_right(self._times, after) : bisect_right(self._times, until)]:
            yield w.space, w.address

    def at(self, key: Key, time: int) -> int:
        """The value of a byte, what is written at that time included; 0 if nobody wrote it."""
        last = self.last(key, time)
        return last.value if last is not None else self._before.get(key, 0)

    def last(self, key: Key, time: int) -> MemoryWrite | None:
        """The last write of a byte up to a time."""
        found = self._bytes.get(key)
        n = bisect_right(found.times, time) if found is not None else 0
        return found.writes[n - 1] if found is not None and n else None

    def last_writes(self, time: int, count: int) -> Sequence[MemoryWrite]:
        """The last writes of any bytes up to a time."""
        end = bisect_right(self._times, time)
        return self._writes[max(0, end - count) : end]

    def between(self, key: Key, begin: int, end: int) -> Sequence[MemoryWrite]:
        """The writes of a byte in a stretch of time, both ends included."""
        found = self._bytes.get(key)
        return [] if found is None else found.writes[bisect_left(found.times, begin) : bisect_right(found.times, end)]
