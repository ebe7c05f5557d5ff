"""Lists and dicts that the rounds of a loop of the run read or store by their number: `hs[t] = np.tanh(w @ hs[t - 1])`.

Of each part of their elements one array has a row for every key. A round gathers rows, and the loop carries the array where rounds
store. Behind the loop the elements are rows of the array, whose operations are made when they are used.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from fleet.frontend.arrays.emitting import builder_of, emit
from fleet.frontend.arrays.making import static
from fleet.frontend.arrays.operands import array
from fleet.frontend.arrays.parts import late_element
from fleet.frontend.arrays.sizes import reshaped
from fleet.frontend.arrays.truths import kind_of_number
from fleet.frontend.python.flow.carried import Carried, alike, carriable, containers
from fleet.frontend.python.flow.growing import Left, MadeOf, PartsOf, leaves, row_of, types_of
from fleet.frontend.python.flow.state import FlowState, bases_of, tensors_of
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.rounds import RoundKey, TableDict, TableItems, TableList
from fleet.frontend.reading.tensor import RowElement, joined_storage
from fleet.frontend.reading.values import Dict, List, NumberValue, TracedArray, Value
from fleet.ir.constants import constant_value
from fleet.ir.dialect import AddOp, CastOp, ConstantOp, MulOp, SubOp
from fleet.ir.types import is_tensor, numpy_dtype, shape_of

_MAX_ROWS = 1 << 16
"""Rows of an array that has the elements of a list or dict."""
_DEPTH = 8


@dataclass(frozen=True, eq=False)
class RoundTable:
    """What the rounds of a loop do with a list or dict.

    Attributes:
        holder: the list or dict.
        before: its elements before the loop, by key or index.
        reads: keys of elements from before a round that a round reads.
        stores: what a round stores, of which kinds, shapes and dtypes count.
        needed: keys from before the loop that rounds read.
        like: a value like all of them.
        shared: keys of what may share memory with what a round stores.
    """

    holder: List | Dict
    before: Mapping[Any, Value]
    reads: frozenset[RoundKey]
    stores: Mapping[RoundKey, Value]
    needed: frozenset[int]
    like: Value
    shared: frozenset[object]

    @property
    def types(self) -> list[Attribute]:
        """Types of an element's parts."""
        return types_of(self.like)

    def rows(self, rounds: range) -> range:
        """The keys that have a row."""
        keys = [*self.needed, *(key.at(k) for key in self.stores for k in (rounds[0], rounds[-1]))]
        return range(min(keys), max(keys) + 1)

    def fits(self, other: RoundTable) -> bool:
        """Return whether the other says the same of the list or dict, and knows of all that shares memory."""
        same = list(self.stores) == list(other.stores) and self.types == other.types
        return same and self.reads <= other.reads and self.needed <= other.needed and self.shared <= other.shared

    def merged(self, other: RoundTable | None) -> RoundTable:
        """What this says and what the other knew."""
        if other is None:
            return self
        reads, needed, shared = self.reads | other.reads, self.needed | other.needed, self.shared | other.shared
        return RoundTable(self.holder, self.before, reads, self.stores, needed, self.like, shared)


@dataclass
class _Use:
    """A list or dict in a round. guard: sees writes to what an element from before the round may share memory with."""

    holder: List | Dict
    before: Mapping[Any, Value]
    guard: TracedArray | None = None
    plan: RoundTable | None = None
    rows: Sequence[SSAValue] = ()
    reads: set[RoundKey] = field(default_factory=set[RoundKey])
    got: list[TracedArray] = field(default_factory=list[TracedArray])
    """Arrays that the round has read."""


