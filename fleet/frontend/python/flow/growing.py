"""Lists to which every round of a loop of the run appends: of each item one array holds those of all rounds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from xdsl.ir import Attribute, Block, SSAValue

from fleet.frontend.arrays.emitting import builder_of, emit
from fleet.frontend.arrays.operands import array
from fleet.frontend.arrays.parts import element
from fleet.frontend.arrays.sizes import reshaped
from fleet.frontend.arrays.truths import kind_of_number
from fleet.frontend.python.flow.carried import containers
from fleet.frontend.python.flow.meeting import NUMBERS
from fleet.frontend.python.flow.state import parts_of, rebuilt, tensors_of
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.rounds import GrowingItems
from fleet.frontend.reading.tensor import RowElement, joined_storage
from fleet.frontend.reading.values import List, NumberValue, TracedArray, Value
from fleet.ir.types import numpy_dtype, shape_of, tensor_type

_MAX_ITEMS = 64
"""Items that a round may append to one list."""
_MAX_TAIL = 16
"""Elements from before a round that it may read, counted from the end."""

PartsOf = Callable[[Value], list[SSAValue]]
"""The parts of a value."""
MadeOf = Callable[[Value, Iterator[SSAValue]], Value]
"""A value like another, made of parts."""


@dataclass(frozen=True, eq=False)
class Growth:
    """What every round of a loop appends to a list.

    Attributes:
        holder: the list.
        before: its elements before the loop.
        items: what a round appends, of which kinds, shapes and dtypes count.
        shared: keys of what may share memory with an item.
        tail: how many of the last elements from before a round the round reads.
    """

    holder: List
    before: Sequence[Value]
    items: Sequence[Value]
    shared: frozenset[object]
    tail: int = 0

    @property
    def types(self) -> list[Attribute]:
        """Types of the items' parts, one after the other."""
        return [t for item in self.items for t in types_of(item)]

    def fits(self, other: Growth) -> bool:
        """Return whether the other says the same of the list, and knows of all that shares memory."""
        return len(self.items) == len(other.items) and self.types == other.types and self.shared <= other.shared

    def with_tail(self, tail: int) -> Growth:
        """The same list, of which a round reads so many of the last elements from before it."""
        return Growth(self.holder, self.before, self.items, self.shared, tail)


def leaves(value: Value) -> Iterator[TracedArray | NumberValue]:
    """Arrays and numbers of a value, in order."""
    if isinstance(value, TracedArray | NumberValue):
        yield value
    for part in parts_of(value) or ():
        yield from leaves(part)


def types_of(value: Value) -> list[Attribute]:
    """Types of the arrays and numbers of a value, in order."""
    return [tensor_type(v.shape, v.dtype) if isinstance(v, TracedArray) else NUMBERS[kind_of_number(v)] for v in leaves(value)]


def appended(holder: object, begun: Mapping[object, Value], after: Mapping[object, Value]) -> list[Value] | None:
    """Return what was appended to a list, whose elements stand by their places; None if it was changed in another way."""
    if not isinstance(holder, List) or holder.kind != "list" or list(after)[: len(begun)] != list(begun):
        return None
    items = list(after.values())[len(begun) :]
    whole = all(0 not in v.shape and min(v.shape, default=0) >= 0 for item in items for v in tensors_of(item))
    return items if whole and 0 < len(items) <= _MAX_ITEMS else None


Left = tuple[int, TracedArray, TracedArray]
"""What became of an array that a round has put into a list or dict: the round, the array, a row behind the loop."""


def row_of(ev: Evaluator, node: ast.AST, like: Value, rows: Sequence[SSAValue], at: int, home: Block) -> Value:
    """A value like another whose arrays and numbers are rows of arrays, which are known in the block `home`."""
    rest = iter(rows)

    def leaf(value: TracedArray | NumberValue) -> Value:
        array = next(rest)

        def make() -> SSAValue:
            with builder_of(ev).inside(home):
                return element(ev, node, TracedArray(array, scalar=False), at).ssa

        if isinstance(value, NumberValue):
            return NumberValue(None, builder_of(ev).emit(node, "item", [make()], number=kind_of_number(value).__name__))
        return RowElement(array, at, make, scalar=value.scalar)

    return rebuilt(like, leaf)


