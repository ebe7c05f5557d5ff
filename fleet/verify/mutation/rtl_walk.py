"""Walks an elaborated design: which expressions of its text can be changed, and into what.

slang elaborates the design as it is built (top, parameters). So code that a device leaves out has no sites, and constants, types
and widths are known. `SYNTHESIS` is defined, which removes observers and assertions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyslang
from pyslang import ast
from pyslang.syntax import FunctionDeclarationSyntax

from fleet.errors import DeviceError
from fleet.verify.mutation import rtl_operators as operators
from fleet.verify.mutation.mutant import ended

_ESCAPED = re.compile(r"\\\S+")
_LANGUAGE = {".sv", ".v"}  # waiver files are in the same list


@dataclass
class RtlSite:
    """An expression: bytes `start` to `end` of a file, in a module or function, with its alternatives (operator, text).

    function: start of the enclosing function's body; 0 in a module.
    """

    file: Path
    start: int
    end: int
    unit: str
    function: int
    alternatives: dict[tuple[str, str], None] = field(default_factory=dict[tuple[str, str], None])


def sites(
    sources: Sequence[Path], include_dirs: Sequence[Path], top: str, parameters: Mapping[str, int], mutable: set[Path]
) -> list[RtlSite]:
    """Return all sites in the files `mutable`, by file and place. Raises DeviceError if slang fails."""
    d = pyslang.driver.Driver()
    d.addStandardArgs()
    words = ["slang", "-DSYNTHESIS", "--top", top, *(f"-G{n}={v}" for n, v in parameters.items())]
    words += [f"-I{p}" for p in include_dirs] + [str(p) for p in sources if p.suffix in _LANGUAGE]
    if not (d.parseCommandLine(" ".join(f'"{w}"' for w in words)) and d.processOptions() and d.parseAllSources()):
        raise DeviceError("slang cannot read the hardware", where=top)
    compilation = d.createCompilation()
    d.reportCompilation(compilation, True)
    if compilation.hasFatalErrors:
        raise DeviceError("slang cannot elaborate the hardware", where=top)
    return sites_of(d.sourceManager, compilation.getRoot().topInstances, mutable)


def sites_of(manager: pyslang.SourceManager, instances: Iterable[ast.InstanceSymbol], mutable: set[Path]) -> list[RtlSite]:
    """Return all sites of elaborated instances in the files `mutable`, by file and place."""
    walker = _Walker(manager, {p.resolve() for p in mutable})
    for instance in instances:
        walker.body(instance.body)
    return walker.finished()


class _Walker:
    """Collects sites. Functions are visited where they are called."""

    def __init__(self, manager: pyslang.SourceManager, mutable: set[Path]) -> None:
        self._manager, self._mutable = manager, mutable
        self._texts: dict[Path, bytes] = {}
        self._sites: dict[tuple[Path, int, int], RtlSite] = {}
        self._fixed: set[tuple[Path, int, int]] = set()
        self._units: list[tuple[str, int]] = []
        self._entered: set[tuple[str, str]] = set()
        self._constant_functions: set[str] = set()

    def finished(self) -> list[RtlSite]:
        """Return the sites with alternatives, without those constant in some instance or in a function called by constants."""
        for s in self._sites.values():
            s.alternatives = dict.fromkeys(operators.harmless(s.alternatives))
        good = [
            s
            for key, s in self._sites.items()
            if s.alternatives and key not in self._fixed and s.unit not in self._constant_functions
        ]
        return sorted(good, key=lambda s: (str(s.file), s.start, -s.end))

    # Module members.

    def body(self, body: ast.InstanceBodySymbol) -> None:
        """Visit an instance of a module."""
        self._units.append((body.definition.name, 0))
        self._scope(body)
        self._units.pop()

    def _scope(self, scope: Iterable[ast.Symbol]) -> None:
        for member in scope:
            if isinstance(member, ast.ContinuousAssignSymbol):
                self._expression(member.assignment, None)
            elif isinstance(member, ast.ProceduralBlockSymbol):
                if member.procedureKind.name in {"AlwaysComb", "AlwaysFF", "Always", "AlwaysLatch"}:
                    self._statement(member.body, reset=False)
            elif isinstance(member, ast.GenerateBlockSymbol):
                if not member.isUninstantiated:
                    self._scope(member)
            elif isinstance(member, ast.GenerateBlockArraySymbol):
                self._scope(member)
            elif isinstance(member, ast.InstanceSymbol):
                for connection in member.portConnections:
                    if (
                        getattr(connection.port, "direction", None) == ast.ArgumentDirection.In
                        and connection.expression is not None
                    ):
                        self._expression(connection.expression, None)
                if member.isModule:
                    self.body(member.body)
            elif isinstance(member, ast.InstanceArraySymbol):
                self._scope(member)
            elif isinstance(member, ast.ParameterSymbol):
                self._constant_calls(member.initializer)

    def _constant_calls(self, expression: ast.Expression | None) -> None:
        """Mark functions called from a constant: they cannot read which mutant is active at run time."""

        def look(node: object) -> None:
            if isinstance(node, ast.CallExpression) and isinstance(node.subroutine, ast.SubroutineSymbol):
                name = node.subroutine.name
                if name not in self._constant_functions:
                    self._constant_functions.add(name)
                    node.subroutine.body.visit(look)

        if expression is not None:
            expression.visit(look)

    # Statements.

    def _statement(self, s: ast.Statement | None, *, reset: bool) -> None:
        if s is None:
            return
        if isinstance(s, ast.BlockStatement | ast.ForLoopStatement | ast.ForeachLoopStatement):
            self._statement(s.body, reset=reset)  # the loop's own bounds stay, because it is unrolled
        elif isinstance(s, ast.TimedStatement):
            self._statement(s.stmt, reset=reset)
        elif isinstance(s, ast.StatementList):
            for part in s.list:
                self._statement(part, reset=reset)
        elif isinstance(s, ast.ConditionalStatement):
            condition = s.conditions[0].expr
            is_reset = operators.is_reset(self._text_of(condition))
            if not is_reset:
                self._expression(condition, None)
                self._add(condition, operators.negated(condition, self._text_of(condition)))
            self._statement(s.ifTrue, reset=reset or is_reset)
            self._statement(s.ifFalse, reset=reset)
        elif isinstance(s, ast.CaseStatement):
            self._expression(s.expr, None)
            if s.condition == ast.CaseStatementCondition.Normal:
                labels = [(e, self._text_of(e)) for item in s.items for e in item.expressions]
                self._add(s.expr, operators.exchanged_labels(s.expr, self._text_of(s.expr), labels))
            for item in s.items:
                self._statement(item.stmt, reset=reset)
            self._statement(s.defaultCase, reset=reset)
        elif isinstance(s, ast.ExpressionStatement):
            self._expression(s.expr, None, reset=reset)
        elif isinstance(s, ast.ReturnStatement):
            self._expression(s.expr, None)
        elif isinstance(s, ast.VariableDeclStatement):
            self._expression(s.symbol.initializer, None)

    # Expressions.

    def _expression(self, e: ast.Expression | None, parent: ast.Expression | None, *, reset: bool = False) -> None:
        if e is None:
            return
        if isinstance(e, ast.AssignmentExpression):
            if e.isLValueArg:
                return
            left, right = self._text_of(e.left), self._text_of(e.right)
            if operators.is_sink(left):
                return
            self._expression(e.right, e)
            if left and right and not e.isCompound:
                self._add(e.right, operators.held(e, left, right, self._names(e), reset=reset))
            return
        if operators.is_constant(e):
            self._fix(e)
            if parent is not None:
                for leaf in operators.leaves(e):
                    self._add(leaf, operators.constants(leaf, self._text_of(leaf)))
            return
        self._add(e, operators.of_expression(e, self._text_of))
        for part in self._parts(e):
            self._expression(part, e)

    def _parts(self, e: ast.Expression) -> Iterator[ast.Expression]:
        """Yield the operands that are read at run time, without those that must be constant."""
        yield from operators.operands(e)
        if isinstance(e, ast.ElementSelectExpression | ast.RangeSelectExpression | ast.MemberAccessExpression):
            yield from self._indices(e)
        elif isinstance(e, ast.StructuredAssignmentPatternExpression):
            yield from (s.expr for s in e.memberSetters)
        elif isinstance(e, ast.SimpleAssignmentPatternExpression):
            yield from e.elements
        elif isinstance(e, ast.CallExpression):
            if e.isSystemCall:
                if e.subroutineName in {"$signed", "$unsigned"}:
                    yield from e.arguments
                return
            subroutine = e.subroutine
            if not isinstance(subroutine, ast.SubroutineSymbol):
                return
            for formal, actual in zip(subroutine.arguments, e.arguments, strict=False):
                if formal.direction == ast.ArgumentDirection.In:
                    yield actual
            self._function(subroutine)

    def _indices(self, e: ast.Expression) -> Iterator[ast.Expression]:
        """Yield the indices of a chain `a[i].b[j +: 8]`. The selected object must stay a name, so it is left out."""
        if isinstance(e, ast.ElementSelectExpression):
            if not operators.is_constant(e.selector):
                yield e.selector
            yield from self._indices(e.value)
        elif isinstance(e, ast.RangeSelectExpression):
            if e.selectionKind != ast.RangeSelectionKind.Simple and not operators.is_constant(e.left):
                yield e.left
            yield from self._indices(e.value)
        elif isinstance(e, ast.MemberAccessExpression):
            yield from self._indices(e.value)

    def _function(self, subroutine: ast.SubroutineSymbol) -> None:
        key = (subroutine.hierarchicalPath, subroutine.name)
        syntax = subroutine.syntax
        if key in self._entered or "DPI" in str(subroutine.flags) or not isinstance(syntax, FunctionDeclarationSyntax):
            return
        self._entered.add(key)
        self._units.append((subroutine.name, syntax.semi.range.end.offset))
        self._statement(subroutine.body, reset=False)
        self._units.pop()

    # Text and places.

    def _where(self, e: ast.Expression) -> tuple[Path, int, int] | None:
        """Return file and bytes of an expression; None if its file is not mutable or it comes from a macro."""
        span = e.sourceRange
        if not (self._manager.isFileLoc(span.start) and self._manager.isFileLoc(span.end)):
            return None
        if span.start.buffer != span.end.buffer:
            return None
        file = Path(str(self._manager.getFullPath(span.start.buffer))).resolve()
        return (file, span.start.offset, span.end.offset) if file in self._mutable else None

    def _text_of(self, e: ast.Expression) -> str:
        """Return the text of an expression; "" if it cannot be changed."""
        where = self._where(e)
        if where is None:
            return ""
        if where[0] not in self._texts:
            self._texts[where[0]] = where[0].read_bytes()
        return ended(self._texts[where[0]][where[1] : where[2]]).decode()

    def _names(self, e: ast.Expression) -> set[str]:
        """Return the names that a held value may have, as far as the file contains them."""
        where = self._where(e)
        if where is None or where[0] not in self._texts:
            return set()
        return set(operators.WORD.findall(_ESCAPED.sub(" ", self._texts[where[0]].decode())))

    def _fix(self, e: ast.Expression) -> None:
        """Exclude this site: the value is constant here but may differ in another instance."""
        where = self._where(e)
        if where is not None and where in self._sites:
            self._fixed.add(where)

    def _add(self, e: ast.Expression, alternatives: Sequence[tuple[str, str]]) -> None:
        where = self._where(e)
        if where is None or not alternatives or not e.type.isIntegral:
            return
        site = self._sites.setdefault(where, RtlSite(*where, *self._units[-1]))
        for operator, text in alternatives:
            site.alternatives[(operator, text)] = None
