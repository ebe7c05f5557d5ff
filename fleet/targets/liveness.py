"""Memory for values that live for a while: places such that no two that live at the same time overlap.

The largest first, each at the lowest place that is free for as long as it lives: within a few percent of the peak of what
lives together on the models tried, and the same for the same program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["FOREVER", "Life", "live_bytes", "share"]

FOREVER = 1 << 60
"""The last step of what stays."""


class Life(NamedTuple):
    """A value of `size` bytes that is needed from step `first` to step `last`, both included."""

    size: int
    first: int
    last: int


def share(lives: Sequence[Life], align: int) -> list[int]:
    """Offsets in bytes from a common start, multiples of `align`, one for each value."""
    places = [0] * len(lives)
    order = sorted((i for i, life in enumerate(lives) if life.size), key=lambda i: (-lives[i].size, lives[i].first, i))
    if max((lives[i].first for i in order), default=0) <= min((lives[i].last for i in order), default=0):
        at = 0  # all live at one step, as where every result is kept: one behind the other
        for i in order:
            places[i], at = at, -(-(at + lives[i].size) // align) * align
        return places
    placed = _Placed(lives, order)
    for i in order:
        life = lives[i]
        at = 0
        for begin, end in placed.beside(life):
            if begin >= at + life.size:
                break
            at = max(at, -(-end // align) * align)
        places[i] = at
        placed.add(i, at)
    return places


def live_bytes(lives: Sequence[Life]) -> int:
    """The most bytes that are needed at one step: no plan takes less."""
    changes = sorted([(life.first, life.size) for life in lives] + [(life.last + 1, -life.size) for life in lives])
    most = now = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    return most


_SPAN = 64


class _Placed:
    """What has its place, found by when it lives: of a long program, few values live at the same time."""

    def __init__(self, lives: Sequence[Life], order: Sequence[int]) -> None:
        self._lives = lives
        self._end = max(lives[i].first for i in order)
        self._spans: list[list[int]] = [[] for _ in range(self._end // _SPAN + 1)]
        self._places: dict[int, int] = {}

    def _of(self, life: Life) -> list[list[int]]:
        return self._spans[life.first // _SPAN : min(life.last, self._end) // _SPAN + 1]

    def add(self, i: int, at: int) -> None:
        """Value i lies at `at`."""
        self._places[i] = at
        for span in self._of(self._lives[i]):
            span.append(i)

    def beside(self, life: Life) -> list[tuple[int, int]]:
        """(begin, end) of what lives at the same time as `life`, in ascending order."""
        near = {i for span in self._of(life) for i in span}
        at, lives = self._places, self._lives
        return sorted((at[i], at[i] + lives[i].size) for i in near if lives[i].first <= life.last and life.first <= lives[i].last)
