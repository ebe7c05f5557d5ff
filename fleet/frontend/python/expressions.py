"""Expressions: one function for each kind of node."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Mapping
from typing import Any

from xdsl.ir import SSAValue

from fleet.frontend.arrays import foreign
from fleet.frontend.arrays.functions import grids
from fleet.frontend.arrays.truths import condition
from fleet.frontend.python import calls, comprehensions, generators
from fleet.frontend.python.attributes import attribute
from fleet.frontend.python.calls import defaults
from fleet.frontend.python.containers import builtin, sets
from fleet.frontend.python.flow.meeting import choose
from fleet.frontend.python.operators import binary, compared, unary
from fleet.frontend.python.subscripts import index_items, slice_
from fleet.frontend.python.text import display
from fleet.frontend.python.words import kind
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import any_order, key
from fleet.frontend.reading.values import (
    ELLIPSIS,
    Complex,
    Dict,
    ForeignArray,
    Library,
    List,
    NumberValue,
    SourceFunction,
    Text,
    TracedArray,
    Value,
)

_SUPPORTED = "operators, comparisons, calls, slices, containers, comprehensions, lambda and conditional expressions"


def evaluate(ev: Evaluator, node: ast.expr) -> Value:
    """The value of an expression; the caller counts depth."""
    handler = _HANDLERS.get(type(node))
    if handler is None:
        ev.fail("F503", node, f"{kind(node)} is not supported", f"supported expressions are {_SUPPORTED}")
    return handler(ev, node)


def _constant(_ev: Evaluator, node: ast.Constant) -> Value:
    if isinstance(node.value, bool | int | float):
        return NumberValue(node.value, place=node)
    if node.value is None or isinstance(node.value, str | bytes):
        return node.value
    if node.value is ...:
        return ELLIPSIS
    return Complex(node.value)


# ---- operators


def _binop(ev: Evaluator, node: ast.BinOp) -> Value:
    return binary(ev, node, node.op, ev.expression(node.left), ev.expression(node.right))


def _boolop(ev: Evaluator, node: ast.BoolOp) -> Value:
    stop_at = isinstance(node.op, ast.Or)
    value: Value = None
    for i, part in enumerate(node.values):
        value = ev.expression(part)
        if i == len(node.values) - 1:
            break
        held = condition(ev, part, value)
        if held is stop_at:
            break
        if not isinstance(held, bool):
            rest = (
                ast.copy_location(ast.BoolOp(node.op, node.values[i + 1 :]), node)
                if i + 2 < len(node.values)
                else node.values[i + 1]
            )
            keep, go_on = functools.partial(_truth, value, held), functools.partial(ev.expression, rest)
            return choose(ev, node, held, [keep, go_on] if stop_at else [go_on, keep])
    return value


def _truth(value: Value, held: SSAValue) -> Value:
    """The value that decided; a NumPy truth value becomes Python's."""
    return NumberValue(None, held) if isinstance(value, TracedArray) and value.scalar and value.dtype.kind == "b" else value


def _compare(ev: Evaluator, node: ast.Compare, first: int = 0, left: Value = None) -> Value:
    """The comparisons from number `first` on; left: their left operand, unless `first` is 0."""
    left = ev.expression(node.left) if first == 0 else left
    result: Value = NumberValue(True)
    for i, (op, right_node) in enumerate(zip(node.ops[first:], node.comparators[first:], strict=True), first):
        right = ev.expression(right_node)
        result = compared(ev, node, op, left, right)
        if i == len(node.ops) - 1:
            break
        held = condition(ev, node, result)
        if held is False:
            return result
        if not isinstance(held, bool):
            keep = functools.partial(_truth, result, held)
            rest = functools.partial(_compare, ev, node, i + 1, right)
            return choose(ev, node, held, [rest, keep])
        left = right
    return result


def _conditional(ev: Evaluator, node: ast.IfExp) -> Value:
    held = condition(ev, node.test, ev.expression(node.test))
    if isinstance(held, bool):
        return ev.expression(node.body if held else node.orelse)
    return choose(ev, node, held, [lambda: ev.expression(node.body), lambda: ev.expression(node.orelse)])


def _named(ev: Evaluator, node: ast.NamedExpr) -> Value:
    value = ev.expression(node.value)
    frame = ev.frame
    while frame.parent is not None and node.target.id in frame.scope.local and frame.function.endswith("<comprehension>"):
        frame = frame.parent
    target = frame
    while target.function.endswith("<comprehension>") and target.parent is not None:
        target = target.parent
    with ev.within(target):
        ev.bind(node.target.id, value)
    return value


# ---- containers


