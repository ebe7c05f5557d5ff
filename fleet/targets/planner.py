"""The memory planner of all targets: places such that no two values that live at the same time overlap.

The largest first, each at the lowest place that is free for as long as it lives: within a few percent of the peak of what
lives together on the models tried, and the same for the same program.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from fleet.targets.liveness import FOREVER, Life

ValueT = TypeVar("ValueT", bound=Hashable)


def round_up(value: int, unit: int) -> int:
    """The next multiple."""
    return -(-value // unit) * unit


@dataclass(frozen=True)
class Shared(Generic[ValueT]):
    """Memory that values share. offsets: value -> bytes from its beginning; size: bytes up to the end of the last value."""

    offsets: Mapping[ValueT, int]
    size: int


def share(lives: Mapping[ValueT, Life], align: int) -> Shared[ValueT]:
    """Places values; offsets are multiples of `align`."""
    offsets = dict.fromkeys(lives, 0)
    order = sorted((v for v, life in lives.items() if life.size), key=lambda v: (-lives[v].size, lives[v].first))
    if max((lives[v].first for v in order), default=0) <= min((lives[v].last for v in order), default=0):
        at = 0  # all live at one step, as where every result is kept: one behind the other
        for value in order:
            offsets[value], at = at, round_up(at + lives[value].size, align)
    else:
        room = SharedRoom(align)
        for value in order:
            offsets[value] = room.place(lives[value])
    return Shared(offsets, max((at + lives[value].size for value, at in offsets.items()), default=0))


_SPAN = 64
"""Steps: values are looked up by the spans in which they live; of a long program few live at the same time."""


class SharedRoom:
    """Memory of which every byte has one value at a time; `align`: what offsets are a multiple of."""

    def __init__(self, align: int) -> None:
        self._align = align
        self._spans: list[list[int]] = [[]]
        self._forever: list[int] = []
        self._placed: list[tuple[Life, int]] = []

    def place(self, life: Life) -> int:
        """The lowest offset that is free for as long as a value lives; it is taken from now on."""
        at = self.free(life)
        self.take(life, at)
        return at

    def free(self, life: Life) -> int:
        """The lowest offset that is free for as long as a value lives."""
        at = 0
        for begin, end in self._beside(life):
            if begin >= at + life.size:
                break
            at = max(at, round_up(end, self._align))
        return at

    def take(self, life: Life, at: int) -> None:
        """A value lies at `at`."""
        for span in self._of(life):
            span.append(len(self._placed))
        if life.last >= FOREVER:
            self._forever.append(len(self._placed))
        self._placed.append((life, at))

    def _of(self, life: Life) -> list[list[int]]:
        """The spans in which a value lives; there are as many as were asked for."""
        first = max(life.first, 0) // _SPAN
        last = None if life.last >= FOREVER else max(life.last, 0) // _SPAN
        while len(self._spans) <= max(first, last or 0):
            self._spans.append(list(self._forever))
        return self._spans[first:] if last is None else self._spans[first : last + 1]

    def _beside(self, life: Life) -> list[tuple[int, int]]:
        """(begin, end) of what lives at the same time, in ascending order."""
        near = {i for span in self._of(life) for i in span}
        beside = (self._placed[i] for i in near)
        return sorted((at, at + other.size) for other, at in beside if other.first <= life.last and life.first <= other.last)
