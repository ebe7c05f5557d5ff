"""Views of dicts: what `keys`, `values` and `items` give. They show the dict as it is when they are asked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from fleet.frontend.python.containers.sets import OPERATORS, ORDERS
from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import from_key, key
from fleet.frontend.reading.values import Dict, DictView, Set, Value


def is_set(value: Value) -> bool:
    """True of what behaves as a set: sets, and views of keys and of items."""
    return isinstance(value, Set) or (isinstance(value, DictView) and value.kind != "values")


def snapshot(ev: Evaluator, node: ast.expr, view: DictView) -> list[Value]:
    """Return what the view shows now."""
    match view.kind:
        case "values":
            return list(view.items.values())
        case "keys":
            return [from_key(ev, node, k) for k in view.items]
        case _:
            return [(from_key(ev, node, k), v) for k, v in view.items.items()]


def elements(ev: Evaluator, node: ast.expr, view: DictView) -> Iterator[Value]:
    """Iterate over the view. RuntimeError of Python (F704) if the dict grows or shrinks meanwhile."""
    return _unchanged(ev, node, view.owner, snapshot(ev, node, view))


def keys(ev: Evaluator, node: ast.expr, owner: Dict) -> Iterator[Value]:
    """Iterate over a dict, as over its keys."""
    return elements(ev, node, DictView(owner, "keys"))


def _unchanged(ev: Evaluator, node: ast.expr, owner: Dict, found: list[Value]) -> Iterator[Value]:
    for value in found:
        if len(owner.items) != len(found):
            _changed(ev, node, owner)
        yield value
    if len(owner.items) != len(found):
        _changed(ev, node, owner)


def _changed(ev: Evaluator, node: ast.expr, owner: Dict) -> None:
    said = f"{'OrderedDict mutated' if owner.kind == 'OrderedDict' else 'dictionary changed size'} during iteration"
    exceptions.throw(ev, "F704", node, said, exceptions.made(ev, "RuntimeError", said), "iterate over list(...) of it")


def binary(ev: Evaluator, node: ast.expr, op: str, lhs: Value, rhs: Value) -> Value:
    """`|`, `&`, `-` and `^`, of which one side is a view; None for other operators and values."""
    a, b = (_plain(ev, node, v) for v in (lhs, rhs))
    return Set(OPERATORS[op](a, b)) if op in OPERATORS and a is not None and b is not None else None


def compared(ev: Evaluator, node: ast.expr, op: str, lhs: Value, rhs: Value) -> bool:
    """Return a comparison of two values for which `is_set` is true, of which one is a view."""
    return ORDERS[op](_plain(ev, node, lhs), _plain(ev, node, rhs))


def _plain(ev: Evaluator, node: ast.expr, value: Value) -> Any:
    """A set or view as Python's own, another iterable as a list of its keys; None for what is neither."""
    match value:
        case Set():
            return value.items
        case DictView(kind="keys"):
            return value.items.keys()
        case DictView(kind="items"):
            return {k: key(ev, node, v) for k, v in value.items.items()}.items()
        case DictView():
            return None
        case _:
            return [key(ev, node, v) for v in ev.collect(node, value)]
