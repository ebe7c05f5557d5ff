"""A derived bound, and the bounds of a program, each computed on demand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass

from fleet.compare.rules.steps import Array
from fleet.ir.dialect import FleetOp, op_id


@dataclass(frozen=True)
class Bound:
    """A bound on |other - golden|.

    array: float64, in the operation's shape; inf means that nothing is proved.
    candidates: for argmax, a boolean array in the operand's shape: the classes that the other side may choose; else None.
    rule: one clause for the report.
    """

    array: Array
    candidates: Array | None
    rule: str


class Bounds(Mapping[str, Bound]):
    """Bounds by operation id, each computed on demand.

    Reading in program order computes each operation once and keeps only what later operations read. The bounds then need as much
    memory as the program's values that are alive at one time (float64, with row norms and floors), plus the last two bounds.
    Reading an earlier operation restarts from the first one; from the second restart on, all bounds are kept.
    """

    def __init__(self, operations: Sequence[FleetOp], steps: Callable[[], Iterator[Bound]]) -> None:
        """steps: returns an iterator of the bounds, from the first operation on."""
        self._places = {op_id(op): i for i, op in enumerate(operations)}
        self._steps = steps
        self._walk = steps()
        self._next = self._restarts = 0
        self._kept: dict[str, Bound] = {}
        self._names = list(self._places)
        self._instead: Mapping[str, Bound] = {}

    def but(self, instead: Mapping[str, Bound]) -> Bounds:
        """Return the same bounds with others for some operations; what was derived from the old bounds stays."""
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
