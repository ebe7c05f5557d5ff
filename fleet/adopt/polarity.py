"""Polarity of resets and memory enables, active high or active low, from their use in the sources; clocks and resets whose names do
not tell that they are.

A reset is followed from the port of the top through assignments and instances to the edges and the first conditions of clocked
blocks. An enable of a memory is followed to the conditions that ask for it; one that the design drives, back to what drives it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from pyslang import SourceLocation, ast

from fleet.adopt.ports import EdgeUse, Polarity

_RESET = re.compile(r"rst|reset|n?por(_|\b)", re.I)
_ENABLE = re.compile(r"(^|_|[a-z0-9])(ce|cs|we|re|ren|rd|wr|wren|rden|gwe)_?[nb](_[io])?$", re.I)
_ENOUGH = 16
_MADE_OF = re.compile(r"^\s*/\*#? (.+:\d+):\d+\s*\*/$")
"""A line in what ghdl makes of VHDL."""

_EQUAL = (ast.BinaryOperator.Equality, ast.BinaryOperator.CaseEquality)
_UNEQUAL = (ast.BinaryOperator.Inequality, ast.BinaryOperator.CaseInequality)
_AND = (ast.BinaryOperator.BinaryAnd, ast.BinaryOperator.LogicalAnd)
_OR = (ast.BinaryOperator.BinaryOr, ast.BinaryOperator.LogicalOr)
_LITERALS = (
    ast.IntegerLiteral, ast.UnbasedUnsizedIntegerLiteral, ast.SimpleAssignmentPatternExpression,
    ast.StructuredAssignmentPatternExpression, ast.ReplicatedAssignmentPatternExpression,
)  # fmt: skip
_NOT = (ast.UnaryOperator.BitwiseNot, ast.UnaryOperator.LogicalNot)


@dataclass(frozen=True)
class _Use:
    """One use of a signal. low: it is active low by that."""

    low: bool
    text: str
    where: SourceLocation


@dataclass
class _Module:
    """What a module does with its signals, by their names.

    clocked: blocks wait for their edges; cleared: for theirs beside a clock's, and what they choose is constant.
    """

    resets: dict[str, list[_Use]] = field(default_factory=dict[str, list[_Use]])
    clocked: dict[str, list[_Use]] = field(default_factory=dict[str, list[_Use]])
    cleared: dict[str, list[_Use]] = field(default_factory=dict[str, list[_Use]])
    asked: dict[str, list[_Use]] = field(default_factory=dict[str, list[_Use]])
    driven: dict[str, list[_Use]] = field(default_factory=dict[str, list[_Use]])
    aliases: dict[str, list[tuple[str, bool]]] = field(default_factory=dict[str, list[tuple[str, bool]]])
    below: dict[str, list[tuple[ast.InstanceBodySymbol, str, bool]]] = field(
        default_factory=dict[str, list[tuple[ast.InstanceBodySymbol, str, bool]]]
    )


def polarities(instance: ast.InstanceSymbol, place: Callable[[SourceLocation], str]) -> Iterator[Polarity]:
    """Yield the polarity of each reset and enable of one bit among the ports of a top that its sources tell.

    place: `file:line` of a location.
    """
    reader = _Reader()
    for port in instance.body.portList:
        if not isinstance(port, ast.PortSymbol) or port.type.bitWidth != 1:
            continue
        is_input = port.direction == ast.ArgumentDirection.In
        if not ((is_input and _RESET.search(port.name)) or _ENABLE.search(port.name)):
            continue
        kind = "driven" if not is_input else "resets" if _RESET.search(port.name) else "asked"
        found = list(islice(reader.uses(instance.body, port.name, kind, inverted=False, seen=set()), _ENOUGH))
        if not found:
            continue
        low, high = (next((u for u in found if u.low is low), None) for low in (True, False))
        first = found[0]
        where, in_vhdl = _origin(place(first.where))
        text = f"{port.name} = '{'0' if first.low else '1'}'" if in_vhdl else first.text
        yield Polarity(port.name, None if low and high else first.low, text, where)


def uses_by_edge(instance: ast.InstanceSymbol, place: Callable[[SourceLocation], str]) -> Iterator[EdgeUse]:
    """Yield each input of one bit whose edges the blocks of a top wait for: as a clock, or as an asynchronous reset.

    place: `file:line` of a location.
    """
    reader = _Reader()
    for port in instance.body.portList:
        if not isinstance(port, ast.PortSymbol) or port.type.bitWidth != 1 or port.direction != ast.ArgumentDirection.In:
            continue
        for protocol, kind in (("reset", "cleared"), ("clock", "clocked")):
            use = next(reader.uses(instance.body, port.name, kind, inverted=False, seen=set()), None)
            if use is not None:
                where, in_vhdl = _origin(place(use.where))
                text = f"{port.name} = '{'0' if use.low else '1'}'" if in_vhdl and kind == "cleared" else use.text
                yield EdgeUse(port.name, protocol, use.low, text, where)
                break


class _Reader:
    def __init__(self) -> None:
        self._modules: dict[str, _Module] = {}

    def uses(
        self, body: ast.InstanceBodySymbol, name: str, kind: str, *, inverted: bool, seen: set[tuple[str, str, bool]]
    ) -> Iterator[_Use]:
        """Yield the uses of a signal in a module, then those behind its other names, then those below."""
        key = (body.definition.name, name, inverted)
        if key in seen:
            return
        seen.add(key)
        module = self._module(body)
        kinds = {
            "resets": module.resets, "asked": module.asked, "driven": module.driven, "clocked": module.clocked,
            "cleared": module.cleared,
        }  # fmt: skip
        for use in kinds[kind].get(name, ()):
            yield _Use(use.low != inverted, use.text, use.where)
        if kind != "driven":
            for other, turned in module.aliases.get(name, ()):
                yield from self.uses(body, other, kind, inverted=inverted != turned, seen=seen)
        for child, port, turned in module.below.get(name, ()):
            yield from self.uses(child, port, kind, inverted=inverted != turned, seen=seen)

    def _module(self, body: ast.InstanceBodySymbol) -> _Module:
        name = body.definition.name
        if name not in self._modules:
            self._modules[name] = _Module()
            _members(body, self._modules[name])
        return self._modules[name]


def _members(scope: Iterable[ast.Symbol], module: _Module) -> None:
    for member in scope:
        if isinstance(member, ast.InstanceSymbol):
            _instance(member, module)
        elif isinstance(member, ast.InstanceArraySymbol):
            _members(list(member.elements)[:1], module)
        elif isinstance(member, ast.GenerateBlockSymbol):
            if not member.isUninstantiated:
                _members(member, module)
        elif isinstance(member, ast.GenerateBlockArraySymbol):
            _members(list(member.entries)[:1], module)
        elif isinstance(member, ast.ContinuousAssignSymbol):
            assignment = member.assignment
            if isinstance(assignment, ast.AssignmentExpression) and isinstance(assignment.left, ast.NamedValueExpression):
                _assigned(assignment.left.symbol.name, assignment.right, module)
        elif isinstance(member, ast.NetSymbol):
            value = _value_of(member)
            if value is not None:
                _assigned(member.name, value, module)
        elif isinstance(member, ast.ProceduralBlockSymbol):
            _block(member.body, module)


def _value_of(net: ast.NetSymbol) -> ast.Expression | None:
    return net.initializer  # the stubs of pyslang leave None out, here and below


def _else_of(statement: ast.ConditionalStatement) -> ast.Statement | None:
    return statement.ifFalse


def _instance(instance: ast.InstanceSymbol, module: _Module) -> None:
    for connection in instance.portConnections:
        value: ast.Expression | None = connection.expression
        if not isinstance(connection.port, ast.PortSymbol) or value is None:
            continue
        if isinstance(value, ast.AssignmentExpression):  # of an output
            value = value.left
        terms = list(_terms(value))
        for name, inverted in terms if len(terms) == 1 or _RESET.search(connection.port.name) else ():
            module.below.setdefault(name, []).append((instance.body, connection.port.name, inverted))


def _assigned(name: str, value: ast.Expression, module: _Module) -> None:
    """Note an assignment outside of blocks."""
    terms = list(_terms(value))
    for other, inverted in terms:
        if len(terms) == 1 or _RESET.search(name) or not _RESET.search(other):  # `go = start & ~rst` is no reset
            module.aliases.setdefault(other, []).append((name, inverted))
    value = _plain(value)
    if isinstance(value, ast.UnaryExpression) and value.op in _NOT:
        module.driven.setdefault(name, []).append(_Use(True, f"{name} = ~...", value.sourceRange.start))
    if isinstance(value, ast.ConditionalExpression):
        first, second = _is_constant(value.left), _is_constant(value.right)
        if first != second:  # what a reset chooses is constant
            for other, inverted in _terms(value.conditions[0].expr, either=True):
                low = inverted != second
                text = f"{other} ? value : constant" if second else f"{other} ? constant : value"
                module.resets.setdefault(other, []).append(_Use(low, text, value.sourceRange.start))


def _block(statement: ast.Statement, module: _Module) -> None:
    """Note what a block that waits for an edge does with its reset, and what it asks for."""
    if not isinstance(statement, ast.TimedStatement):
        return
    timing = statement.timing
    events = list(timing.events) if isinstance(timing, ast.EventListControl) else [timing]
    edges = [e for e in events if isinstance(e, ast.SignalEventControl) and e.edge in (ast.EdgeKind.PosEdge, ast.EdgeKind.NegEdge)]
    if not edges:
        return
    for event in edges if len(edges) > 1 else ():
        if isinstance(event.expr, ast.NamedValueExpression):
            low = event.edge == ast.EdgeKind.NegEdge
            text = f"{'negedge' if low else 'posedge'} {event.expr.symbol.name}"
            module.resets.setdefault(event.expr.symbol.name, []).append(_Use(low, text, event.expr.sourceRange.start))
    told = {e.expr.symbol.name for e in edges if len(edges) > 1 and isinstance(e.expr, ast.NamedValueExpression)}
    conditions = [s for s in _statements(statement.stmt) if isinstance(s, ast.ConditionalStatement)]
    for n, condition in enumerate(conditions):
        _condition(condition, module, told, is_first=n == 0)
    _conditions(statement.stmt, module)
    _edges(edges, conditions[0] if conditions else None, module)


def _edges(edges: Sequence[ast.SignalEventControl], first: ast.ConditionalStatement | None, module: _Module) -> None:
    """Note which edges clock a block and which clear it. first: its first condition; those of its else follow."""
    asked: dict[str, bool] = {}
    statement: ast.Statement | None = first
    while isinstance(statement, ast.ConditionalStatement):
        for name, _ in _terms(statement.conditions[0].expr, either=True):
            asked.setdefault(name, _gives_constants(statement.ifTrue))
        statement = _else_of(statement)
    named = [(e, e.expr.symbol.name) for e in edges if isinstance(e.expr, ast.NamedValueExpression)]
    for event, name in named:
        low = event.edge == ast.EdgeKind.NegEdge
        use = _Use(low, f"{'negedge' if low else 'posedge'} {name}", event.expr.sourceRange.start)
        if len(edges) == 1 or name not in asked:
            module.clocked.setdefault(name, []).append(use)
        elif asked[name]:
            module.cleared.setdefault(name, []).append(use)


def _condition(statement: ast.ConditionalStatement, module: _Module, told: Set[str], *, is_first: bool) -> None:
    """Note a condition that resets: what it chooses is constant. told: signals whose edges the block waits for."""
    other = _else_of(statement)
    condition = statement.conditions[0].expr
    if _gives_constants(statement.ifTrue):
        chosen, turned = statement.ifTrue, False
    elif other is not None and _gives_constants(other):
        chosen, turned = other, True
    else:
        return  # `if (!rst) count <= count + 1;`
    terms = [t for t in _terms(condition, either=not turned) if is_first or _RESET.search(t[0])]
    for name, inverted in terms:
        text = f"if ({'!' if inverted else ''}{name}){' ... else reset' if turned else ''}"
        module.resets.setdefault(name, []).append(_Use(inverted != turned, text, condition.sourceRange.start))
    if any(name in told or _RESET.search(name) for name, _ in terms):
        for name, value, where in _values(chosen):
            module.driven.setdefault(name, []).append(_Use(value == 1, f"{name} <= {value} in reset", where))


def _conditions(statement: ast.Statement, module: _Module) -> None:
    for inner in _statements(statement):
        if isinstance(inner, ast.ConditionalStatement):
            for condition in inner.conditions:
                for name, inverted in _terms(condition.expr):
                    text = f"if ({'!' if inverted else ''}{name})"
                    module.asked.setdefault(name, []).append(_Use(inverted, text, condition.expr.sourceRange.start))
            _conditions(inner.ifTrue, module)
            other = _else_of(inner)
            if other is not None:
                _conditions(other, module)


def _statements(statement: ast.Statement) -> Iterator[ast.Statement]:
    """Yield the statements of blocks and lists."""
    if isinstance(statement, ast.BlockStatement):
        yield from _statements(statement.body)
    elif isinstance(statement, ast.StatementList):
        for inner in statement.list:
            yield from _statements(inner)
    else:
        yield statement


def _values(statement: ast.Statement) -> Iterator[tuple[str, int, SourceLocation]]:
    """Yield (signal, 0 or 1, where) of assignments of one bit."""
    for inner in _statements(statement):
        if isinstance(inner, ast.ExpressionStatement) and isinstance(inner.expr, ast.AssignmentExpression):
            assignment = inner.expr
            value = _bit(assignment.right)
            if isinstance(assignment.left, ast.NamedValueExpression) and assignment.left.type.bitWidth == 1 and value is not None:
                yield assignment.left.symbol.name, value, assignment.sourceRange.start


def _gives_constants(statement: ast.Statement) -> bool:
    """Return whether all that a statement assigns is constant, as in a reset."""
    assigned = False
    for inner in _statements(statement):
        if isinstance(inner, ast.ForLoopStatement | ast.ConditionalStatement):
            parts = [inner.body] if isinstance(inner, ast.ForLoopStatement) else [inner.ifTrue, _else_of(inner)]
            if not all(_gives_constants(part) for part in parts if part is not None):
                return False
            assigned = True
        if isinstance(inner, ast.ExpressionStatement) and isinstance(inner.expr, ast.AssignmentExpression):
            if not _is_constant(inner.expr.right):
                return False
            assigned = True
    return assigned


def _plain(value: ast.Expression) -> ast.Expression:
    while isinstance(value, ast.ConversionExpression):
        value = value.operand
    return value


def _is_constant(value: ast.Expression) -> bool:
    value = _plain(value)
    if isinstance(value, ast.NamedValueExpression):
        return isinstance(value.symbol, ast.ParameterSymbol | ast.EnumValueSymbol)
    if isinstance(value, ast.ConcatenationExpression):
        return all(_is_constant(v) for v in value.operands)
    if isinstance(value, ast.ReplicationExpression):
        return _is_constant(value.concat)
    return isinstance(value, _LITERALS)


def _bit(value: ast.Expression) -> int | None:
    """Return 0 or 1 if a value is that constant."""
    value = _plain(value)
    if isinstance(value, ast.NamedValueExpression) and isinstance(value.symbol, ast.ParameterSymbol):
        text = str(value.symbol.value)
    elif isinstance(value, ast.IntegerLiteral | ast.UnbasedUnsizedIntegerLiteral):
        text = str(value.value)
    else:
        return None
    digits = text.rpartition("'")[2].lstrip("sbdhoSBDHO")
    return int(digits) if digits in ("0", "1") else None


def _terms(value: ast.Expression, *, inverted: bool = False, either: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield (signal, whether it is inverted) of what a condition of one bit joins. either: each by itself makes it true."""
    value = _plain(value)
    if isinstance(value, ast.NamedValueExpression):
        yield value.symbol.name, inverted
    elif isinstance(value, ast.UnaryExpression) and value.op in _NOT:
        yield from _terms(value.operand, inverted=not inverted, either=either)
    elif isinstance(value, ast.BinaryExpression) and value.op in (*_AND, *_OR):
        if not either or (value.op in _OR) != inverted:
            yield from _terms(value.left, inverted=inverted, either=either)
            yield from _terms(value.right, inverted=inverted, either=either)
    elif isinstance(value, ast.BinaryExpression) and value.op in (*_EQUAL, *_UNEQUAL):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            if (bit := _bit(other)) is not None and _plain(one).type.bitWidth == 1:
                yield from _terms(one, either=either, inverted=inverted != ((bit == 0) == (value.op in _EQUAL)))


def _origin(place: str) -> tuple[str, bool]:
    """Return the place in the VHDL that a line was made of, and True; else the place as it is."""
    file, _, line = place.rpartition(":")
    path = Path(file)
    if path.suffix == ".v" and line.isdecimal() and path.is_file():
        above = path.read_text(encoding="utf-8", errors="replace").splitlines()[: int(line)][-4:]
        for text in reversed(above):
            if (found := _MADE_OF.match(text)) is not None:
                return found[1], True
    return place, False
