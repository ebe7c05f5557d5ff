"""Keys of dicts and elements of sets: plain Python values, and back."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Class, NumberValue, ObjectInstance, Set, SourceFunction, TracedArray, Value, words


def key(ev: Evaluator, node: ast.AST, value: Value) -> Any:
    """A dict's key as a plain Python value."""
    match value:
        case NumberValue():
            if not value.symbolic:
                return value.value
        case str() | None:
            return value
        case tuple():
            return tuple(key(ev, node, v) for v in value)
        case TracedArray() if not value.shape and (known := ev.domain.known(value)) is not None:
            return value.dtype.type(known)  # NumPy's scalar, which Python prints as such
        case ObjectInstance() if value.kind.find("__eq__") is None and not any(k.compared for k in value.kind.chain()):
            return value  # equal to itself alone
        case SourceFunction() | Class():
            return value
        case _:
            pass
    return ev.fail("F408", node, f"{words(value)} cannot be a dict's key here", "keys are numbers, strings and tuples of them")


def from_key(ev: Evaluator, node: ast.expr, plain: Any) -> Value:
    """A plain Python value as a value of the source."""
    if isinstance(plain, np.generic):
        return ev.domain.convert(ev, node, NumberValue(plain.item()), plain.dtype)
    if isinstance(plain, bool | int | float):
        return NumberValue(plain)
    return tuple(from_key(ev, node, p) for p in plain) if isinstance(plain, tuple) else plain  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def check_order(ev: Evaluator, node: ast.AST, value: Set) -> None:
    """SourceError F507 for a set with strings: its order differs between runs of Python."""
    work: list[Any] = list(value.items) if len(value.items) > 1 else []
    for plain in work:
        if isinstance(plain, str):
            ev.fail("F507", node, "the order of strings in a set is another one on every run", "use sorted(...)")
        if isinstance(plain, ObjectInstance | SourceFunction | Class):
            ev.fail("F507", node, "the order of objects in a set is another one on every run", "use a list")
        if isinstance(plain, tuple):
            work += plain
