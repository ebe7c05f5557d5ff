"""A derived bound, and the bounds of a program, each computed when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from fleet.compare.rules.steps import Array
from fleet.ir.dialect import FleetOp, op_id

__all__ = ["Bound", "Bounds"]


@dataclass(frozen=True)
class Bound:
    """A bound on |other - golden|.

    array: float64, in the operation's shape; inf: nothing is proved.
    candidates: for argmax, a boolean array over the operand: the classes that the other side may rightly choose; else None.
    rule: one clause for the report.
    """

    array: Array
    candidates: Array | None
    rule: str


class Bounds(Mapping[str, Bound]):
    """Bounds by operation id, each computed when it is asked for.

    In program order every operation is computed once, and of those passed only what later ones read is kept. So the bounds of a
    program need as much memory as those of its values that are alive at one place (float64, with row norms and floors), and the
    last two that were given. Asking for one that has been passed begins again; who does so more than once gets all of them kept.
    """

    def __init__(self, operations: Sequence[FleetOp], steps: Callable[[], Iterator[Bound]]) -> None:
        """steps: begins at the first of the operations."""
        self._places = {op_id(op): i for i, op in enumerate(operations)}
        self._steps = steps
        self._walk = steps()
        self._next = self._restarts = 0
        self._kept: dict[str, Bound] = {}
        self._names = list(self._places)
        self._instead: Mapping[str, Bound] = {}

    def but(self, instead: Mapping[str, Bound]) -> Bounds:
        """The same with other bounds for some operations; what is derived from theirs stays."""
        found = copy(self)
        found._walk, found._next, found._kept, found._instead = self._steps(), 0, {}, {**self._instead, **instead}
        return found

    def __getitem__(self, name: str) -> Bound:
        if name in self._instead:
            return self._instead[name]
        place = self._places[name]
        if name not in self._kept:
            if place < self._next:
                self._walk, self._next = self._steps(), 0
                self._restarts += 1
            while self._next <= place:
                if self._restarts < 2 and len(self._kept) > 1:
                    self._kept.pop(next(iter(self._kept)))
                self._kept[self._names[self._next]] = next(self._walk)
                self._next += 1
        return self._kept[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)
