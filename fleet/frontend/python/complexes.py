"""Python's complex numbers. Each is known while the source is read: a complex number of the run is a NumPy scalar."""

from __future__ import annotations

import ast
import cmath
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fleet.frontend.arrays.complexes import beside
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import value_of
from fleet.frontend.reading.values import Complex, NumberValue, TracedArray, Value, ValueOperand
from fleet.frontend.reading.wording import words

_PYTHON: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "pow": operator.pow,
    "equal": operator.eq, "not_equal": operator.ne,
}  # fmt: skip
_CMATH = "acos asin atan cos cosh exp isclose isfinite isinf isnan log log10 phase polar rect sin sinh sqrt tan tanh"
CMATH = frozenset(_CMATH.split())
"""Functions of `cmath`, computed while the source is read."""


def binary(ev: Evaluator, node: ast.expr, name: str, lhs: Value, rhs: Value) -> Value | None:
    """`lhs op rhs` where a side is a complex number; None where neither is, or what the other is takes no part in arithmetic."""
    if not isinstance(lhs, Complex) and not isinstance(rhs, Complex):
        return None
    a, b = _plain(lhs), _plain(rhs)
    if a is not None and b is not None:
        return _of_python(ev, node, name, a, b)
    if not all(isinstance(v, Complex | NumberValue | TracedArray) for v in (lhs, rhs)):
        return None
    left, right = beside(ev, node, lhs, rhs), beside(ev, node, rhs, lhs)
    return ev.domain.binary(ev, node, name, _operand(ev, node, left), _operand(ev, node, right))


def compared(ev: Evaluator, node: ast.expr, name: str, lhs: Value, rhs: Value) -> Value | None:
    """A comparison, as `binary`."""
    return binary(ev, node, name, lhs, rhs)


def _operand(ev: Evaluator, node: ast.expr, value: Value) -> ValueOperand:
    if isinstance(value, NumberValue) and value.symbolic:
        ev.fail("F408", node, "a complex number beside a number that only the run knows", "make it an array: np.asarray(x)")
    return ev.operand(node, value)


def _plain(value: Value) -> bool | int | float | complex | None:
    if isinstance(value, Complex):
        return value.value
    return value.value if isinstance(value, NumberValue) and not value.symbolic else None


def _of_python(ev: Evaluator, node: ast.expr, name: str, a: complex, b: complex) -> Value:
    if name not in _PYTHON:
        what, hint = f"{name} of {a!r} and {b!r}: complex numbers have none", "compare or round .real and .imag"
        stand_ins.refuse(ev, "F703", node, what, stand_ins.OPERATORS[name], value_of(a), value_of(b), hint=hint)
    try:
        return value_of(_PYTHON[name](a, b))
    except ArithmeticError as error:
        return ev.fail("F703", node, f"{a!r} and {b!r}: {error}")


def unary(ev: Evaluator, node: ast.expr, op: ast.unaryop, value: Complex) -> Value:
    """`-z` and `+z`."""
    if isinstance(op, ast.Invert):
        ev.fail("F408", node, f"~ of {words(value)}")
    return Complex(-value.value) if isinstance(op, ast.USub) else value


def attribute(ev: Evaluator, node: ast.expr, owner: Complex, name: str) -> Value:
    """`z.real`, `z.imag`."""
    if name not in ("real", "imag"):
        ev.fail("F206", node, f"{words(owner)} has no supported attribute `{name}`", "it has real, imag and conjugate()")
    return NumberValue(owner.value.real if name == "real" else owner.value.imag)


def method(ev: Evaluator, node: ast.Call, owner: Complex, name: str, args: Sequence[Value]) -> Value:
    """`z.conjugate()`."""
    if name != "conjugate" or args:
        ev.fail("F206", node, f"{words(owner)} has no supported method `{name}`", "it has real, imag and conjugate()")
    return Complex(owner.value.conjugate())


def made(ev: Evaluator, node: ast.Call, args: Sequence[Value]) -> Value:
    """`complex(re, im)`."""
    plain: list[Any] = [a if isinstance(a, str) else a.value if isinstance(a, Complex) else ev.static(a) for a in args]
    if None in plain:
        ev.fail("F407", node, "a complex number out of what only the run knows", "keep it an array: x + 1j * y")
    try:
        return Complex(complex(*plain))
    except (TypeError, ValueError) as error:
        return ev.fail("F703", node, f"complex: {error}")


def cmath_call(ev: Evaluator, node: ast.Call, name: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`cmath.NAME(...)` of known numbers."""
    plain: list[Any] = [a.value if isinstance(a, Complex) else ev.static(a) for a in args]
    if None in plain or keywords:
        ev.fail("F407", node, f"cmath.{name} of what only the run knows", f"use np.{name}")
    try:
        return value_of(getattr(cmath, name)(*plain))
    except (ArithmeticError, ValueError, TypeError) as error:
        return ev.fail("F703", node, f"cmath.{name}: {error}")
