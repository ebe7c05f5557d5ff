"""Python's operators: numbers are computed here, containers and objects by their rules, arrays by the domain."""

from __future__ import annotations

import ast
from collections.abc import Mapping

import numpy as np
from xdsl.ir import SSAValue

from fleet.frontend.arrays import foreign
from fleet.frontend.arrays.arguments import to_array
from fleet.frontend.arrays.functions import polynomials
from fleet.frontend.arrays.functions.shifts import shift
from fleet.frontend.arrays.making import literal
from fleet.frontend.arrays.operands import array
from fleet.frontend.arrays.truths import condition, number_of
from fleet.frontend.python import complexes
from fleet.frontend.python.classes import objects
from fleet.frontend.python.containers import builtin
from fleet.frontend.reading import stand_ins
from fleet.frontend.reading.errors import as_call
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.intervals import interval
from fleet.frontend.reading.values import (
    ELLIPSIS,
    Complex,
    ForeignArray,
    Library,
    List,
    NumberValue,
    ObjectInstance,
    TracedArray,
    Value,
    number_behind,
)
from fleet.frontend.reading.wording import words

BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.Pow: "pow", ast.FloorDiv: "floor_div", ast.Mod: "mod",
    ast.MatMult: "matmul", ast.BitAnd: "bit_and", ast.BitOr: "bit_or", ast.BitXor: "bit_xor", ast.LShift: "shift_left",
    ast.RShift: "shift_right",
}  # fmt: skip
COMPARE: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal", ast.NotEq: "not_equal",
}  # fmt: skip
_FORMULAS = frozenset({"add", "sub", "mul", "div", "pow"})
_SYMBOLIC = frozenset({"add", "sub", "mul", "div", "floor_div", "mod"})
_MAX_BITS = 1024


def binary(ev: Evaluator, node: ast.expr, op: ast.operator, lhs: Value, rhs: Value, *, augmented: bool = False) -> Value:
    """`lhs op rhs`. augmented: it stands for `lhs op= rhs`."""
    lhs, rhs = _beside(ev, node, lhs, rhs), _beside(ev, node, rhs, lhs)
    name = BINARY[type(op)]
    rhs = polynomials.plain(rhs) if isinstance(lhs, TracedArray) else rhs  # NumPy takes a poly1d as an array
    if isinstance(lhs, ObjectInstance) or isinstance(rhs, ObjectInstance):
        return objects.binary(ev, node, name, lhs, rhs, augmented=augmented)
    methods = [f"__{side}{objects.OPERATORS[name]}__" for side in ("", "r")]
    if not isinstance(lhs, TracedArray) and (objects.overloads(lhs, *methods) or objects.overloads(rhs, *methods)):
        found = objects.answered(ev, node, name, lhs, rhs)
        if found is not None:
            return found[0]
    if isinstance(lhs, ForeignArray) or isinstance(rhs, ForeignArray):
        return foreign.binary(ev, node, name, lhs, rhs)
    if not isinstance(lhs, TracedArray | NumberValue) or not isinstance(rhs, TracedArray | NumberValue):
        found = builtin.binary(ev, node, name, lhs, rhs)
        if found is None:
            found = complexes.binary(ev, node, name, lhs, rhs)
        if found is not None:
            return found
    left = node.left if isinstance(node, ast.BinOp) else node
    right = node.right if isinstance(node, ast.BinOp) else node
    if not isinstance(lhs, TracedArray) and not isinstance(rhs, TracedArray):
        for place, value in ((left, lhs), (right, rhs)):
            if not isinstance(value, NumberValue):
                what = f"expected an array or a number, found {words(value)}"
                operation = (stand_ins.IN_PLACE if augmented else stand_ins.OPERATORS)[name]
                stand_ins.refuse(ev, "F408", place, what, operation, lhs, rhs)
    a, b = ev.operand(left, _as_array(ev, node, lhs, rhs)), ev.operand(right, _as_array(ev, node, rhs, lhs))
    if isinstance(a, NumberValue) and isinstance(b, NumberValue):
        return _numbers(ev, node, name, a, b)
    if name.startswith("shift"):
        return shift(ev, node, name, a, b)
    return ev.domain.binary(ev, node, name, a, b)


def _beside(ev: Evaluator, node: ast.expr, value: Value, other: Value) -> Value:
    """Return the number behind a member of an `IntEnum`; beside an array one of int64, as NumPy takes it for no Python number."""
    found = number_behind(value)
    if found is not value and isinstance(found, NumberValue) and isinstance(other, TracedArray):
        return literal(ev, node, np.asarray(found.value)[()])
    return found


def _as_array(ev: Evaluator, node: ast.expr, value: Value, other: Value) -> Value:
    """A list or tuple beside an array is an array, as NumPy takes it."""
    if isinstance(other, TracedArray) and isinstance(value, tuple | List):
        return to_array(ev, node, value)
    return value


