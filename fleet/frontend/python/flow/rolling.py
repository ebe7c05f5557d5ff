"""Loops whose number of rounds only the run knows: the body is followed until it is known what it changes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NoReturn, TypeAlias

from xdsl.dialects.builtin import i1, i64
from xdsl.ir import Attribute, Block, SSAValue

from fleet.errors import SourceError
from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.arrays.truths import kind_of_number
from fleet.frontend.python.flow.meeting import NUMBERS, choose, same
from fleet.frontend.python.flow.regions import Way, added, follow, isolated
from fleet.frontend.python.flow.state import FlowState, contents, fill, parts_of, put, tensors_of
from fleet.frontend.reading.ending import Flow
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.rounds import RoundDraw, RoundDraws
from fleet.frontend.reading.tensor import joined_storage
from fleet.frontend.reading.values import Broken, CallFrame, Dict, List, NamedTupleValue, NumberValue, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.dialect import PrintOp, WhileOp, YieldOp

_TRIES = 8
"""Number of times that a body is followed to find what it changes."""
_LEAVING = ("break", "return")
_HINT = "let it have one type and shape from the beginning"

_Place: TypeAlias = "tuple[int, Any] | TracedArray"
"""A place that a body changes: (id of a holder, key in it), or an array that is changed in place."""


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


@dataclass(frozen=True)
class _Carried:
    """A value that a loop changes: its place, and its value before the loop."""

    place: _Place
    before: Value


def roll(ev: Evaluator, node: ast.AST, rounds: Rounds, entered: Flow) -> Flow:
    """Follows a loop. entered: how the rounds before may have ended it. How it ends: by return, by break, or at its end.

    SourceError F511 for a loop that changes what cannot be an argument of its body.
    """
    before = FlowState.of(ev)
    places: dict[object, _Place] = {}
    held = Counter(id(t) for _, content in before.holders.values() for v in content.values() for t in tensors_of(v))
    for name in sorted(rounds.names):
        frame = ev.frame.target(name)
        value = frame.variables.get(name)
        # What another name has too may stay that name's array: following the body tells.
        if name in frame.variables and _carriable(value) and all(held[id(t)] == 1 for t in tensors_of(value)):
            places[id(frame), name] = (id(frame), name)
    together: set[frozenset[object]] = set()
    draws: Sequence[RoundDraw] = ()
    for _ in range(_TRIES):
        carried = [_Carried(p, _at(before, p)) for p in places.values()]
        together |= _together(before, before, carried)
        body = _Body(ev, node, rounds, before, carried, frozenset(together), entered, draws)
        more = body.follow()
        behind = body.together() - together
        drawing = body.drawing
        if not more and not behind and (drawing is None or drawing.foreseen):
            return body.finish()
        body.drop()
        draws = drawing.asked if drawing is not None else ()
        together |= behind
        places |= {_key(place): place for place in more}
    return ev.fail("F511", node, "what this loop changes has no end", "assign before the loop what it changes")


def _together(before: FlowState, state: FlowState, carried: Sequence[_Carried]) -> set[frozenset[object]]:
    """Pairs of what shares memory in a state: carried things, and arrays from before that something else still holds."""
    memory: dict[int, set[object]] = {}
    cells = [c for c in carried if not isinstance(c.place, TracedArray)]
    for c in cells:
        for tensor in tensors_of(_at(state, c.place)):
            held = state.tensors.get(tensor)
            memory.setdefault(id(tensor.storage if held is None else held.storage), set()).add(_key(c.place))
    for tensor in before.tensors:
        if tensor in state.tensors:
            memory.setdefault(id(state.tensors[tensor].storage), set()).add(id(tensor))
    return {frozenset(pair) for keys in memory.values() for pair in combinations(sorted(keys, key=repr), 2)}


def _key(place: _Place) -> object:
    return id(place) if isinstance(place, TracedArray) else place


def _at(state: FlowState, place: _Place) -> Value:
    return place if isinstance(place, TracedArray) else state.holders[place[0]][1][place[1]]


def _carriable(value: Value) -> bool:
    """Return whether a body can have it for an argument."""
    parts = parts_of(value)
    return isinstance(value, TracedArray | NumberValue) if parts is None else all(map(_carriable, parts))


class _Body:
    """One try to follow a body with some things as its arguments."""

    def __init__(
        self, ev: Evaluator, node: ast.AST, rounds: Rounds, before: FlowState, carried: Sequence[_Carried],
        together: frozenset[frozenset[object]], entered: Flow, draws: Sequence[RoundDraw],
    ) -> None:  # fmt: skip
        self.ev, self.node, self.rounds, self.before, self.carried, self.entered = ev, node, rounds, before, carried, entered
        self._pairs = together
        self.builder = builder_of(ev)
        self.count = self.builder.count
        self.numbered = rounds.first is not None
        self.start: list[SSAValue] = []
        """What the loop begins with: the round's number, then what is carried, part by part."""
        if rounds.first is not None:
            self.start.append(self.builder.number(node, NumberValue(rounds.first), i64))
        for c in carried:
            self.start += self._values(c.before)
        self.draws = draws
        self.drawing: RoundDraws | None = None
        self.shared: list[list[_Carried]] = []
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
        if isinstance(value, TracedArray):
            return TracedArray(next(parts), scalar=value.scalar)
        if isinstance(value, NumberValue):
            return NumberValue(None, next(parts))
        if isinstance(value, List):
            return List([self._fresh(v, parts) for v in value.items], value.kind, value.most)
        if isinstance(value, Dict):
            return Dict({k: self._fresh(v, parts) for k, v in value.items.items()}, value.kind, value.default)
        assert isinstance(value, tuple)
        made = [self._fresh(v, parts) for v in value]
        return NamedTupleValue.of(value.kind, made) if isinstance(value, NamedTupleValue) else tuple(made)

    def _place(self, parts: Sequence[SSAValue]) -> None:
        """Lets what is carried be made of these."""
        rest = iter(parts)
        arrays: dict[object, list[TracedArray]] = {}
        for c in self.carried:
            if isinstance(c.place, TracedArray):
                put(c.place, next(rest), None)
                continue
            holder = self.before.holders[c.place[0]][0]
            made = self._fresh(c.before, rest)
            fill(holder, {**contents(holder), c.place[1]: made})
            arrays[_key(c.place)] = list(tensors_of(made))
        arrays |= {id(t): [t] for t in FlowState.of(self.ev).tensors if t in self.before.tensors}
        for pair in self._pairs:
            first, *others = [t for key in pair for t in arrays.get(key, ())] or [None]
            for other in others:
                if first is not None and other is not None:
                    joined_storage(first, other)
        for c in self.carried:
            outside = any(self.before.tensors[t].outside for t in tensors_of(c.before) if t in self.before.tensors)
            for tensor in arrays.get(_key(c.place), ()):
                tensor.storage.outside |= outside

    # ---- following

    def follow(self) -> list[_Place]:
        """Follows the body. What it changes beside what is carried: where there is any, the try is in vain."""
        block = Block(arg_types=[v.type for v in self.start])
        number = NumberValue(None, block.args[0]) if self.numbered else NumberValue(0)
        begun: list[FlowState] = []
        if self.rounds.first is not None and self.rounds.count is not None and not self.ev.inside:
            self.drawing = RoundDraws(number, self.rounds.first, self.rounds.count, self.draws)

        def way() -> tuple[Flow, Value]:
            self._place(block.args[self.numbered :])
            begun.append(FlowState.of(self.ev))
            self.ev.drawing = self.drawing
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

    def _changed(self, begun: FlowState, after: FlowState) -> list[_Place]:
        """Return what has changed without being carried."""
        carried = {_key(c.place) for c in self.carried}
        more: list[_Place] = [
            tensor
            for tensor, held in begun.tensors.items()
            if tensor in self.before.tensors and id(tensor) not in carried and after.tensors.get(tensor, held).differs(held)
        ]
        for key, (holder, content) in begun.holders.items():
            if key not in self.before.holders or key not in after.holders:
                continue
            now = after.holders[key][1]
            if list(now) != list(content) and not isinstance(holder, CallFrame):
                what = f"{words(holder)} changes its length in a loop whose rounds only the run counts"
                self.ev.fail("F511", self.node, what, "use an array of a known size, or a loop over a known number of rounds")
            for name, value in content.items():
                if (key, name) in carried or name not in now or same(now[name], value):
                    continue
                if not _carriable(old := self.before.holders[key][1][name]):
                    self._differ(f"`{name}`", old, now[name])
                more.append((key, name))
        if not more:
            self._check_shared(begun, after)
        return more

    def _check_shared(self, begun: FlowState, after: FlowState) -> None:
        """Notes places that hold one list or dict behind a round. The rounds have copies of it, which must not be told apart.

        SourceError F511 if a round changes one in place, or if the run may leave the loop before the places are the same.
        """
        cells = [c for c in self.carried if not isinstance(c.place, TracedArray)]
        groups: dict[int, list[_Carried]] = {}
        for c in cells:
            for value in _containers(_at(after, c.place)):
                groups.setdefault(id(value), []).append(c)
        self.shared = [group for group in groups.values() if len(group) > 1]
        if not self.shared:
            return
        changed = any(_is_changed(v, begun, after) for c in cells for v in _containers(_at(begun, c.place)))
        parts = any(not isinstance(_at(after, c.place), List | Dict) for group in self.shared for c in group)
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
        return _together(self.before, self.way.state, self.carried)

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
            body.insert_arg(v.type, len(body.args))
        test = self._test([v.type for v in start], own, len(kinds))
        body.add_op(YieldOp(self.given))
        captured = isolated(self.ev, self.node, [test, body])
        parts = added(self.ev, self.node, WhileOp(start, captured, test, body), len(start))
        self._place(parts[self.numbered : own])
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

    def _share(self) -> None:
        """Let places that held one list or dict behind the last round hold one again."""
        for first, *others in self.shared:
            assert not isinstance(first.place, TracedArray)
            value = contents(self.before.holders[first.place[0]][0])[first.place[1]]
            for other in others:
                assert not isinstance(other.place, TracedArray)
                holder = self.before.holders[other.place[0]][0]
                fill(holder, {**contents(holder), other.place[1]: value})

    def _after(self, way: Way, c: _Carried) -> list[SSAValue]:
        """Return the carried values after a round."""
        if isinstance(c.place, TracedArray):
            found, after = [way.ssa(c.place)], TracedArray(way.ssa(c.place), scalar=c.place.scalar)
        else:
            after = _at(way.state, c.place)
            if not _alike(c.before, after):
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
            self._place(block.args[self.numbered : own])
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


