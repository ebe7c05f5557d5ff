"""Programs whose last digits do not depend on how arrays lie in memory.

NumPy adds in the order of memory, and its loops for exp, log and similar functions treat contiguous arrays differently from strided
ones. So last digits depend on strides: `np.sort` of a transposed array keeps its axes' order in memory, `np.tile` does not, a copy
of a broadcast array has its repeated axis innermost, `np.ravel(x[::-1])` is contiguous. Strides are not part of a function's
meaning, and the IR has none. So if only the bits of results differ, both sides run again with every operand of these functions
copied into C order; then every bit must agree.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from fleet.ir.library.call import FAMILIES
from fleet.targets.bytecode.hints import DispatchInfo
from fleet.targets.bytecode.operators import OPERATORS, Operator, OperatorKernel

_FAMILIES = ("differences, statistics and polynomials", "products and linear algebra")
_LOOPS = ("exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "sinh", "cosh", "tanh")
FUNCTIONS: Mapping[str, int] = {
    **{name.rpartition(".")[2]: 2 for family in ("reductions", *_FAMILIES) for name in FAMILIES[family].split()},
    **dict.fromkeys(_LOOPS, 1),
    **dict.fromkeys(("power", "pow", "hypot", "logaddexp"), 2),
    **dict.fromkeys(("sum", "prod", "mean", "average", "std", "var", "nansum", "nanmean", "cumsum", "trace", "norm"), 1),
    **dict.fromkeys(("dot", "vdot", "inner", "matmul", "einsum"), 2),
    **dict.fromkeys(("fmin", "fmax"), 2),
    **dict.fromkeys(("nanmin", "nanmax"), 1),
}
"""NumPy functions and methods whose last digits depend on strides -> their maximum number of operands.

Of two zeros with different signs, fmin and fmax choose one in their vector loop and the other after the last whole vector.
"""
_OURS = (
    *(*_LOOPS, "pow", "hypot", "logaddexp", "reduce_sum", "reduce_prod", "mean", "var", "cumsum", "matmul", "einsum"),
    *("fmin", "fmax", "nan_min", "nan_max", "numpy"),
)
_COPY = "_in_c_order"


def _copied(value: object) -> Any:
    return np.array(value, order="C") if isinstance(value, np.ndarray) and value.ndim else value


def _ordered(name: str) -> Operator:
    def made(info: DispatchInfo) -> OperatorKernel:
        kernel = OPERATORS[name](info)
        return lambda *values: kernel(*map(_copied, values))

    return made


IN_C_ORDER: Mapping[str, Operator] = {name: _ordered(name) for name in _OURS}
"""The golden's operators of these functions, with operands in C order."""


def in_c_order(source: str) -> str:
    """Return the source with the operands of these functions copied."""
    tree = _Copies().visit(ast.parse(source))
    helper = f"def {_COPY}(v):\n    return np.array(v, order='C') if isinstance(v, np.ndarray) and v.ndim else v\n"
    return ast.unparse(ast.fix_missing_locations(tree)) + "\n\n\n" + helper


class _Copies(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        """Copy the operands of `np.sum(x)` and `x.sum()`."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in FUNCTIONS:
            count = FUNCTIONS[node.func.attr]
            if not _is_numpy(node.func.value):
                node.func.value, count = _copy(node.func.value), count - 1
            node.args = [_copy(a) if i < count + _is_text(node.args[0]) else a for i, a in enumerate(node.args)]
            for option in node.keywords:  # what is not an array stays as it is
                option.value = option.value if option.arg == "out" else _copy(option.value)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        """Copy the operands of `x @ y` and `x ** y`."""
        self.generic_visit(node)
        if isinstance(node.op, ast.MatMult | ast.Pow):
            node.left, node.right = _copy(node.left), _copy(node.right)
        return node


def _copy(e: ast.expr) -> ast.expr:
    return e if _is_text(e) else ast.Call(ast.Name(_COPY, ast.Load()), [e], [])


def _is_text(e: ast.expr) -> bool:
    return isinstance(e, ast.Constant) and isinstance(e.value, str)


def _is_numpy(e: ast.expr) -> bool:
    """Return whether the expression is `np` or `np.linalg`."""
    return (isinstance(e, ast.Name) and e.id == "np") or (isinstance(e, ast.Attribute) and e.attr == "linalg")
