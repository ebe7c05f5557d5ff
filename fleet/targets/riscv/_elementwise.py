"""Elementwise operations: arithmetic and functions of one or two broadcast arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir

from fleet.ir import dialect
from fleet.ir.dialect import BinaryOp, FleetOp, UnaryOp
from fleet.targets.riscv._kernel import (
    F32,
    F64,
    I64,
    Array,
    Builder,
    Value,
    broadcast_strides,
    element,
    fold,
    index,
    is_float,
    load,
    nest,
    number,
    store,
)
from fleet.targets.riscv._math import Functions
from fleet.targets.riscv.faults import Fault, emit_fault
from fleet.targets.riscv.plan import refuse

COST: dict[type[FleetOp], int] = {
    dialect.ExpOp: 100,
    dialect.LogOp: 100,
    dialect.TanhOp: 150,
    dialect.PowOp: 800,
    dialect.DivOp: 12,
    dialect.SqrtOp: 12,
}
"""Upper estimate of instructions an element; 12 for what is not listed."""


def emit_binary(b: Builder, op: BinaryOp, out: Array, lhs: Array, rhs: Array) -> None:
    """`add`, `sub`, `mul`, `div`, `pow`, `maximum`, `minimum`: operands converted to the result's dtype, then computed."""
    strides = [out.strides]
    for array in (lhs, rhs):
        steps = broadcast_strides(array, out.shape)
        if steps is None:
            raise refuse(op, f"shape {array.shape} does not broadcast to {out.shape}")
        strides.append(steps)
    if isinstance(op, dialect.DivOp) and not is_float(out.dtype):
        raise refuse(op, f"division with result {out.dtype}; numpy divides into floating point")

    def body(offsets: list[Value]) -> None:
        x, y = load(b, lhs, offsets[1], out.dtype), load(b, rhs, offsets[2], out.dtype)
        store(b, out, offsets[0], _binary(b, op, x, y, out.dtype))

    nest(b, out.shape, strides, [index(0)] * 3, body)


def emit_unary(b: Builder, op: UnaryOp, out: Array, operand: Array) -> None:
    """`neg`, `abs`, `sqrt`, `exp`, `log`, `tanh`, `cast`."""
    if operand.shape != out.shape:
        raise refuse(op, f"shape {operand.shape} to {out.shape}; expected the same")
    floating = (dialect.SqrtOp, dialect.ExpOp, dialect.LogOp, dialect.TanhOp)
    if isinstance(op, floating) and not is_float(out.dtype):
        raise refuse(op, f"result {out.dtype}; expected float32 or float64")

    def body(offsets: list[Value]) -> None:
        store(b, out, offsets[0], _unary(b, op, load(b, operand, offsets[1], out.dtype), out.dtype))

    nest(b, out.shape, [out.strides, operand.strides], [index(0)] * 2, body)


def maximum(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    """`numpy.maximum`: a NaN of either operand, the first one's before the second's."""
    if not is_float(dtype):
        return b.select(b.icmp_signed(">=", x, y), x, y)
    return b.select(b.or_(b.fcmp_ordered(">=", x, y), b.fcmp_unordered("uno", x, x)), x, y)


def _minimum(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    if not is_float(dtype):
        return b.select(b.icmp_signed("<=", x, y), x, y)
    return b.select(b.or_(b.fcmp_ordered("<=", x, y), b.fcmp_unordered("uno", x, x)), x, y)


def _binary(b: Builder, op: BinaryOp, x: Value, y: Value, dtype: np.dtype) -> Value:
    floating = is_float(dtype)
    match op:
        case dialect.AddOp():
            return b.fadd(x, y) if floating else b.add(x, y)
        case dialect.SubOp():
            return b.fsub(x, y) if floating else b.sub(x, y)
        case dialect.MulOp():
            return b.fmul(x, y) if floating else b.mul(x, y)
        case dialect.DivOp():
            return b.fdiv(x, y)
        case dialect.MaximumOp():
            return maximum(b, x, y, dtype)
        case dialect.MinimumOp():
            return _minimum(b, x, y, dtype)
        case dialect.PowOp() if floating:
            return _in_double(b, dtype, lambda f, *v: f.pow(*v), x, y)
        case dialect.PowOp():
            return _integer_pow(b, x, y, dtype)
        case _:
            raise refuse(op, "not supported")


def _unary(b: Builder, op: UnaryOp, x: Value, dtype: np.dtype) -> Value:
    match op:
        case dialect.CastOp():
            return x
        case dialect.NegOp():
            return b.fneg(x) if is_float(dtype) else b.neg(x)
        case dialect.AbsOp() if is_float(dtype):
            return _intrinsic(b, "llvm.fabs", x)
        case dialect.AbsOp():
            return b.select(b.icmp_signed("<", x, number(dtype, 0)), b.neg(x), x)
        case dialect.SqrtOp():
            return _intrinsic(b, "llvm.sqrt", x)
        case dialect.ExpOp():
            return _in_double(b, dtype, lambda f, v: f.exp(v), x)
        case dialect.LogOp():
            return _in_double(b, dtype, lambda f, v: f.log(v), x)
        case dialect.TanhOp():
            return _in_double(b, dtype, lambda f, v: f.tanh(v), x)
        case _:
            raise refuse(op, "not supported")


def _intrinsic(b: Builder, name: str, x: Value) -> Value:
    return b.call(b.module.declare_intrinsic(name, [x.type], ir.FunctionType(x.type, [x.type])), [x])


def _in_double(b: Builder, dtype: np.dtype, function: Callable[..., Value], *values: Value) -> Value:
    single = dtype.itemsize == 4
    wide = [b.fpext(v, F64) for v in values] if single else list(values)
    result = function(Functions(b, single), *wide)
    return b.fptrunc(result, F32) if single else result


def _integer_pow(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Square and multiply modulo 2**n; a negative exponent is a fault, as numpy raises ValueError."""
    wide = b.sext(y, I64) if dtype.itemsize == 4 else y
    emit_fault(b, b.icmp_signed("<", wide, index(0)), Fault.NEGATIVE_POWER, wide, index(0))
    type_ = element(dtype)

    def step(i: Value, carried: list[Value]) -> list[Value]:
        result, square = carried
        bit = b.trunc(b.lshr(wide, i), ir.IntType(1))
        return [b.select(bit, b.mul(result, square), result), b.mul(square, square)]

    return fold(b, 8 * dtype.itemsize - 1, [ir.Constant(type_, 1), x], step)[0]
