"""Elementwise operations: arithmetic, comparisons, choices and functions of broadcast arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from llvmlite import ir

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.schedule import LoopSchedule
from fleet.targets.riscv.faults import RuntimeFault, emit_fault
from fleet.targets.riscv.kernels.angles import Angles
from fleet.targets.riscv.kernels.division import floor_divide, modulo
from fleet.targets.riscv.kernels.kernel import (
    F32,
    I1,
    I64,
    ArrayOperand,
    Builder,
    Value,
    broadcast_strides,
    element,
    index,
    integer_compare,
    intrinsic,
    is_float,
    is_unsigned,
    lanes_of,
    load_spread,
    number,
    spread,
    store,
    vector,
)
from fleet.targets.riscv.kernels.loops import LaneBody, fold, nest_scheduled
from fleet.targets.riscv.kernels.math import Functions
from fleet.targets.riscv.plan import refuse
from fleet.transforms.schedule_loops import loops_of

Kind: TypeAlias = type[FleetOp]

COST: Mapping[Kind, int] = {
    **dict.fromkeys((d.ExpOp, d.LogOp, d.ErfOp, d.SigmoidOp, d.SiluOp, d.GeluOp), 140),
    **dict.fromkeys((d.TanhOp, d.Expm1Op, d.SinOp, d.CosOp), 200),
    **{d.Log1pOp: 320, d.PowOp: 900, d.FloorDivOp: 40, d.ModOp: 40, d.RsqrtOp: 24},
}
"""Upper estimate of instructions per element; 20 for operations not listed. A floating remainder takes `FMOD_STEPS` more."""

COMPARISONS: Mapping[Kind, str] = {
    d.LessOp: "<",
    d.LessEqualOp: "<=",
    d.GreaterOp: ">",
    d.GreaterEqualOp: ">=",
    d.EqualOp: "==",
    d.NotEqualOp: "!=",
}
_LOGICAL = (d.LogicalAndOp, d.LogicalOrOp)
_BITWISE = (d.BitwiseAndOp, d.BitwiseOrOp, d.BitwiseXorOp)
BINARY = (
    *(d.AddOp, d.SubOp, d.MulOp, d.DivOp, d.PowOp, d.MaximumOp, d.MinimumOp, d.FloorDivOp, d.ModOp),
    *(*COMPARISONS, *_LOGICAL, *_BITWISE),
)
_FUNCTIONS: Mapping[Kind, Callable[[Functions, Value], Value]] = {
    d.ExpOp: Functions.exp,
    d.LogOp: Functions.log,
    d.TanhOp: Functions.tanh,
    d.ErfOp: Functions.erf,
    d.Log1pOp: Functions.log1p,
    d.Expm1Op: Functions.expm1,
    d.RsqrtOp: Functions.rsqrt,
    d.SigmoidOp: Functions.sigmoid,
}
_ANGLES: Mapping[Kind, Callable[[Angles, Value], Value]] = {d.SinOp: Angles.sin, d.CosOp: Angles.cos}
_ROUNDINGS: Mapping[Kind, str] = {d.FloorOp: "llvm.floor", d.CeilOp: "llvm.ceil", d.RintOp: "llvm.roundeven"}
UNARY = (*(d.NegOp, d.AbsOp, d.SqrtOp, d.CastOp, d.SignOp, d.LogicalNotOp, d.IsnanOp), *_FUNCTIONS, *_ANGLES, *_ROUNDINGS)


@dataclass(frozen=True)
class LaneOperand:
    """An operand of one step of a loop.

    constant: its value if it is one number known at compile time. read: gives it in a dtype, in all lanes of the step.
    """

    dtype: np.dtype
    constant: float | None
    read: Callable[[np.dtype], Value]


@dataclass(frozen=True)
class StepShape:
    """Steps of a loop over an operation's elements.

    size: bytes of the largest element that is computed with. heavy: the code of one element is long. serial: one element at a time.
    """

    size: int
    heavy: bool
    serial: bool


def step_shape(op: FleetOp, result: np.dtype, dtypes: Sequence[np.dtype], constants: Sequence[float | None]) -> StepShape:
    """Return how a loop over these operands steps. dtypes, constants: of the operands."""
    kind = type(op)
    power = kind is d.PowOp and not (constants[1] == 2 or (isinstance(op, d.PowOp) and op.is_root(constants[1])))
    wide = power and is_float(result)
    function = kind in _FUNCTIONS or kind in _ANGLES
    serial = (power and not wide) or (kind in (d.FloorDivOp, d.ModOp) and is_float(result))
    size = 8 if wide or function else max(result.itemsize, *(t.itemsize for t in dtypes))
    if any(is_float(t) != is_float(result) for t in dtypes):
        size = 8  # conversions between floating point and integers pass through float64
    return StepShape(size, wide or function, serial)


def lane_value(b: Builder, op: FleetOp, result: np.dtype, operands: Sequence[LaneOperand]) -> Value:
    """Emit an operation on the elements of one step. result: its dtype, which the value has.

    Operands are converted to the result's dtype, those of comparisons to their common one. Raises DeviceError if the target
    lacks it.
    """
    kind = type(op)
    if kind is d.WhereOp:  # a condition that is not boolean counts as true if it is not zero
        chosen, x, y = (o.read(t) for o, t in zip(operands, (np.dtype(bool), result, result), strict=True))
        return b.select(chosen, x, y)
    if kind in UNARY:
        dtype = operands[0].dtype if kind in (d.IsnanOp, d.LogicalNotOp) else result
        return unary(b, op, kind, operands[0].read(dtype), dtype)
    lhs, rhs = operands
    dtype = result
    if kind in COMPARISONS:
        dtype, other, _ = op.compute_types([v.type for v in op.operands])
        if dtype != other:
            return _compare_signs(b, kind, lhs, rhs)
    elif kind in _LOGICAL:
        dtype = np.dtype(bool)
    x = lhs.read(dtype)
    if isinstance(op, d.PowOp) and rhs.constant == 2:
        return b.fmul(x, x) if is_float(dtype) else b.mul(x, x)
    if isinstance(op, d.PowOp) and op.is_root(rhs.constant):
        return unary(b, op, d.SqrtOp, x, dtype)
    return compute(b, op, kind, x, rhs.read(dtype), dtype)


def _compare_signs(b: Builder, kind: Kind, lhs: LaneOperand, rhs: LaneOperand) -> Value:
    """Compare a signed integer with uint64: no dtype holds both, so NumPy compares them as mathematical numbers."""
    sign, left = COMPARISONS[kind], lhs.dtype.kind == "i"
    below = sign in ("<", "<=", "!=") if left else sign in (">", ">=", "!=")
    x, y = (o.read(np.dtype(np.int64 if o.dtype.kind == "i" else np.uint64)) for o in (lhs, rhs))
    lanes = lanes_of(x)
    negative = b.icmp_signed("<", x if left else y, number(np.dtype(np.int64), 0, lanes))
    return b.select(negative, spread(b, ir.Constant(I1, below), lanes), b.icmp_unsigned(sign, x, y))


def loaded(b: Builder, array: ArrayOperand, offset: Value, lanes: int, stride: int) -> LaneOperand:
    """Return an array as an operand of one step. It is loaded when it is read, once for every dtype."""
    found: dict[np.dtype, Value] = {}

    def read(dtype: np.dtype) -> Value:
        if dtype not in found:
            found[dtype] = load_spread(b, array, offset, dtype, lanes, stride)
        return found[dtype]

    return LaneOperand(array.dtype, array.constant, read)


def check_elementwise(op: FleetOp, result: np.dtype, shape: tuple[int, ...], operands: Sequence[ArrayOperand]) -> None:
    """Raises DeviceError if the target lacks the operation for this dtype or these shapes."""
    kind = type(op)
    if kind is d.DivOp and not is_float(result):
        raise refuse(op, f"division with result {result}; numpy divides into floating point")
    if kind in UNARY and operands[0].shape != shape:
        raise refuse(op, f"shape {operands[0].shape} to {shape}; expected the same")
    if (kind in _FUNCTIONS or kind in _ANGLES or kind is d.SqrtOp) and not is_float(result):
        raise refuse(op, f"result {result}; expected float32 or float64")
    for array in operands:
        if broadcast_strides(array, shape) is None:
            raise refuse(op, f"shape {array.shape} does not broadcast to {shape}")


def emit_elementwise(b: Builder, op: FleetOp, out: ArrayOperand, *operands: ArrayOperand) -> None:
    """Emit one operation, elementwise on broadcast operands."""
    check_elementwise(op, out.dtype, out.shape, operands)

    def body(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
        given = [loaded(b, a, o, lanes, w) for a, o, w in zip(operands, offsets[1:], walk[1:], strict=True)]
        store(b, out, offsets[0], lane_value(b, op, out.dtype, given))

    step = step_shape(op, out.dtype, [a.dtype for a in operands], [a.constant for a in operands])
    walk_elements(b, out.shape, [out], operands, body, step, loops_of(op))


def walk_elements(
    b: Builder,
    shape: tuple[int, ...],
    results: Sequence[ArrayOperand],
    operands: Sequence[ArrayOperand],
    body: LaneBody,
    step: StepShape,
    loops: LoopSchedule,
) -> None:
    """Emit loops over all elements of results of one shape. `body` gets the offsets of results, then of operands."""
    strides = [a.strides for a in results]
    for array in operands:
        found = broadcast_strides(array, shape)
        assert found is not None, "shapes are checked before code is made"
        strides.append(found)
    start = [index(0)] * len(strides)
    axes = range(len(shape))
    if step.serial:  # loops inside: one element at a time
        alone = replace(loops, unroll=1, vectorise=1)
        nest_scheduled(b, alone, axes, shape, strides, start, body, size=1 << 20, unroll=1)
    else:
        unroll = 1 if step.heavy else 4
        nest_scheduled(b, loops, axes, shape, strides, start, body, size=step.size, unroll=unroll)


def maximum(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit `numpy.maximum`: a NaN of either operand wins, the first one's before the second's."""
    if dtype.kind == "b":
        return b.or_(x, y)
    if not is_float(dtype):
        return b.select(integer_compare(b, ">=", x, y, dtype), x, y)
    return b.select(b.or_(b.fcmp_ordered(">=", x, y), b.fcmp_unordered("uno", x, x)), x, y)


