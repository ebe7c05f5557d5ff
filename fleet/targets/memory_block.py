"""Layout of a memory block on every target: values with lifetimes share its beginning, permanent values follow one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.targets.liveness import FOREVER, Life
from fleet.targets.planner import SharedRoom, round_up, share

LOADING = -2
"""The step in which constants are loaded, before the inputs (-1)."""


@dataclass
class MemoryBlock:
    """A growing block: first `expect` or `place` and `settle` for values that share memory, then `take` for the others.

    Attributes:
        space: the memory. align: alignment in bytes of the offsets of values that share memory.
        parts: equal parts of the memory, each of `part_bytes`; with several, a placed value lies within one of them.
        lives: key -> life; a permanent value lives from `LOADING` to `FOREVER`.
        places: key -> (part, offset in it).
        shared: bytes up to the end of the shared memory; end: offset after the last value.
    """

    space: str
    align: int
    parts: int = 1
    part_bytes: int = 0
    lives: dict[str, Life] = field(default_factory=dict[str, Life])
    places: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    shared: int = 0
    end: int = 0
    _rooms: list[SharedRoom] = field(default_factory=list[SharedRoom])

    def expect(self, lives: Mapping[str, Life]) -> None:
        """Register values, to be placed when all are known."""
        self.lives |= lives

    def place(self, key: str, life: Life, allowed: list[int]) -> bool:
        """Place a value now, in the first of the given parts that has room. Return False if none has."""
        self._rooms = self._rooms or [SharedRoom(self.align) for _ in range(self.parts)]
        for part in allowed:
            at = self._rooms[part].free(life)
            if at + life.size <= self.part_bytes:
                self._rooms[part].take(life, at)
                self.lives[key], self.places[key] = life, (part, at)
                return True
        return False

    def settle(self) -> None:
        """Place all expected values."""
        if not self._rooms:
            self.places = {key: (0, at) for key, at in share(self.lives, self.align).offsets.items()}
        self.shared = self.end = max((at + self.lives[key].size for key, (_, at) in self.places.items()), default=0)

    def take(self, key: str, size: int, align: int | None = None) -> int:
        """Allocate unshared memory at the end; return its offset, a multiple of `align` (default: the block's)."""
        return self.stand(key, Life(size, LOADING, FOREVER), round_up(self.end, align or self.align))

    def stand(self, key: str, life: Life, at: int) -> int:
        """Record a value at an offset that the caller knows to be free; return the offset."""
        self.lives[key], self.places[key], self.end = life, (0, at), max(self.end, at + life.size)
        return at

    def offset(self, key: str) -> int:
        """Bytes from the block's beginning."""
        part, at = self.places[key]
        return part * self.part_bytes + at
