"""Number expressions (`ne`): integers that depend on dynamic dimensions, such as `(token + 31) // 32 * 2048`.

Expressions are immutable and interned: two of the same structure are one object. So `==` and `hash` are Python's own (identity;
`==` returns a bool and is safe in sets, dictionaries and dataclasses), and their cost does not depend on the depth. `<`, `<=`, `>`
and `>=` build expressions with value 1 or 0, and so do `equal(a, b)` and `differ(a, b)`. An expression has a truth value only if
its bounds decide it; `if` on any other expression is an error, never a silent True.

Semantics are those of Python's unbounded integers: `/` and `//` both divide and round down, `%` has the divisor's sign, shifts are
multiplication and division by a power of two. `If` evaluates only the branch that it takes. No function here is recursive, so only
memory limits the depth.

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
from fleet.symbols.expr_tree import METHODS, Expr, ExprError, If, Methods, Numb, Number, Operation, as_expr
from fleet.symbols.expr_tree import Var as Var
from fleet.symbols.expr_tree import post_order as post_order

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
    """Simplify a number; return an int if it is constant."""
    if type(value) is int:
        return value
    simple = as_expr(value).simplify()
    return simple.data if isinstance(simple, Numb) else simple


def upper(value: Number) -> int:
    """Return `Expr.upper`, also for plain numbers."""
    return as_expr(value).upper()


def equal(a: Number, b: Number) -> Expr:
    """Return an expression that is 1 if both have the same value, else 0."""
    return Operation("==", a, b)


def differ(a: Number, b: Number) -> Expr:
    """Return an expression that is 0 if both have the same value, else 1."""
    return Operation("!=", a, b)


def minimum(a: Number, b: Number) -> Expr:
    """Return the smaller of two."""
    return If(Operation("<", a, b), a, b)


def maximum(a: Number, b: Number) -> Expr:
    """Return the larger of two."""
    return If(Operation("<", a, b), b, a)


def ceil_div(a: Number, b: int) -> Expr:
    """Return `a / b` rounded up. Raises ExprError unless b is a positive number."""
    if b < 1:
        raise ExprError(f"ceil_div by {b}, expected a number above 0")
    return (as_expr(a) + (b - 1)) // b


def log2(a: Number) -> Expr:
    """Return the exponent of the largest power of two that is at most `a`."""
    return Operation("log2", a)


def cast_int(a: Number) -> Expr:
    """Return `a`: every expression is an integer already. Provided for compatibility."""
    return as_expr(a)