def _numbers(ev: Evaluator, node: ast.expr, name: str, lhs: NumberValue, rhs: NumberValue) -> Value:
    if lhs.symbolic or rhs.symbolic:
        if name in _BITS and lhs.whole and rhs.whole and (name != "shift_right" or (not rhs.symbolic and (rhs.value or 0) >= 0)):
            return _bits(ev, node, name, lhs, rhs)
        if name == "pow" and (found := _power_of_run(ev, node, lhs, rhs)) is not None:
            return found
        if name not in _SYMBOLIC and not (name == "pow" and not rhs.symbolic and isinstance(rhs.value, float)):
            if lhs.sized or rhs.sized:
                ev.unknown(node, f"{name} of a size that only the run knows")
            ev.fail(
                "F510",
                node,
                f"{name} of a number that only the run knows",
                "compute with NumPy's functions, np.power or np.left_shift",
            )
        return ev.domain.arithmetic(node, name, [lhs, rhs], None)
    a, b = lhs.value, rhs.value
    if name == "matmul":
        ev.fail("F302", node, f"matmul of {words(lhs)} and {words(rhs)}", "both must be arrays of rank 1 or more")
    if isinstance(a, int) and isinstance(b, int):
        grows = {"pow": a.bit_length() * max(b, 0), "shift_left": a.bit_length() + max(b, 0)}.get(name, 0)
        if grows > _MAX_BITS and abs(a) > 1:
            ev.fail("F605", node, f"{a if a.bit_length() < 64 else 'a number'} {_SIGN[name]} {b} needs more than 64 bits")
    try:
        value = stand_ins.OPERATORS[name](a, b)
    except (ArithmeticError, ValueError, TypeError) as error:
        ev.refuse("F703", node, f"{a!r} and {b!r}: {error}", error)
    if isinstance(value, complex):
        return Complex(value)
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        ev.fail("F605", node, "the result needs more than 64 bits")
    return ev.domain.arithmetic(node, name, [lhs, rhs], value) if name in _FORMULAS else NumberValue(value)


def _power_of_run(ev: Evaluator, node: ast.expr, lhs: NumberValue, rhs: NumberValue) -> Value | None:
    """A power of which the run knows the base or the exponent, as Python takes it: a float's by pow of the C library, an integer's
    small one as products. None for others."""
    if rhs.symbolic:
        return _to_power_of_run(ev, node, lhs, rhs)
    if not isinstance(exponent := rhs.value, int):
        return None
    if not lhs.whole:
        return ev.domain.arithmetic(node, "pow", [lhs, NumberValue(float(exponent))], None)
    if not 1 <= exponent <= _MOST_PRODUCTS:
        return None
    found = lhs
    for _ in range(exponent - 1):
        found = ev.domain.arithmetic(node, "mul", [found, lhs], None)
    return found


def _to_power_of_run(ev: Evaluator, node: ast.expr, lhs: NumberValue, rhs: NumberValue) -> Value | None:
    """A power whose exponent the run knows; None where its kind depends on the exponent, or where it may be no number."""
    reach = interval(ev, rhs.ssa) if rhs.whole and rhs.ssa is not None else None
    natural = reach is not None and reach[0] >= 0
    base = None if lhs.symbolic else lhs.value
    if lhs.whole:
        fits = natural and reach is not None and base is not None and abs(int(base)) ** reach[1] < 1 << 63
    else:
        fits = natural or (base is not None and base > 0)
    return ev.domain.arithmetic(node, "pow", [lhs, rhs], None) if fits else None


_MOST_PRODUCTS = 4
_BITS = frozenset({"bit_and", "bit_or", "bit_xor", "shift_right"})
"""Operators of integers whose result is no larger than what they take: those of the run's 64 bits are Python's."""


def _bits(ev: Evaluator, node: ast.expr, name: str, lhs: NumberValue, rhs: NumberValue) -> Value:
    a, b = (array(ev, node, v) for v in (lhs, rhs))
    found = shift(ev, node, name, a, b) if name == "shift_right" else ev.domain.binary(ev, node, name, a, b)
    return number_of(ev, node, found)


_SIGN = {"pow": "**", "shift_left": "<<"}


