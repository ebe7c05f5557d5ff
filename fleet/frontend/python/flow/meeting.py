"""Meeting of branches: values that differ become results of the decision."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from xdsl.dialects.builtin import f64, i1, i64
from xdsl.ir import Attribute, Block, SSAValue

from fleet.errors import SourceError
from fleet.frontend.arrays.emitting import builder_of
from fleet.frontend.arrays.truths import SCALARS, kind_of_number
from fleet.frontend.python.flow.regions import Way, added, follow, isolated
from fleet.frontend.python.flow.state import FlowState, StateHolder, fill, put, tensors_of
from fleet.frontend.reading.ending import Flow, Raised
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.tensor import joined_storage
from fleet.frontend.reading.values import Broken, CallFrame, List, NamedTupleValue, NumberValue, Poison, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.arguments import is_own
from fleet.ir.dialect import IfOp, YieldOp

NUMBERS: Mapping[type, Attribute] = {bool: i1, int: i64, float: f64}
"""Python number type -> IR type of that number at run time."""
_HINT = "let it have one type and shape on every way"


def decide(ev: Evaluator, node: ast.AST, flag: SSAValue, ways: Sequence[Callable[[], Flow]]) -> Flow:
    """Follow statements of which the run takes one: `ways[0]` if the flag holds, else `ways[1]`. Returns how they end.

    SourceError F511 for a value without one type and shape after them; for a variable, when it is used.
    """

    def followed(way: Callable[[], Flow]) -> Callable[[], tuple[Flow, Value]]:
        return lambda: (way(), None)

    return _decided(ev, node, flag, [followed(w) for w in ways])[0]


def choose(ev: Evaluator, node: ast.AST, flag: SSAValue, ways: Sequence[Callable[[], Value]]) -> Value:
    """The value of the expression that the run evaluates, as `decide`."""

    def followed(way: Callable[[], Value]) -> Callable[[], tuple[Flow, Value]]:
        return lambda: (Flow(), way())

    flow, value = _decided(ev, node, flag, [followed(w) for w in ways])
    if flow.kind == "raise":
        raise Raised
    return value


def _decided(ev: Evaluator, node: ast.AST, flag: SSAValue, ways: Sequence[Callable[[], tuple[Flow, Value]]]) -> tuple[Flow, Value]:
    before, count = FlowState.of(ev), builder_of(ev).count
    followed: list[Way] = []
    try:
        for way in ways:
            followed.append(follow(ev, node, Block(), way))
            before.put_back()
        meeting = _Meeting(ev, node, followed, before)
        flow = meeting.flow()
        going = [i for i, w in enumerate(followed) if w.flow.kind != "raise"]
        value = meeting.value([followed[i].value for i in going], "what it gives", going) if going else None
        changes = _changes(before, meeting)
        for i, way in enumerate(followed):
            way.block.add_op(YieldOp([row[i] for row in meeting.rows]))
        blocks = [w.block for w in followed]
        captured = isolated(ev, node, blocks)
    except SourceError:
        for way in followed:
            builder_of(ev).discard(way.block, count)
        before.put_back()
        raise
    parts = added(ev, node, IfOp(flag, captured, *blocks), len(meeting.rows))
    for take, part in zip(meeting.takes, parts, strict=True):
        take(part)
    for change in changes:
        change()
    done = flow()
    meeting.share((value, done.value))
    return done, value


class _Meeting:
    """Makes one value of what the ways have.

    rows: for every part of the operation's result what each way gives for it; takes: what gets the part.
    """

    def __init__(self, ev: Evaluator, node: ast.AST, ways: Sequence[Way], before: FlowState) -> None:
        self.ev, self.node, self.ways, self.before = ev, node, ways, before
        self.builder = builder_of(ev)
        self.rows: list[list[SSAValue]] = []
        self.takes: list[Callable[[SSAValue], None]] = []
        self.alive = [i for i, w in enumerate(ways) if not (w.flow.leaves and w.flow.kinds <= {"return", "raise"})]
        """The ways after which the function goes on, behind a loop or in its next round."""
        self._met: dict[tuple[int, ...], TracedArray] = {}
        self._sources: dict[TracedArray, Mapping[int, TracedArray]] = {}
        """What was made -> way -> what it is there."""

    def fail(self, what: str, values: Sequence[Value]) -> NoReturn:
        """Raises the SourceError for values that do not meet."""
        found = " or ".join(dict.fromkeys(words(v) for v in values))
        return self.ev.fail("F511", self.node, f"{what} is {found}, as the run decides", _HINT)

    # ---- how the ways end

    def flow(self) -> Callable[[], Flow]:
        """Return how the ways end together; call it when the operation is made."""
        flows = [w.flow for w in self.ways]
        ending = [f for f in flows if f.kind != "raise"]
        kinds = sorted({k for f in ending for k in f.kinds})
        if not kinds:
            return Flow if ending else lambda: Flow("raise")
        returning = [i for i, f in enumerate(flows) if "return" in f.kinds]
        value = self.value([flows[i].value for i in returning], "the value of return", returning) if returning else None
        statement = flows[returning[0]].statement if returning else None
        if len(kinds) == 1 and all(f.kind for f in ending):
            return lambda: Flow(kinds[0], statement, value)
        flags: dict[str, SSAValue] = {}
        for kind in kinds:
            self._part([self._holds(w, kind) for w in self.ways], lambda part, kind=kind: flags.update({kind: part}))
        return lambda: Flow("", statement, value, flags, all(f.leaves for f in flows))

    def _holds(self, way: Way, kind: str) -> SSAValue:
        """Return whether a way ends so."""
        with self.builder.within(way.block):
            if kind in way.flow.flags:
                return way.flow.flags[kind]
            return self.builder.constant(self.node, way.flow.kind == kind, i1)

    # ---- values

    def value(self, values: Sequence[Value], what: str, having: Sequence[int] | None = None) -> Value:
        """One value in place of these. having: the ways that have them; the others need none."""
        ways = range(len(self.ways)) if having is None else having
        first = values[0]
        if all(same(first, v) for v in values) and not self._own(first):
            return first
        if any(isinstance(v, Broken | Poison) for v in values):
            return next(v for v in values if isinstance(v, Broken | Poison))
        if all(isinstance(v, NumberValue) for v in values):
            return self._number([v for v in values if isinstance(v, NumberValue)], what, ways)
        if all(isinstance(v, TracedArray | NumberValue) for v in values):
            return self._tensor([self._scalar(v, values, what, w) for v, w in zip(values, ways, strict=True)], what, ways)
        parts = [list(v) if isinstance(v, tuple) else list(v.items) if isinstance(v, List) else None for v in values]
        known = [p for p in parts if p is not None]
        if len(known) < len(parts) or len({(type(v), len(p)) for v, p in zip(values, known, strict=True)}) > 1:
            if all(same(first, v) for v in values):
                return first
            self.fail(what, values)
        met = [self.value(list(row), what, ways) for row in zip(*known, strict=True)]
        if isinstance(first, List):
            return List(met)
        return NamedTupleValue.of(first.kind, met) if isinstance(first, NamedTupleValue) else tuple(met)

    def _own(self, value: Value) -> bool:
        """Return whether some of it was computed on a way."""
        if isinstance(value, tuple | List):
            return any(self._own(v) for v in (value if isinstance(value, tuple) else value.items))
        if isinstance(value, TracedArray):
            if isinstance(value, Static) and value.lazy:
                return False
            return any(is_own(w.ssa(value), w.block) for w in self.ways)
        return isinstance(value, NumberValue) and value.symbolic and value.ssa is not None and any(
            is_own(value.ssa, w.block) for w in self.ways
        )  # fmt: skip

    def _tensor(self, values: Sequence[TracedArray], what: str, having: Sequence[int]) -> TracedArray:
        key = (*having, *(id(v) for v in values))
        if key in self._met:
            return self._met[key]
        if len({(v.shape, v.dtype, v.scalar) for v in values}) > 1:
            self.fail(what, values)
        row = [self.ways[w].ssa(v) for v, w in zip(values, having, strict=True)]
        made = TracedArray(row[0], scalar=values[0].scalar)
        self._met[key] = made
        self._sources[made] = {w: v for v, w in zip(values, having, strict=True)}
        self._give(row, having, lambda part: put(made, part, None))
        return made

    def _number(self, values: Sequence[NumberValue], what: str, having: Sequence[int]) -> NumberValue:
        kinds = {kind_of_number(v) for v in values}
        if len(kinds) > 1:
            self.fail(what, values)
        (kind,) = kinds
        row: list[SSAValue] = []
        for value, way in zip(values, having, strict=True):
            with self.builder.within(self.ways[way].block):
                row.append(self.builder.number(self.node, value, NUMBERS[kind]))
        made = NumberValue(None, row[0])
        self._give(row, having, lambda part: setattr(made, "ssa", part))
        return made

    def _scalar(self, value: Value, values: Sequence[Value], what: str, way: int) -> TracedArray:
        """A Python number as the NumPy scalar of the same dtype that another way has."""
        if isinstance(value, TracedArray):
            return value
        other = next(v for v in values if isinstance(v, TracedArray))
        assert isinstance(value, NumberValue)
        if other.shape or not other.scalar or other.dtype != SCALARS[kind_of_number(value)]:
            self.fail(what, values)
        with self.builder.within(self.ways[way].block):
            if not value.symbolic:
                return self.builder.filled(self.node, (), value.value, other.dtype)
            zero = self.builder.filled(self.node, (), 0, other.dtype)
            return self.builder.elementwise(self.node, "logical_or" if other.dtype.kind == "b" else "add", [zero, value])

    def share(self, value: Value) -> None:
        """Merge the memory of arrays that share it on one of the ways; value: arrays besides the state's."""
        arrays = dict.fromkeys((*FlowState.of(self.ev).tensors, *tensors_of(value)))
        for number, way in enumerate(self.ways):
            memory: dict[int, TracedArray] = {}
            for array in arrays:
                source = self._sources[array].get(number) if array in self._sources else array
                if source is None:
                    continue
                held = way.state.tensors.get(source)
                storage = source.storage if held is None else held.storage
                if array is not source:
                    array.storage.outside |= storage.outside
                joined_storage(array, memory.setdefault(id(storage), array))

    def seeing(self, changed: TracedArray | StateHolder) -> list[int]:
        """The ways after which somebody sees what is changed: the function itself, or who called it."""

        def seen(behind: FlowState | None) -> bool:
            if behind is None:
                return False
            return changed in behind.tensors if isinstance(changed, TracedArray) else id(changed) in behind.holders

        return [i for i, w in enumerate(self.ways) if i in self.alive or seen(w.behind)]

    def changed(self, tensor: TracedArray, values: Sequence[SSAValue], having: Sequence[int]) -> None:
        """An array that ways change in place; values: of those after which somebody sees it."""
        if len({v.type for v in values}) > 1:
            self.fail("an array that is changed in place", [TracedArray(v) for v in values])
        self._give(values, having, lambda part: put(tensor, part, None))

    def _give(self, row: Sequence[SSAValue], having: Sequence[int], take: Callable[[SSAValue], None]) -> None:
        """A part of the result; ways that lack it give zeros."""
        whole: list[SSAValue] = []
        for i, way in enumerate(self.ways):
            if i in having:
                whole.append(row[list(having).index(i)])
            else:
                with self.builder.within(way.block):
                    whole.append(self.builder.constant(self.node, 0, row[0].type))
        self._part(whole, take)

    def _part(self, row: list[SSAValue], take: Callable[[SSAValue], None]) -> None:
        self.rows.append(row)
        self.takes.append(take)