def minimum(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit `numpy.minimum`; NaN as in `maximum`."""
    if dtype.kind == "b":
        return b.and_(x, y)
    if not is_float(dtype):
        return b.select(integer_compare(b, "<=", x, y, dtype), x, y)
    return b.select(b.or_(b.fcmp_ordered("<=", x, y), b.fcmp_unordered("uno", x, x)), x, y)


def compute(b: Builder, op: FleetOp, kind: Kind, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit binary operation `kind` of values of one dtype."""
    floating, truth = is_float(dtype), dtype.kind == "b"
    if kind in COMPARISONS:
        sign = COMPARISONS[kind]
        if floating:
            return b.fcmp_unordered(sign, x, y) if sign == "!=" else b.fcmp_ordered(sign, x, y)
        return integer_compare(b, sign, x, y, dtype)
    match kind:
        case d.AddOp:
            return b.fadd(x, y) if floating else b.or_(x, y) if truth else b.add(x, y)
        case d.SubOp if not truth:
            return b.fsub(x, y) if floating else b.sub(x, y)
        case d.MulOp:
            return b.fmul(x, y) if floating else b.and_(x, y) if truth else b.mul(x, y)
        case d.DivOp:
            return b.fdiv(x, y)
        case d.MaximumOp:
            return maximum(b, x, y, dtype)
        case d.MinimumOp:
            return minimum(b, x, y, dtype)
        case d.LogicalAndOp:
            return b.and_(x, y)
        case d.LogicalOrOp:
            return b.or_(x, y)
        case d.BitwiseAndOp if not floating:
            return b.and_(x, y)
        case d.BitwiseOrOp if not floating:
            return b.or_(x, y)
        case d.BitwiseXorOp if not floating:
            return b.xor(x, y)
        case d.FloorDivOp if not truth:
            return floor_divide(b, x, y, dtype)
        case d.ModOp if not truth:
            return modulo(b, x, y, dtype)
        case d.PowOp if floating:
            return in_double(b, lambda f, *v: f.pow(*v), x, y)
        case d.PowOp if not truth:
            return _integer_pow(b, x, y, dtype)
        case _:
            raise refuse(op, f"not supported for {dtype}")


def unary(b: Builder, op: FleetOp, kind: Kind, x: Value, dtype: np.dtype) -> Value:
    """Emit unary operation `kind` of a value that already has its operand's dtype."""
    floating, lanes = is_float(dtype), lanes_of(x)
    zero = number(dtype, 0, lanes)
    if kind in _FUNCTIONS:
        return in_double(b, _FUNCTIONS[kind], x)
    if kind in _ANGLES:
        angle = _ANGLES[kind]
        return in_double(b, lambda f, v: angle(Angles(f.b, f.lanes), v), x)
    if kind in _ROUNDINGS:
        return intrinsic(b, _ROUNDINGS[kind], x) if floating else x
    match kind:
        case d.CastOp:
            return x
        case d.NegOp if dtype.kind != "b":
            return b.fneg(x) if floating else b.neg(x)
        case d.AbsOp:
            return intrinsic(b, "llvm.fabs", x) if floating else x if is_unsigned(dtype) else _absolute(b, x, zero)
        case d.SqrtOp:
            return intrinsic(b, "llvm.sqrt", x)
        case d.SignOp if floating:
            one = intrinsic(b, "llvm.copysign", number(dtype, 1, lanes), x)
            return b.select(b.fcmp_unordered("==", x, zero), b.fadd(x, zero), one)
        case d.SignOp if dtype.kind == "u":
            return b.zext(b.icmp_unsigned("!=", x, zero), x.type)
        case d.SignOp if dtype.kind != "b":
            above, below = b.icmp_signed(">", x, zero), b.icmp_signed("<", x, zero)
            return b.sub(b.zext(above, x.type), b.zext(below, x.type))
        case d.LogicalNotOp:
            return b.fcmp_ordered("==", x, zero) if floating else b.icmp_signed("==", x, zero)
        case d.IsnanOp:
            return b.fcmp_unordered("uno", x, x) if floating else spread(b, ir.Constant(I1, 0), lanes)
        case _:
            raise refuse(op, f"not supported for {dtype}")


def _absolute(b: Builder, x: Value, zero: Value) -> Value:
    return b.select(b.icmp_signed("<", x, zero), b.neg(x), x)


def in_double(b: Builder, function: Callable[..., Value], *values: Value) -> Value:
    """Emit `function(Functions, *values)` in float64, with the result rounded to float32 if the values are float32."""
    lanes = lanes_of(values[0])
    single = values[0].type == vector(F32, lanes)
    wide = [b.fpext(v, element(np.dtype(np.float64), lanes)) for v in values] if single else list(values)
    result = function(Functions(b, single, lanes), *wide)
    return b.fptrunc(result, vector(F32, lanes)) if single else result


def _integer_pow(b: Builder, x: Value, y: Value, dtype: np.dtype) -> Value:
    """Emit square and multiply modulo 2**n; a negative exponent is a fault, where numpy raises ValueError."""
    assert lanes_of(x) == 1, "done one element at a time"
    unsigned = is_unsigned(dtype)
    wide = y if dtype.itemsize == 8 else b.zext(y, I64) if unsigned else b.sext(y, I64)
    if not unsigned:
        emit_fault(b, b.icmp_signed("<", wide, index(0)), RuntimeFault.NEGATIVE_POWER, wide, index(0))
    type_ = element(dtype)

    def step(i: Value, carried: list[Value]) -> list[Value]:
        result, square = carried
        bit = b.trunc(b.lshr(wide, i), ir.IntType(1))
        return [b.select(bit, b.mul(result, square), result), b.mul(square, square)]

    return fold(b, 8 * dtype.itemsize - (not unsigned), [ir.Constant(type_, 1), x], step)[0]
