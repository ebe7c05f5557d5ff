"""Values of number expressions: the operators, evaluation and substitution, without recursion."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence

from fleet.symbols.expr_tree import MAX_SHIFT, Expr, ExprError, If, Numb, Number, Operation, Var, as_expr, post_order


def _divide(a: int, b: int) -> int:
    if b == 0:
        raise ExprError("division by zero")
    return a // b


def _remainder(a: int, b: int) -> int:
    if b == 0:
        raise ExprError("remainder of a division by zero")
    return a % b


def _left(a: int, b: int) -> int:
    if not 0 <= b <= MAX_SHIFT:
        raise ExprError(f"shift by {b}, expected 0 to {MAX_SHIFT}")
    return a << b


def _right(a: int, b: int) -> int:
    if b < 0:
        raise ExprError(f"shift by {b}, expected at least 0")
    return a >> b


def _log2(a: int) -> int:
    if a < 1:
        raise ExprError(f"log2 of {a}, expected a number above 0")
    return a.bit_length() - 1


def _negative(a: int) -> int:
    return -a


OPERATORS: Mapping[str, Callable[..., int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": _divide, "%": _remainder, "<<": _left, ">>": _right,
    "&": operator.and_, "|": operator.or_, "<": lambda a, b: int(a < b), "<=": lambda a, b: int(a <= b),
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b), "neg": _negative, "log2": _log2,
}  # fmt: skip
"""Operator -> function that computes it. Raises ExprError if it has no value."""


def check_bound(variable: Var, value: int) -> int:
    """Return the value. Raises ExprError if it is outside the variable's bounds."""
    most = variable.max_data
    if most is not None and value > most:
        raise ExprError(f"{variable.name} is {value}, expected {variable.min_data} to {most}",
                        hint=f"build with a larger max_data of {variable.name}")  # fmt: skip
    if value < variable.min_data:
        raise ExprError(f"{variable.name} is {value}, expected at least {variable.min_data}")
    return value


def evaluate(roots: Sequence[Expr], bindings: Mapping[str, int]) -> list[int]:
    """Return the values of several expressions that share parts; raises as `Expr.evaluate` does."""
    known: dict[Expr, int] = {}
    stack = list(reversed(roots))
    while stack:
        e = stack[-1]
        if e in known:
            stack.pop()
            continue
        if isinstance(e, Numb):
            known[e] = e.data
        elif isinstance(e, Var):
            if e.name not in bindings:
                given = ", ".join(sorted(bindings)) or "none"
                raise ExprError(f"no value for {e.name}", hint=f"given are {given}")
            known[e] = check_bound(e, operator.index(bindings[e.name]))
        else:
            # Only the selected branch of an If must have a value.
            condition = known.get(e.args[0]) if isinstance(e, If) else None
            wanted = e.args if not isinstance(e, If) else e.args[:1] if condition is None else e.args[1 if condition else 2 :][:1]
            missing = [a for a in wanted if a not in known]
            if missing:
                stack += reversed(missing)
                continue
            if not isinstance(e, If):
                known[e] = _apply(e, [known[a] for a in wanted])
            elif condition is None:
                continue
            else:
                known[e] = known[wanted[0]]
        stack.pop()
    return [known[r] for r in roots]


def _apply(e: Expr, values: Sequence[int]) -> int:
    try:
        return OPERATORS[e.op](*values)
    except ExprError as error:
        raise ExprError(f"{error.what} in ({e})") from None


def substitute(root: Expr, bindings: Mapping[str, Number]) -> Expr:
    """Compute `Expr.substitute`."""
    new: dict[Expr, Expr] = {}
    for e in post_order((root,)):
        if isinstance(e, Var) and e.name in bindings:
            value = as_expr(bindings[e.name])
            if isinstance(value, Numb):
                check_bound(e, value.data)
            new[e] = value
        else:
            new[e] = rebuild(e, [new[a] for a in e.args])
    return new[root]


def rebuild(e: Expr, args: Sequence[Expr]) -> Expr:
    """Return the same operator on other operands."""
    if all(a is b for a, b in zip(e.args, args, strict=True)):
        return e
    return If(*args) if isinstance(e, If) else Operation(e.op, *args)
