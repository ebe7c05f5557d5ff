"""Places where a NumPy number turns a model of float32 arrays into one of float64, as NumPy 2 does silently."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np
from xdsl.ir import Operation, SSAValue

from fleet.ir.dialect import BinaryOp, CastOp, FleetOp, kind_of
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of

_SIGNS: Mapping[str, type[ast.operator] | None] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div, "pow": ast.Pow, "floor_div": ast.FloorDiv, "mod": ast.Mod,
    "maximum": None, "minimum": None,
}  # fmt: skip
"""Operation -> Python's operator for it."""
_MAX_STEPS = 64


def widened(program: Program) -> str | None:
    """One line for the first operation whose arrays become float64 by a float64 number; or None.

    A number is what is computed out of the source's own numbers alone: `np.sqrt(16)`, `np.float64(0.1)`. Python's numbers and
    `np.pi` leave float32 what it is.
    """
    pairs = zip(program.function.body.block.args, program.arguments, strict=True)
    weights: set[SSAValue] = {v for v, a in pairs if a.kind == "weight"}
    for op in program.operations():
        if not isinstance(op, BinaryOp) or kind_of(op) not in _SIGNS or _narrowed(op):
            continue
        result = op.results[0].type
        if not is_tensor(result) or numpy_dtype(result) != np.float64:
            continue
        operands = list(op.operands)
        for i, (value, other) in enumerate(zip(operands, reversed(operands), strict=True)):
            if _is(other, np.float32, array=True) and _is(value, np.float64, array=False) and _of_numbers(value, weights):
                return _line(program, op, i)
    return None


def _is(value: SSAValue, dtype: type[np.generic], *, array: bool) -> bool:
    return is_tensor(value.type) and numpy_dtype(value.type) == dtype and bool(shape_of(value.type)) is array


def _narrowed(op: Operation) -> bool:
    """Return whether the result goes back into float32 at once, as of `x /= number`."""
    users = [use.operation for use in op.results[0].uses]
    return bool(users) and all(isinstance(u, CastOp) and numpy_dtype(u.results[0].type) != np.float64 for u in users)


def _of_numbers(value: SSAValue, weights: set[SSAValue]) -> bool:
    """Return whether nothing but numbers of the source went into it."""
    work, steps = [value], 0
    while work and steps < _MAX_STEPS:
        steps += 1
        one = work.pop()
        if shape_of(one.type) if is_tensor(one.type) else ():
            return False
        if isinstance(one.owner, FleetOp):
            work += one.owner.operands
        elif one not in weights:
            return False
    return not work


def _line(program: Program, op: FleetOp, operand: int) -> str:
    at = str(getattr(op.properties["at"], "data", ""))
    name, line, column = (*at.rsplit(":", 2), "", "")[:3]
    kind = kind_of(op)
    said = [side[operand] for side in reversed(_sides(program.source, line, column, _SIGNS[kind]))]  # the innermost comes first
    before = 0  # operators of this kind that start at this place too, and were computed before
    for other in program.operations():
        if other is op:
            break
        before += other.name == op.name and other.properties["at"] == op.properties["at"]
    said = said[before:] + said[:before]
    said = [s for s in said if not isinstance(s, ast.Constant)]  # Python's own numbers keep float32
    words = ast.unparse(said[0]) if said else "a number in it"
    words = words if len(words) <= 60 else f"{words[:57]}..."
    return f"{name}:{line}: values are float64 from here on: {words} is a float64 number; np.float32(...) keeps float32"


def _sides(source: str, line: str, column: str, sign: type[ast.operator] | None) -> list[tuple[ast.expr, ast.expr]]:
    """Both sides of the operators, and arguments of the calls, that start at a place; the outermost first."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return []
    lines = source.splitlines()
    found: list[tuple[ast.expr, ast.expr]] = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.BinOp | ast.Call) or str(node.lineno) != line:
            continue
        if str(len(lines[node.lineno - 1].encode()[: node.col_offset].decode(errors="ignore")) + 1) != column:
            continue
        if isinstance(node, ast.BinOp):
            if sign is not None and isinstance(node.op, sign):
                found.append((node.left, node.right))
        elif len(node.args) == 2 and not any(isinstance(a, ast.Starred) for a in node.args):
            found.append((node.args[0], node.args[1]))
    return found
