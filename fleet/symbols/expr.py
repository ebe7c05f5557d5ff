"""Number expressions (`ne`): integers that depend on dynamic dimensions, such as `(token + 31) // 32 * 2048`.

Expressions are immutable and interned: two of the same structure are one object. So `==` and `hash` are Python's own (identity,
a bool, safe in sets, dictionaries and dataclasses) and cost nothing however deep an expression is; `<`, `<=`, `>` and `>=` build
expressions that are 1 or 0, and so do `equal(a, b)` and `differ(a, b)`. An expression has a truth value only where its bounds
decide it; `if` on any other is an error, never a silent True.

Meaning is that of Python's unbounded integers: `/` and `//` both divide and round down, `%` has the divisor's sign, shifts are
multiplication and division by a power of two. `If` evaluates only the branch that it takes. Nothing here recurses, so depth is
bounded by memory alone.

Example:
    >>> token = Var("token", max_data=2048)
    >>> size = ceil_div(token, 32) * 2048
    >>> str(size), size.upper(), size.evaluate({"token": 33})
    ('(token + 31) // 32 * 2048', 131072, 4096)
"""

from __future__ import annotations

from fleet.symbols import expr_export
from fleet.symbols.expr_bounds import bounds, lower_bound, upper_bound
from fleet.symbols.expr_evaluate import evaluate, substitute
from fleet.symbols.expr_simplify import simplify
from fleet.symbols.expr_tree import METHODS, Expr, ExprError, If, Methods, Numb, Number, Operation, Var, as_expr, post_order

__all__ = [
    "Expr", "ExprError", "If", "Numb", "Number", "Operation", "Var", "as_expr", "cast_int", "ceil_div", "differ", "dim", "equal",
    "evaluate", "log2", "maximum", "minimum", "post_order", "upper",
]  # fmt: skip

METHODS.append(
    Methods(
        bounds,
        evaluate,
        substitute,
        simplify,
        lower_bound,
        upper_bound,
        expr_export.to_python,
        expr_export.to_cpp,
        expr_export.show,
    )
)


def dim(value: Number) -> Number:
    """Simplified; an int where it is one."""
    if type(value) is int:
        return value
    simple = as_expr(value).simplify()
    return simple.data if isinstance(simple, Numb) else simple


def upper(value: Number) -> int:
    """`Expr.upper`, of numbers too."""
    return as_expr(value).upper()


def equal(a: Number, b: Number) -> Expr:
    """1 where both have the same value, else 0."""
    return Operation("==", a, b)


def differ(a: Number, b: Number) -> Expr:
    """0 where both have the same value, else 1."""
    return Operation("!=", a, b)


def minimum(a: Number, b: Number) -> Expr:
    """The smaller of two."""
    return If(Operation("<", a, b), a, b)


def maximum(a: Number, b: Number) -> Expr:
    """The larger of two."""
    return If(Operation("<", a, b), b, a)


def ceil_div(a: Number, b: int) -> Expr:
    """`a / b` rounded up. Raises ExprError unless b is a positive number."""
    if b < 1:
        raise ExprError(f"ceil_div by {b}, expected a number above 0")
    return (as_expr(a) + (b - 1)) // b


def log2(a: Number) -> Expr:
    """The exponent of the largest power of two that is not above `a`."""
    return Operation("log2", a)


def cast_int(a: Number) -> Expr:
    """`a`: every expression is an integer already. There for the name."""
    return as_expr(a)
