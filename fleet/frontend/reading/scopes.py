"""Which names a function, comprehension or module binds, by Python's rules."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
ScopeNode: TypeAlias = ast.FunctionDef | ast.Lambda | Comprehension | ast.Module | ast.ClassDef
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(frozen=True)
class Scope:
    """Names that are local, and those declared `global` or `nonlocal`."""

    local: frozenset[str] = frozenset()
    of_module: frozenset[str] = frozenset()
    of_enclosing: frozenset[str] = frozenset()


def scope_of(node: ScopeNode) -> Scope:
    """The scope of a node. Nested functions and comprehensions have their own, but `:=` in the latter binds outside."""
    if isinstance(node, _COMPREHENSIONS):
        return Scope(frozenset(n for g in node.generators for n in bound_names([g.target])))
    local: set[str] = set()
    of_module: set[str] = set()
    of_enclosing: set[str] = set()
    if isinstance(node, ast.FunctionDef | ast.Lambda):
        spec = node.args
        local.update(a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs))
        local.update(a.arg for a in (spec.vararg, spec.kwarg) if a is not None)
    body: Sequence[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else node.body
    for inner in _own(body):
        match inner:
            case ast.Global():
                of_module.update(inner.names)
            case ast.Nonlocal():
                of_enclosing.update(inner.names)
            case _:
                local.update(_names(inner))
    local -= of_module | of_enclosing
    return Scope(frozenset(local), frozenset(of_module), frozenset(of_enclosing))


def bound_names(body: Sequence[ast.AST]) -> set[str]:
    """Every name that these nodes bind in the scope that they stand in."""
    return {name for node in _own(body) for name in _names(node)}


def _names(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()):
            yield node.id
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield alias.asname or alias.name.split(".")[0]
        case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if node.name:
            yield node.name
        case ast.MatchMapping() if node.rest:
            yield node.rest
        case _:
            pass


def _own(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes below, without those that stand in a scope of their own."""
    work: list[tuple[ast.AST, bool]] = [(n, False) for n in reversed(body)]
    while work:
        node, nested = work.pop()
        if not nested:
            yield node
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        if isinstance(node, ast.NamedExpr) and nested:
            yield node.target
        inner = nested or isinstance(node, _COMPREHENSIONS)
        work.extend((child, inner) for child in ast.iter_child_nodes(node))
