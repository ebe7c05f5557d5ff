"""Loops whose number of rounds only the run knows: the body is followed until it is known what it changes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Block, SSAValue

from fleet.errors import SourceError
from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.arrays.truths import kind_of_number
from fleet.frontend.python.flow.carried import (
    Carried,
    LoopPlace,
    alike,
    carriable,
    containers,
    is_changed,
    key_of,
    sharing,
    value_at,
)
from fleet.frontend.python.flow.growing import GrowingLists, Growth, appended, join_memory
from fleet.frontend.python.flow.meeting import NUMBERS, choose, same
from fleet.frontend.python.flow.regions import Way, added, follow, isolated
from fleet.frontend.python.flow.state import EARLIER, FlowState, bases_of, contents, fill, parts_of, put, rebuilt, tensors_of
from fleet.frontend.python.flow.tables import LoopTables, RoundTable
from fleet.frontend.reading.ending import Flow
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.rounds import RoundDraw, RoundDraws, TableItems
from fleet.frontend.reading.tensor import joined_storage
from fleet.frontend.reading.values import Broken, CallFrame, Dict, List, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.arguments import append_argument
from fleet.ir.dialect import PrintOp, WhileOp, YieldOp

_TRIES = 8
"""Number of times that a body is followed to find what it changes."""
_LEAVING = ("break", "return")
_HINT = "let it have one type and shape from the beginning"


@dataclass(frozen=True)
class Rounds:
    """A loop.

    Attributes:
        test: whether there is another round, in the state at its beginning, of the round's number: a truth value.
        body: a round, of its number; how it ends.
        names: variables that a round binds.
        first: number of the first round that is left; None for rounds that are not numbered.
        count: how many rounds are left, or None; fewer if a round may leave the loop.
        may_print: whether a round may print, asked once it was followed. may_return: whether one may leave the function.
    """

    test: Callable[[NumberValue], bool | SSAValue]
    body: Callable[[NumberValue], Flow]
    names: frozenset[str]
    first: int | None = None
    count: int | None = None
    may_print: Callable[[], bool] = lambda: True
    may_return: bool = True


def roll(ev: Evaluator, node: ast.AST, rounds: Rounds, entered: Flow) -> Flow:
    """Follows a loop. entered: how the rounds before may have ended it. How it ends: by return, by break, or at its end.

    SourceError F511 for a loop that changes what cannot be an argument of its body.
    """
    before = FlowState.of(ev)
    places: dict[object, LoopPlace] = {}
    held = Counter(id(t) for _, content in before.holders.values() for v in content.values() for t in tensors_of(v))
    for name in sorted(rounds.names):
        frame = ev.frame.target(name)
        value = frame.variables.get(name)
        # What another name has too may stay that name's array: following the body tells.
        if name in frame.variables and carriable(value) and all(held[id(t)] == 1 for t in tensors_of(value)):
            places[id(frame), name] = (id(frame), name)
    together: set[frozenset[object]] = set()
    growths: dict[int, Growth] = {}
    tables: dict[int, RoundTable] = {}
    draws: Sequence[RoundDraw] = ()
    for _ in range(_TRIES):
        carried = [Carried(p, value_at(before, p)) for p in places.values()]
        together |= sharing(before, before, carried)
        body = _Body(
            ev, node, rounds, before, carried, frozenset(together), entered, draws, list(growths.values()), list(tables.values())
        )
        try:
            more = body.follow()
        except SourceError:
            if not body.lists.wanted:
                raise
            for key, tail in body.lists.wanted.items():
                growths[key] = growths[key].with_tail(tail)
            continue
        behind = body.together() - together
        drawing = body.drawing
        grown = {k: g for k, g in body.grown.items() if k not in growths or not g.fits(growths[k])}
        kept = {k: t for k, t in body.tables.found.items() if k not in tables or not t.fits(tables[k])}
        if not more and not behind and not grown and not kept and (drawing is None or drawing.foreseen):
            return body.finish()
        body.drop()
        growths |= {k: g.with_tail(growths[k].tail) if k in growths else g for k, g in grown.items()}
        tables |= {k: t.merged(tables.get(k)) for k, t in kept.items()}
        draws = drawing.asked if drawing is not None else ()
        together |= behind
        places |= {key_of(place): place for place in more}
    return ev.fail("F511", node, "what this loop changes has no end", "assign before the loop what it changes")


class _Body:
    """One try to follow a body with some things as its arguments."""

    def __init__(
        self, ev: Evaluator, node: ast.AST, rounds: Rounds, before: FlowState, carried: Sequence[Carried],
        together: frozenset[frozenset[object]], entered: Flow, draws: Sequence[RoundDraw], growths: Sequence[Growth],
        tables: Sequence[RoundTable],
    ) -> None:  # fmt: skip
        self.ev, self.node, self.rounds, self.before, self.carried, self.entered = ev, node, rounds, before, carried, entered
        self._pairs = together
        self.builder = builder_of(ev)
        self.count = self.builder.count
        self.numbered = rounds.first is not None
        self.start: list[SSAValue] = []
        """What the loop begins with: the round's number, then what is carried and the growing lists, part by part."""
        if rounds.first is not None:
            self.start.append(self.builder.number(node, NumberValue(rounds.first), i64))
        for c in carried:
            self.start += self._values(c.before)
        self.lists = GrowingLists(ev, node, growths, rounds.first or 0, rounds.count or 0, self._values, self._fresh)
        self.lists_at = len(self.start)
        self.start += self.lists.start()
        self.tables = LoopTables(ev, node, tables, before, rounds.first, rounds.count, self._values, self._fresh)
        self.tables_at = len(self.start)
        self.start += self.tables.start()
        self.grown: dict[int, Growth] = {}
        """What the round has appended, by list."""
        self.draws = draws
        self.drawing: RoundDraws | None = None
        self.shared: list[list[Carried]] = []
        """Places that hold one list or dict behind each round."""
        self.given: list[SSAValue] = []
        self.way: Way | None = None
        self.endless = False

    # ---- parts of values

    def _values(self, value: Value) -> list[SSAValue]:
        if isinstance(value, TracedArray):
            return [value.ssa]
        if isinstance(value, NumberValue):
            return [self.builder.number(self.node, value, NUMBERS[kind_of_number(value)])]
        return [v for part in parts_of(value) or () for v in self._values(part)]

    def _fresh(self, value: Value, parts: Iterator[SSAValue]) -> Value:
        """A value like this one, made of these parts."""
        return rebuilt(
            value,
            lambda leaf: (
                TracedArray(next(parts), scalar=leaf.scalar) if isinstance(leaf, TracedArray) else NumberValue(None, next(parts))
            ),
        )

    def _enter(self, parts: Sequence[SSAValue]) -> None:
        """Let what is carried, and the lists that grow, be those at the beginning of a round, made of these."""
        rest = iter(parts)
        arrays = self._place(rest)
        self.lists.enter(rest, arrays)
        self.tables.enter(rest, arrays, self.carried)

    def _place(self, rest: Iterator[SSAValue]) -> dict[object, list[TracedArray]]:
        """Lets what is carried be made of these. Returns its arrays, by key."""
        arrays: dict[object, list[TracedArray]] = {}
        for c in self.carried:
            if isinstance(c.place, TracedArray):
                put(c.place, next(rest), None)
                continue
            holder = self.before.holders[c.place[0]][0]
            made = self._fresh(c.before, rest)
            fill(holder, {**contents(holder), c.place[1]: made})
            arrays[key_of(c.place)] = list(tensors_of(made))
        arrays |= {id(t): [t] for t in FlowState.of(self.ev).tensors if t in self.before.tensors}
        for pair in self._pairs:
            first, *others = [t for key in pair for t in arrays.get(key, ())] or [None]
            for other in others:
                if first is not None and other is not None:
                    joined_storage(first, other)
        for c in self.carried:
            outside = any(self.before.tensors[t].outside for t in tensors_of(c.before) if t in self.before.tensors)
            for tensor in arrays.get(key_of(c.place), ()):
                tensor.storage.outside |= outside
        return arrays

    # ---- following

    def follow(self) -> list[LoopPlace]:
        """Follows the body. What it changes beside what is carried: where there is any, the try is in vain."""
        block = Block(arg_types=[v.type for v in self.start])
        number = NumberValue(None, block.args[0]) if self.numbered else NumberValue(0)
        begun: list[FlowState] = []
        if self.rounds.first is not None and self.rounds.count is not None and not self.ev.inside:
            self.drawing = RoundDraws(number, self.rounds.first, self.rounds.count, self.draws)

        def way() -> tuple[Flow, Value]:
            self._enter(block.args[self.numbered :])
            begun.append(FlowState.of(self.ev))
            self.ev.drawing, self.ev.tables = self.drawing, self.tables
            self.tables.number = block.args[0] if self.numbered else None
            return self.rounds.body(number), None

        try:
            self.way = follow(self.ev, self.node, block, way)
        except SourceError:
            self.builder.discard(block, self.count)  # what the loop would have begun with counts no longer
            self._take_draws_back()
            raise
        try:
            return self._changed(begun[0], self.way.state)
        except SourceError:
            self.drop()
            raise

    def _changed(self, begun: FlowState, after: FlowState) -> list[LoopPlace]:
        """Return what has changed without being carried."""
        carried = {key_of(c.place) for c in self.carried}
        more: list[LoopPlace] = [
            tensor
            for tensor, held in begun.tensors.items()
            if tensor in self.before.tensors and id(tensor) not in carried and after.tensors.get(tensor, held).differs(held)
        ]
        for key, (holder, content) in begun.holders.items():
            if key not in self.before.holders or key not in after.holders:
                continue
            now = after.holders[key][1]
            if isinstance(holder, List | Dict) and isinstance(holder.items, TableItems):
                continue
            if list(now) != list(content) and not isinstance(holder, CallFrame):
                items = appended(holder, content, now)
                if items is None or EARLIER in self.before.holders[key][1] or not self._may_grow(items, begun, after):
                    what = f"{words(holder)} changes its length in a loop whose rounds only the run counts"
                    self.ev.fail("F511", self.node, what, "use an array of a known size, or a loop over a known number of rounds")
                assert isinstance(holder, List)
                first = tuple(self.before.holders[key][1].values())
                own = {id(after.tensors[t].storage) for item in items for t in tensors_of(item) if t in after.tensors}
                shared = frozenset(k for k, found in self._memory(after).items() if found & own)
                self.grown[key] = Growth(holder, first, items, shared)
            for name, value in content.items():
                if (key, name) in carried or name not in now or same(now[name], value):
                    continue
                old = self.before.holders[key][1][name]
                if isinstance(old, Broken):
                    continue  # a round that uses it assigns it first; behind the loop it has no value, as before it
                if not carriable(old):
                    self._differ(f"`{name}`", old, now[name])
                more.append((key, name))
        if not more:
            self._check_shared(begun, after)
        memory = self._memory(after)
        cells = [c.place for c in self.carried if not isinstance(c.place, TracedArray)]
        views: dict[object, set[int]] = {p: {id(b) for t in tensors_of(value_at(after, p)) for b in bases_of(t)} for p in cells}
        self.lists.check(memory, views)
        try:
            self.tables.check(memory, views, after)
            if not self._may_store(begun, after):
                self.ev.fail(
                    "F511", self.node, "a list or dict gets elements in rounds that the run may not make, or that have other places"
                )
        except SourceError:
            if not more:  # else another try may have values of other kinds
                raise
        return more

    def _may_grow(self, items: Sequence[Value], begun: FlowState, after: FlowState) -> bool:
        """Return whether a list can get these in every round: the rounds are counted, and all have the items for themselves."""
        cells = [c for c in self.carried if not isinstance(c.place, TracedArray)]
        held = Counter(id(v) for c in cells for v in containers(value_at(after, c.place)))
        held.update(id(v) for item in items for v in containers(item))
        own = all(id(v) not in begun.holders and held[id(v)] == 1 for item in items for v in containers(item))
        return self._counted() and own and all(map(carriable, items))

    def _may_store(self, begun: FlowState, after: FlowState) -> bool:
        """Return whether the elements that a round stores are of all rounds, and no other place has the lists among them."""
        items = [*self.tables.stored()]
        grown = [item for growth in self.grown.values() for item in growth.items]
        cells = [value_at(after, c.place) for c in self.carried if not isinstance(c.place, TracedArray)]
        held = Counter(id(v) for value in (*items, *grown, *cells) for v in containers(value))
        own = all(id(v) not in begun.holders and held[id(v)] == 1 for item in items for v in containers(item))
        return not items or (self._counted() and own)

    def _counted(self) -> bool:
        """Return whether the run makes all rounds, of a number that is known."""
        assert self.way is not None
        return bool(self.rounds.count) and not self.entered.kinds and not self.way.flow.kinds

    def _memory(self, after: FlowState) -> dict[object, set[int]]:
        """Memory behind a round: of carried places and of arrays from before the loop, by key."""
        found = {id(t): {id(after.tensors[t].storage)} for t in self.before.tensors if t in after.tensors}
        memory: dict[object, set[int]] = {**found}
        for c in self.carried:
            if not isinstance(c.place, TracedArray):
                held = [after.tensors[t] for t in tensors_of(value_at(after, c.place)) if t in after.tensors]
                memory[key_of(c.place)] = {id(h.storage) for h in held}
        return memory

    def _check_shared(self, begun: FlowState, after: FlowState) -> None:
        """Notes places that hold one list or dict behind a round. The rounds have copies of it, which must not be told apart.

        SourceError F511 if a round changes one in place, or if the run may leave the loop before the places are the same.
        """
        cells = [c for c in self.carried if not isinstance(c.place, TracedArray)]
        groups: dict[int, list[Carried]] = {}
        for c in cells:
            for value in containers(value_at(after, c.place)):
                groups.setdefault(id(value), []).append(c)
        self.shared = [group for group in groups.values() if len(group) > 1]
        if not self.shared:
            return
        changed = any(is_changed(v, begun, after) for c in cells for v in containers(value_at(begun, c.place)))
        parts = any(not isinstance(value_at(after, c.place), List | Dict) for group in self.shared for c in group)
        assert self.way is not None
        if changed or parts or self.rounds.count is None or self.entered.kinds or self.way.flow.kinds:
            first = self.shared[0][0].place
            assert not isinstance(first, TracedArray)
            what = f"`{first[1]}` is, behind a round of the loop, a list or dict that another place holds too"
            self.ev.fail("F511", self.node, what, "make a copy")

    def _differ(self, what: str, before: Value, after: Value) -> NoReturn:
        found = f"{what} is {words(before)} before a round of the loop and {words(after)} behind it"
        return self.ev.fail("F511", self.node, found, _HINT)

    def together(self) -> set[frozenset[object]]:
        """Pairs of what shares memory behind a round."""
        assert self.way is not None
        return sharing(self.before, self.way.state, self.carried)

    def drop(self) -> None:
        """Takes the try back."""
        assert self.way is not None
        self.builder.discard(self.way.block, self.count)
        self.before.put_back()
        self._take_draws_back()

    def _take_draws_back(self) -> None:
        if self.drawing is not None:
            self.drawing.take_back()

    # ---- the operation

    def finish(self) -> Flow:
        """Makes the loop of what was followed."""
        assert self.way is not None
        try:
            return self._finished(self.way)
        except SourceError:
            self.drop()
            raise

    def _finished(self, way: Way) -> Flow:
        flow, body = way.flow, way.block
        kinds = [k for k in _LEAVING if k in flow.kinds or k in self.entered.kinds]
        if any(isinstance(op, PrintOp) for op in body.walk()) and not self.rounds.may_print():
            self.ev.fail("F511", self.node, "its rounds print")
        if "return" in kinds and not self.rounds.may_return:
            self.ev.fail("F511", self.node, "its rounds may leave the function, by values that are known of those before")
        with self.builder.within(body):
            if self.numbered:
                one = self.builder.constant(self.node, 1, i64)
                self.given.append(self.builder.emit(self.node, "add", [body.args[0], one]))
            for c in self.carried:
                self.given += self._after(way, c)
            self.given += self.lists.after(body.args[0], iter(body.args[self.lists_at :]))
            self.given += self.tables.after(body.args[0], iter(body.args[self.tables_at :]))
            for kind in kinds:
                self.given.append(flow.flags.get(kind) or self.builder.constant(self.node, flow.kind == kind, i1))
            returned = self._values(flow.value) if "return" in flow.kinds else []
            self.given += returned
        self.before.put_back()
        start = list(self.start)
        for kind in kinds:
            start.append(self.entered.flags.get(kind) or self.builder.constant(self.node, False, i1))
        if "return" in self.entered.kinds:
            start += self._values(self.entered.value)
        else:
            start += [self.builder.constant(self.node, 0, v.type) for v in returned]
        if [v.type for v in start] != [v.type for v in self.given]:
            self._differ("the value of return", self.entered.value, flow.value)
        own = len(self.start)
        for v in start[own:]:
            append_argument(body, v.type)
        test = self._test([v.type for v in start], own, len(kinds))
        body.add_op(YieldOp(self.given))
        captured = isolated(self.ev, self.node, [test, body])
        parts = added(self.ev, self.node, WhileOp(start, captured, test, body), len(start))
        rest = iter(parts[self.numbered : own])
        if self._counted():
            self._pairs = frozenset(self.together())  # what shared memory before the loop alone no longer does
        arrays = self._place(rest)
        same = self._behind(way)
        left = [*self.lists.leave(rest, same, arrays), *self.tables.leave(rest, same, arrays)]
        join_memory(left, [*self.lists.others(), *self.tables.others()])
        self._share()
        for c in self.carried:
            holder = None if isinstance(c.place, TracedArray) else self.before.holders[c.place[0]][0]
            if isinstance(holder, CallFrame) and not isinstance(c.place, TracedArray):
                self.ev.called(holder, c.place[1], holder.variables[c.place[1]])
        for name in self.rounds.names:
            frame = self.ev.frame.target(name)
            if name not in frame.variables:
                frame.variables[name] = Broken(self._absent(name))
        if kinds:
            for draw in self.draws:
                self.ev.spent[draw.stream] = self._spent()
        flags = dict(zip(kinds, parts[own:], strict=False))
        statement = flow.statement or self.entered.statement
        like = flow.value if "return" in flow.kinds else self.entered.value
        value = self._fresh(like, iter(parts[own + len(kinds) :])) if len(parts) > own + len(kinds) else like
        # A loop that its own condition never ends is left by a return where there is no break.
        return Flow("", statement, value, flags, self.endless and kinds == ["return"]) if kinds else Flow()

    def _behind(self, way: Way) -> Callable[[Value], Value]:
        """What an array of the last round is behind the loop: what is carried may be that array."""
        cells = [(c, value_at(way.state, c.place)) for c in self.carried if not isinstance(c.place, TracedArray)]
        places = {id(v): c.place for c, v in cells if isinstance(v, TracedArray)}

        def found(value: Value) -> Value:
            place = places.get(id(value))
            if place is None or isinstance(place, TracedArray):
                return value
            return contents(self.before.holders[place[0]][0])[place[1]]

        return found

    def _share(self) -> None:
        """Let places that held one list or dict behind the last round hold one again."""
        for first, *others in self.shared:
            assert not isinstance(first.place, TracedArray)
            value = contents(self.before.holders[first.place[0]][0])[first.place[1]]
            for other in others:
                assert not isinstance(other.place, TracedArray)
                holder = self.before.holders[other.place[0]][0]
                fill(holder, {**contents(holder), other.place[1]: value})

    def _after(self, way: Way, c: Carried) -> list[SSAValue]:
        """Return the carried values after a round."""
        if isinstance(c.place, TracedArray):
            found, after = [way.ssa(c.place)], TracedArray(way.ssa(c.place), scalar=c.place.scalar)
        else:
            after = value_at(way.state, c.place)
            if not alike(c.before, after):
                self._differ(f"`{c.place[1]}`", c.before, after)
            found = self._values(after)
        if [v.type for v in found] != [v.type for v in self._values(c.before)]:
            what = "an array" if isinstance(c.place, TracedArray) else f"`{c.place[1]}`"
            self._differ(what, c.before, after)
        return found

    def _test(self, types: Sequence[Attribute], own: int, flags: int) -> Block:
        """Return whether there is another round: none has left the loop, and its own condition holds."""
        block = Block(arg_types=types)
        number = NumberValue(None, block.args[0]) if self.numbered else NumberValue(0)

        def own_test() -> Value:
            held = self.rounds.test(number)
            self.endless = held is True
            return self._truth(held)

        def way() -> tuple[Flow, Value]:
            self._enter(block.args[self.numbered : own])
            self.ev.tables = self.tables
            self.tables.number = block.args[0] if self.numbered else None
            found: Callable[[], Value] = own_test
            for flag in block.args[own : own + flags]:
                found = self._unless(flag, found)
            value = found()
            assert isinstance(value, NumberValue)
            if not flags and not value.symbolic and value.value:
                self.ev.fail("F511", self.node, "a loop that nothing ends", "leave it by break or return")
            return Flow(), NumberValue(None, self.builder.number(self.node, value, i1))

        tested = follow(self.ev, self.node, block, way)
        self.before.put_back()
        assert isinstance(tested.value, NumberValue)
        assert tested.value.ssa is not None
        block.add_op(YieldOp([tested.value.ssa]))
        return block

    def _unless(self, flag: SSAValue, then: Callable[[], Value]) -> Callable[[], Value]:
        return lambda: choose(self.ev, self.node, flag, [lambda: NumberValue(False), then])

    def _truth(self, truth: bool | SSAValue) -> NumberValue:
        return NumberValue(truth) if isinstance(truth, bool) else NumberValue(None, truth)

    def _spent(self) -> SourceError:
        try:
            what = "a generator draws behind a loop that the run may leave early, so that nobody knows how much it drew there"
            self.ev.fail("F511", self.node, what, "use another generator behind the loop")
        except SourceError as error:
            return error

    def _absent(self, name: str) -> SourceError:
        try:
            self.ev.fail("F202", self.node, f"`{name}` is assigned in a loop that may have no round", "assign it before the loop")
        except SourceError as error:
            return error