def unary(ev: Evaluator, node: ast.UnaryOp, found: Value) -> Value:
    """`-found`, `+found`, `~found` and `not found`."""
    if isinstance(node.op, ast.Not):
        return negated(ev, node, condition(ev, node.operand, found))
    found = number_behind(found)
    if isinstance(found, ObjectInstance) or objects.overloads(found, *objects.UNARY.values()):
        return objects.unary(ev, node, found)
    if isinstance(found, ForeignArray):
        return foreign.unary(ev, node, node.op, found)
    if isinstance(found, Complex):
        return complexes.unary(ev, node, node.op, found)
    if not isinstance(found, TracedArray | NumberValue):
        what = f"expected an array or a number, found {words(found)}"
        stand_ins.refuse(ev, "F408", node.operand, what, stand_ins.UNARY[type(node.op)], found)
    value = ev.operand(node.operand, found)
    if isinstance(value, TracedArray):
        if isinstance(node.op, ast.UAdd):
            if value.dtype.kind == "b":
                ev.fail("F401", node, "unary + of an array of bool")
            return ev.domain.unary(ev, node, "pos", value)
        return ev.domain.unary(ev, node, "neg" if isinstance(node.op, ast.USub) else "invert", value)
    if value.symbolic:
        if isinstance(node.op, ast.Invert):
            ev.unknown(node, "~ of a size that only the run knows")
        return value if isinstance(node.op, ast.UAdd) else ev.domain.arithmetic(node, "neg", [value], None)
    number = value.value
    if isinstance(node.op, ast.UAdd):
        return NumberValue(int(number)) if isinstance(number, bool) else value
    if isinstance(node.op, ast.Invert):
        if not isinstance(number, int):
            stand_ins.refuse(ev, "F408", node, f"~ of {words(value)}", stand_ins.UNARY[ast.Invert], value)
        return NumberValue(-1 - number)
    if isinstance(node.operand, ast.Constant):
        return NumberValue(-number, place=node)
    return ev.domain.arithmetic(node, "neg", [value], -number)


def negated(ev: Evaluator, node: ast.expr, held: bool | SSAValue) -> NumberValue:
    """`not`."""
    return (
        NumberValue(not held)
        if isinstance(held, bool)
        else ev.domain.arithmetic(node, "equal", [NumberValue(None, held), NumberValue(False)], None)
    )


def compared(ev: Evaluator, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
    """One comparison: `left op right`, `is` and `in` among them."""
    if isinstance(op, ast.Is | ast.IsNot):
        return NumberValue(_identical(left, right) is isinstance(op, ast.Is))
    if isinstance(op, ast.In | ast.NotIn) and isinstance(right, TracedArray):
        return _within(ev, node, op, left, right)
    if isinstance(op, ast.In | ast.NotIn):
        return NumberValue(builtin.contains(ev, node, right, left) is isinstance(op, ast.In))
    name = COMPARE[type(op)]
    left, right = number_behind(left), number_behind(right)
    methods = objects.COMPARISONS.get(name, ())  # a tuple has a __ne__ of its own
    compare = objects.overloads(left, *methods) or objects.overloads(right, *methods)
    if isinstance(left, ObjectInstance) or isinstance(right, ObjectInstance) or compare:
        found = objects.compared(ev, node, name, left, right)
        if found is not None:
            return found[0]
    if isinstance(left, ForeignArray) or isinstance(right, ForeignArray):
        return foreign.binary(ev, node, name, left, right)
    beside = complexes.compared(ev, node, name, left, right)
    if beside is not None:
        return beside
    a, b = _as_array(ev, node, left, right), _as_array(ev, node, right, left)
    if isinstance(a, TracedArray | NumberValue) and isinstance(b, TracedArray | NumberValue):
        if isinstance(a, NumberValue) and isinstance(b, NumberValue):
            if a.sized or b.sized:
                ev.unknown(node, "a size that only the run knows is compared")
            if a.symbolic or b.symbolic:
                return ev.domain.arithmetic(node, name, [a, b], None)
            return NumberValue(bool(stand_ins.OPERATORS[name](a.value, b.value)))
        return ev.domain.binary(ev, node, name, a, b)
    return NumberValue(builtin.compare(ev, node, name, left, right))


def _within(ev: Evaluator, node: ast.Compare, op: ast.cmpop, left: Value, right: TracedArray) -> Value:
    """`left in right` of an array: whether any of its elements is equal."""
    item = ev.operand(node, to_array(ev, node, left))
    same = ev.domain.binary(ev, node, "equal", right, item)
    held = condition(ev, node, ev.domain.call(ev, as_call(node), "numpy.any", [same], {}))
    if isinstance(op, ast.NotIn):
        return negated(ev, node, held)
    return NumberValue(held) if isinstance(held, bool) else NumberValue(None, held)


def _identical(left: Value, right: Value) -> bool:
    if isinstance(left, NumberValue) and isinstance(right, NumberValue):
        return left is right or (
            not left.symbolic and not right.symbolic and isinstance(left.value, bool) and left.value is right.value
        )
    if isinstance(left, str | Library | np.dtype) or left is None or left is ELLIPSIS:
        return type(left) is type(right) and left == right
    if isinstance(left, ForeignArray) and isinstance(right, ForeignArray):
        return left.array is right.array  # np.ma.masked is one object
    return left is right
