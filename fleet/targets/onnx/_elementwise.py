"""Elementwise operations as ONNX nodes, with operands cast to NumPy's dtypes; the docs' table is made of the docstrings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from onnx import numpy_helper

from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.targets.onnx._emitter import EmittedValue, OnnxEmitter, Unsupported, result_of
from fleet.targets.onnx.types import stand_in

BINARY: Mapping[type[FleetOp], str] = {
    d.AddOp: "Add", d.SubOp: "Sub", d.MulOp: "Mul", d.DivOp: "Div", d.MaximumOp: "Max", d.MinimumOp: "Min",
    d.BitwiseAndOp: "BitwiseAnd", d.BitwiseOrOp: "BitwiseOr", d.BitwiseXorOp: "BitwiseXor",
}  # fmt: skip
COMPARISONS: Mapping[type[FleetOp], str] = {
    d.LessOp: "Less", d.LessEqualOp: "LessOrEqual", d.GreaterOp: "Greater", d.GreaterEqualOp: "GreaterOrEqual", d.EqualOp: "Equal",
}  # fmt: skip
LOGICAL: Mapping[type[FleetOp], str] = {d.LogicalAndOp: "And", d.LogicalOrOp: "Or"}
UNARY: Mapping[type[FleetOp], str] = {
    d.NegOp: "Neg", d.AbsOp: "Abs", d.SqrtOp: "Sqrt", d.ExpOp: "Exp", d.LogOp: "Log", d.TanhOp: "Tanh", d.ErfOp: "Erf",
    d.SinOp: "Sin", d.CosOp: "Cos", d.FloorOp: "Floor", d.CeilOp: "Ceil", d.RintOp: "Round", d.SignOp: "Sign",
}  # fmt: skip
_OF_BOOLS: Mapping[type[FleetOp], str] = {
    d.AddOp: "Or", d.MaximumOp: "Or", d.BitwiseOrOp: "Or", d.MulOp: "And", d.MinimumOp: "And", d.BitwiseAndOp: "And",
    d.BitwiseXorOp: "Xor", d.AbsOp: "Identity",
}  # fmt: skip
"""NumPy's operations on bools."""
_ROUNDINGS = d.FloorOp | d.CeilOp | d.RintOp
_MAX_PRODUCTS = 16
"""Integer powers up to this one are products."""