def join_memory(left: Sequence[Left], guards: Iterable[tuple[TracedArray, Sequence[TracedArray]]]) -> None:
    """Let rows share memory that may be the same array, or parts of one: of one round, or what a round got from an earlier one.

    guards: placeholders for the memory of earlier rounds' elements, each with these elements after the loop.
    """
    groups: dict[tuple[int, int], TracedArray] = {}
    stored: dict[int, list[TracedArray]] = {}
    for k, old, made in left:
        stored.setdefault(id(old.storage), []).append(made)
        joined = groups.setdefault((k, id(old.storage)), made)
        if joined is not made:
            joined_storage(made, joined)
    for guard, members in guards:
        for made in stored.get(id(guard.storage), ()):
            for member in members:
                if member is not made:
                    joined_storage(member, made)


class GrowingLists:
    """The growing lists of one loop: of each part of each item the loop carries an array with a row for every round.

    Args:
        first, count: number of the first round, and of the rounds.
        values: parts of a value. fresh: a value like another, made of parts.
    """

    def __init__(
        self, ev: Evaluator, node: ast.AST, growths: Sequence[Growth], first: int, count: int, values: PartsOf, fresh: MadeOf
    ) -> None:
        self.ev, self.node, self.growths, self.first, self.count = ev, node, growths, first, count
        self._values, self._fresh = values, fresh
        self._guards: list[TracedArray] = []
        self._tails: list[Sequence[Value]] = []
        """The last elements from before a round, where the round reads them."""
        self._followed: list[TracedArray] = []
        """The guards of the round that was followed."""
        self._home = builder_of(ev).block
        self._kept: list[set[object]] = []
        """Keys of what may share memory with the items of rounds before the last."""
        self._last: list[list[Value]] = []
        """What the round has appended."""
        self.wanted: dict[int, int] = {}
        """List -> elements that its tail lacked."""

    def start(self) -> list[SSAValue]:
        """What the loop begins with: the tails' parts, and empty arrays."""
        builder = builder_of(self.ev)
        found: list[SSAValue] = []
        for g in self.growths:
            for value in g.before[len(g.before) - g.tail :]:
                found += self._values(value)
            for t in g.types:
                dtype = numpy_dtype(t)
                found.append(builder.filled(self.node, (self.count, *shape_of(t)), 0, dtype).ssa)
        return found

    def enter(self, parts: Iterator[SSAValue], arrays: Mapping[object, Sequence[TracedArray]]) -> None:
        """Let the lists be those of a round, of these parts. arrays: what is carried, by key."""
        self._guards.clear()
        self._tails.clear()
        for g in self.growths:
            tail = [self._fresh(v, parts) for v in g.before[len(g.before) - g.tail :]]
            rows = [next(parts) for _ in g.types]
            # A write to what an earlier item may share memory with is seen by what it does to this array.
            guard = TracedArray(rows[0], scalar=False)
            for other in (*(t for v in tail for t in tensors_of(v)), *(t for key in g.shared for t in arrays.get(key, ()))):
                joined_storage(guard, other)
            self._guards.append(guard)
            self._tails.append(tail)
            g.holder.items = GrowingItems(g.before, tail, self._refusal(g))

    def _refusal(self, g: Growth) -> Callable[[int], NoReturn]:
        def refuse(lacking: int) -> NoReturn:
            if lacking and g.tail + lacking <= min(len(g.before), _MAX_TAIL):
                self.wanted[id(g.holder)] = g.tail + lacking
            what = "a round of a loop of the run looks into a list that the rounds make longer"
            self.ev.fail("F511", self.node, what, "put the numbers into an array of a known size")

        return refuse

    def check(self, memory: Mapping[object, set[int]], views: Mapping[object, set[int]]) -> None:
        """SourceError F511 if the round has written to what an item of an earlier one may share memory with.

        memory: behind the round, by key. views: arrays of which carried places are views.
        """
        self._followed = [*self._guards]
        self._kept = [
            {k for k in g.shared if id(guard.storage) in memory.get(k, ())}
            | {k for k, found in views.items() if found & {id(t) for v in tail for t in tensors_of(v)}}
            for g, guard, tail in zip(self.growths, self._guards, self._tails, strict=True)
        ]
        for g, guard in zip(self.growths, self._guards, strict=True):
            types = {tuple(types_of(v)) for v in (*g.items, *g.before[len(g.before) - g.tail :])}
            if g.tail and any(next(containers(v), None) is not None for v in g.items):
                self.ev.fail(
                    "F511", self.node, "a round of a loop of the run looks into a list of lists or dicts that it makes longer"
                )
            if g.tail and len(types) > 1:
                self.ev.fail("F511", self.node, "a list that grows in a loop of the run has elements of several types")
            if guard.lost is not None:
                what = "a round of a loop changes an array in place that a list holds from an earlier one"
                self.ev.fail("F511", self.node, what, "append a copy")

    def after(self, number: SSAValue, parts: Iterator[SSAValue]) -> list[SSAValue]:
        """Append what a round adds. parts: the round's arguments. Returns what the next round gets for them."""
        if not self.growths:
            return []
        ev, node, builder = self.ev, self.node, builder_of(self.ev)
        place = number
        if self.first:
            place = builder.emit(node, "sub", [number, builder.constant(node, self.first, number.type)])
        row = reshaped(ev, node, array(ev, node, NumberValue(None, place)), [1])
        found: list[SSAValue] = []
        for g in self.growths:
            items = g.holder.items
            assert isinstance(items, GrowingItems)
            own = items.own()
            self._last.append(own)
            tail = [*items.tail, *own]
            for value in tail[len(tail) - g.tail :]:
                found += self._values(value)
            for _ in range(sum(len(types_of(v)) for v in items.tail)):
                next(parts)
            for leaf in (v for item in own for v in leaves(item)):
                new = leaf if isinstance(leaf, TracedArray) else array(ev, node, leaf)
                rows = reshaped(ev, node, new, [1, *new.shape])
                found.append(emit(ev, node, "scatter", [TracedArray(next(parts)), row, rows], reduction="none").ssa)
        return found

    def leave(
        self, parts: Iterator[SSAValue], same: Callable[[Value], Value], arrays: Mapping[object, Sequence[TracedArray]]
    ) -> Iterator[Left]:
        """Let the lists be those behind the loop. same: what a value of the last round is behind it, itself if nothing.

        arrays: what is carried, by key. Yields what became of the arrays that the rounds appended.
        """
        for g, last, kept in zip(self.growths, self._last, self._kept, strict=True):
            for v in g.before[len(g.before) - g.tail :]:
                self._fresh(v, parts)
            rows = [[next(parts) for _ in types_of(item)] for item in g.items]
            found = list(g.before)
            for k in range(self.count):
                is_last = k == self.count - 1
                for item, own in zip(last, rows, strict=True):
                    if is_last and (value := same(item)) is not item:
                        found.append(value)
                        continue
                    made = row_of(self.ev, self.node, item, own, k, self._home)
                    for old, tensor in zip(tensors_of(item), tensors_of(made), strict=True):
                        yield self.first + k, old, tensor
                        for other in (t for key in (g.shared | kept if is_last else kept) for t in arrays.get(key, ())):
                            joined_storage(tensor, other)
                    found.append(made)
            g.holder.items = found

    def others(self) -> Iterator[tuple[TracedArray, Sequence[TracedArray]]]:
        """Guards of the followed round, each with the arrays after the loop that share its memory."""
        for g, guard in zip(self.growths, self._followed, strict=True):
            yield guard, [t for v in g.holder.items for t in tensors_of(v)]
