"""Names that an unreadable statement of the module may have changed; their values are not trusted."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from fleet.frontend.python.classes import objects
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.static import parts
from fleet.frontend.reading.values import (
    BoundMethod,
    Class,
    Descriptor,
    Dict,
    Generator,
    Lazy,
    List,
    ObjectInstance,
    Poison,
    Set,
    SourceFunction,
    TracedArray,
    Value,
)

_WRITING = frozenset({"sort", "fill", "put", "itemset", "partition", "resize", "setfield", "setflags", "byteswap"})
"""Methods of arrays that change them."""


def lost(statement: ast.stmt, variables: Mapping[str, Value]) -> tuple[list[str], bool]:
    """Names of the module that hold what the statement may have changed, under whatever name; whether it may have drawn from
    `np.random`.

    The statement itself changes what it calls something with, or assigns to a part of. A function that it calls, directly or by
    way of others, changes the module's names that it assigns to a part of or calls a method of.
    """
    touched = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    changed = [v for n, v in variables.items() if n in touched and _in_place(statement, n)]
    random = _uses_random(statement)
    work = [v for n, v in variables.items() if n in touched]
    seen: set[ast.AST] = set()
    while work:
        for function in _functions(work.pop()):
            if function.node in seen:
                continue
            seen.add(function.node)
            random = random or _uses_random(function.node)
            inner = {n.id for n in ast.walk(function.node) if isinstance(n, ast.Name)}
            work += [v for n, v in variables.items() if n in inner]
            changed += [v for n, v in variables.items() if n in inner and _writes(function.node, n, v)]
    ids = {i for value in changed for i in _identities(value)}
    return [n for n, v in variables.items() if not ids.isdisjoint(_identities(v))], random


def poison_whole(ev: Evaluator, target: ast.expr | None) -> None:
    """Poison what holds the part that a statement would have assigned: an array or container, or an object's attribute."""
    while isinstance(target, ast.Subscript):
        target = target.value
    if isinstance(target, ast.Name):
        ev.frame.target(target.id).variables[target.id] = Poison()
    elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        frame = ev.frame.owner(target.value.id) or ev.frame.module()
        owner = frame.variables.get(target.value.id)
        if isinstance(owner, ObjectInstance):
            owner.attributes[objects.mangled(ev, target.attr)] = Poison()


def _in_place(statement: ast.stmt, name: str) -> bool:
    """Return whether the statement calls something with the name, or assigns to a part of it."""
    return any(
        (isinstance(node, ast.Call | ast.Subscript | ast.AugAssign) or _stored(node))
        and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))
        for node in ast.walk(statement)
    )


def _stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load)


def _writes(function: ast.AST, name: str, value: Value) -> bool:
    """Return whether the function assigns to a part of the name, or calls a method of it that may change it."""
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript | ast.Attribute) and _stored(node) and _root(node) == name:
            return True
        if isinstance(node, ast.AugAssign) and _root(node.target) == name:
            return True
        called = node.func if isinstance(node, ast.Call) else None
        if not isinstance(called, ast.Attribute) or _root(called) != name:
            continue
        if called.attr in _WRITING or not isinstance(value, TracedArray):
            return True
    return False


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _uses_random(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Name | ast.Attribute) and ("random" in _word(n) or "rng" in _word(n)) for n in ast.walk(node))


def _word(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _functions(value: Value) -> Iterator[SourceFunction]:
    """Return the functions that a call of the value, or of a method of it, may run."""
    match value:
        case SourceFunction():
            yield value
        case BoundMethod():
            if isinstance(value.function, SourceFunction):
                yield value.function
            yield from _functions(value.owner)
        case Class():
            for part in value.names.values():
                found = part.function if isinstance(part, Descriptor) else part
                if isinstance(found, SourceFunction):
                    yield found
            for base in value.bases:
                yield from _functions(base)
        case ObjectInstance():
            yield from _functions(value.kind)
        case _:
            pass


def _identities(value: Value) -> set[int]:
    """Identities of the mutable things that a value holds; an array and its views have one."""
    found: set[int] = set()
    work = [value]
    while work:
        at = work.pop()
        match at:
            case TracedArray():
                own = id(at.storage)
            case Generator():
                own = id(at.stream)
            case List() | Dict() | Set() | ObjectInstance() | Class() | Lazy():
                own = id(at)
            case _:
                own = 0
        if own in found:
            continue
        if own:
            found.add(own)
        work += [v for _, v in parts(at)]
    return found