def same(a: Value, b: Value) -> bool:
    """Return whether nothing has to be chosen between them."""
    if a is b:
        return True
    if isinstance(a, NumberValue) and isinstance(b, NumberValue):
        if a.symbolic or b.symbolic:
            return a.symbolic and b.symbolic and a.ssa is not None and a.ssa is b.ssa
        return type(a.value) is type(b.value) and repr(a.value) == repr(b.value)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return type(a) is type(b) and len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, TracedArray | List) or isinstance(b, TracedArray | List):
        return False
    return type(a) is type(b) and bool(a == b)


def _changes(before: FlowState, meeting: _Meeting) -> list[Callable[[], None]]:
    """Return the changes that give every holder its contents after the ways, once the parts are there."""
    changes: list[Callable[[], None]] = []
    for tensor, held in before.tensors.items():
        having = meeting.seeing(tensor)
        ways = [meeting.ways[i] for i in having]
        if any(w.state.tensors.get(tensor, held).differs(held) for w in ways):
            meeting.changed(tensor, [w.ssa(tensor) for w in ways], having)
    for key, (holder, content) in before.holders.items():
        having = meeting.seeing(holder)
        states = [meeting.ways[i].state for i in having]
        after = [s.holders[key][1] if key in s.holders else content for s in states]
        if any(list(a) != list(content) or any(a[k] is not v for k, v in content.items()) for a in after):
            changes.append(_filling(meeting.ev, holder, content, _met(meeting, holder, after, having)))
    return changes


