"""Reductions over axes, argmax and argmin, cumulative sums: loops that carry a value.

Sums run sequentially in C order. float16 is accumulated in float32 and rounded once, as in NumPy (except in `cumsum`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.mlir import _scalar as scalar
from fleet.targets.mlir._elementwise import cast_to
from fleet.targets.mlir._emitter import Dim, MlirEmitter, through

_F32 = np.dtype(np.float32)


def accumulator(dtype: np.dtype) -> np.dtype:
    """Return the dtype in which sums of `dtype` are accumulated."""
    return _F32 if dtype == np.float16 else dtype


_COMBINE: Mapping[type[FleetOp], type[FleetOp]] = {
    d.ReduceSumOp: d.AddOp,
    d.MeanOp: d.AddOp,
    d.VarOp: d.AddOp,
    d.ReduceProdOp: d.MulOp,
    d.ReduceMaxOp: d.MaximumOp,
    d.ReduceMinOp: d.MinimumOp,
    d.ReduceAnyOp: d.LogicalOrOp,
    d.ReduceAllOp: d.LogicalAndOp,
}


def _identity(op: type[FleetOp], dtype: np.dtype) -> float | int:
    if op is d.ReduceMaxOp:
        return scalar.smallest(dtype)
    if op is d.ReduceMinOp:
        return scalar.largest(dtype)
    return 1 if op in (d.ReduceProdOp, d.ReduceAllOp) else 0


class _Axes:
    """The loops of a reduction: one per dimension of the operand; `kept` ones are the result's."""

    def __init__(self, e: MlirEmitter, value: SSAValue, axes: Sequence[int]) -> None:
        self.e, self.value = e, value
        self.rank = len(shape_of(value.type))
        self.reduced = sorted({a % self.rank for a in axes}) if self.rank else []
        self.kept = [n for n in range(self.rank) if n not in self.reduced]
        self.dims = e.dims(value)

    @property
    def kept_dims(self) -> list[Dim]:
        return [self.dims[n] for n in self.kept]

    def count(self) -> Dim:
        """Return how many elements are reduced to one."""
        number: Dim = 1
        for n in self.reduced:
            number = self.e.times(number, self.dims[n])
        return number

    def fold(self, dtype: np.dtype, init: float | int, body: Callable[[SSAValue, SSAValue], SSAValue]) -> SSAValue:
        """Apply `body(element, carried)` over the reduced axes."""
        start = self.e.filled(self.e.constant(init, dtype), self.kept_dims)
        return self.e.generic(
            [(self.value, through(range(self.rank)))],
            [(start, through(self.kept))],
            self.rank,
            lambda elements, outs: [body(elements[0], outs[0])],
            self.reduced,
        )[0]

    def each(self, value: SSAValue, dtype: np.dtype, body: Callable[[SSAValue], SSAValue]) -> SSAValue:
        """Apply `body` to every element of a result."""
        rank = len(self.kept)
        empty = self.e.empty(dtype, self.kept_dims)
        walk = through(range(rank))
        return self.e.generic([(value, walk)], [(empty, walk)], rank, lambda elements, _outs: [body(elements[0])])[0]

    def keep(self, value: SSAValue) -> SSAValue:
        """Return a result with its reduced dimensions kept, with size 1."""
        dims: list[Dim] = [self.dims[n] if n in self.kept else 1 for n in range(self.rank)]
        empty = self.e.empty(numpy_dtype(value.type), dims)
        walk = through(range(self.rank))
        return self.e.generic([(value, through(self.kept))], [(empty, walk)], self.rank, lambda elements, _outs: [elements[0]])[0]


