"""`functools.singledispatch`: a function of its first argument's class."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Class, Library, List, ObjectInstance, Partial, SourceFunction, Value
from fleet.frontend.reading.wording import words

_TABLE = "_registered"
_NARROWER = ("builtins.bool", "builtins.int", "builtins.object")
"""Classes of Python, each before those that it inherits from."""


def _made(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(args) != 1 or keywords or not isinstance(args[0], SourceFunction):
        ev.fail("F208", node, "singledispatch takes a function")
    made = ObjectInstance(Class("singledispatch"), {_TABLE: List([(Library("builtins.object"), args[0])])})
    made.kind.names["__call__"] = Partial(Library("functools.singledispatch.call"), (made,))
    made.kind.names["register"] = Partial(Library("functools.singledispatch.register"), (made,))
    return made


def _register(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`@f.register` of a function whose first argument is annotated, `@f.register(kind)`, or `f.register(kind, function)`."""
    own, kind, *rest = args
    assert isinstance(own, ObjectInstance)
    table = own.attributes[_TABLE]
    assert isinstance(table, List)
    if isinstance(kind, SourceFunction) and not rest and not isinstance(kind.node, ast.Lambda):
        parameters = [*kind.node.args.posonlyargs, *kind.node.args.args]
        annotation = parameters[0].annotation if parameters else None
        if annotation is None:
            ev.fail("F506", node, "register of a function without annotation", "annotate its first argument, or name the class")
        table.items.append((ev.expression(annotation), kind))
        return kind
    if keywords or not isinstance(kind, Class | Library):
        ev.fail("F506", node, f"register of {words(kind)} is not supported", "give a class, and a function")
    if not rest:
        return Partial(Library("functools.singledispatch.register"), (own, kind))
    table.items.append((kind, rest[0]))
    return rest[0]


def _call(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    own, *given = args
    assert isinstance(own, ObjectInstance)
    table = own.attributes[_TABLE]
    assert isinstance(table, List)
    if not given:
        ev.fail("F703", node, "a function under singledispatch needs a positional argument")
    fitting: list[tuple[Value, Value]] = []
    for entry in table.items:
        assert isinstance(entry, tuple)
        kind, function = entry
        if ev.truth(node, ev.call(node, Library("builtins.isinstance"), [given[0], kind], {})):
            fitting.append((kind, function))
    chosen = min(reversed(fitting), key=lambda entry: _distance(given[0], entry[0]))
    return ev.call(node, chosen[1], list(given), keywords)


def _distance(value: Value, kind: Value) -> int:
    """Return how far a class is from the value's own, along its chain."""
    if isinstance(kind, Class) and isinstance(value, ObjectInstance):
        return list(value.kind.chain()).index(kind)
    path = kind.path if isinstance(kind, Library) else ""
    return 1000 * (_NARROWER.index(path) if path in _NARROWER else 1)


CALLS: Mapping[str, Callable[..., Value]] = {
    "functools.singledispatch": _made,
    "functools.singledispatch.register": _register,
    "functools.singledispatch.call": _call,
}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
