"""`id`: what tells objects apart. It is equal to itself alone; the number, and so the order, is another one on every run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import (
    Class,
    Dict,
    ForeignArray,
    Library,
    List,
    ObjectInstance,
    Partial,
    Set,
    SourceFunction,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words

_USED = "builtins.id.used"
_NUMBER = Class("id", names={n: Partial(Library(_USED), binds=True) for n in ("__repr__", "__lt__", "__gt__", "__le__", "__ge__")})


def identity(ev: Evaluator, node: ast.Call, args: list[Value], _keywords: dict[str, Value]) -> Value:
    """`id(x)` of an object that can change, a class or a function."""
    value = args[0]
    whole = isinstance(value, TracedArray) and not value.scalar
    if not whole and not isinstance(value, ObjectInstance | List | Dict | Set | Class | SourceFunction | ForeignArray):
        ev.fail("F408", node, f"the id of {words(value)} is not supported", "compare with `is`, or number the objects")
    return ev.identities.setdefault(id(value), (value, ObjectInstance(_NUMBER)))[1]


def _used(ev: Evaluator, node: ast.Call, _args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return ev.fail("F507", node, "the id of an object is another number on every run", "number the objects as they are made")


CALLS: Mapping[str, Callable[..., Value]] = {_USED: _used}
"""Function -> what it does, of the evaluator, the call, its arguments and its keywords."""
