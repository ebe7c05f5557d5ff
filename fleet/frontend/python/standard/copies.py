"""`copy`: copies of what a source holds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Dict, List, NamedTupleValue, ObjectInstance, Set, TracedArray, Value


def _array(ev: Evaluator, node: ast.Call, value: TracedArray) -> Value:
    return value if value.scalar else ev.domain.call(ev, node, "numpy.array", [value], {})


def _shallow(ev: Evaluator, node: ast.Call, value: Value) -> Value:
    match value:
        case TracedArray():
            return _array(ev, node, value)
        case List():
            return List(list(value.items), value.kind, value.most)
        case Dict():
            return Dict(dict(value.items), value.kind, value.default)
        case Set():
            return Set(set(value.items), value.frozen)
        case ObjectInstance():
            return ObjectInstance(value.kind, dict(value.attributes))
        case _:
            return value


def _deep(ev: Evaluator, node: ast.Call, value: Value, seen: dict[int, Value]) -> Value:
    """With all that it holds; what is held twice is one in the copy too."""
    if id(value) in seen:
        return seen[id(value)]
    if isinstance(value, tuple):
        parts = [_deep(ev, node, v, seen) for v in value]
        return NamedTupleValue.of(value.kind, parts) if isinstance(value, NamedTupleValue) else tuple(parts)
    made = _shallow(ev, node, value)
    if made is value:
        return value
    seen[id(value)] = made
    held: dict[Any, Value] = {}
    match made:
        case List():
            made.items[:] = [_deep(ev, node, v, seen) for v in made.items]
        case Dict():
            held = made.items
        case ObjectInstance():
            held = made.attributes
        case _:
            pass
    for key in list(held):
        held[key] = _deep(ev, node, held[key], seen)
    return made


def _copied(*, deep: bool) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if len(args) != 1 or keywords:
            ev.fail("F208", node, "copy takes one argument")
        return _deep(ev, node, args[0], {}) if deep else _shallow(ev, node, args[0])

    return run


CALLS: Mapping[str, Callable[..., Value]] = {"copy.copy": _copied(deep=False), "copy.deepcopy": _copied(deep=True)}
"""Function -> what it does."""
