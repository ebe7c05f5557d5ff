"""Mutation operators for SystemVerilog: alternative texts for an elaborated expression.

An alternative is never wider than the original and has the same sign, because both become arms of one conditional expression. The
surrounding expression must keep its width and sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from pyslang import ast

TextOf = Callable[[ast.Expression], str]
"""The text of an expression; "" if it cannot be changed."""
Alternatives = Sequence[tuple[str, str]]

WORD = re.compile(r"[A-Za-z_]\w*")

_SIZED = re.compile(r"(\d+)\s*'([sS]?)([bBdDhHoO])([0-9a-fA-F_]+)\Z")
_PLAIN = re.compile(r"\d[\d_]*\Z")
_BASES = {"b": 2, "o": 8, "d": 10, "h": 16}
_CAST = re.compile(r"(\$signed\()?(\d+)'\(")
_RESET = re.compile(r"[!~]?\s*\w*(?:rst|reset)\w*\Z", re.I)

_BINARY = {
    "Add": ("arithmetic", ("-",)),
    "Subtract": ("arithmetic", ("+",)),
    "Multiply": ("arithmetic", ("+",)),
    "LessThan": ("relational", ("<=",)),
    "LessThanEqual": ("relational", ("<",)),
    "GreaterThan": ("relational", (">=",)),
    "GreaterThanEqual": ("relational", (">",)),
    "Equality": ("relational", ("!=",)),
    "Inequality": ("relational", ("==",)),
    "LogicalAnd": ("logical", ("||",)),
    "LogicalOr": ("logical", ("&&",)),
    "BinaryAnd": ("bitwise", ("|",)),
    "BinaryOr": ("bitwise", ("&", "^")),
    "BinaryXor": ("bitwise", ("|",)),
    "LogicalShiftLeft": ("shift", (">>",)),
    "LogicalShiftRight": ("shift", ("<<",)),
    "ArithmeticShiftRight": ("shift", (">>",)),
}
_REDUCTIONS = {"BitwiseOr": "&", "BitwiseAnd": "|"}


def is_constant(e: ast.Expression) -> bool:
    """Return whether the expression cannot change while the design runs (literals, parameters, enumeration members)."""
    if isinstance(e, ast.IntegerLiteral | ast.UnbasedUnsizedIntegerLiteral | ast.StringLiteral | ast.DataTypeExpression):
        return True
    if isinstance(e, ast.NamedValueExpression):
        return isinstance(e.symbol, ast.ParameterSymbol | ast.EnumValueSymbol | ast.GenvarSymbol)
    if isinstance(e, ast.CallExpression):
        return e.isSystemCall and all(is_constant(a) for a in e.arguments)
    if isinstance(e, ast.StructuredAssignmentPatternExpression):
        return False
    parts = [*operands(e), *_selected(e)]
    return bool(parts) and all(is_constant(p) for p in parts)


def operands(e: ast.Expression) -> Iterator[ast.Expression]:
    """Yield what an operator works on; nothing for other expressions."""
    if isinstance(e, ast.UnaryExpression | ast.ConversionExpression):
        yield e.operand
    elif isinstance(e, ast.BinaryExpression):
        yield from (e.left, e.right)
    elif isinstance(e, ast.ConditionalExpression):
        yield from (e.conditions[0].expr, e.left, e.right)
    elif isinstance(e, ast.ConcatenationExpression):
        yield from e.operands
    elif isinstance(e, ast.ReplicationExpression):
        yield e.concat


def _selected(e: ast.Expression) -> Iterator[ast.Expression]:
    """Yield the object and the indices of a selection."""
    if isinstance(e, ast.ElementSelectExpression):
        yield from (e.value, e.selector)
    elif isinstance(e, ast.RangeSelectExpression):
        yield from (e.value, e.left, e.right)
    elif isinstance(e, ast.MemberAccessExpression):
        yield e.value


def leaves(e: ast.Expression) -> Iterator[ast.Expression]:
    """Yield the literals and parameters of a constant, without those that determine its size (counts, ranges, casts)."""
    if isinstance(e, ast.UnaryExpression | ast.ConversionExpression):
        yield from leaves(e.operand)
    elif isinstance(e, ast.BinaryExpression):
        yield from leaves(e.left)
        yield from leaves(e.right)
    elif isinstance(e, ast.ConcatenationExpression):
        for part in e.operands:
            yield from leaves(part)
    elif isinstance(e, ast.IntegerLiteral | ast.UnbasedUnsizedIntegerLiteral | ast.NamedValueExpression):
        yield e


def is_reset(text: str) -> bool:
    """Return whether a condition tests for reset alone (`!rst_ni`, `reset`)."""
    return _RESET.match(text.strip()) is not None


def is_sink(name: str) -> bool:
    """Return whether a signal exists only for the linter (`unused`)."""
    return name.startswith("unused")


def constants(e: ast.Expression, text: str) -> Alternatives:
    """Change a literal or parameter by one, or in its lowest bits; enumeration members stay."""
    text = _bare(text)
    if not text or e.type.isEnum:
        return ()
    if text in {"'0", "'1"}:
        return (("constant", "'1" if text == "'0" else "'0"),)
    sized = _SIZED.match(text)
    if sized is not None:
        width, base = int(sized[1]), _BASES[sized[3].lower()]
        value = int(sized[4].replace("_", ""), base)
        others = {(value + 1) % (1 << width), (value - 1) % (1 << width), value ^ (1 << (width - 1))} - {value}
        return [("constant", f"{width}'{sized[2]}h{v:x}") for v in sorted(others)]
    if _PLAIN.match(text):
        value = int(text.replace("_", ""))
        return [("constant", str(v)) for v in (value + 1, value - 1) if 0 <= v < 1 << 31]
    if WORD.fullmatch(text) and e.type.isIntegral:
        width = _own_width(e)
        return [("constant", f"{width}'({text} {op} 1)") for op in "+-"] if width else ()
    return ()


def _own_width(e: ast.Expression) -> int:
    symbol = getattr(e, "symbol", None)
    return int(symbol.type.bitWidth) if symbol is not None and not symbol.type.isSigned else 0


def of_expression(e: ast.Expression, text_of: TextOf) -> Alternatives:
    """Return the alternatives of an expression that is not constant; operands keep their text."""
    if isinstance(e, ast.BinaryExpression):
        left, right = text_of(e.left), text_of(e.right)
        kind = _BINARY.get(e.op.name)
        if kind is None or not left or not right:
            return ()
        if kind[0] == "arithmetic" and e.op.name == "Multiply" and e.type.isSigned:
            return ()
        return [(kind[0], f"({left}) {op} ({right})") for op in kind[1]]
    if isinstance(e, ast.UnaryExpression):
        operand = text_of(e.operand)
        if not operand:
            return ()
        if e.op.name == "LogicalNot":
            return (("negation", f"(({operand}) != 0)"),)
        if e.op.name == "BitwiseNot":
            return (("negation", f"({operand})"),)
        if e.op.name in _REDUCTIONS:
            return (("bitwise", f"{_REDUCTIONS[e.op.name]}({operand})"),)
        return ()
    if isinstance(e, ast.ConditionalExpression):
        condition, left, right = text_of(e.conditions[0].expr), text_of(e.left), text_of(e.right)
        return (("arms", f"({condition}) ? {right} : {left}"),) if condition and left and right else ()
    if isinstance(e, ast.ElementSelectExpression):
        return _moved_element(e, text_of)
    if isinstance(e, ast.RangeSelectExpression):
        return _moved_range(e, text_of)
    if isinstance(e, ast.ConversionExpression) and not e.isImplicit:
        return _zero_extended(e, text_of)
    return ()


def _literal(e: ast.Expression, text_of: TextOf) -> int | None:
    text = _bare(text_of(e))
    return int(text) if _PLAIN.match(text) else None


def _bounds(value: ast.Expression) -> tuple[int, int] | None:
    """Return the lowest and highest index of the selected value."""
    if not value.type.hasFixedRange:
        return None
    span = value.type.fixedRange
    return min(span.left, span.right), max(span.left, span.right)


def _moved_element(e: ast.ElementSelectExpression, text_of: TextOf) -> Alternatives:
    value, index, bounds = text_of(e.value), text_of(e.selector), _bounds(e.value)
    if not value or not index or bounds is None or bounds[0] == bounds[1] or e.type.isEnum:
        return ()
    number = _literal(e.selector, text_of)
    if number is not None:
        return [("select", f"{value}[{n}]") for n in (number + 1, number - 1) if bounds[0] <= n <= bounds[1]]
    width = int(e.selector.type.bitWidth)
    return [("select", f"{value}[{width}'(({index}) {op} 1)]") for op in "+-"]


def _moved_range(e: ast.RangeSelectExpression, text_of: TextOf) -> Alternatives:
    value, left, right, bounds = text_of(e.value), text_of(e.left), text_of(e.right), _bounds(e.value)
    if not value or not left or not right or bounds is None:
        return ()
    if e.selectionKind == ast.RangeSelectionKind.Simple:
        high, low = _literal(e.left, text_of), _literal(e.right, text_of)
        if high is None or low is None:
            return ()
        moved = [(high + n, low + n) for n in (1, -1) if bounds[0] <= low + n and high + n <= bounds[1]]
        return [("select", f"{value}[{h}:{n}]") for h, n in moved]
    sign = "+" if e.selectionKind == ast.RangeSelectionKind.IndexedUp else "-"
    return [("select", f"{value}[({left}) + 1 {sign}: {right}]")]


def _zero_extended(e: ast.ConversionExpression, text_of: TextOf) -> Alternatives:
    """Zero-extend a signed value that a cast widens."""
    operand = text_of(e.operand)
    if not operand or not e.operand.type.isSigned or not e.operand.type.isIntegral or is_constant(e.operand) or e.type.isEnum:
        return ()
    width, before = int(e.type.bitWidth), int(e.operand.type.bitWidth)
    if width <= before:
        return ()
    text = f"{width}'($unsigned({operand}))"
    return (("sign", f"$signed({text})" if e.type.isSigned else text),)


def negated(e: ast.Expression, text: str) -> Alternatives:
    """Negate a condition; equality comparisons and negations have their own operators."""
    if not text or (isinstance(e, ast.BinaryExpression) and e.op.name in {"Equality", "Inequality"}):
        return ()
    if isinstance(e, ast.UnaryExpression) and e.op.name == "LogicalNot":
        return ()
    return (("condition", f"!({text})"),) if int(e.type.bitWidth) == 1 else ()


def exchanged_labels(e: ast.Expression, text: str, labels: Sequence[tuple[ast.Expression, str]]) -> Alternatives:
    """Exchange two neighbouring labels of a case statement."""
    if not text or any(not t or not is_constant(x) or x.type.bitWidth != e.type.bitWidth for x, t in labels):
        return ()
    if any(x.type.isEnum != e.type.isEnum or x.type.isSigned != e.type.isSigned for x, _ in labels):
        return ()
    texts = [t for _, t in labels]
    return [
        ("label", f"(({text}) == {a}) ? {b} : (({text}) == {b}) ? {a} : ({text})")
        for a, b in pairwise(texts)
    ]  # fmt: skip


def held(e: ast.AssignmentExpression, left: str, right: str, names: set[str], *, reset: bool) -> Alternatives:
    """Alternatives for an assignment: keep the old value, or a stuck bit.

    The target's sign is not that of the right-hand side, whose signed operands would become unsigned beside an unsigned arm.
    """
    kind, value = e.left.type, bare(e.right)
    if not kind.isIntegral or not value.type.isIntegral or e.right.type.isSigned or right.lstrip().startswith("'{"):
        return ()
    signed = value.type.isSigned and not value.type.isEnum and not _PLAIN.match(_bare(right))
    keep = f"$signed({left})" if signed else left
    if reset:
        return (("reset", keep),) if e.isNonBlocking else ()
    found: list[tuple[str, str]] = []
    if e.isNonBlocking:
        found.append(("hold", keep))
    elif WORD.fullmatch(left) and left.endswith("_d") and right != (q := left[:-1] + "q") and q in names and _alike(e.left, q):
        found.append(("hold", f"$signed({q})" if signed else q))
    if int(kind.bitWidth) == 1 and not kind.isEnum:
        bits = ("1'sb0", "1'sb1") if signed else ("1'b0", "1'b1")
        found += [("stuck", v) for v in bits if v != right.strip()]
    return found


def bare(e: ast.Expression) -> ast.Expression:
    """Return an expression without the conversions that its context adds."""
    while isinstance(e, ast.ConversionExpression) and e.isImplicit:
        e = e.operand
    return e


def _alike(target: ast.Expression, name: str) -> bool:
    """Return whether a variable beside the target has its width, so that it does not widen the expression."""
    symbol = getattr(target, "symbol", None)
    scope = getattr(symbol, "parentScope", None)
    found = scope.lookupName(name) if scope is not None else None
    return isinstance(found, ast.ValueSymbol) and found.type.isIntegral and found.type.bitWidth == target.type.bitWidth


def harmless(found: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return alternatives that suit all instances of a module: of texts that differ in width the narrowest, in sign the signed one.

    Beside an unsigned arm a signed one becomes unsigned, beside a wider one it becomes wider.
    """
    kept = list(found)
    narrowest: dict[tuple[str, str], int] = {}
    for operator, text in kept:
        if (cast := _CAST.match(text)) is not None:
            key = operator, text[cast.end() :]
            narrowest[key] = min(int(cast[2]), narrowest.get(key, int(cast[2])))
    texts = set(kept)

    def good(operator: str, text: str) -> bool:
        signed = text.replace("1'b", "1'sb") if text in ("1'b0", "1'b1") else f"$signed({text})"
        if (operator, signed) in texts:
            return False
        cast = _CAST.match(text)
        return cast is None or int(cast[2]) == narrowest[operator, text[cast.end() :]]

    return [one for one in kept if good(*one)]


def _bare(text: str) -> str:
    """Strip blanks and parentheses around the text."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")"):
        text = text[1:-1].strip()
    return text