class LoopTables:
    """The tables of one loop.

    Args:
        plan: what earlier tries found. before: the state before the loop.
        first, count: number of the first round, and of the rounds; None where only the run knows it.
        values: parts of a value. fresh: a value like another, made of parts.
    """

    def __init__(
        self, ev: Evaluator, node: ast.AST, plan: Sequence[RoundTable], before: FlowState, first: int | None, count: int | None,
        values: PartsOf, fresh: MadeOf,
    ) -> None:  # fmt: skip
        self.ev, self.node, self.plan, self._before = ev, node, plan, before
        self._rounds = None if first is None or not count else range(first, first + count)
        self._values, self._fresh = values, fresh
        self._home = builder_of(ev).block
        self.number: SSAValue | None = None
        """The round's number."""
        self._uses: dict[int, _Use] = {}
        self._captured: dict[int, list[SSAValue]] = {}
        """Arrays of tables that rounds only read."""
        self._last: list[tuple[Mapping[RoundKey, Value], _Use, set[object]]] = []
        """Of each planned table what the round has stored, how, and the keys of what shares memory with earlier elements."""
        self.found: dict[int, RoundTable] = {}
        """What the followed round does, by list or dict."""

    # ---- what rounds ask for

    def load(self, node: ast.AST, owner: List | Dict, index: Value) -> tuple[Value] | None:
        """Return the element, or None if the key does not follow the round's number. Raises SourceError if it may be absent."""
        key = self._key(owner, index)
        use = None if key is None else self._entered(owner)
        if key is None or use is None:
            return None
        items = owner.items
        assert isinstance(items, TableItems)
        assert isinstance(index, NumberValue)
        if key not in items.own:
            self._keep_apart(items, key)
            use.reads.add(key)
            return (self._read(node, use, key, index),)
        return (items.own[key],)

    def store(self, node: ast.AST, owner: List | Dict, index: Value, value: Value) -> bool:
        """Store an element. Returns False if the key does not follow the round's number."""
        del node
        key = self._key(owner, index)
        if key is None or self._entered(owner) is None:
            return False
        items = owner.items
        assert isinstance(items, TableItems)
        if not key.factor or not carriable(value):
            items.refuse()
        self._keep_apart(items, key)
        items.own[key] = value
        return True

    def _key(self, owner: List | Dict, index: Value) -> RoundKey | None:
        if isinstance(index, NumberValue) and index.symbolic:
            found = None if index.ssa is None or self.number is None else self._affine(index.ssa)
            if found is None and isinstance(owner.items, TableItems):
                owner.items.refuse()
            return found
        if not isinstance(owner.items, TableItems):
            return None
        if not isinstance(index, NumberValue) or not isinstance(index.value, int):
            owner.items.refuse()
        at = int(index.value)
        return RoundKey(0, at + len(owner.items.before) if at < 0 and isinstance(owner, List) else at)

    def _affine(self, value: SSAValue, depth: int = _DEPTH) -> RoundKey | None:
        """Return a number as a linear function of the round's number, or None."""
        if value is self.number:
            return RoundKey(1, 0)
        op = value.owner
        if depth == 0 or numpy_dtype(value.type) != np.int64:
            return None
        if isinstance(op, ConstantOp):
            return RoundKey(0, int(constant_value(op)))
        if isinstance(op, CastOp):
            return self._affine(op.operands[0], depth - 1)
        if not isinstance(op, AddOp | SubOp | MulOp):
            return None
        a, b = (self._affine(v, depth - 1) for v in op.operands)
        if a is None or b is None:
            return None
        if isinstance(op, MulOp):
            a, b = (a, b) if not a.factor else (b, a)
            return None if a.factor else RoundKey(a.offset * b.factor, a.offset * b.offset)
        sign = 1 if isinstance(op, AddOp) else -1
        return RoundKey(a.factor + sign * b.factor, a.offset + sign * b.offset)

    def _entered(self, owner: List | Dict) -> _Use | None:
        """Return how the round uses a list or dict, from now on by its number; None if that cannot be."""
        if id(owner) in self._uses:
            return self._uses[id(owner)]
        if isinstance(owner.items, TableItems):
            owner.items.refuse()  # the table of a loop around this one
        known = self._before.holders.get(id(owner))
        plain = owner.kind == ("list" if isinstance(owner, List) else "dict")
        if known is None or not plain or self._rounds is None or any(type(k) is not int for k in known[1]):
            return None
        return self._let(owner, _Use(owner, known[1]))

    def _let(self, owner: List | Dict, use: _Use) -> _Use:
        self._uses[id(owner)] = use
        if isinstance(owner, List):
            owner.items = TableList(use.before, self._refuse)
        else:
            owner.items = TableDict(use.before, self._refuse)
        return use

    def _refuse(self) -> NoReturn:
        what = "a round of a loop of the run looks into a list or dict that its rounds read or store by their number"
        self.ev.fail("F511", self.node, what, "put the numbers into an array of a known size")

    def _keep_apart(self, items: TableItems, key: RoundKey) -> None:
        """SourceError if the key may be one that the round has stored under another name."""
        assert self._rounds is not None
        for other in items.own:
            if other != key and any(other.at(k) == key.at(k) for k in self._rounds):
                items.refuse()

    def _read(self, node: ast.AST, use: _Use, key: RoundKey, index: NumberValue) -> Value:
        builder = builder_of(self.ev)
        if any(next(containers(v), None) is not None for v in use.before.values()):
            self._refuse()  # who changes the list that an element is would change a copy
        if use.plan is None:  # this try is in vain: any value of the kind will do
            known = [v for v in (*use.holder.items.own.values(), *use.before.values()) if carriable(v) and types_of(v)]  # pyright: ignore[reportAttributeAccessIssue]
            if not known:
                self._refuse()
            types = types_of(known[0])
            zeros = [builder.constant(node, 0, t) for t in types]
            return self._fresh(known[0], iter(zeros))
        if key not in use.plan.reads:
            return self._fresh(use.plan.like, iter([builder.constant(node, 0, t) for t in use.plan.types]))
        assert self._rounds is not None
        place = self._place(node, builder.number(node, index, i64), use.plan.rows(self._rounds).start)
        parts: list[SSAValue] = []
        for rows, leaf in zip(use.rows, leaves(use.plan.like), strict=True):
            found = late_element(self.ev, node, TracedArray(rows), NumberValue(None, place)).ssa
            if isinstance(leaf, NumberValue):
                found = builder.emit(node, "item", [found], number=kind_of_number(leaf).__name__)
            parts.append(found)
        made = self._fresh(use.plan.like, iter(parts))
        for tensor in tensors_of(made):
            assert use.guard is not None
            joined_storage(tensor, use.guard)
            use.got.append(tensor)
        return made

    def _place(self, node: ast.AST, index: SSAValue, first: int) -> SSAValue:
        builder = builder_of(self.ev)
        return builder.emit(node, "sub", [index, builder.constant(node, first, i64)]) if first else index

    # ---- the loop

    def start(self) -> list[SSAValue]:
        """What the loop begins with: the arrays of tables into which rounds store."""
        found: list[SSAValue] = []
        for table in self.plan:
            arrays = self._arrays(table)
            if table.stores:
                found += arrays
            else:
                self._captured[id(table.holder)] = arrays
        return found

    def _arrays(self, table: RoundTable) -> list[SSAValue]:
        assert self._rounds is not None
        parts = {at: list(leaves(table.before[at])) for at in table.needed}
        rows = table.rows(self._rounds)
        return [self._array(rows, {at: p[i] for at, p in parts.items()}, t) for i, t in enumerate(table.types)]

    def _array(self, rows: range, known: Mapping[int, TracedArray | NumberValue], type_: Attribute) -> SSAValue:
        """An array of these rows, zeros where none is known."""
        ev, node, dtype = self.ev, self.node, numpy_dtype(type_)
        shape = shape_of(type_) if is_tensor(type_) else ()
        numbers = [v.value for v in known.values() if isinstance(v, NumberValue) and not v.symbolic]
        if len(numbers) == len(rows):
            return static(ev, node, np.array([known[at].value for at in rows], dtype), "table", scalar=False).ssa  # pyright: ignore[reportAttributeAccessIssue]
        pieces: list[TracedArray] = []
        at = rows.start
        while at < rows.stop:
            end = at + 1
            leaf = known.get(at)
            if leaf is None:
                while end < rows.stop and end not in known:
                    end += 1
                pieces.append(builder_of(ev).filled(node, (end - at, *shape), 0, dtype))
            elif isinstance(leaf, RowElement) and leaf.is_row:
                while end < rows.stop and _follows(leaf, known.get(end), end - at):
                    end += 1
                start, size = [leaf.row, *(0 for _ in shape)], [end - at, *shape]
                whole = leaf.row == 0 and end - at == shape_of(leaf.rows.type)[0]
                cut = leaf.rows if whole else builder_of(ev).emit(node, "slice", [leaf.rows], start=start, size=size)
                pieces.append(TracedArray(cut))
            else:
                one = leaf if isinstance(leaf, TracedArray) else array(ev, node, leaf)
                pieces.append(reshaped(ev, node, one, [1, *shape]))
            at = end
        return pieces[0].ssa if len(pieces) == 1 else emit(ev, node, "concat", pieces, axis=0).ssa

    def enter(self, parts: Iterator[SSAValue], arrays: Mapping[object, Sequence[TracedArray]], carried: Sequence[Carried]) -> None:
        """Let the tables be those of a round, of these parts. arrays: what is carried, by key."""
        self._uses.clear()
        held = {c.place if isinstance(c.place, TracedArray) else c.place[0] for c in carried}
        for table in self.plan:
            # What a round changes in place is in no row that was made before the loop.
            if id(table.holder) in held or any(t in held for at in table.needed for t in tensors_of(table.before[at])):
                self._refuse()
            rows = [next(parts) for _ in table.types] if table.stores else self._captured[id(table.holder)]
            guard = TracedArray(rows[0], scalar=False)
            for other in (t for key in table.shared for t in arrays.get(key, ())):
                joined_storage(guard, other)
            self._let(table.holder, _Use(table.holder, table.before, guard, table, rows))

    def check(self, memory: Mapping[object, set[int]], views: Mapping[object, set[int]], after: FlowState) -> None:
        """Note what the round has done. memory: behind the round, by key; views: arrays of which carried places are views.

        SourceError F511 for what no array can hold, or if the round has written to what an earlier element may share memory with.
        """
        self._last.clear()
        got = {id(tensor) for use in self._uses.values() for tensor in use.got}
        for owner, use in self._uses.items():
            items = use.holder.items
            assert isinstance(items, TableItems)
            stores = dict(items.own)
            guard = use.guard
            if guard is not None and guard.lost is not None:
                what = "a round of a loop changes an array in place that a list or dict holds from an earlier one"
                self.ev.fail("F511", self.node, what, "store a copy")
            if any(id(base) in got for v in stores.values() for t in tensors_of(v) for base in bases_of(t)):
                what = "a round of a loop stores an array that a list or dict holds from an earlier one"
                self.ev.fail("F511", self.node, what, "store a copy")
            needed = self._needed(use, stores)
            elements = [*stores.values(), *(use.before[at] for at in needed)]
            kinds = {tuple(types_of(v)) if carriable(v) else () for v in elements}
            whole = all(0 not in v.shape and min(v.shape, default=0) >= 0 for e in elements for v in tensors_of(e))
            if not elements or len(kinds) > 1 or () in kinds or not whole or not all(alike(elements[0], v) for v in elements):
                self.ev.fail("F511", self.node, "a list or dict that rounds read or store has elements of several types")
            own = {id(after.tensors[t].storage) for v in stores.values() for t in tensors_of(v) if t in after.tensors}
            guarded = {id(guard.storage)} if guard is not None else set[int]()
            shared = frozenset(k for k, found in memory.items() if found & own)
            table = RoundTable(use.holder, use.before, frozenset(use.reads), stores, needed, elements[0], shared)
            assert self._rounds is not None
            rows = table.rows(self._rounds)
            if len(rows) > _MAX_ROWS or (isinstance(use.holder, List) and not 0 <= rows.start < rows.stop <= len(use.before)):
                self._refuse()
            self.found[owner] = table
            if use.plan is not None:
                read = {k for k, found in views.items() if found & {id(t) for t in use.got}}
                self._last.append((stores, use, {k for k in shared if memory[k] & guarded} | read))

    def stored(self) -> Iterator[Value]:
        """What the followed round has stored."""
        for use in self._uses.values():
            assert isinstance(use.holder.items, TableItems)
            yield from use.holder.items.own.values()

    def _needed(self, use: _Use, stores: Mapping[RoundKey, Value]) -> frozenset[int]:
        """Keys from before the loop that rounds read. SourceError F511 if an element may be absent."""
        assert self._rounds is not None
        found: set[int] = set()
        for key in use.reads:
            for k in self._rounds:
                at = key.at(k)
                if not any(_earlier(s, at, self._rounds.start, k) for s in stores):
                    if at not in use.before:
                        self._refuse()
                    found.add(at)
        return frozenset(found)

    def after(self, number: SSAValue, parts: Iterator[SSAValue]) -> list[SSAValue]:
        """Store what a round has stored. parts: the round's arguments. Returns what the next round gets for them."""
        ev, node, builder = self.ev, self.node, builder_of(self.ev)
        found: list[SSAValue] = []
        for table, (stores, _, _) in zip(self.plan, self._last, strict=True):
            if not table.stores:
                continue
            assert self._rounds is not None
            arrays = [TracedArray(next(parts)) for _ in table.types]
            for key, value in stores.items():
                at = number
                if key.factor != 1:
                    at = builder.emit(node, "mul", [at, builder.constant(node, key.factor, i64)])
                at = self._place(node, at, table.rows(self._rounds).start - key.offset)
                place = reshaped(ev, node, array(ev, node, NumberValue(None, at)), [1])
                for i, leaf in enumerate(leaves(value)):
                    new = leaf if isinstance(leaf, TracedArray) else array(ev, node, leaf)
                    row = reshaped(ev, node, new, [1, *new.shape])
                    arrays[i] = emit(ev, node, "scatter", [arrays[i], place, row], reduction="none")
            found += [a.ssa for a in arrays]
        return found

    def leave(
        self, parts: Iterator[SSAValue], same: Callable[[Value], Value], arrays: Mapping[object, Sequence[TracedArray]]
    ) -> Iterator[Left]:
        """Let the tables be those behind the loop. same: what a value of the last round is behind it, itself if nothing.

        arrays: what is carried, by key. Yields what became of the arrays that the rounds stored.
        """
        for table, (stores, _, kept) in zip(self.plan, self._last, strict=True):
            assert self._rounds is not None
            rows = [next(parts) for _ in table.types] if table.stores else []
            first = table.rows(self._rounds).start
            content = dict(table.before)
            for k in self._rounds if stores else ():
                is_last = k == self._rounds[-1]
                for key, item in stores.items():
                    at = key.at(k)
                    if is_last and (value := same(item)) is not item:
                        content[at] = value
                        continue
                    content[at] = row_of(self.ev, self.node, item, rows, at - first, self._home)
                    for old, tensor in zip(tensors_of(item), tensors_of(content[at]), strict=True):
                        yield k, old, tensor
                        for other in (t for name in table.shared if is_last for t in arrays.get(name, ())):
                            joined_storage(tensor, other)
            for other in (t for name in kept for t in arrays.get(name, ())):
                for tensor in (t for v in content.values() for t in tensors_of(v)):
                    joined_storage(tensor, other)
            if isinstance(table.holder, List):
                table.holder.items = list(content.values())
            else:
                table.holder.items = content

    def others(self) -> Iterator[tuple[TracedArray, Sequence[TracedArray]]]:
        """Guards of the followed round, each with the arrays after the loop that share its memory."""
        for table, (_, use, _) in zip(self.plan, self._last, strict=True):
            assert use.guard is not None
            values = table.holder.items if isinstance(table.holder, List) else table.holder.items.values()
            yield use.guard, [t for v in values for t in tensors_of(v)]


def _follows(first: RowElement, other: TracedArray | NumberValue | None, distance: int) -> bool:
    return isinstance(other, RowElement) and other.is_row and other.rows is first.rows and other.row == first.row + distance


def _earlier(key: RoundKey, at: int, first: int, number: int) -> bool:
    """Return whether a round before `number` has stored at this place."""
    k, rest = divmod(at - key.offset, key.factor)
    return not rest and first <= k < number
