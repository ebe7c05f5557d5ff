"""Memory for values that live for a while: places such that no two that live at the same time overlap.

The largest first, each at the lowest place that is free for as long as it lives: within a few percent of the peak of what
lives together on the models tried, and the same for the same program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["FOREVER", "Life", "share"]

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
    done: list[tuple[int, int, Life]] = []
    for i in sorted(range(len(lives)), key=lambda i: (-lives[i].size, lives[i].first, i)):
        life = lives[i]
        at = 0
        for begin, end, other in done:  # in ascending order of their places
            if other.last < life.first or life.last < other.first or not life.size:
                continue
            if begin >= at + life.size:
                break
            at = max(at, -(-end // align) * align)
        places[i] = at
        if life.size:
            done.append((at, at + life.size, life))
            done.sort(key=lambda entry: entry[:2])
    return places
