"""The brackets of a subscript: indices and slices."""

from __future__ import annotations

import ast

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, Slice, Value, number_behind


def index_items(ev: Evaluator, node: ast.expr) -> list[Value]:
    """The items of an index, one a comma."""
    if isinstance(node, ast.Tuple):
        return [_index_item(ev, e) for e in node.elts]
    item = _index_item(ev, node)
    return list(item) if isinstance(item, tuple) else [item]


def _index_item(ev: Evaluator, node: ast.expr) -> Value:
    return slice_(ev, node) if isinstance(node, ast.Slice) else ev.expression(node)


def slice_(ev: Evaluator, node: ast.Slice) -> Slice:
    """`start:stop:step`; only the run may know the bounds, never the step."""
    step = _bound(ev, node.step, "a slice's step")
    if isinstance(step, NumberValue):
        ev.unknown(node, "a slice's step that only the run knows")
    if step == 0:
        ev.fail("F306", node, "a slice's step cannot be zero")
    return Slice(_bound(ev, node.lower), _bound(ev, node.upper), step)


def _bound(ev: Evaluator, node: ast.expr | None, what: str = "a slice's bound") -> int | NumberValue | None:
    value = None if node is None else number_behind(ev.expression(node))
    if node is None or value is None:
        return None
    if isinstance(value, NumberValue) and value.symbolic and value.whole:
        return value
    return ev.integer(node, value, what)
