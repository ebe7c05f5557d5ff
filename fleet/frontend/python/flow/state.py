"""Snapshots of all that following a source may change: variables, containers, objects, arrays."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeAlias

from xdsl.ir import SSAValue

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.rounds import GrowingItems, TableDict, TableItems, TableList
from fleet.frontend.reading.static import Static
from fleet.frontend.reading.tensor import ArrayStorage, RowElement
from fleet.frontend.reading.values import (
    BoundMethod,
    CallFrame,
    Class,
    Descriptor,
    Dict,
    DictView,
    Lazy,
    List,
    Method,
    NamedTupleValue,
    NumberValue,
    ObjectInstance,
    Set,
    SourceFunction,
    Super,
    Text,
    TracedArray,
    Value,
)
from fleet.ir.weights import Entry

EARLIER = object()
"""Stands for what a list or dict has from before a round: where earlier rounds have appended, or stored by their numbers."""

StateHolder: TypeAlias = "CallFrame | List | Dict | Set | ObjectInstance | Class | SourceFunction"
"""A holder of values that can be replaced."""


@dataclass(frozen=True)
class HeldValue:
    """An array's value in the IR, or what makes it; and who shares its memory.

    members: weak, because a view that nothing reaches any more need not follow what is written.
    """

    ssa: SSAValue | None
    made: SSAValue | None
    entry: Entry | None
    lost: Callable[[], NoReturn] | None
    storage: ArrayStorage
    members: tuple[weakref.ref[TracedArray], ...]
    outside: bool
    joined: bool

    def differs(self, other: HeldValue) -> bool:
        """Return whether the array has changed in between; that it became a weight is no change."""
        if (self.lost is None) != (other.lost is None):
            return True
        if self.entry is not None or other.entry is not None:
            return self.entry is not other.entry
        if self.ssa is None:  # a row that had no operations yet
            return other.ssa is not other.made
        return self.ssa is not other.ssa


@dataclass
class FlowState:
    """All that can be reached from the present frame and its callers, at one moment.

    Attributes:
        holders: id -> holder and what it holds, by name, key or position.
        tensors: every array.
        lazies: iterators, with what they still give.
    """

    frame: CallFrame
    holders: dict[int, tuple[StateHolder, dict[Any, Value]]] = field(
        default_factory=dict[int, "tuple[StateHolder, dict[Any, Value]]"]
    )
    tensors: dict[TracedArray, HeldValue] = field(default_factory=dict[TracedArray, HeldValue])
    lazies: dict[int, tuple[Lazy, Iterator[Value]]] = field(default_factory=dict[int, tuple[Lazy, Iterator[Value]]])

    @classmethod
    def of(cls, ev: Evaluator) -> FlowState:
        """As it is now; who called the function that is followed is looked at too, for arrays that both know."""
        return cls._from(ev, [ev.frame])

    @classmethod
    def behind(cls, ev: Evaluator, returned: Value) -> FlowState:
        """Return the state that is left when the followed function has returned this: all but its own variables."""
        frame = ev.frame
        return cls._from(ev, [returned, frame.parent, frame.receiver, frame.method_of])

    @classmethod
    def _from(cls, ev: Evaluator, roots: Sequence[object]) -> FlowState:
        found = cls(ev.frame)
        work: list[Any] = [*roots, *ev.outer, *(on for _, on in ev.calls)]
        seen: set[int] = set()
        kept: list[Any] = []
        while work:
            value = work.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            kept.append(value)  # an id is good as long as its object lives
            work += found._reached(value)
        return found

    def _reached(self, value: object) -> list[Any]:
        match value:
            case TracedArray():
                entry = value.entry if isinstance(value, Static) else None
                storage = value.storage
                members = tuple(map(weakref.ref, storage.members))
                self.tensors[value] = HeldValue(
                    value.held, value.made, entry, value.lost, storage, members, storage.outside, storage.joined
                )
                # A base that nothing names is written, too, where one of its views is.
                return [] if value.part is None else [value.part.base]
            case CallFrame():
                return [*self._hold(value), value.parent, value.receiver, value.method_of, value.body_of]
            case List() if isinstance(value.items, GrowingItems):
                return [*self._hold(value), *value.items.before]
            case List() | Dict() if isinstance(value.items, TableItems):
                return [*self._hold(value), *value.items.before.values()]
            case List() | Dict() | Set() | ObjectInstance() | Class():
                more = [value.kind] if isinstance(value, ObjectInstance) else [*value.bases] if isinstance(value, Class) else []
                return [*self._hold(value), *more]
            case tuple():
                return list(value)
            case SourceFunction():
                return [*self._hold(value), value.frame, value.owner, *value.defaults.values()]
            case BoundMethod():
                return [value.function, value.owner]
            case Method() | DictView():
                return [value.owner]
            case Super():
                return [value.behind, value.owner]
            case Descriptor():
                return [value.function, value.setter]
            case Lazy():
                self.lazies[id(value)] = value, value.values
                return []
            case Text():
                return [p[0] for p in value.parts if not isinstance(p, str)]
            case _:
                return []

    def _hold(self, holder: StateHolder) -> list[Value]:
        content = contents(holder)
        self.holders[id(holder)] = holder, content
        return list(content.values())

    def put_back(self) -> None:
        """Lets everything be as it was."""
        for holder, content in self.holders.values():
            fill(holder, content)
        for tensor, held in self.tensors.items():
            put(tensor, held.ssa, held.entry)
            tensor.lost = held.lost
            tensor.storage = held.storage
            held.storage.members = weakref.WeakSet(m for member in held.members if (m := member()) is not None)
            held.storage.outside, held.storage.joined = held.outside, held.joined
        for lazy, values in self.lazies.values():
            lazy.values = values

    def freeze(self, refuse: Callable[[], NoReturn]) -> None:
        """Call `refuse` when one of the iterators is asked: what it gave cannot be put back."""
        for lazy, _ in self.lazies.values():
            lazy.values = _refusing(refuse)


def _refusing(refuse: Callable[[], NoReturn]) -> Iterator[Value]:
    refuse()
    yield None


def put(tensor: TracedArray, ssa: SSAValue | None, entry: Entry | None) -> None:
    """Set an array's IR value, or its entry."""
    if isinstance(tensor, Static):
        tensor.restore(ssa, entry)
    elif ssa is not None:
        tensor.ssa = ssa
    elif isinstance(tensor, RowElement):
        tensor.restore()


