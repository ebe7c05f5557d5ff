"""Rounds of a loop that stays a loop: what each of them draws, appends to a list, and stores into a list or dict by its number."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

import numpy as np

from fleet.frontend.reading.values import Dict, List, NumberValue, Value
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


class GrowingItems(list[Value]):
    """The elements of a list while a round that appends to it is followed: it has only what the round has appended so far.

    Whoever asks for anything else gets the error that `refuse` raises: of earlier rounds nobody knows the elements or their number.

    Args:
        before: the elements before the loop.
        tail: the last elements before the round, as many as the rounds read.
        refuse: raises SourceError; called with how many elements more the tail should have, 0 where no tail would do.
    """

    def __init__(self, before: Sequence[Value], tail: Sequence[Value], refuse: Callable[[int], NoReturn]) -> None:
        super().__init__()
        self.before = before
        self.tail = tail
        self._refuse = refuse

    def own(self) -> list[Value]:
        """What the round has appended."""
        return [*list.__iter__(self)]

    def reset(self, values: Iterable[Value]) -> None:
        """Let these be what the round has appended."""
        list[Value].clear(self)
        self.extend(values)

    def at(self, index: int) -> Value:
        """The element of an index that counts from the end. SourceError for others, and for those before the tail."""
        known = [*self.tail, *self.own()]
        if -len(known) <= index < 0:
            return known[index]
        return self._refuse(max(-index - len(known), 0))

    def refused(self, *_: object, **__: object) -> NoReturn:
        """Any other access."""
        self._refuse(0)


for _name in (
    "__add__", "__bool__", "__contains__", "__delitem__", "__eq__", "__getitem__", "__iter__", "__len__", "__mul__", "__reversed__",
    "__setitem__", "clear", "copy", "count", "index", "insert", "pop", "remove", "reverse", "sort",
):  # fmt: skip
    setattr(GrowingItems, _name, GrowingItems.refused)


def known_length(items: list[Value]) -> int:
    """Elements of a list that are known while the source is read."""
    return len(items.own()) if isinstance(items, GrowingItems) else len(items)


@dataclass(frozen=True)
class RoundKey:
    """A key or index that a round computes of its number: `factor * number + offset`."""

    factor: int
    offset: int

    def at(self, number: int) -> int:
        """The key of a round."""
        return self.factor * number + self.offset


class TableItems:
    """The elements of a list or dict that rounds read or store by their number, while a round is followed.

    Attributes:
        before: the elements before the loop, by key or index.
        own: what the round has stored.
        refuse: raises SourceError, for any access that is not by such a key.
    """

    def __init__(self, before: Mapping[Any, Value], refuse: Callable[[], NoReturn]) -> None:
        super().__init__()
        self.before = before
        self.own: dict[RoundKey, Value] = {}
        self.refuse = refuse

    def refused(self, *_: object, **__: object) -> NoReturn:
        """Any other access."""
        self.refuse()


class TableList(TableItems, list[Value]):
    """Of a list."""


class TableDict(TableItems, dict[Any, Value]):
    """Of a dict."""


for _name in (
    "__add__", "__bool__", "__contains__", "__delitem__", "__eq__", "__getitem__", "__iadd__", "__ior__", "__iter__", "__len__",
    "__mul__", "__or__", "__reversed__", "__setitem__", "append", "clear", "copy", "count", "extend", "get", "index", "insert",
    "items", "keys", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update", "values",
):  # fmt: skip
    setattr(TableItems, _name, TableItems.refused)
TableList.__len__ = lambda self: len(self.before)  # rounds store, but append nothing


class RoundTables(Protocol):
    """Lists and dicts that the rounds of the innermost loop of the run read or store by their number."""

    def load(self, node: ast.AST, owner: List | Dict, index: Value) -> tuple[Value] | None:
        """Return the element, or None if the key does not follow the round's number. Raises SourceError if it may be absent."""
        ...

    def store(self, node: ast.AST, owner: List | Dict, index: Value, value: Value) -> bool:
        """Store an element. Returns False if the key does not follow the round's number."""
        ...
