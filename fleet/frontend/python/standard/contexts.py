"""`contextlib`: functions that make what `with` takes."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Lazy, Library, Partial, Value
from fleet.frontend.reading.wording import words


def _decorated(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if len(args) != 1 or keywords:
        ev.fail("F208", node, "contextmanager takes a function")
    return Partial(Library("contextlib.contextmanager.entered"), (args[0],), binds=True)


def _entered(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A call of the function under `contextmanager`."""
    found = ev.call(node, args[0], list(args[1:]), keywords)
    if not isinstance(found, Lazy):
        ev.fail("F408", node, f"contextmanager of a function that gives {words(found)}", "it must yield once")
    return Lazy(found.values, "context")


def _empty(_ev: Evaluator, _node: ast.Call, args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    """A context that changes nothing here; its value is the argument."""
    return Lazy(iter([args[0] if args else None]), "context")


def _suppress(ev: Evaluator, node: ast.Call, _args: Sequence[Value], _keywords: Mapping[str, Value]) -> Value:
    return ev.fail("F502", node, "contextlib.suppress is read in a `with` only")


CALLS: Mapping[str, Callable[..., Value]] = {
    "contextlib.contextmanager": _decorated,
    "contextlib.contextmanager.entered": _entered,
    "contextlib.nullcontext": _empty,
    "contextlib.suppress": _suppress,
    "warnings.catch_warnings": _empty,
}
"""Function -> what it does."""
