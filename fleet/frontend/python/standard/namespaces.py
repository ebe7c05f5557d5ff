"""Objects that are their attributes and nothing else: `types.SimpleNamespace` and `argparse.Namespace`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NOT_IMPLEMENTED, Class, Dict, Library, NumberValue, ObjectInstance, Partial, Value

_EQUAL = "builtins.namespace.equal"


def _class(name: str) -> Class:
    same = Partial(Library(_EQUAL), binds=True)
    within = Partial(Library("builtins.namespace.within"), binds=True)
    return Class(name, names={"__eq__": same, "__contains__": within}, kind="namespace")


PARSED = _class("Namespace")
_SIMPLE = _class("namespace")


def _made(kind: Class, ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if args:
        ev.fail("F208", node, "a namespace takes its attributes by name")
    return ObjectInstance(kind, dict(keywords))


def _equal(ev: Evaluator, node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    own, other = args
    if not isinstance(own, ObjectInstance) or not isinstance(other, ObjectInstance) or other.kind is not own.kind:
        return NOT_IMPLEMENTED
    return ev.call(node, Library("operator.eq"), [Dict(own.attributes), Dict(other.attributes)], {})


def _within(_ev: Evaluator, _node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    own, name = args
    assert isinstance(own, ObjectInstance)
    return NumberValue(name in own.attributes)


CALLS: Mapping[str, Callable[..., Value]] = {
    "types.SimpleNamespace": partial(_made, _SIMPLE),
    "argparse.Namespace": partial(_made, PARSED),
    _EQUAL: _equal,
    "builtins.namespace.within": _within,
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
