"""Lifetimes of values: of those with their own memory, and of views into the memory of others.

Time counts in steps: positions of a schedule, operations of a program.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

FOREVER = 1 << 60
"""The last step of values that stay to the end."""

ValueT = TypeVar("ValueT", bound=Hashable)


class Life(NamedTuple):
    """A value of `size` bytes that is needed from step `first` to step `last`, both included."""

    size: int
    first: int
    last: int


class Lives(Generic[ValueT]):
    """Lifetimes belong to roots, the values with their own memory. A view keeps its roots alive.

    Attributes:
        of: root -> its first and last step, both included; in the order in which they began. A value without an entry (a weight,
            for example) is not planned.
    """

    def __init__(self) -> None:
        self.of: dict[ValueT, tuple[int, int]] = {}
        self._roots: dict[ValueT, tuple[ValueT, ...]] = {}

    def begin(self, value: ValueT, step: int) -> None:
        """Give a value its own memory."""
        self.of[value] = step, step

    def view(self, value: ValueT, sources: Iterable[ValueT]) -> None:
        """Make a value a view into the memory of others."""
        self._roots[value] = tuple(dict.fromkeys(root for source in sources for root in self.roots(source)))

    def roots(self, value: ValueT) -> tuple[ValueT, ...]:
        """Return the roots of a value: itself if it is not a view."""
        return self._roots.get(value, (value,))

    def use(self, value: ValueT, step: int) -> None:
        """Extend the lifetime of a value's roots: it is read or written."""
        for root in self.roots(value):
            if root in self.of:
                first, last = self.of[root]
                self.of[root] = first, max(last, step)
