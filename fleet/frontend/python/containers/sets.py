"""Python's sets: of known elements, in the order that Python gives them."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, check_order, from_key, in_order, key
from fleet.frontend.reading.values import NumberValue, ObjectInstance, Set, Value
from fleet.frontend.reading.wording import words

_Method: TypeAlias = "Callable[[Evaluator, ast.Call, Set, list[Value]], Value]"
OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "bit_or": operator.or_, "bit_and": operator.and_, "sub": operator.sub, "bit_xor": operator.xor,
}  # fmt: skip
ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "less": operator.lt, "less_equal": operator.le, "greater": operator.gt, "greater_equal": operator.ge,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip


def made(ev: Evaluator, node: ast.expr, values: list[Value], *, frozen: bool = False) -> Set:
    """A set of the values. SourceError F408 if an element is not known."""
    keys = [key(ev, node, v) for v in values]
    return Set(set(keys), frozen)  # of a list, as Python does: the set's order depends on its growth


def binary(op: str, lhs: Set, rhs: Set) -> Value:
    """`|`, `&`, `-` and `^`; None for other operators."""
    return Set(OPERATORS[op](lhs.items, rhs.items), lhs.frozen) if op in OPERATORS else None


def compared(op: str, lhs: Set, rhs: Set) -> bool:
    """Return whether one set contains the other."""
    return ORDERS[op](lhs.items, rhs.items)


def _elements(ev: Evaluator, node: ast.Call, value: Value) -> set[Any]:
    return value.items if isinstance(value, Set) else made(ev, node, ev.collect(node, any_order(ev, node, value))).items


def _derived(name: str) -> _Method:
    def method(ev: Evaluator, node: ast.Call, owner: Set, args: list[Value]) -> Value:
        return Set(getattr(owner.items, name)(*(_elements(ev, node, a) for a in args)), owner.frozen)

    return method


def _asked(name: str) -> _Method:
    def method(ev: Evaluator, node: ast.Call, owner: Set, args: list[Value]) -> Value:
        return NumberValue(getattr(owner.items, name)(_elements(ev, node, args[0])))

    return method


def _changing(name: str) -> _Method:
    """Read a method whose arguments are sets."""

    def method(ev: Evaluator, node: ast.Call, owner: Set, args: list[Value]) -> Value:
        _check(ev, node, owner)
        getattr(owner.items, name)(*(_elements(ev, node, a) for a in args))
        ev.bounded(node, len(owner.items), "a set")
        return None

    return method


def _with_element(name: str) -> _Method:
    """`add`, `discard` and `remove`."""

    def method(ev: Evaluator, node: ast.Call, owner: Set, args: list[Value]) -> Value:
        _check(ev, node, owner)
        plain = key(ev, node, args[0])
        if name == "remove" and plain not in owner.items:
            ev.fail("F704", node, f"{plain!r} is not in the set")
        getattr(owner.items, name)(plain)
        ev.bounded(node, len(owner.items), "a set")
        return None

    return method


def _pop(ev: Evaluator, node: ast.Call, owner: Set, _args: list[Value]) -> Value:
    _check(ev, node, owner)
    check_order(ev, node, owner)
    if not owner.items:
        ev.fail("F704", node, "pop of an empty set")
    first = in_order(owner.items)[0] if any(isinstance(p, ObjectInstance) for p in owner.items) else owner.items.pop()
    owner.items.discard(first)
    return from_key(ev, node, first)


def _check(ev: Evaluator, node: ast.Call, owner: Set) -> None:
    if owner.frozen:
        ev.fail("F408", node, f"{words(owner)} cannot be changed", "use set(...)")


_MANY = 1 << 10
METHODS: Mapping[str, tuple[_Method, int, int]] = {
    **{n: (_derived(n), 0, _MANY) for n in ("union", "intersection", "difference")},
    "symmetric_difference": (_derived("symmetric_difference"), 1, 1), "copy": (_derived("copy"), 0, 0),
    **{n: (_asked(n), 1, 1) for n in ("issubset", "issuperset", "isdisjoint")},
    **{n: (_changing(n), 0, _MANY) for n in ("update", "intersection_update", "difference_update")},
    "clear": (_changing("clear"), 0, 0), "pop": (_pop, 0, 0),
    **{n: (_with_element(n), 1, 1) for n in ("add", "discard", "remove")},
}  # fmt: skip
"""Method -> (reader, least arguments, most arguments)."""
