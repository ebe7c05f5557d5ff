"""Arrays of complex numbers: NumPy's own functions compute them, and the front end's rules only move them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import Complex, List, NumberValue, TracedArray, Value, ValueOperand
from fleet.ir.library.call import FAMILIES, is_callable

_MOVES = frozenset(FAMILIES["shapes and joining"].split())
"""Functions whose rules look at no element."""


def any_complex(values: Iterable[Value]) -> bool:
    """Return whether an array of complex numbers is among them, or in a list of them, or a list with Python's complex numbers."""
    for v in values:
        if isinstance(v, TracedArray) and v.dtype.kind == "c":
            return True
        parts = v if isinstance(v, tuple) else v.items if isinstance(v, List) else ()
        if any(isinstance(p, Complex) for p in parts) or any_complex(parts):
            return True
    return False


def by_numpy(path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> bool:
    """Return whether a call is NumPy's own function, and no rule's: the rules of arithmetic are for real numbers."""
    name = path.removeprefix("numpy.")
    return any_complex((*args, *keywords.values())) and is_callable(name) and name not in _MOVES


def power(lhs: ValueOperand, rhs: ValueOperand) -> str:
    """The function that `lhs ** rhs` is: NumPy's operator has others than np.power for some of Python's numbers."""
    if not isinstance(lhs, TracedArray) or lhs.scalar or lhs.dtype.kind != "c" or not isinstance(rhs, NumberValue) or rhs.symbolic:
        return "power"
    number = rhs.value
    if type(number) is int and number in (2, -1):
        return "square" if number == 2 else "reciprocal"
    return "sqrt" if type(number) is float and number == np.float64(0.5) else "power"


def beside(ev: Evaluator, node: ast.AST, value: Value, *others: Value) -> Value:
    """A complex number beside arrays: the NumPy scalar that takes part in their arithmetic. Any other value stays."""
    if not isinstance(value, Complex):
        return value
    dtype = np.result_type(*(o.dtype for o in others if isinstance(o, TracedArray)), 1j)
    return ev.domain.literal(ev, node, dtype.type(value.value))


def scalars(
    ev: Evaluator, node: ast.expr, args: Sequence[Value], keywords: Mapping[str, Value]
) -> tuple[list[Value], Mapping[str, Value]]:
    """A call's arguments with its complex numbers as NumPy scalars."""
    values = (*args, *keywords.values())
    if not any(isinstance(v, Complex) for v in values):
        return list(args), keywords
    return [beside(ev, node, a, *values) for a in args], {k: beside(ev, node, v, *values) for k, v in keywords.items()}
