"""Reductions, orders and products as ONNX nodes; the docs' table is made of the docstrings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.targets.onnx._emitter import EmittedValue, OnnxEmitter, Unsupported, result_of
from fleet.targets.onnx.types import stand_in

REDUCTIONS: Mapping[type[FleetOp], str] = {
    d.ReduceSumOp: "ReduceSum", d.ReduceProdOp: "ReduceProd", d.ReduceMaxOp: "ReduceMax", d.ReduceMinOp: "ReduceMin",
}  # fmt: skip


def _reduced(
    e: OnnxEmitter, operator: str, value: EmittedValue, axes: Sequence[int], keep: bool, shape: Sequence[int]
) -> EmittedValue:
    """Emit a reduction in the value's dtype."""
    if not axes:
        return e.node("Identity", [value], value.dtype, value.shape)
    return e.compute(operator, [value], shape, [e.integers(axes)], keepdims=int(keep))


def reduction(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """One operator, its operand cast to the result's dtype."""
    a, (dtype, shape) = attributes_of(op), result_of(op)
    operator, x = REDUCTIONS[type(op)], e.cast(values[0], dtype)
    if operator in ("ReduceMax", "ReduceMin") and dtype == np.uint64:
        found = _reduced(e, operator, _in_order(e, x), a["axes"], a["keepdims"], shape)
        return _turned(e, e.bits(found, dtype))
    return _reduced(e, operator, x, a["axes"], a["keepdims"], shape)


def _in_order(e: OnnxEmitter, value: EmittedValue) -> EmittedValue:
    """Return values in the same order: uint64, which onnxruntime does not order, as int64 with the highest bit turned."""
    return e.bits(_turned(e, value), np.int64) if value.dtype == np.uint64 else value


def _turned(e: OnnxEmitter, value: EmittedValue) -> EmittedValue:
    return e.node("BitwiseXor", [value, e.number(1 << 63, np.uint64)], np.uint64, value.shape)


def reduce_any(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`ReduceMax` of truth values."""
    a, (_, shape) = attributes_of(op), result_of(op)
    return _reduced(e, "ReduceMax", e.cast(values[0], np.bool_), a["axes"], a["keepdims"], shape)


def reduce_all(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`ReduceMin` of truth values."""
    a, (_, shape) = attributes_of(op), result_of(op)
    return _reduced(e, "ReduceMin", e.cast(values[0], np.bool_), a["axes"], a["keepdims"], shape)


def mean(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`ReduceMean`; of float16 in float32, as NumPy has it."""
    a, (dtype, shape) = attributes_of(op), result_of(op)
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    return e.cast(_reduced(e, "ReduceMean", e.cast(values[0], inner), a["axes"], a["keepdims"], shape), dtype)


def var(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`ReduceMean` of the squared differences from `ReduceMean`; of float16 in float32."""
    a, (dtype, shape) = attributes_of(op), result_of(op)
    inner = np.dtype(np.float32) if dtype == np.float16 else dtype
    x, axes = e.cast(values[0], inner), a["axes"]
    kept = [1 if i in axes else d for i, d in enumerate(x.shape)]
    apart = e.node("Sub", [x, _reduced(e, "ReduceMean", x, axes, True, kept)], inner, x.shape)
    square = e.node("Mul", [apart, apart], inner, x.shape)
    return e.cast(_reduced(e, "ReduceMean", square, axes, a["keepdims"], shape), dtype)


def _order(e: OnnxEmitter, operator: str, op: FleetOp, value: EmittedValue) -> EmittedValue:
    x = _in_order(e, value)
    return e.node(
        operator,
        [e.cast(x, stand_in(operator, x.dtype))],
        np.int64,
        result_of(op)[1],
        axis=int(attributes_of(op)["axis"]),
        keepdims=0,
    )


def argmax(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`ArgMax`: the lowest index on ties. ONNX does not say where NaN stands."""
    return _order(e, "ArgMax", op, values[0])


def argmin(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`ArgMin`: the lowest index on ties. ONNX does not say where NaN stands."""
    return _order(e, "ArgMin", op, values[0])


def argsort(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`TopK` of all, the smallest first: of equal ones the lowest index. Of floats NaN stands as infinity at first, and a second
    `TopK`, of what is NaN, moves it behind all others.
    """
    axis, (_, shape) = int(attributes_of(op)["axis"]), result_of(op)
    x = _in_order(e, values[0])
    x = e.cast(x, stand_in("TopK", x.dtype))
    count = e.node("Shape", [x], np.int64, (1,), start=axis, end=axis + 1) if shape[axis] < 0 else e.integers([shape[axis]])
    if x.dtype.kind != "f":
        return e.node("TopK", [x, count], np.int64, shape, outputs=2, axis=axis, largest=0, sorted=1)
    undefined = e.node("IsNaN", [x], np.bool_, shape)
    defined = e.node("Where", [undefined, e.number(np.inf, x.dtype), x], x.dtype, shape)
    order = e.node("TopK", [defined, count], np.int64, shape, outputs=2, axis=axis, largest=0, sorted=1)
    late = e.node("GatherElements", [e.cast(undefined, np.int32), order], np.int32, shape, axis=axis)
    second = e.node("TopK", [late, count], np.int64, shape, outputs=2, axis=axis, largest=0, sorted=1)
    return e.node("GatherElements", [order, second], np.int64, shape, axis=axis)


def cumsum(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`CumSum`."""
    dtype, shape = result_of(op)
    return e.compute("CumSum", [e.cast(values[0], dtype)], shape, [e.number(int(attributes_of(op)["axis"]), np.int64)])


def matmul(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`MatMul`; of truth values in int32, and then whether it is not 0."""
    *wanted, dtype = op.compute_types([v.type for v in op.operands])
    shape = result_of(op)[1]
    if dtype.kind == "b":
        found = e.node("MatMul", [e.cast(v, np.int32) for v in values], np.int32, shape)
        return e.cast(found, np.bool_)
    return e.compute("MatMul", [e.cast(v, d) for v, d in zip(values, wanted, strict=True)], shape)


def einsum(e: OnnxEmitter, op: FleetOp, values: Sequence[EmittedValue]) -> EmittedValue:
    """`Einsum`."""
    dtype, shape = result_of(op)
    if dtype.kind == "b":
        raise Unsupported("of truth values")
    wide = stand_in("Einsum", dtype)
    inputs = [e.cast(e.cast(v, dtype), wide) for v in values]
    return e.cast(e.node("Einsum", inputs, wide, shape, equation=attributes_of(op)["subscripts"]), dtype)
