"""Draws in a loop that stays a loop: of every draw of a round one array with the numbers of all rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet.frontend.reading.values import NumberValue
from fleet.ir.weights import Derived, RandomStream


@dataclass(frozen=True)
class RoundDraw:
    """A call of a generator, the same in every round."""

    stream: RandomStream
    method: str
    arguments: Sequence[Any]
    keywords: Mapping[str, Any]
    shape: tuple[int, ...]
    dtype: np.dtype

    def again(self, stream: RandomStream) -> Any:
        """Append the call to a stream."""
        return stream.draw(self.method, self.arguments, self.keywords, self.shape, self.dtype)


class RoundDraws:
    """What a round of a loop draws, in order. The generators make all rounds' calls at once, so their number must be known.

    A body is followed once to see what it draws, and again with that as the `plan`; only then do the arrays hold the numbers.

    Args:
        number: the round's number, which only the run knows.
        first: its first value.
        count: the number of rounds.
        plan: what a round draws, as far as is known.
    """

    def __init__(self, number: NumberValue, first: int, count: int, plan: Sequence[RoundDraw]) -> None:
        self.number, self.first, self.count = number, first, count
        self.plan = plan
        self.asked: list[RoundDraw] = []
        self._before = {draw.stream: len(draw.stream.calls) for draw in plan}
        rounds = [[draw.again(draw.stream) for draw in plan] for _ in range(count if plan else 0)]
        self._rows = [tuple(row) for row in zip(*rounds, strict=True)]

    @property
    def foreseen(self) -> bool:
        """Whether the round has drawn what was planned."""
        return self.asked == list(self.plan)

    def array(self, draw: RoundDraw) -> Derived:
        """The numbers of the next draw, round by round: an array [count, *shape]."""
        place = len(self.asked)
        self.asked.append(draw)
        planned = place < len(self.plan) and self.plan[place] == draw
        other = RandomStream(draw.stream.generator, 0)
        row = self._rows[place] if planned else (draw.again(other),) * self.count
        return Derived("rounds", row, (self.count, *draw.shape), draw.dtype, lambda *arrays: np.stack(arrays))

    def take_back(self) -> None:
        """Leave the generators as they were before the loop."""
        for stream, calls in self._before.items():
            stream.take_back(calls)
