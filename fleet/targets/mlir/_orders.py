"""Sorting and scattering, which have no operation of their own: loops over all elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.mlir import _scalar as scalar
from fleet.targets.mlir._elementwise import cast_to
from fleet.targets.mlir._emitter import MlirEmitter, through

_INDEX = np.dtype(np.int64)


def argsort(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """Two `linalg.generic`: how many elements stand before each one, and which one has so many before it; time grows with the
    square of the axis.
    """
    dtype = numpy_dtype(values[0].type)
    dims = e.dims(values[0])
    rank = len(dims)
    axis = int(attributes_of(op)["axis"]) % rank
    here = through(range(rank))
    there = [*through(range(axis)), *through([rank]), *through(range(axis + 1, rank))]

    def count(elements: list[SSAValue], outs: list[SSAValue]) -> list[SSAValue]:
        mine, other = elements
        before = scalar.binary(e, d.LessOp, other, mine, dtype)
        same = scalar.binary(e, d.EqualOp, other, mine, dtype)
        if dtype.kind == "f":  # NaN comes last
            mine_undefined, other_undefined = (e.add(arith.CmpfOp(v, v, "uno")) for v in (mine, other))
            defined = e.add(arith.CmpfOp(other, other, "ord"))
            before = e.add(arith.OrIOp(before, e.add(arith.AndIOp(mine_undefined, defined))))
            same = e.add(arith.OrIOp(same, e.add(arith.AndIOp(mine_undefined, other_undefined))))
        earlier = e.add(arith.CmpiOp(e.loop_index(rank), e.loop_index(axis), "ult"))
        before = e.add(arith.OrIOp(before, e.add(arith.AndIOp(same, earlier))))
        return [e.add(arith.AddiOp(outs[0], scalar.convert(e, before, np.dtype(np.bool_), _INDEX)))]

    zeros = e.filled(e.constant(0, _INDEX), dims)
    # The result's loops, and one over the compared elements; the second operand gives the dimension's size.
    ranks = e.generic([(values[0], here), (values[0], there)], [(zeros, here)], rank + 1, count, [rank])[0]

    def find(elements: list[SSAValue], outs: list[SSAValue]) -> list[SSAValue]:
        wanted = scalar.from_index(e, e.loop_index(axis), _INDEX)
        found = e.add(arith.CmpiOp(elements[0], wanted, "eq"))
        return [e.add(arith.SelectOp(found, scalar.from_index(e, e.loop_index(rank), _INDEX), outs[0]))]

    result = e.filled(e.constant(0, _INDEX), dims, op.results[0].type)
    return e.generic([(ranks, there)], [(result, here)], rank + 1, find, [rank])[0]


_COMBINE = {"add": d.AddOp, "mul": d.MulOp, "max": d.MaximumOp, "min": d.MinimumOp}


def scatter(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic` that looks at all updates for every row. An index out of bounds, which the VM refuses, changes
    nothing.
    """
    source, indices, updates = values
    dtype = numpy_dtype(op.results[0].type)
    reduction = attributes_of(op)["reduction"]
    rank = len(shape_of(source.type))
    kinds = numpy_dtype(indices.type)
    rows = scalar.from_index(e, e.index(e.dim(source, 0)), kinds)
    zero = e.constant(0, kinds)

    def body(elements: list[SSAValue], outs: list[SSAValue]) -> list[SSAValue]:
        place, update = elements
        negative = e.add(arith.CmpiOp(place, zero, "slt"))
        place = e.add(arith.SelectOp(negative, e.add(arith.AddiOp(place, rows)), place))
        here = e.add(arith.CmpiOp(place, scalar.from_index(e, e.loop_index(0), kinds), "eq"))
        new = update if reduction == "none" else scalar.binary(e, _COMBINE[reduction], outs[0], update, dtype)
        return [e.add(arith.SelectOp(here, new, outs[0]))]

    walk, row = through(range(rank)), [*through([rank]), *through(range(1, rank))]
    reads = [(indices, through([rank])), (cast_to(e, updates, dtype), row)]
    return e.generic(reads, [(cast_to(e, source, dtype), walk)], rank + 1, body, [rank])[0]
