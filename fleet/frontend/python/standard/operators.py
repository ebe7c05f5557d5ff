"""`operator`: the operators of Python as functions."""

from __future__ import annotations

import ast
from collections.abc import Mapping

OPERATORS: Mapping[str, type[ast.operator | ast.cmpop]] = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "truediv": ast.Div, "floordiv": ast.FloorDiv, "mod": ast.Mod, "pow": ast.Pow,
    "matmul": ast.MatMult, "and_": ast.BitAnd, "or_": ast.BitOr, "xor": ast.BitXor, "lshift": ast.LShift, "rshift": ast.RShift,
    "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq,
}  # fmt: skip
"""Name -> the operator of the syntax."""
GETTERS = ("itemgetter", "attrgetter")
"""Functions that make functions which get parts."""
