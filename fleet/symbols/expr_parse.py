"""Parses the text that `Expr.to_python` writes."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from fleet.symbols.expr_tree import Expr, ExprError, If, Numb, Operation, Var

_BINARY: Mapping[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.LShift: "<<", ast.RShift: ">>",
    ast.BitAnd: "&", ast.BitOr: "|", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip


def parse_python(text: str, variables: Mapping[str, Var]) -> Expr:
    """Return the expression of a text over these variables. Raises ExprError for text that `to_python` does not write."""
    try:
        return _read(ast.parse(text, mode="eval").body, variables)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ExprError(f"{text!r} is not an expression") from None


def _read(e: ast.expr, variables: Mapping[str, Var]) -> Expr:
    match e:
        case ast.Name(id=name) if name in variables:
            return variables[name]
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Numb(number)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))) if number:
            return Numb(-number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return Operation("neg", _read(operand, variables))
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return If(_read(test, variables), _read(body, variables), _read(orelse, variables))
        # (x).bit_length() - 1 appears only as the text of a log2.
        case ast.BinOp(left=ast.Call(func=ast.Attribute(value=inner, attr="bit_length"), args=[]), op=ast.Sub()):
            return Operation("log2", _read(inner, variables))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return Operation(_BINARY[type(op)], _read(left, variables), _read(right, variables))
        case ast.Call(func=ast.Name(id="int"), args=[ast.Compare(left=left, ops=[op], comparators=[right])]) if type(op) in _BINARY:
            return Operation(_BINARY[type(op)], _read(left, variables), _read(right, variables))
        case _:
            raise ExprError(f"{ast.unparse(e)!r} is not part of an expression of {', '.join(variables) or 'numbers'}")
