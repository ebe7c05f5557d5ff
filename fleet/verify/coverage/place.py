"""Where the operands of an aimed program's calls stand: apart, or where a call so many instructions back has its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.sdk import Device, NoRoomError, Place
from fleet.verify.coverage.touched import Touched

__all__ = ["AimedPlace"]

_SHARE = 0.7
"""How often an operand stands where an earlier call's does, where that is wanted."""
_ROOMY, _ROOM = 0.7, (4096, 32768, 131072)


class AimedPlace(Place):
    """Leaves room between ranges, so that sizes and strides can grow.

    wanted: the calls, from the last one back (1), on which the next draw shall depend; none: it stands apart.
    touched: what the calls of the program touch so far, in order; the owner appends to it.
    """

    def __init__(self, device: Device, rng: np.random.Generator) -> None:
        super().__init__(device, rng)
        self.wanted: Sequence[int] = ()
        self.touched: list[Touched] = []
        self._own: dict[str, list[tuple[int, int]]] = {}

    def take(self, space: str, size: int, align: int = 64) -> int:
        """A range of its own; at times with the size of what it may become before it."""
        at = self._apart(space, size, align)
        self._own.setdefault(space, []).append((at, at + size))
        return at

    def _apart(self, space: str, size: int, align: int) -> int:
        if self._rng.random() < _ROOMY:
            gap = int(self._rng.choice(_ROOM))
            if self._next.get(space, 0) + 2 * gap + size < self._device.memory.get(space, 0) // 2:
                self._next[space] = self._next.get(space, 0) + gap
        return super().take(space, size, align)

    def source(self, space: str, size: int, align: int = 64) -> tuple[int, bool]:
        """See `Place`."""
        return self._somewhere(space, size, align, ())

    def target(self, space: str, size: int, avoid: Sequence[tuple[int, int]], align: int = 64) -> tuple[int, bool]:
        """See `Place`; what was taken is written by nobody."""
        return self._somewhere(space, size, align, (*avoid, *self._own.get(space, [])))

    def _somewhere(self, space: str, size: int, align: int, avoid: Sequence[tuple[int, int]]) -> tuple[int, bool]:
        if self.wanted and self._rng.random() < _SHARE:
            near = [self.touched[-d] for d in self.wanted if d <= len(self.touched)]
            starts = [at for t in near for at in t.starts(space)]
            if starts:
                at = -(-starts[int(self._rng.integers(len(starts)))] // align) * align
                if at + size <= self._device.memory[space] and not any(at < end and start < at + size for start, end in avoid):
                    return at, False
        try:
            return self._apart(space, size, align), True
        except NoRoomError:
            found = self._anywhere(space, size, align, avoid)
            if found is None:
                raise
            return found, False
