"""Random expressions and bindings, and an evaluation of them that shares nothing with fleet's."""

from __future__ import annotations

import random

from fleet.symbols.expr import Expr, ExprError, If, Numb, Number, Operation, Var, as_expr, maximum, minimum

VARIABLES = (Var("a", 2048), Var("b", 50, -50), Var("c", 9, 1), Var("d", 1))
BINARY = ("+", "-", "*", "//", "%", "<<", ">>", "&", "|", "<", "<=", "==", "!=")


def expression(rng: random.Random, size: int) -> Expr:
    """An expression of about `size` operators; divisors may be 0, shifts negative, and so on."""
    if size <= 0:
        leaf = rng.choice((*VARIABLES, rng.randint(-70, 70), rng.choice((0, 1, -1, 2, 31, 32, 2048, 1 << 28, -(1 << 31)))))
        return as_expr(leaf)
    kind = rng.random()
    if kind < 0.1:
        return If(*(expression(rng, size // 3) for _ in range(3)))
    if kind < 0.17:
        return rng.choice((minimum, maximum))(expression(rng, size // 2), expression(rng, size // 2))
    if kind < 0.25:
        return Operation(rng.choice(("neg", "neg", "log2")), expression(rng, size - 1))
    op = rng.choice(BINARY)
    left = rng.randint(0, size - 1)
    right: Number = expression(rng, size - 1 - left)
    if op in {"<<", ">>"} or (op in {"//", "%"} and rng.random() < 0.5):
        right = (
            rng.choice((0, 1, 2, 5, 7, -3, *VARIABLES[2:])) if op in {"<<", ">>"} else rng.choice((1, 3, 32, -7, 64, *VARIABLES))
        )
    return Operation(op, expression(rng, left), right)


def bindings(rng: random.Random) -> dict[str, int]:
    """Numbers within the variables' bounds, the bounds themselves often."""
    return {
        v.name: rng.choice((v.min_data, v.max_data or 0, rng.randint(v.min_data, v.max_data or 0), min(1, v.max_data or 0)))
        for v in VARIABLES
    }


def reference(e: Expr, bound: dict[str, int]) -> int:
    """Python's own arithmetic, straight from the structure. Raises ArithmeticError or ValueError where there is no value."""
    if isinstance(e, Numb):
        return e.data
    if isinstance(e, Var):
        return bound[e.name]
    if isinstance(e, If):
        condition, then, otherwise = e.args
        return reference(then if reference(condition, bound) else otherwise, bound)
    x = [reference(a, bound) for a in e.args]
    if e.op == "log2":
        if x[0] <= 0:
            raise ValueError
        return len(bin(x[0])) - 3
    if e.op == "neg":
        return -x[0]
    return int(eval(f"x {e.op} y", {"x": x[0], "y": x[1]}))


def value(e: Expr, bound: dict[str, int]) -> int | None:
    """`e.evaluate`, None where it has no value."""
    try:
        return e.evaluate(bound)
    except ExprError:
        return None
