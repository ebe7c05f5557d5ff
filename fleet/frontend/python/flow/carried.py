"""What a loop of the run changes: places whose values its body gets as arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

from fleet.frontend.arrays.truths import kind_of_number
from fleet.frontend.python.flow.state import FlowState, contents, parts_of, tensors_of
from fleet.frontend.reading.values import Dict, List, NumberValue, TracedArray, Value

LoopPlace: TypeAlias = "tuple[int, Any] | TracedArray"
"""A place that a body changes: (id of a holder, key in it), or an array that is changed in place."""


@dataclass(frozen=True)
class Carried:
    """A value that a loop changes: its place, and its value before the loop."""

    place: LoopPlace
    before: Value


def sharing(before: FlowState, state: FlowState, carried: Sequence[Carried]) -> set[frozenset[object]]:
    """Pairs of what shares memory in a state: carried things, and arrays from before that something else still holds."""
    memory: dict[int, set[object]] = {}
    cells = [c for c in carried if not isinstance(c.place, TracedArray)]
    for c in cells:
        for tensor in tensors_of(value_at(state, c.place)):
            held = state.tensors.get(tensor)
            memory.setdefault(id(tensor.storage if held is None else held.storage), set()).add(key_of(c.place))
    for tensor in before.tensors:
        if tensor in state.tensors:
            memory.setdefault(id(state.tensors[tensor].storage), set()).add(id(tensor))
    return {frozenset(pair) for keys in memory.values() for pair in combinations(sorted(keys, key=repr), 2)}


def key_of(place: LoopPlace) -> object:
    """What names the place in sets and dicts."""
    return id(place) if isinstance(place, TracedArray) else place


def value_at(state: FlowState, place: LoopPlace) -> Value:
    """What is there in a state; an array itself."""
    return place if isinstance(place, TracedArray) else state.holders[place[0]][1][place[1]]


def carriable(value: Value) -> bool:
    """Return whether a body can have it for an argument."""
    parts = parts_of(value)
    return isinstance(value, TracedArray | NumberValue) if parts is None else all(map(carriable, parts))


def containers(value: Value) -> Iterator[Value]:
    """The lists and dicts among the parts of a value, and it itself if it is one."""
    if isinstance(value, List | Dict):
        yield value
    for part in parts_of(value) or ():
        yield from containers(part)


def is_changed(value: Value, begun: FlowState, after: FlowState) -> bool:
    """Return whether a round has changed a list or dict in place."""
    assert isinstance(value, List | Dict)
    before = begun.holders[id(value)][1]
    now = after.holders[id(value)][1] if id(value) in after.holders else contents(value)
    return list(now) != list(before) or any(now[k] is not v for k, v in before.items())


def alike(before: Value, after: Value) -> bool:
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
    return len(before) == len(after) and all(alike(a, b) for a, b in zip(before, after, strict=True))