def _filling(ev: Evaluator, holder: StateHolder, before: Mapping[Any, Value], after: Mapping[Any, Value]) -> Callable[[], None]:
    def filling() -> None:
        fill(holder, after)
        if isinstance(holder, CallFrame):
            for name, value in after.items():
                if before.get(name) is not value:
                    ev.called(holder, name, value)

    return filling


def _met(meeting: _Meeting, holder: StateHolder, after: Sequence[Mapping[Any, Value]], having: Sequence[int]) -> dict[Any, Value]:
    """Return the contents of a holder where these ways meet. A variable without one value is an error when it is used."""
    ev, node = meeting.ev, meeting.node
    keys = dict.fromkeys(k for a in after for k in a)
    if not isinstance(holder, CallFrame) and any(list(a) != list(keys) for a in after):
        what = f"{words(holder)} changes its length in a part that only the run enters"
        ev.fail("F511", node, what, "use an array of a known size")
    found: dict[Any, Value] = {}
    for key in keys:
        try:
            if any(key not in a for a in after):
                ev.fail("F202", node, f"`{key}` has a value only where the run decides so", "assign it before")
            found[key] = meeting.value([a[key] for a in after], f"`{key}`", having)
        except SourceError as error:
            if not isinstance(holder, CallFrame):
                raise
            found[key] = Broken(error)
    return found
