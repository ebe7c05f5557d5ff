"""Number expressions; see `fleet.symbols.expr`."""

from fleet.symbols.expr import (
    Expr,
    ExprError,
    If,
    Numb,
    Number,
    Operation,
    Var,
    as_expr,
    cast_int,
    ceil_div,
    differ,
    dim,
    equal,
    evaluate,
    log2,
    maximum,
    minimum,
    upper,
)
from fleet.symbols.expr_export import compile_python, cpp_function, python_function

__all__ = [
    "Expr", "ExprError", "If", "Numb", "Number", "Operation", "Var", "as_expr", "cast_int", "ceil_div", "compile_python",
    "cpp_function", "differ", "dim", "equal", "evaluate", "log2", "maximum", "minimum", "python_function", "upper",
]  # fmt: skip
