"""Finds the places of sources that a program runs: imports them with a mark before each statement and conditional expression.

A place is a span of characters that runs completely or not at all, except for smaller places inside it: a statement, an arm of
`a if b else c`, an operand after `and` or `or`, the body of a lambda, the element of a comprehension.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from fleet.verify.changed_modules import change_modules, file_of
from fleet.verify.source_spans import SourceSpans

_MARK = "_reached_"
_BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class SourcePlace:
    """Characters start <= c < end of a source. line: of its start; whole: it defines a function or a class."""

    start: int
    end: int
    line: int
    whole: bool


def innermost(places: Sequence[SourcePlace], start: int, end: int) -> int:
    """Return the number of the smallest place that contains these characters. Raises ValueError if there is none."""
    return min((p.end - p.start, n) for n, p in enumerate(places) if p.start <= start and end <= p.end)[1]


def marked(source: str, first: int = 0) -> tuple[ast.Module, tuple[SourcePlace, ...]]:
    """Return the source with marks, and its places. The marks are numbered from `first`. Raises SyntaxError."""
    marks = _Marks(source, first)
    tree = marks.visit(ast.parse(source))
    return ast.fix_missing_locations(tree), tuple(marks.places)


def watch(files: Mapping[Path, int], reached: Callable[[int], None]) -> None:
    """Let marks in the files, which this process imports later, call `reached` with their numbers, from the file's first one on."""
    firsts = {str(f.resolve()): first for f, first in files.items()}

    def loader(spec: ModuleSpec, own: Loader) -> Loader | None:
        del own
        file = file_of(spec)
        return None if file not in firsts else _Loader(spec.name, str(spec.origin), firsts[file], reached)

    change_modules(loader)


class _Marks(ast.NodeTransformer):
    def __init__(self, source: str, first: int) -> None:
        self._first = first
        self._spans = SourceSpans(source)
        self.places: list[SourcePlace] = []

    def _mark(self, node: ast.expr | ast.stmt) -> ast.Call:
        start, end = self._spans.of(node)
        self.places.append(SourcePlace(start, end, node.lineno, isinstance(node, ast.FunctionDef | ast.ClassDef)))
        number = ast.Constant(self._first + len(self.places) - 1)
        return ast.copy_location(ast.Call(ast.Name(_MARK, ast.Load()), [number], []), node)

    def _conditional(self, node: ast.expr) -> ast.expr:
        return ast.copy_location(ast.BoolOp(ast.Or(), [self._mark(node), self.visit(node)]), node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, name, [new for i, s in enumerate(block) for new in self._statement(s, i)])
        for name, value in ast.iter_fields(node):
            if name in _BLOCKS and isinstance(value, list):
                continue
            if isinstance(value, ast.AST):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list):
                setattr(node, name, [self.visit(v) if isinstance(v, ast.AST) else v for v in value])
        return node

    def _statement(self, s: ast.stmt, number: int) -> list[ast.stmt]:
        first = number == 0 and isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)
        if first or (isinstance(s, ast.ImportFrom) and s.module == "__future__"):
            return [s]
        mark = ast.copy_location(ast.Expr(self._mark(s)), s)
        return [mark, self.visit(s)]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        node.values = [self.visit(node.values[0]), *map(self._conditional, node.values[1:])]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        node.test, node.body, node.orelse = self.visit(node.test), self._conditional(node.body), self._conditional(node.orelse)
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        node.args, node.body = self.visit(node.args), self._conditional(node.body)
        return node

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> ast.AST:
        node.elt = self._conditional(node.elt)
        self._generators(node.generators)
        return node

    visit_ListComp = visit_SetComp = visit_GeneratorExp = _comprehension

    def visit_DictComp(self, node: ast.DictComp) -> ast.AST:
        node.key, node.value = self._conditional(node.key), self._conditional(node.value)
        self._generators(node.generators)
        return node

    def _generators(self, generators: list[ast.comprehension]) -> None:
        for i, g in enumerate(generators):
            g.iter = self._conditional(g.iter) if i else self.visit(g.iter)
            g.ifs = [self._conditional(test) for test in g.ifs]


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, first: int, reached: Callable[[int], None]) -> None:
        super().__init__(name, path)
        self._first, self._reached = first, reached

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module with the function that the marks call."""
        vars(module)[_MARK] = self._reached
        super().exec_module(module)

    def get_code(self, fullname: str) -> CodeType | None:
        """Compile the marked source; never use cached byte code."""
        tree, _ = marked(Path(self.path).read_text(encoding="utf-8"), self._first)
        return compile(tree, self.path, "exec", dont_inherit=True)