def contents(holder: StateHolder) -> dict[Any, Value]:
    """Return the contents of a holder, in its order; what earlier rounds have appended or stored stands as one, `EARLIER`."""
    match holder:
        case CallFrame():
            return dict(holder.variables)
        case List() if isinstance(holder.items, GrowingItems):
            return {EARLIER: None, **dict(enumerate(holder.items.own()))}
        case List() | Dict() if isinstance(holder.items, TableItems):
            return {EARLIER: None, **holder.items.own}
        case List():
            return dict(enumerate(holder.items))
        case Dict():
            return dict(holder.items)
        case Set():
            return dict.fromkeys(holder.items)
        case ObjectInstance() | SourceFunction():
            return dict(holder.attributes)
        case Class():
            return dict(holder.names)


def fill(holder: StateHolder, content: Mapping[Any, Value]) -> None:
    """Lets a holder hold this."""
    match holder:
        case List() if isinstance(holder.items, GrowingItems):
            if EARLIER in content:
                holder.items.reset(v for k, v in content.items() if k is not EARLIER)
            else:
                holder.items = list(content.values())
            return
        case List() | Dict() if isinstance(holder.items, TableItems):
            if EARLIER in content:
                holder.items.own = {k: v for k, v in content.items() if k is not EARLIER}
            elif isinstance(holder, List):
                holder.items = list(content.values())
            else:
                holder.items = dict(content)
            return
        case List():
            holder.items[:] = list(content.values())
            return
        case Set():
            if holder.items != set(content):
                holder.items.clear()
                holder.items.update(content)
            return
        case CallFrame():
            held: dict[Any, Value] = holder.variables
        case Dict():
            held = holder.items
        case ObjectInstance() | SourceFunction():
            held = holder.attributes
        case Class():
            held = holder.names
    held.clear()
    held.update(content)


def tensors_of(value: Value) -> Iterator[TracedArray]:
    """The arrays of a value, in order."""
    if isinstance(value, TracedArray):
        yield value
    for part in parts_of(value) or ():
        yield from tensors_of(part)


def bases_of(tensor: TracedArray) -> Iterator[TracedArray]:
    """An array, and those of which it is a view."""
    yield tensor
    if tensor.part is not None:
        yield from bases_of(tensor.part.base)


def parts_of(value: Value) -> Sequence[Value] | None:
    """Return the parts of a tuple, list or dict, in order; None for other values."""
    match value:
        case tuple():
            return value
        case List():
            if isinstance(value.items, TableList):
                return list(value.items.own.values())
            return value.items.own() if isinstance(value.items, GrowingItems) else value.items
        case Dict():
            return list(value.items.own.values() if isinstance(value.items, TableDict) else value.items.values())
        case _:
            return None


def rebuilt(value: Value, leaf: Callable[[TracedArray | NumberValue], Value]) -> Value:
    """A value like this one, with these in place of its arrays and numbers."""
    if isinstance(value, TracedArray | NumberValue):
        return leaf(value)
    if isinstance(value, List):
        return List([rebuilt(v, leaf) for v in value.items], value.kind, value.most)
    if isinstance(value, Dict):
        return Dict({k: rebuilt(v, leaf) for k, v in value.items.items()}, value.kind, value.default)
    assert isinstance(value, tuple)
    made = [rebuilt(v, leaf) for v in value]
    return NamedTupleValue.of(value.kind, made) if isinstance(value, NamedTupleValue) else tuple(made)
