"""`re` and `io.StringIO` of known text."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fleet.frontend.python.flow import exceptions
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import Class, Dict, Lazy, Library, List, NumberValue, ObjectInstance, Partial, Value

_MOST_TEXT = 1 << 16
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "re.findall": re.findall, "re.split": re.split, "re.sub": re.sub, "re.escape": re.escape,
}  # fmt: skip


def _nested(pattern: str) -> bool:
    """Return whether a repeated group holds a repeat or a choice, or looks back: such patterns can take for ever."""
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


# ---- matches and patterns


def _checked(ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> tuple[str, str]:
    given = [known(ev, node, a, f"an argument of {path}") for a in args]
    if len(given) != 2 or keywords or not all(isinstance(g, str) for g in given):
        ev.fail("F506", node, f"{path} with these arguments is not supported", "give a pattern and a text; flags: (?i)")
    if max(map(len, given)) > _MOST_TEXT or _nested(given[0]):
        ev.fail("F607", node, f"{path} of a pattern with repeats within repeats, or of more than {_MOST_TEXT} characters")
    return given[0], given[1]


def _matching(name: str) -> Callable[..., Value]:
    """`re.match(pattern, text)` and its kin: an object with what was found, or None."""

    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        pattern, text = _checked(ev, node, f"re.{name}", args, keywords)
        try:
            found = getattr(re, name)(pattern, text)
        except re.error as error:
            return ev.fail("F703", node, f"re.{name}: {error}")
        if name == "finditer":
            return Lazy((_match(m) for m in found), "iterator")
        return None if found is None else _match(found)

    return run


def _match(found: re.Match[str]) -> ObjectInstance:
    made = ObjectInstance(Class("Match"))
    numbers = range(1 + len(found.groups()))
    made.attributes |= {
        "string": found.string,
        "lastindex": value_of(found.lastindex),
        "_texts": value_of(tuple(found.group(i) for i in numbers)),
        "_spans": value_of(tuple(found.span(i) for i in numbers)),
        "_names": Dict({n: NumberValue(i) for n, i in found.re.groupindex.items()}),
    }
    made.kind.names |= {n: Partial(Library(f"re.Match.{n}"), (made,)) for n in _OF_MATCH}
    made.kind.names["__getitem__"] = made.kind.names["group"]
    return made


_OF_MATCH = ("group", "groups", "groupdict", "start", "end", "span")


def _asked(name: str) -> Callable[..., Value]:
    """A method of what `re.match` gives."""

    def run(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        own = args[0]
        assert isinstance(own, ObjectInstance)
        texts, spans, names = (own.attributes[n] for n in ("_texts", "_spans", "_names"))
        assert isinstance(texts, tuple)
        assert isinstance(spans, tuple)
        assert isinstance(names, Dict)
        default = keywords.get("default", args[1] if len(args) > 1 else None)
        if name == "groups":
            return tuple(default if t is None else t for t in texts[1:])
        if name == "groupdict":
            return Dict({n: texts[ev.integer(node, i, "a group")] for n, i in names.items.items()})
        found: list[Value] = []
        for which in args[1:] or (NumberValue(0),):
            at = names.items.get(which, NumberValue(-1)) if isinstance(which, str) else which
            number = ev.integer(node, at, "a group's number")
            if not 0 <= number < len(texts):
                exceptions.throw(ev, "F703", node, "no such group", exceptions.made(ev, "IndexError", "no such group"))
            span = spans[number]
            assert isinstance(span, tuple)
            found.append({"group": texts[number], "span": span, "start": span[0], "end": span[1]}[name])
        return found[0] if len(found) == 1 else tuple(found)

    return run


def _compiled(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`re.compile(pattern)`: an object whose methods are the functions with the pattern in front."""
    if len(args) != 1 or keywords or not isinstance(args[0], str):
        ev.fail("F506", node, "re.compile with these arguments is not supported", "give a pattern; flags stand in the pattern")
    made = ObjectInstance(Class("Pattern"), {"pattern": args[0]})
    made.kind.names |= {n: Partial(Library(f"re.{n}"), (args[0],)) for n in ("findall", "split", "sub", *_MATCHING)}
    return made


_MATCHING = ("match", "search", "fullmatch", "finditer")
CALLS: Mapping[str, Callable[..., Value]] = {
    **{f"re.{n}": _matching(n) for n in _MATCHING},
    **{f"re.Match.{n}": _asked(n) for n in _OF_MATCH},
    "re.compile": _compiled,
    "string.capwords": _capwords,
    **{path: _called(path) for path in _FUNCTIONS},
    "io.StringIO": _lines,
}
"""Function -> what it does."""
