"""`re` and `io.StringIO` of known text."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import List, Value

__all__ = ["CALLS"]

_MOST_TEXT = 1 << 16
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "re.findall": re.findall, "re.split": re.split, "re.sub": re.sub, "re.escape": re.escape,
}  # fmt: skip


def _nested(pattern: str) -> bool:
    """Whether a repeated group holds a repeat or a choice, or looks back: such patterns can take for ever."""
    repeats = [False]
    escaped = in_set = False
    for i, c in enumerate(pattern):
        if escaped:
            escaped = False
            if c.isdigit() and not in_set:
                return True
        elif c == "\\":
            escaped = True
        elif in_set:
            in_set = c != "]"
        elif c == "[":
            in_set = True
        elif c == "(":
            repeats.append(False)
        elif c == ")" and len(repeats) > 1:
            inner = repeats.pop()
            if inner and pattern[i + 1 : i + 2] in ("*", "+", "{"):
                return True
            repeats[-1] |= inner
        elif c in "*+{|" or (c == "?" and i and pattern[i - 1] not in "(*+?}"):
            repeats[-1] = True
    return False


def _called(path: str) -> Callable[..., Value]:
    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        given = [known(ev, node, a, f"an argument of {path}") for a in args]
        if keywords.keys() - {"maxsplit", "count"} or not all(isinstance(g, str) for g in given[: 3 if path == "re.sub" else 2]):
            ev.fail("F506", node, f"{path} with these arguments is not supported", "give a pattern and a text")
        if len(given) > 3 or (len(given) == 3 and path != "re.sub"):
            ev.fail("F506", node, f"{path} with flags is not supported", "write them into the pattern: (?i)")
        if max(map(len, given)) > _MOST_TEXT or _nested(given[0]):
            ev.fail("F607", node, f"{path} of a pattern with repeats within repeats, or of more than {_MOST_TEXT} characters")
        try:
            found = _FUNCTIONS[path](*given, **{k: ev.integer(node, v, k) for k, v in keywords.items()})
        except (re.error, TypeError) as error:
            ev.fail("F703", node, f"{path}: {error}")
        return value_of(found)

    return run


def _lines(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A text as a file: what reads it asks for its lines."""
    text = known(ev, node, args[0], "the text of io.StringIO") if args else ""
    if not isinstance(text, str) or len(args) > 1 or keywords:
        ev.fail("F506", node, "io.StringIO with these arguments is not supported", "give a text")
    return List(list(text.splitlines(keepends=True)), "StringIO")


def _capwords(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    given = [known(ev, node, a, "an argument of string.capwords") for a in args]
    if len(given) != 1 or not isinstance(given[0], str) or keywords:
        ev.fail("F506", node, "string.capwords with these arguments is not supported", "give a text")
    return string.capwords(given[0])


CALLS: Mapping[str, Callable[..., Value]] = {
    "string.capwords": _capwords,
    **{path: _called(path) for path in _FUNCTIONS},
    "io.StringIO": _lines,
}
"""Function -> what it does."""
