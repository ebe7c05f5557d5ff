"""State inside the design over the time of a run, byte by byte in the order of its addresses."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from fleet.adopt.bench.observe import InsideState
from fleet.adopt.lockstep.events import StatePoint


class InsideStates:
    """The declared states as the bench recorded them; moves forward in time only. points: in the order of time."""

    def __init__(self, states: Sequence[InsideState], points: Sequence[StatePoint]) -> None:
        self._states, self._points, self._next, self._time = states, points, 0, -1
        counts = [len(s.keeper.names) * max(1, s.variable.elements) for s in states]
        self._first = [0, *accumulate(counts)]
        self._held = [np.zeros(c * s.element, np.uint8) for c, s in zip(counts, states, strict=True)]  # array by array
        # Where in `_held` the byte of an address lies.
        self._place = [_places(s.keeper.order(), h.size) for s, h in zip(states, self._held, strict=True)]

    def go_to(self, time: int) -> bool:
        """State as it was looked at last up to a time. Returns whether that was at this very time."""
        while self._next < len(self._points) and self._points[self._next].time <= time:
            point = self._points[self._next]
            self._next, self._time = self._next + 1, point.time
            for element, text in point.changed.items():
                n = bisect_right(self._first, element) - 1
                size = self._states[n].element
                at = (element - self._first[n]) * size
                self._held[n][at : at + size] = np.frombuffer(int(text, 16).to_bytes(size, "little"), np.uint8)
        return self._time == time

    def all(self, state: int) -> np.ndarray:
        """Return all bytes of a state."""
        return self._held[state][self._place[state]]

    def size(self, state: int) -> int:
        """Bytes of a state."""
        return self._held[state].size

    def byte(self, state: int, address: int) -> int:
        """Return one byte of the state."""
        return int(self._held[state][self._place[state][address]])

    def array(self, state: int, address: int) -> str:
        """The name of the array that a byte lies in."""
        keeper = self._states[state].keeper
        return keeper.names[int(self._place[state][address]) // keeper.share]


def _places(order: np.ndarray | None, size: int) -> np.ndarray:
    places = np.arange(size)
    if order is not None:
        places[order] = np.arange(size)
    return places