def reduction(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """`linalg.generic` with reduction loops, in C order; float16 is summed in float32; a variance takes two of them."""
    attributes = attributes_of(op)
    axes = _Axes(e, values[0], attributes["axes"])
    source, result = numpy_dtype(values[0].type), numpy_dtype(op.results[0].type)
    dtype = result if isinstance(op, d.ReduceMaxOp | d.ReduceMinOp | d.ReduceAnyOp | d.ReduceAllOp) else accumulator(result)

    def step(element: SSAValue, carried: SSAValue) -> SSAValue:
        return scalar.binary(e, _COMBINE[type(op)], carried, scalar.convert(e, element, source, dtype), dtype)

    found = axes.fold(dtype, _identity(type(op), dtype), step)
    if isinstance(op, d.MeanOp | d.VarOp):
        number = axes.count()
        count = e.constant(number, dtype) if isinstance(number, int) else scalar.from_index(e, number, dtype)
        found = axes.each(found, dtype, lambda total: e.add(arith.DivfOp(total, count)))
        if isinstance(op, d.VarOp):
            squares = _squares(e, axes, found, source, dtype)
            found = axes.each(squares, dtype, lambda total: e.add(arith.DivfOp(total, count)))
    found = cast_to(e, found, result)
    return axes.keep(found) if attributes["keepdims"] else found


def _squares(e: MlirEmitter, axes: _Axes, mean: SSAValue, source: np.dtype, dtype: np.dtype) -> SSAValue:
    """Return the sum of squared distances from the mean."""
    start = e.filled(e.constant(0, dtype), axes.kept_dims)

    def body(elements: list[SSAValue], outs: list[SSAValue]) -> list[SSAValue]:
        distance = e.add(arith.SubfOp(scalar.convert(e, elements[0], source, dtype), elements[1]))
        return [e.add(arith.AddfOp(outs[0], e.add(arith.MulfOp(distance, distance))))]

    reads = [(axes.value, through(range(axes.rank))), (mean, through(axes.kept))]
    return e.generic(reads, [(start, through(axes.kept))], axes.rank, body, axes.reduced)[0]


def arg_reduction(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic` with two results, value and index: the lowest index on ties, the first NaN before all."""
    largest = isinstance(op, d.ArgmaxOp)
    axis = attributes_of(op)["axis"]
    axes = _Axes(e, values[0], [axis])
    dtype, result = numpy_dtype(values[0].type), numpy_dtype(op.results[0].type)
    init = scalar.smallest(dtype) if largest else scalar.largest(dtype)
    best = e.filled(e.constant(init, dtype), axes.kept_dims)
    where = e.filled(e.constant(0, result), axes.kept_dims)

    def body(elements: list[SSAValue], outs: list[SSAValue]) -> list[SSAValue]:
        (value,), (held, place) = elements, outs
        better = scalar.binary(e, d.GreaterOp if largest else d.LessOp, value, held, dtype)
        if dtype.kind == "f":
            first = e.add(arith.AndIOp(e.add(arith.CmpfOp(value, value, "uno")), e.add(arith.CmpfOp(held, held, "ord"))))
            better = e.add(arith.OrIOp(better, first))
        here = scalar.from_index(e, e.loop_index(axes.reduced[0]), result)
        return [e.add(arith.SelectOp(better, value, held)), e.add(arith.SelectOp(better, here, place))]

    outputs = [(best, through(axes.kept)), (where, through(axes.kept))]
    return e.generic([(values[0], through(range(axes.rank)))], outputs, axes.rank, body, axes.reduced)[1]


def cumsum(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic` with two results, the sums and the running value, which lacks the axis."""
    axes = _Axes(e, values[0], [attributes_of(op)["axis"]])
    source, dtype = numpy_dtype(values[0].type), numpy_dtype(op.results[0].type)
    running = e.filled(e.constant(0, dtype), axes.kept_dims)
    everything = through(range(axes.rank))

    def body(elements: list[SSAValue], outs: list[SSAValue]) -> list[SSAValue]:
        total = scalar.binary(e, d.AddOp, outs[0], scalar.convert(e, elements[0], source, dtype), dtype)
        return [total, total]

    outputs = [(running, through(axes.kept)), (e.empty(dtype, axes.dims, op.results[0].type), everything)]
    return e.generic([(values[0], everything)], outputs, axes.rank, body, axes.reduced)[1]