def _containers(value: Value) -> Iterator[Value]:
    """The lists and dicts among the parts of a value, and it itself if it is one."""
    if isinstance(value, List | Dict):
        yield value
    for part in parts_of(value) or ():
        yield from _containers(part)


def _is_changed(value: Value, begun: FlowState, after: FlowState) -> bool:
    """Return whether a round has changed a list or dict in place."""
    assert isinstance(value, List | Dict)
    before = begun.holders[id(value)][1]
    now = after.holders[id(value)][1] if id(value) in after.holders else contents(value)
    return list(now) != list(before) or any(now[k] is not v for k, v in before.items())


def _alike(before: Value, after: Value) -> bool:
    """Return whether they have the same parts, of the same kinds."""
    if isinstance(before, TracedArray):
        return isinstance(after, TracedArray) and before.scalar == after.scalar
    if isinstance(before, NumberValue):
        return isinstance(after, NumberValue) and kind_of_number(before) is kind_of_number(after)
    if isinstance(before, List):
        return isinstance(after, List) and _all_alike(before.items, after.items)
    if isinstance(before, Dict):
        same_keys = isinstance(after, Dict) and list(before.items) == list(after.items)
        return isinstance(after, Dict) and same_keys and _all_alike([*before.items.values()], [*after.items.values()])
    return isinstance(before, tuple) and isinstance(after, tuple) and _all_alike(before, after)


def _all_alike(before: Sequence[Value], after: Sequence[Value]) -> bool:
    return len(before) == len(after) and all(_alike(a, b) for a, b in zip(before, after, strict=True))
