"""Exceptions: Python's own classes of them, what `raise` throws, and which `except` takes it.

An exception is caught where reading shows that it is raised: by `raise` or `assert` on known values, by arithmetic of known
numbers, by a key or place that a known container lacks. What was done before it stays done, as in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import NoReturn

import numpy as np

from fleet.errors import SourceError
from fleet.frontend.reading.errors import expression_at
from fleet.frontend.reading.evaluator import LIBRARY_ERRORS, Evaluator
from fleet.frontend.reading.values import Class, Library, NumberValue, ObjectInstance, Value

_COMPUTED = (ArithmeticError, ValueError, TypeError)
"""Exceptions of Python's own functions on known numbers; the front end's error has them as its context."""


class Thrown(SourceError):
    """An exception of the source on its way to an `except`; the error itself if none takes it.

    Attributes:
        value: the exception's object.
    """

    def __init__(self, error: SourceError, value: ObjectInstance) -> None:
        super().__init__(error.what, where=error.where, hint=error.hint, detail=error.detail, code=error.code)
        self.value = value


def is_exception(ev: Evaluator, kind: Class) -> bool:
    """Return whether a class is one of exceptions."""
    base = ev.exception_class("BaseException")
    return any(k is base for k in kind.chain())


def made(ev: Evaluator, name: str, *args: Value) -> ObjectInstance:
    """An object of one of Python's own classes of exceptions."""
    kind = ev.exception_class(name)
    assert kind is not None
    return ObjectInstance(kind, {"args": tuple(args)})


def said(ev: Evaluator, value: ObjectInstance) -> Value:
    """Return `str` of an exception: its only argument, or all of them."""
    args = value.attributes.get("args", ())
    assert isinstance(args, tuple)
    call = ast.copy_location(ast.Call(ast.Name("str"), [], []), ev.module.tree.body[0])
    if len(args) != 1:
        return ev.call(call, Library("builtins.str"), [args], {}) if args else ""
    quoted = any(k.name == "KeyError" for k in value.kind.chain())
    return ev.call(call, Library(f"builtins.{'repr' if quoted else 'str'}"), [args[0]], {})


# ---- throwing


def catchable(ev: Evaluator) -> bool:
    """Return whether a `try` would see an exception now: the same decisions of the run enter it."""
    return bool(ev.catching) and ev.catching[-1] == ev.inside


def throw(ev: Evaluator, code: str, node: ast.AST, what: str, value: ObjectInstance, hint: str | None = None) -> NoReturn:
    """Raises an exception of the source: for the `except` that takes it, else as the error that it is."""
    try:
        ev.fail(code, node, what, hint)
    except SourceError as error:
        raise Thrown(error, value) from None


def lacks(ev: Evaluator, node: ast.AST, what: str, plain: object, hint: str | None = None, code: str = "F704") -> NoReturn:
    """The KeyError of a dict or set."""
    match plain:
        case str() | None:
            value: Value = plain
        case bool() | int() | float() if not isinstance(plain, np.generic):
            value = NumberValue(plain)
        case _:
            ev.fail(code, node, what, hint)
    throw(ev, code, node, what, made(ev, "KeyError", value), hint)


def raised(ev: Evaluator, node: ast.Raise, said: Callable[[ObjectInstance], str]) -> NoReturn:
    """`raise` inside of a `try` that may see it. SourceError F408 if the value is not an exception.

    Args:
        said: the text of an exception, for the error of a program that catches it nowhere.
    """
    if node.exc is None:
        value = ev.handled[-1] if ev.handled else made(ev, "RuntimeError", "No active exception to reraise")
        throw(ev, "F701", node, "the source raises an exception", value)
    value = ev.expression(node.exc)
    if isinstance(value, Class):
        value = ev.call(_call(node, node.exc), value, [], {})
    if not isinstance(value, ObjectInstance) or not is_exception(ev, value.kind):
        cause = TypeError("exceptions must derive from BaseException")
        hint = "raise ValueError(...), or a class that inherits from Exception"
        ev.refuse("F408", node, "what is raised is not an exception", cause, hint)
    if ev.handled and ev.handled[-1] is not value:
        value.attributes["__context__"] = ev.handled[-1]
    if node.cause is not None:
        cause = ev.expression(node.cause)
        value.attributes["__cause__"] = ev.call(_call(node, node.cause), cause, [], {}) if isinstance(cause, Class) else cause
    throw(ev, "F701", node, f"the source raises {said(value)}", value)


def _call(node: ast.Raise, kind: ast.expr) -> ast.Call:
    """Return `kind()`, which is what `raise kind` and `from kind` mean."""
    return ast.copy_location(ast.Call(expression_at(kind), [], []), node)


def thrown_by(ev: Evaluator, error: SourceError) -> ObjectInstance | None:
    """The exception that Python raises for an error of reading; None if it may raise nothing, or it is unknown which."""
    if isinstance(error, Thrown):
        return error.value
    cause = error.__cause__
    if cause is None and error.code == "F703" and isinstance(error.__context__, _COMPUTED):
        cause = error.__context__
    if cause is None:
        return None
    name = type(cause).__name__
    name = next((path for path in LIBRARY_ERRORS if path.endswith(f".{name}")), name)
    name = "ValueError" if isinstance(cause, np.exceptions.AxisError) else name
    return None if ev.exception_class(name) is None else made(ev, name, str(cause))


def raises(ev: Evaluator, error: SourceError, name: str) -> bool:
    """Return whether it is an exception of one of Python's classes, by its name."""
    value = thrown_by(ev, error)
    return value is not None and any(k.name == name for k in value.kind.chain())


def exits(ev: Evaluator, error: SourceError) -> bool:
    """Return whether it is what `sys.exit` raises, with a code of success: nothing, or 0."""
    value = error.value if isinstance(error, Thrown) else None
    if value is None or not any(k.name == "SystemExit" for k in value.kind.chain()):
        return False
    code = value.attributes.get("args", ())
    return isinstance(code, tuple) and (not code or code[0] is None or ev.static(code[0]) == 0)


# ---- catching


def matches(ev: Evaluator, handler: ast.ExceptHandler, value: ObjectInstance) -> bool:
    """Return whether an `except` takes an exception. SourceError if it names something other than a class of exceptions."""
    if handler.type is None:
        return True
    found = ev.expression(handler.type)
    kinds: Sequence[Value] = found if isinstance(found, tuple) else (found,)
    for kind in kinds:
        if not isinstance(kind, Class) or not is_exception(ev, kind):
            hint = "catch Python's exceptions, or classes that inherit from them"
            ev.fail("F502", handler.type, "an `except` of what is not a class of exceptions here", hint)
    return any(k is kind for k in value.kind.chain() for kind in kinds)