def _elements(ev: Evaluator, nodes: list[ast.expr], *, ordered: bool = True) -> list[Value]:
    found: list[Value] = []
    for e in nodes:
        if isinstance(e, ast.Starred):
            whole = ev.expression(e.value)
            whole = whole if ordered else any_order(ev, e.value, ev.settled(whole))
            found += stand_ins.iterated(ev, e.value, whole, lambda v: [*v], sized=True)
            ev.bounded(e, len(found), "a sequence")
        else:
            found.append(ev.expression(e))
    return found


def _dict(ev: Evaluator, node: ast.Dict) -> Value:
    items: dict[Any, Value] = {}
    for name, value in zip(node.keys, node.values, strict=True):
        if name is None:
            items.update(calls.merged(ev, value, ev.expression(value)).items)
        else:
            plain = key(ev, name, ev.expression(name))
            items[plain] = ev.expression(value)
    return Dict(items)


def _set(ev: Evaluator, node: ast.Set) -> Value:
    return sets.made(ev, node, _elements(ev, node.elts, ordered=False))


def _lambda(ev: Evaluator, node: ast.Lambda) -> Value:
    return SourceFunction(node, ev.frame.around, defaults(ev, node.args), ev.frame.body_of)


# ---- subscripts, attributes, calls


def _subscript(ev: Evaluator, node: ast.Subscript) -> Value:
    owner = ev.expression(node.value)
    if isinstance(owner, TracedArray):
        return ev.domain.load(ev, node, owner, index_items(ev, node.slice))
    if isinstance(owner, ForeignArray):
        return foreign.load(ev, node, owner, index_items(ev, node.slice))
    if isinstance(owner, Library) and owner.path in grids.MAKERS:
        return grids.load(ev, node, owner.path, index_items)
    return builtin.load(ev, node, owner, ev.expression(node.slice))


def subscript(ev: Evaluator, node: ast.Subscript, owner: Value, index: Value) -> Value:
    """`owner[index]` of values."""
    if isinstance(owner, TracedArray | ForeignArray):
        items = list(index) if isinstance(index, tuple) else [index]
        return ev.domain.load(ev, node, owner, items) if isinstance(owner, TracedArray) else foreign.load(ev, node, owner, items)
    return builtin.load(ev, node, owner, index)


def _attribute(ev: Evaluator, node: ast.Attribute) -> Value:
    return attribute(ev, node, ev.expression(node.value))


_UNORDERED = frozenset(Library(f"builtins.{n}") for n in ("sorted", "set", "frozenset", "len"))
"""Functions to which the order of what they are given is nothing."""


def _call(ev: Evaluator, node: ast.Call) -> Value:
    function = ev.expression(node.func)
    args, keywords = calls.arguments(ev, node, unordered=function in _UNORDERED)
    return ev.call(node, function, args, keywords)


# ---- text


def _joined(ev: Evaluator, node: ast.JoinedStr) -> Value:
    return display.joined(ev, node)


def shown(ev: Evaluator, value: Value) -> str:
    """A value as `print` shows it, for messages."""
    parts = display.parts(ev, value)
    return "".join(p if isinstance(p, str) else "<array>" for p in parts)[:200]


def exception(ev: Evaluator, node: ast.expr) -> str:
    """Return the text of the exception that `raise` raises."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        said = ", ".join(shown(ev, ev.expression(a)) for a in node.args)
        return f"{node.func.id}{': ' if said else ''}{said}"
    return ast.unparse(node)[:200]


def _starred(ev: Evaluator, node: ast.Starred) -> Value:
    return ev.fail("F503", node, "a starred expression is not supported here")


_HANDLERS: Mapping[type[ast.expr], Callable[[Evaluator, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: lambda ev, node: ev.lookup(node),
    ast.BinOp: _binop,
    ast.UnaryOp: lambda ev, node: unary(ev, node, ev.expression(node.operand)),
    ast.BoolOp: _boolop,
    ast.Compare: _compare,
    ast.IfExp: _conditional,
    ast.NamedExpr: _named,
    ast.Yield: generators.yield_,
    ast.YieldFrom: generators.yield_,
    ast.Tuple: lambda ev, node: tuple(_elements(ev, node.elts)),
    ast.List: lambda ev, node: List(_elements(ev, node.elts)),
    ast.Dict: _dict,
    ast.Set: _set,
    ast.SetComp: comprehensions.set_,
    ast.ListComp: comprehensions.list_,
    ast.DictComp: comprehensions.dict_,
    ast.GeneratorExp: comprehensions.generator,
    ast.Lambda: _lambda,
    ast.Subscript: _subscript,
    ast.Slice: slice_,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.JoinedStr: _joined,
    ast.FormattedValue: lambda ev, node: Text(display.formatted(ev, node)),
    ast.Starred: _starred,
}
EXPRESSIONS = tuple(sorted(t.__name__ for t in _HANDLERS if t not in (ast.Starred, ast.FormattedValue)))
"""Names of the expressions that are supported."""
