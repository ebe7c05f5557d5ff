"""Mutation operators for Python: all places of a source file that can be changed, and the changed text.

Uses only the standard library and `source_spans`, because a process with changed modules imports this module before them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fleet.verify.source_spans import SourceSpans

_BINARY: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("arithmetic", "-"),
    ast.Sub: ("arithmetic", "+"),
    ast.Mult: ("arithmetic", "+"),
    ast.FloorDiv: ("arithmetic", "%"),
    ast.Div: ("arithmetic", "*"),
    ast.Mod: ("arithmetic", "//"),
    ast.LShift: ("shift", ">>"),
    ast.RShift: ("shift", "<<"),
    ast.BitAnd: ("bitwise", "|"),
    ast.BitOr: ("bitwise", "&"),
    ast.BitXor: ("bitwise", "|"),
}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}
_ONLY_SAID = {"what", "where", "hint", "detail", "message"}


@dataclass(frozen=True)
class TextEdit:
    """Characters `start` to `end` of a source become `after`."""

    start: int
    end: int
    line: int
    unit: str
    operator: str
    before: str
    after: str


def changes(source: str) -> list[TextEdit]:
    """Return all changes of a file, by place, without messages, annotations and docstrings. Raises SyntaxError."""
    finder = _Finder(source)
    finder.visit_all(ast.parse(source).body, ())
    unique = {(c.start, c.end, c.operator, c.after): c for c in finder.found}
    return sorted(unique.values(), key=lambda c: (c.start, c.end, c.operator, c.after))


def changed(source: str, change: TextEdit) -> str:
    """Return the source with the change."""
    return source[: change.start] + change.after + source[change.end :]


class _Finder:
    def __init__(self, source: str) -> None:
        self._source = source
        self._spans = SourceSpans(source)
        self.found: list[TextEdit] = []

    # Places.

    def _text(self, node: ast.expr) -> str:
        start, end = self._spans.of(node)
        return self._source[start:end]

    def _add(self, node: ast.expr | ast.stmt, unit: Sequence[str], operator: str, after: str) -> None:
        start, end = self._spans.of(node)
        before = self._source[start:end]
        if before != after:
            self.found.append(TextEdit(start, end, node.lineno, ".".join(unit) or "module", operator, before, after))

    # Statements.

    def visit_all(self, body: Sequence[ast.stmt], unit: tuple[str, ...]) -> None:
        for i, statement in enumerate(body):
            docstring = i == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not docstring:
                self._statement(statement, unit)

    def _statement(self, s: ast.stmt, unit: tuple[str, ...]) -> None:
        if isinstance(s, ast.FunctionDef | ast.ClassDef):
            inner = (*unit, s.name)
            if isinstance(s, ast.FunctionDef):
                if s.name in {"__repr__", "__str__"}:
                    return
                for default in (*s.args.defaults, *(d for d in s.args.kw_defaults if d is not None)):
                    self._expression(default, inner)
            self.visit_all(s.body, inner)
            return
        if isinstance(s, ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal):
            return
        if isinstance(s, ast.Assign | ast.AnnAssign):
            if s.value is not None and not _is_all(s):
                self._expression(s.value, unit)
            return
        if isinstance(s, ast.Expr):
            if isinstance(s.value, ast.Call):
                self._add(s, unit, "removed", "pass")
            self._expression(s.value, unit)
            return
        if isinstance(s, ast.AugAssign):
            self._add(s, unit, "removed", "pass")
            operator = _BINARY.get(type(s.op))
            if operator is not None:
                self._add(s, unit, operator[0], f"{self._text(s.target)} {operator[1]}= {self._text(s.value)}")
            self._expression(s.value, unit)
            return
        if isinstance(s, ast.If | ast.While):
            if _is_type_checking(s.test):
                return
            self._condition(s.test, unit)
        if isinstance(s, ast.Continue | ast.Break):
            self._add(s, unit, "removed", "pass")
        for name, value in ast.iter_fields(s):
            if name in {"body", "orelse", "finalbody"} and isinstance(value, list):
                self.visit_all([x for x in value if isinstance(x, ast.stmt)], unit)
            elif name == "handlers":
                for handler in value:
                    self.visit_all(handler.body, unit)
            elif isinstance(value, ast.expr) and name not in {"annotation", "target"}:
                self._expression(value, unit)
        if isinstance(s, ast.Match):
            for case in s.cases:
                self.visit_all(case.body, unit)

    def _condition(self, test: ast.expr, unit: tuple[str, ...]) -> None:
        if not isinstance(test, ast.Compare | ast.UnaryOp):
            self._add(test, unit, "condition", f"(not ({self._text(test)}))")

    # Expressions.

    def _expression(self, e: ast.expr, unit: tuple[str, ...]) -> None:
        if isinstance(e, ast.JoinedStr) or (isinstance(e, ast.Constant) and isinstance(e.value, str)):
            return
        if isinstance(e, ast.BinOp):
            operator = _BINARY.get(type(e.op))
            if operator is not None and not _is_text(e.left) and not _is_text(e.right):
                self._add(e, unit, operator[0], f"({self._text(e.left)}) {operator[1]} ({self._text(e.right)})")
        elif isinstance(e, ast.Compare) and len(e.ops) == 1:
            self._add(e, unit, "relational", f"({self._text(e.left)}) {_COMPARE[type(e.ops[0])]} ({self._text(e.comparators[0])})")
        elif isinstance(e, ast.BoolOp):
            joint = " or " if isinstance(e.op, ast.And) else " and "
            self._add(e, unit, "boolean", "(" + joint.join(f"({self._text(v)})" for v in e.values) + ")")
        elif isinstance(e, ast.UnaryOp):
            if isinstance(e.op, ast.Not | ast.USub | ast.Invert):
                self._add(e, unit, "negation", f"({self._text(e.operand)})")
        elif isinstance(e, ast.Constant):
            self._constant(e, unit)
        elif isinstance(e, ast.IfExp):
            self._condition(e.test, unit)
        elif isinstance(e, ast.Call):
            self._call(e, unit)
        elif isinstance(e, ast.Slice):
            return
        for part in self._parts(e):
            self._expression(part, unit)

    def _constant(self, e: ast.Constant, unit: tuple[str, ...]) -> None:
        value = e.value
        if isinstance(value, bool):
            self._add(e, unit, "constant", str(not value))
        elif isinstance(value, int):
            for other in (value + 1, value - 1):
                self._add(e, unit, "constant", str(other) if other >= 0 else f"({other})")
        elif isinstance(value, float):
            self._add(e, unit, "constant", f"({self._text(e)} + 1)")

    def _call(self, e: ast.Call, unit: tuple[str, ...]) -> None:
        arguments = e.args
        if isinstance(e.func, ast.Name) and e.func.id == "range" and arguments:
            end = arguments[1] if len(arguments) > 1 else arguments[0]
            for sign in "+-":
                self._add(end, unit, "range", f"({self._text(end)}) {sign} 1")
        elif len(arguments) >= 2 and not any(isinstance(a, ast.Starred) for a in arguments[:2]):
            start, end = self._spans.of(arguments[0])[0], self._spans.of(arguments[1])[1]
            one, two = self._text(arguments[0]), self._text(arguments[1])
            between = self._source[self._spans.of(arguments[0])[1] : self._spans.of(arguments[1])[0]]
            if one != two:
                unit_name = ".".join(unit) or "module"
                text = self._source[start:end]
                self.found.append(TextEdit(start, end, e.lineno, unit_name, "arguments", text, f"{two}{between}{one}"))

    def _parts(self, e: ast.expr) -> Iterator[ast.expr]:
        if isinstance(e, ast.Lambda):
            yield e.body
            return
        if isinstance(e, ast.Call):
            yield e.func
            yield from (a.value if isinstance(a, ast.Starred) else a for a in e.args)
            yield from (k.value for k in e.keywords if k.arg not in _ONLY_SAID)
            return
        if isinstance(e, ast.Subscript):
            yield e.value
            if isinstance(e.slice, ast.Slice):
                for bound in (e.slice.lower, e.slice.upper, e.slice.step):
                    if bound is not None:
                        yield bound
            else:
                yield e.slice
            return
        for child in ast.iter_child_nodes(e):
            if isinstance(child, ast.expr):
                yield child
            elif isinstance(child, ast.comprehension):
                yield child.iter
                yield from child.ifs


def _is_text(e: ast.expr) -> bool:
    return isinstance(e, ast.JoinedStr) or (isinstance(e, ast.Constant) and isinstance(e.value, str))


def _is_all(s: ast.Assign | ast.AnnAssign) -> bool:
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]
    return any(isinstance(t, ast.Name) and t.id == "__all__" for t in targets)


def _is_type_checking(e: ast.expr) -> bool:
    return isinstance(e, ast.Name) and e.id == "TYPE_CHECKING"
