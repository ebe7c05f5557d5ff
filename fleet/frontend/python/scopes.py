"""Which names a function, comprehension or module binds, and where a name's value is found (Python's rules)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from fleet.frontend.python.values import Class, Value

Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)


@dataclass(frozen=True)
class Scope:
    """Names that are local, and those declared `global` or `nonlocal`."""

    local: frozenset[str] = frozenset()
    of_module: frozenset[str] = frozenset()
    of_enclosing: frozenset[str] = frozenset()


@dataclass(eq=False)
class Frame:
    """The variables of one call, comprehension or module.

    Attributes:
        function: name for identities and messages.
        depth: calls deep; 0 is the model itself.
        parent: the frame that encloses it in the text; None for the module's.
        body_of: the class whose body this is. method_of: the class of the method that this is a call of; `receiver` its first
            argument.
    """

    function: str
    depth: int
    scope: Scope
    parent: Frame | None = None
    variables: dict[str, Value] = field(default_factory=dict)
    body_of: Class | None = None
    method_of: Class | None = None
    receiver: Value = None

    @property
    def around(self) -> Frame:
        """The frame that a function defined here sees: not a class's body, whose names only the body itself sees."""
        return self.parent if self.body_of is not None and self.parent is not None else self

    def within_class(self) -> Class | None:
        """The class in whose text this frame stands, nearest first."""
        frame: Frame | None = self
        while frame is not None:
            found = frame.body_of or frame.method_of
            if found is not None:
                return found
            frame = frame.parent
        return None

    def owner(self, name: str) -> Frame | None:
        """The frame of functions that `name` belongs to, by the text; None for names of the module and builtins."""
        if name in self.scope.of_module:
            return None
        frame: Frame = self
        while frame.parent is not None:
            if name in frame.scope.local and (frame.body_of is None or name in frame.variables):
                return frame
            if name in frame.scope.of_module:
                return None
            frame = frame.parent
        return None

    def module(self) -> Frame:
        """The module's frame."""
        frame = self
        while frame.parent is not None:
            frame = frame.parent
        return frame

    def target(self, name: str) -> Frame:
        """The frame in which assigning to `name` binds it."""
        if name in self.scope.of_module:
            return self.module()
        if name in self.scope.local or self.parent is None:
            return self
        return self.owner(name) or self


def scope_of(node: ast.FunctionDef | ast.Lambda | Comprehension | ast.Module | ast.ClassDef) -> Scope:
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
        case ast.ExceptHandler() if node.name:
            yield node.name
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
