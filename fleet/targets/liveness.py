"""Lifetimes of memory: of values that have their own, and of values that lie in that of others.

Time counts in steps: positions of a schedule, operations of a program.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Generic, NamedTuple, TypeVar

FOREVER = 1 << 60
"""The last step of what stays."""

ValueT = TypeVar("ValueT", bound=Hashable)


class Life(NamedTuple):
    """A value of `size` bytes that is needed from step `first` to step `last`, both included."""

    size: int
    first: int
    last: int


class Lives(Generic[ValueT]):
    """Lifetimes belong to roots: the values with memory of their own. A view keeps the roots alive in which it lies.

    Attributes:
        of: root -> its first and last step, both included; in the order in which they began. What never began (a weight, say) is
            not the planner's matter.
    """

    def __init__(self) -> None:
        self.of: dict[ValueT, tuple[int, int]] = {}
        self._roots: dict[ValueT, tuple[ValueT, ...]] = {}

    def begin(self, value: ValueT, step: int) -> None:
        """A value gets memory of its own."""
        self.of[value] = step, step

    def view(self, value: ValueT, sources: Iterable[ValueT]) -> None:
        """A value lies in the memory of others."""
        self._roots[value] = tuple(dict.fromkeys(root for source in sources for root in self.roots(source)))

    def roots(self, value: ValueT) -> tuple[ValueT, ...]:
        """The values in whose memory a value lies; itself if it is no view."""
        return self._roots.get(value, (value,))

    def use(self, value: ValueT, step: int) -> None:
        """A value is read or written."""
        for root in self.roots(value):
            if root in self.of:
                first, last = self.of[root]
                self.of[root] = first, max(last, step)
