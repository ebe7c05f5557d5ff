"""`match`: the first case whose pattern takes the subject. What a pattern asks for is known while the source is read."""

from __future__ import annotations

import ast
from collections.abc import Callable

from fleet.frontend.arrays.truths import condition
from fleet.frontend.python.classes import objects
from fleet.frontend.python.operators import compared
from fleet.frontend.reading.ending import Flow
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.keys import key
from fleet.frontend.reading.values import Class, Dict, Library, List, NumberValue, ObjectInstance, Value
from fleet.frontend.reading.wording import words


def match_(ev: Evaluator, node: ast.Match, block: Callable[[list[ast.stmt]], Flow]) -> Flow:
    """A `match` statement; block: follows statements."""
    subject = ev.expression(node.subject)
    for case in node.cases:
        found: dict[str, Value] = {}
        if not _takes(ev, case.pattern, subject, found):
            continue
        for name, value in found.items():
            ev.bind(name, value)
        if case.guard is None or _decided(ev, case.guard, ev.expression(case.guard)):
            return block(case.body)
    return Flow()


def _decided(ev: Evaluator, node: ast.AST, value: Value) -> bool:
    held = condition(ev, node, value)
    if not isinstance(held, bool):
        ev.fail("F501", node, "which case of a `match` is taken, only the run knows", "write it with `if` and `elif`")
    return held


def _takes(ev: Evaluator, pattern: ast.pattern, subject: Value, found: dict[str, Value]) -> bool:
    """Return whether the pattern takes the subject; `found` gets the names that it binds."""
    match pattern:
        case ast.MatchValue():
            other = ev.expression(pattern.value)
            place = ast.copy_location(ast.Compare(pattern.value, [ast.Eq()], [pattern.value]), pattern.value)
            return _decided(ev, pattern, compared(ev, place, ast.Eq(), subject, other))
        case ast.MatchSingleton():
            if pattern.value is None:
                return subject is None
            return isinstance(subject, NumberValue) and not subject.symbolic and subject.value is pattern.value
        case ast.MatchAs():
            if pattern.pattern is not None and not _takes(ev, pattern.pattern, subject, found):
                return False
            if pattern.name is not None:
                found[pattern.name] = subject
            return True
        case ast.MatchOr():
            return any(_takes(ev, p, subject, found) for p in pattern.patterns)
        case ast.MatchSequence():
            return _sequence(ev, pattern, subject, found)
        case ast.MatchMapping():
            return _mapping(ev, pattern, subject, found)
        case ast.MatchClass():
            return _class(ev, pattern, subject, found)
        case _:
            return ev.fail("F502", pattern, f"a pattern {type(pattern).__name__} is not supported here")


def _sequence(ev: Evaluator, pattern: ast.MatchSequence, subject: Value, found: dict[str, Value]) -> bool:
    if not isinstance(subject, tuple | List):
        return False
    values = list(subject if isinstance(subject, tuple) else subject.items)
    starred = [i for i, p in enumerate(pattern.patterns) if isinstance(p, ast.MatchStar)]
    count = len(pattern.patterns) - len(starred)
    if len(values) < count or (not starred and len(values) > count):
        return False
    if starred:
        at, behind = starred[0], len(values) - (count - starred[0])
        star = pattern.patterns[at]
        assert isinstance(star, ast.MatchStar)
        if star.name is not None:
            found[star.name] = List(values[at:behind])
        pairs = [
            *zip(pattern.patterns[:at], values[:at], strict=True),
            *zip(pattern.patterns[at + 1 :], values[behind:], strict=True),
        ]
    else:
        pairs = list(zip(pattern.patterns, values, strict=True))
    return all(_takes(ev, p, v, found) for p, v in pairs)


def _mapping(ev: Evaluator, pattern: ast.MatchMapping, subject: Value, found: dict[str, Value]) -> bool:
    if not isinstance(subject, Dict):
        return False
    keys = [key(ev, k, ev.expression(k)) for k in pattern.keys]
    if any(k not in subject.items for k in keys):
        return False
    if not all(_takes(ev, p, subject.items[k], found) for k, p in zip(keys, pattern.patterns, strict=True)):
        return False
    if pattern.rest is not None:
        found[pattern.rest] = Dict({k: v for k, v in subject.items.items() if k not in keys})
    return True


def _class(ev: Evaluator, pattern: ast.MatchClass, subject: Value, found: dict[str, Value]) -> bool:
    kind = ev.expression(pattern.cls)
    call = ast.copy_location(ast.Call(pattern.cls, [], []), pattern)
    if not _decided(ev, pattern, ev.call(call, Library("builtins.isinstance"), [subject, kind], {})):
        return False
    if isinstance(kind, Library):
        if len(pattern.patterns) > 1:
            ev.fail("F502", pattern, f"a pattern of {words(kind)} with several places is not supported")
        if not all(_takes(ev, p, subject, found) for p in pattern.patterns):
            return False
        for name, inner in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            asked: list[Value] = [subject, name]
            held = ev.call(call, Library("builtins.hasattr"), asked, {})
            if not _decided(ev, pattern, held):
                return False
            if not _takes(ev, inner, ev.call(call, Library("builtins.getattr"), asked, {}), found):
                return False
        return True
    if not isinstance(kind, Class) or not isinstance(subject, ObjectInstance | tuple):
        return ev.fail("F502", pattern, f"a pattern of {words(kind)} is not supported")
    listed = kind.find("__match_args__")
    given = None if listed is None else ev.sequence(listed[1])
    names = list(next((k.fields for k in kind.chain() if k.fields), {})) if given is None else [str(n) for n in given]
    if len(pattern.patterns) > len(names):
        ev.fail("F502", pattern, f"a pattern with more places than `{kind.name}` has fields", "name them: Class(attribute=...)")
    pairs = [*zip(names, pattern.patterns, strict=False), *zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)]
    for name, inner in pairs:
        value = objects.find(ev, pattern.cls, subject, name)  # pyright: ignore[reportArgumentType] -- an object or named tuple
        if value is None or not _takes(ev, inner, value[0], found):
            return False
    return True