def _taken(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> tuple[list[EmittedValue], np.dtype, tuple[int, ...]]:
    """Return operands in the dtypes of NumPy's loop, the loop's result dtype, and the result's shape."""
    *wanted, result = op.compute_types([v.type for v in op.operands])
    if len(set(wanted)) > 1:
        raise Unsupported(f"operands of {' and '.join(d.name for d in wanted)}, which NumPy compares as they are")
    return [e.cast(v, d) for v, d in zip(values, wanted, strict=True)], result, result_of(op)[1]


def binary(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """One operator, its operands cast to NumPy's dtype (of truth values `And`, `Or`, `Xor`)."""
    x, result, shape = _taken(e, op, values)
    if x[0].dtype.kind == "b":
        return e.node(_OF_BOOLS[type(op)], x, np.bool_, shape)
    found = e.compute(BINARY[type(op)], x, shape)
    return e.cast(found, result)


def comparison(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """One operator."""
    x, _, shape = _taken(e, op, values)
    return e.predicate(COMPARISONS[type(op)], x, shape)


def not_equal(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Not` of `Equal`."""
    x, _, shape = _taken(e, op, values)
    return e.node("Not", [e.predicate("Equal", x, shape)], np.bool_, shape)


def logical(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """One operator, its operands cast to truth values."""
    return e.node(LOGICAL[type(op)], [e.cast(v, np.bool_) for v in values], np.bool_, result_of(op)[1])


def logical_not(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Not` of a truth value."""
    return e.node("Not", [e.cast(values[0], np.bool_)], np.bool_, result_of(op)[1])


def unary(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """One operator, its operand cast to NumPy's dtype."""
    x, result, shape = _taken(e, op, values)
    if x[0].dtype.kind == "b":
        if type(op) not in _OF_BOOLS and not isinstance(op, _ROUNDINGS):
            raise Unsupported("of truth values")
        return e.node("Identity", x, np.bool_, shape)
    if x[0].dtype.kind != "f" and isinstance(op, _ROUNDINGS):
        return e.node("Identity", x, result, shape)
    if x[0].dtype.kind == "u" and isinstance(op, d.AbsOp):
        return e.node("Identity", x, result, shape)
    return e.cast(e.compute(UNARY[type(op)], x, shape), result)


def isnan(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`IsNaN`; of an integer, cast to float32."""
    x = values[0] if values[0].dtype.kind == "f" else e.cast(values[0], np.float32)
    return e.node("IsNaN", [x], np.bool_, result_of(op)[1])


def rsqrt(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Reciprocal` of `Sqrt`."""
    x, result, shape = _taken(e, op, values)
    return e.node("Reciprocal", [e.node("Sqrt", x, result, shape)], result, shape)


def expm1(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`(u - 1) * x / log(u)` with `u = exp(x)` where x is small (what u lost of x cancels), x itself where u is 1, else `u - 1`."""
    (x,), result, shape = _taken(e, op, values)
    one = e.number(1, result)
    u = e.node("Exp", [x], result, shape)
    less = e.node("Sub", [u, one], result, shape)
    same = e.node("Equal", [u, one], np.bool_, shape)
    logarithm = e.node("Where", [same, one, e.node("Log", [u], result, shape)], result, shape)
    near = e.node("Mul", [less, e.node("Div", [x, logarithm], result, shape)], result, shape)
    near = e.node("Where", [same, x, near], result, shape)
    inside = e.node("Less", [e.node("Abs", [x], result, shape), one], np.bool_, shape)
    return e.node("Where", [inside, near, less], result, shape)


def log1p(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`x * log(u) / (u - 1)` with `u = 1 + x` (what u lost of x cancels), and x itself where u is 1."""
    (x,), result, shape = _taken(e, op, values)
    one = e.number(1, result)
    u = e.node("Add", [x, one], result, shape)
    less = e.node("Sub", [u, one], result, shape)
    same = e.node("Equal", [u, one], np.bool_, shape)
    far = e.node("Equal", [u, x], np.bool_, shape)  # infinity, and values too large for the 1 to count
    ratio = e.node("Div", [x, e.node("Where", [same, one, less], result, shape)], result, shape)
    ratio = e.node("Where", [far, one, ratio], result, shape)
    found = e.node("Mul", [e.node("Log", [u], result, shape), ratio], result, shape)
    return e.node("Where", [same, x, found], result, shape)


def power(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Pow`; an integer to a constant power up to 16 is a product, which wraps as NumPy's does."""
    x, result, shape = _taken(e, op, values)
    owner = op.operands[1].owner
    if result.kind in "iu" and isinstance(owner, ConstantOp):
        exponent = constant_value(owner)
        if isinstance(exponent, int) and 1 <= exponent <= _MAX_PRODUCTS and x[0].shape == shape:
            found = x[0]
            for _ in range(exponent - 1):
                found = e.node("Mul", [found, x[0]], result, shape)
            return found
    return e.cast(e.compute("Pow", x, shape), result)


def floor_div(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """Of floats NumPy's own steps (`Mod` as C has it, `Div`, `Floor`); of integers `Div`, less 1 where it cut off a negative
    quotient; 0 where the divisor is 0.
    """
    (a, b), result, shape = _taken(e, op, values)
    if result.kind == "b":
        raise Unsupported("of truth values")
    if result.kind == "f":
        return _float_division(e, a, b, shape)[0]
    safe, zero = _safe(e, op, b)
    q = e.node("Div", [a, safe], result, shape)
    if result.kind == "i":
        rest = e.node("Sub", [a, e.node("Mul", [q, safe], result, shape)], result, shape)
        q = e.node("Sub", [q, e.cast(_other_sign(e, rest, b, shape), result)], result, shape)
    if zero is None:
        return q
    if result.kind == "i":  # by -1: 0 - a, which wraps as NumPy's quotient does
        minus = e.node("Equal", [b, e.number(-1, b.dtype)], np.bool_, b.shape)
        q = _choose(e, minus, e.node("Sub", [e.number(0, result), a], result, a.shape), q, shape)
    return _choose(e, zero, e.number(0, result), q, shape)


def mod(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Mod`, of floats in NumPy's own steps: the divisor's sign; a divisor of 0 gives 0 of integers and NaN of floats."""
    (a, b), result, shape = _taken(e, op, values)
    if result.kind == "b":
        raise Unsupported("of truth values")
    if result.kind == "f":
        return _float_division(e, a, b, shape)[1]
    safe, zero = _safe(e, op, b)
    found = e.node("Mod", [a, safe], result, shape)
    return found if zero is None else _choose(e, zero, e.number(0, result), found, shape)


def _choose(e: OnnxEmitter, condition: EmittedValue, yes: EmittedValue, no: EmittedValue, shape: Sequence[int]) -> EmittedValue:
    """Emit `where(condition, yes, no)` of one dtype."""
    wide = stand_in("Where", yes.dtype)
    found = e.node("Where", [condition, e.cast(yes, wide), e.cast(no, wide)], wide, shape)
    return e.cast(found, yes.dtype)


def _safe(e: OnnxEmitter, op: FleetOp, b: EmittedValue) -> tuple[EmittedValue, EmittedValue | None]:
    """Return a divisor that is valid for any dividend, and where b is 0 (None: nowhere).

    Division by 0, or of the smallest integer by -1, stops a process. 1 replaces both divisors.
    """
    owner = op.operands[1].owner
    if isinstance(owner, ConstantOp) and constant_value(owner) not in (0, -1):
        return b, None
    zero = bad = e.node("Equal", [b, e.number(0, b.dtype)], np.bool_, b.shape)
    if b.dtype.kind == "i":
        bad = e.node("Or", [zero, e.node("Equal", [b, e.number(-1, b.dtype)], np.bool_, b.shape)], np.bool_, b.shape)
    return _choose(e, bad, e.number(1, b.dtype), b, b.shape), zero


def _other_sign(e: OnnxEmitter, rest: EmittedValue, b: EmittedValue, shape: Sequence[int]) -> EmittedValue:
    """Return where a nonzero remainder does not have the divisor's sign."""
    zero = e.number(0, b.dtype)
    there = e.node("Not", [e.node("Equal", [rest, zero], np.bool_, shape)], np.bool_, shape)
    signs = [e.node("Less", [v, zero], np.bool_, v.shape) for v in (rest, b)]
    return e.node("And", [there, e.node("Xor", signs, np.bool_, shape)], np.bool_, shape)


def _float_division(e: OnnxEmitter, a: EmittedValue, b: EmittedValue, shape: Sequence[int]) -> tuple[EmittedValue, EmittedValue]:
    """Return (floor of the quotient, remainder with the divisor's sign) in NumPy's steps (npy_divmod)."""
    dtype = a.dtype
    zero, one = e.number(0, dtype), e.number(1, dtype)

    def op(name: str, *values: EmittedValue) -> EmittedValue:
        return e.node(name, values, dtype, shape)

    def test(name: str, *values: EmittedValue) -> EmittedValue:
        return e.node(name, values, np.bool_, shape)

    rest = e.node("Mod", [a, b], dtype, shape, fmod=1)
    none = test("Equal", rest, zero)
    turned = test("And", test("Not", none), test("Xor", test("Less", rest, zero), test("Less", b, zero)))
    q = op("Div", op("Sub", a, rest), b)
    q = op("Where", turned, op("Sub", q, one), q)
    floor = op("Floor", q)
    floor = op("Where", test("Greater", op("Sub", q, floor), e.number(0.5, dtype)), op("Add", floor, one), floor)
    by_zero = test("Equal", b, zero)
    quotient = op("Where", by_zero, op("Div", a, b), floor)
    signed = op("Where", test("Less", b, zero), e.number(-0.0, dtype), zero)
    rest = op("Where", none, signed, op("Where", turned, op("Add", rest, b), rest))
    return quotient, rest


def where(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Where`, its condition cast to a truth value."""
    dtype, shape = result_of(op)
    return _choose(e, e.cast(values[0], np.bool_), e.cast(values[1], dtype), e.cast(values[2], dtype), shape)


def cast(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Cast`. A float that an integer does not hold becomes what the runtime makes of it."""
    return e.cast(values[0], attributes_of(op)["dtype"])


def constant(e: OnnxEmitter, op: FleetOp, _values: Sequence[EmittedValue]) -> EmittedValue:
    """`Constant`, of an array `ConstantOfShape`."""
    assert isinstance(op, ConstantOp)
    dtype, shape = result_of(op)
    number = np.asarray(constant_value(op)).astype(dtype)
    if not shape:
        return e.constant(number)
    value = numpy_helper.from_array(number.reshape(1))
    return e.node("ConstantOfShape", [e.integers(shape)], dtype, shape, value=value)
