"""Reductions over axes and argmax.

Sums run sequentially in C order of the reduced axes, in the result's dtype. The variance takes two passes, as NumPy's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fleet.ir import dialect
from fleet.ir.attributes import attributes_of
from fleet.ir.dialect import ArgmaxOp, FleetOp, ReduceOp
from fleet.targets.riscv._elementwise import maximum
from fleet.targets.riscv._kernel import (
    Array,
    Builder,
    Carried,
    Value,
    index,
    is_float,
    load,
    nest,
    nest_fold,
    number,
    store,
)
from fleet.targets.riscv.plan import refuse


class _Axes:
    """An operand's dimensions, split into those that stay and those that are reduced."""

    def __init__(self, op: FleetOp, operand: Array, axes: Sequence[int], out: Array, keepdims: bool) -> None:
        rank = len(operand.shape)
        if any(not -rank <= a < rank for a in axes):
            raise refuse(op, f"axes {tuple(axes)} of an array of rank {rank}")
        self.operand = operand
        self.reduced = sorted({a % rank for a in axes})
        self.kept = [d for d in range(rank) if d not in self.reduced]
        self.count = int(np.prod([operand.shape[d] for d in self.reduced], dtype=np.int64))
        self.shape = [operand.shape[d] for d in self.kept]
        expected = tuple(1 if d in self.reduced else operand.shape[d] for d in range(rank)) if keepdims else tuple(self.shape)
        if expected != out.shape:
            raise refuse(op, f"result shape {out.shape}; expected {expected}")

    def outer(self, b: Builder, out: Array, body: Callable[[Value, Value], None]) -> None:
        """`body(offset in out, offset of the first element)` for every result."""
        flat = Array(out.pointer, out.dtype, tuple(self.shape))
        steps = [self.operand.strides[d] for d in self.kept]
        nest(b, self.shape, [flat.strides, steps], [index(0)] * 2, lambda offsets: body(*offsets))

    def inner(self, b: Builder, start: Value, init: Carried, body: Callable[[Value, Carried], Carried]) -> Carried:
        """`body(offset, carried)` over the reduced elements from `start`."""
        sizes = [self.operand.shape[d] for d in self.reduced]
        steps = [self.operand.strides[d] for d in self.reduced]
        return nest_fold(b, sizes, [steps], [start], init, lambda offsets, carried: body(offsets[0], carried))


def emit_reduce(b: Builder, op: ReduceOp, out: Array, operand: Array) -> None:
    """`reduce_sum`, `reduce_max`, `mean`, `var`."""
    dtype = out.dtype
    axes = _Axes(op, operand, attributes_of(op)["axes"], out, bool(op.keepdims))
    if isinstance(op, dialect.ReduceMaxOp) and not axes.count and out.size:
        raise refuse(op, "the maximum of no elements")
    if isinstance(op, dialect.MeanOp | dialect.VarOp) and not is_float(dtype):
        raise refuse(op, f"result {dtype}; expected float32 or float64")

    def total(start: Value, map_: Callable[[Value], Value]) -> Value:
        def step(offset: Value, carried: Carried) -> Carried:
            value = map_(load(b, operand, offset, dtype))
            return [b.fadd(carried[0], value) if is_float(dtype) else b.add(carried[0], value)]

        return axes.inner(b, start, [number(dtype, 0)], step)[0]

    def body(target: Value, start: Value) -> None:
        match op:
            case dialect.ReduceSumOp():
                result = total(start, lambda x: x)
            case dialect.ReduceMaxOp():
                first = load(b, operand, start, dtype)
                result = axes.inner(b, start, [first], lambda o, c: [maximum(b, c[0], load(b, operand, o, dtype), dtype)])[0]
            case dialect.MeanOp():
                result = b.fdiv(total(start, lambda x: x), number(dtype, axes.count))
            case dialect.VarOp():
                mean = b.fdiv(total(start, lambda x: x), number(dtype, axes.count))

                def square(x: Value) -> Value:
                    distance = b.fsub(x, mean)
                    return b.fmul(distance, distance)

                result = b.fdiv(total(start, square), number(dtype, axes.count))
            case _:
                raise refuse(op, "not supported")
        store(b, out, target, result)

    axes.outer(b, out, body)


def emit_argmax(b: Builder, op: ArgmaxOp, out: Array, operand: Array) -> None:
    """The lowest index of the largest value; the first NaN wins over all."""
    axis = op.axis.value.data
    axes = _Axes(op, operand, [axis], out, keepdims=False)
    if not axes.count and out.size:
        raise refuse(op, "argmax of no elements")
    if is_float(out.dtype):
        raise refuse(op, f"result {out.dtype}; expected int64")
    dtype = operand.dtype

    def body(target: Value, start: Value) -> None:
        def compare(offset: Value, carried: Carried) -> Carried:
            best, where, i = carried
            value = load(b, operand, offset)
            if is_float(dtype):
                better = b.and_(b.fcmp_unordered(">", value, best), b.fcmp_ordered("ord", best, best))
            else:
                better = b.icmp_signed(">", value, best)
            return [b.select(better, value, best), b.select(better, i, where), b.add(i, number(out.dtype, 1))]

        zero = number(out.dtype, 0)
        # The first element meets itself once: equal values never replace, so it keeps index 0.
        store(b, out, target, axes.inner(b, start, [load(b, operand, start), zero, zero], compare)[1])

    axes.outer(b, out, body)
