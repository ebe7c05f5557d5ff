"""Layout of a piece of memory, on every target: values with lifetimes share its beginning, those that stay follow one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fleet.targets.liveness import FOREVER, Life
from fleet.targets.planner import SharedRoom, round_up, share

LOADING = -2
"""The step in which constants come into memory, before inputs do (-1)."""


@dataclass
class MemoryBlock:
    """A block that grows: first `expect` or `place` and `settle` for what shares memory, then `take` for what does not.

    Attributes:
        space: the memory. align: what offsets of values that share memory are a multiple of, in bytes.
        parts: equal parts of the memory, each of `part_bytes`; with several, what is placed stands within one of them.
        lives: key -> life; what stays has one from `LOADING` to `FOREVER`.
        places: key -> (part, offset in it).
        shared: bytes up to the end of what shares memory; end: behind all that stands there.
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
        """Values that get their place when all are known."""
        self.lives |= lives

    def place(self, key: str, life: Life, allowed: list[int]) -> bool:
        """A value gets its place now, in the first of some parts that has room for it. False: none has."""
        self._rooms = self._rooms or [SharedRoom(self.align) for _ in range(self.parts)]
        for part in allowed:
            at = self._rooms[part].free(life)
            if at + life.size <= self.part_bytes:
                self._rooms[part].take(life, at)
                self.lives[key], self.places[key] = life, (part, at)
                return True
        return False

    def settle(self) -> None:
        """Everything that was expected gets its place."""
        if not self._rooms:
            self.places = {key: (0, at) for key, at in share(self.lives, self.align).offsets.items()}
        self.shared = self.end = max((at + self.lives[key].size for key, (_, at) in self.places.items()), default=0)

    def take(self, key: str, size: int, align: int | None = None) -> int:
        """Room that nothing shares, behind all that is there; its offset, a multiple of `align` (default: the block's)."""
        return self.stand(key, Life(size, LOADING, FOREVER), round_up(self.end, align or self.align))

    def stand(self, key: str, life: Life, at: int) -> int:
        """Something stands at an offset, which the caller knows to be free; the offset."""
        self.lives[key], self.places[key], self.end = life, (0, at), max(self.end, at + life.size)
        return at

    def offset(self, key: str) -> int:
        """Bytes from the block's beginning."""
        part, at = self.places[key]
        return part * self.part_bytes + at
