"""Places the operands of an aimed program: apart from all others, or on the operands of a call at a given distance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.sdk import Device, NoRoomError, Place
from fleet.verify.coverage.touched import Touched

_SHARE = 0.7
"""Probability that an operand reuses an earlier call's place, if a dependence is wanted."""
_ROOMY, _ROOM = 0.7, (4096, 32768, 131072)


class AimedPlace(Place):
    """Places operands with room between ranges, so that sizes and strides can grow.

    wanted: distances (1: the last call) of the calls on which the next draw should depend; empty: none.
    touched: ranges of the program's calls so far, in order; the owner appends to it.
    """

    def __init__(self, device: Device, rng: np.random.Generator) -> None:
        super().__init__(device, rng)
        self.wanted: Sequence[int] = ()
        self.touched: list[Touched] = []
        self._own: dict[str, list[tuple[int, int]]] = {}

    def take(self, space: str, size: int, align: int = 64) -> int:
        """Reserve a range, sometimes with a gap before it, in which a neighbour may grow. Returns its offset."""
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
        """Place an operand that is read, as `Place` does."""
        return self._somewhere(space, size, align, ())

    def target(self, space: str, size: int, avoid: Sequence[tuple[int, int]], align: int = 64) -> tuple[int, bool]:
        """Place an operand that is written, outside reserved ranges."""
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
