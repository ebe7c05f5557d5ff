"""Elementwise operations, broadcasting and casts: one `linalg.generic` an operation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr

from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, PowOp, SqrtOp
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.mlir import _scalar as scalar
from fleet.targets.mlir._emitter import DYNAMIC, Dim, MlirEmitter, Read, fixed, through


class MlirOperand:
    """A value of the IR and its MLIR form: a tensor, or a scalar if it is a Python number in the IR."""

    def __init__(self, source: SSAValue, value: SSAValue) -> None:
        self.source, self.value = source, value
        self.dtype = numpy_dtype(source.type)
        self.is_tensor = is_tensor(source.type)

    def scalar(self, e: MlirEmitter, dtype: np.dtype) -> SSAValue:
        """Return a Python number in `dtype`: a literal is rounded to it once."""
        owner = self.source.owner
        if isinstance(owner, ConstantOp):
            return e.constant(constant_value(owner), dtype)
        return scalar.convert(e, self.value, self.dtype, dtype)


def operands_of(op: FleetOp, values: Sequence[SSAValue]) -> list[MlirOperand]:
    """Return the operation's operands with their MLIR forms."""
    return [MlirOperand(source, value) for source, value in zip(op.operands, values, strict=True)]


Body = Callable[[list[SSAValue]], SSAValue]


def spread(e: MlirEmitter, operands: Sequence[MlirOperand], dtypes: Sequence[np.dtype], result: Attribute, body: Body) -> SSAValue:
    """Broadcast operands, convert elements to `dtypes`, and compute each element of the result from a set of them."""
    shape = shape_of(result)
    arrays = [o for o in operands if o.is_tensor]
    dims = _broadcast(e, [o.value for o in arrays], shape)
    reads: list[Read] = []
    loads: dict[int, Callable[[list[SSAValue]], SSAValue]] = {}
    for n, operand in enumerate(operands):
        if not operand.is_tensor:
            continue
        expressions = _expressions(operand.value, dims, shape, [o.value for o in arrays if o is not operand])
        if expressions is None:  # a size known only at run time: 1 or the result's
            loads[n] = _loader(e, operand.value, len(shape))
        else:
            position = len(reads)
            reads.append((operand.value, expressions))
            loads[n] = lambda elements, position=position: elements[position]
    numbers = {n: o.scalar(e, dtypes[n]) for n, o in enumerate(operands) if not o.is_tensor}

    def inner(elements: list[SSAValue], _outs: list[SSAValue]) -> list[SSAValue]:
        values = [
            numbers[n] if n in numbers else scalar.convert(e, loads[n](elements), o.dtype, dtypes[n])
            for n, o in enumerate(operands)
        ]
        return [body(values)]

    empty = e.empty(numpy_dtype(result), dims, result)
    rank = len(shape)
    return e.generic(reads, [(empty, through(range(rank)))], rank, inner)[0]


def _broadcast(e: MlirEmitter, values: Sequence[SSAValue], shape: Sequence[int]) -> list[Dim]:
    """Return the result's sizes: those of `shape`, and for unknown ones those of the operands."""
    dims: list[Dim] = list(shape)
    for axis, size in enumerate(shape):
        if size != DYNAMIC:
            continue
        found: Dim | None = None
        for value in values:
            if _size_at(value, axis, len(shape)) == 1:
                continue
            dim = e.dim(value, axis - len(shape) + len(shape_of(value.type)))
            if found is None or isinstance(dim, int):
                found = dim
            elif not isinstance(found, int):
                is_one = e.add(arith.CmpiOp(found, e.index(1), "eq"))
                found = e.add(arith.SelectOp(is_one, dim, found))
        assert found is not None, "a size without an operand that has it"
        dims[axis] = found
    return dims


def _expressions(
    value: SSAValue, dims: Sequence[Dim], result: Sequence[int], others: Sequence[SSAValue]
) -> list[AffineExpr] | None:
    """Return the index expressions of a broadcast operand; None if they depend on the run: an unknown size may be 1."""
    shape = shape_of(value.type)
    found: list[AffineExpr] = []
    for n, size in enumerate(shape):
        loop = len(dims) - len(shape) + n
        if size == DYNAMIC and (result[loop] != DYNAMIC or any(_size_at(o, loop, len(dims)) != 1 for o in others)):
            return None
        found.append(fixed(0) if size == 1 and dims[loop] != 1 else AffineExpr.dimension(loop))
    return found


def _size_at(value: SSAValue, loop: int, rank: int) -> int:
    """Return the size with which a broadcast operand takes part in a dimension of the result."""
    shape = shape_of(value.type)
    position = loop - rank + len(shape)
    return shape[position] if position >= 0 else 1


def _loader(e: MlirEmitter, value: SSAValue, rank: int) -> Callable[[list[SSAValue]], SSAValue]:
    sizes = e.dims(value)
    stays = [e.add(arith.CmpiOp(e.index(s), e.index(1), "eq")) if not isinstance(s, int) else None for s in sizes]

    def load(_elements: list[SSAValue]) -> SSAValue:
        indices: list[Dim] = []
        for n, (size, stay) in enumerate(zip(sizes, stays, strict=True)):
            loop = rank - len(sizes) + n
            if size == 1:
                indices.append(0)
            elif stay is None:
                indices.append(e.loop_index(loop))
            else:
                indices.append(e.add(arith.SelectOp(stay, e.index(0), e.loop_index(loop))))
        return e.element(value, indices)

    return load


def elementwise(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic` with operations of `arith` and `math` in its body; plain `arith` of Python numbers.

    NumPy compares Python integers as objects; here they have 64 bits.
    """
    result = op.results[0].type
    *dtypes, computed = (np.dtype(np.int64) if t.kind == "O" else t for t in op.compute_types([v.type for v in op.operands]))
    operands = operands_of(op, values)
    exponent = op.operands[-1].owner
    root = isinstance(op, PowOp) and op.is_root(constant_value(exponent) if isinstance(exponent, ConstantOp) else None)

    def body(elements: list[SSAValue]) -> SSAValue:
        if root or len(elements) == 1:
            found = scalar.unary(e, SqrtOp if root else type(op), elements[0], dtypes[0])
        else:
            found = scalar.binary(e, type(op), elements[0], elements[1], dtypes[0])
        return scalar.convert(e, found, computed, numpy_dtype(result))

    if is_tensor(result):
        return spread(e, operands, dtypes, result, body)
    return body([o.scalar(e, d) for o, d in zip(operands, dtypes, strict=True)])


def where(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic` around `arith.select`."""
    result = op.results[0].type
    operands = operands_of(op, values)
    dtype = numpy_dtype(result)

    def body(elements: list[SSAValue]) -> SSAValue:
        condition = scalar.truth(e, elements[0], operands[0].dtype)
        return e.add(arith.SelectOp(condition, elements[1], elements[2]))

    dtypes = [operands[0].dtype, dtype, dtype]
    if is_tensor(result):
        return spread(e, operands, dtypes, result, body)
    return body([o.scalar(e, d) for o, d in zip(operands, dtypes, strict=True)])


def cast_op(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic`; a float that an integer does not hold becomes the smallest integer, as NumPy has it on x86-64."""
    (operand,) = operands_of(op, values)
    target = numpy_dtype(op.results[0].type)
    if not operand.is_tensor:
        return operand.scalar(e, target)
    return cast_to(e, operand.value, target)


def cast_to(e: MlirEmitter, value: SSAValue, dtype: np.dtype) -> SSAValue:
    """Convert a tensor's elements; return the tensor itself if nothing changes."""
    source = numpy_dtype(value.type)
    if source == dtype:
        return value
    rank = len(shape_of(value.type))
    empty = e.empty(dtype, e.dims(value))
    walk = through(range(rank))
    return e.generic(
        [(value, walk)], [(empty, walk)], rank, lambda elements, _outs: [scalar.convert(e, elements[0], source, dtype)]
    )[0]


def constant_op(e: MlirEmitter, op: FleetOp, _values: Sequence[SSAValue]) -> SSAValue:
    """`arith.constant`, and `linalg.fill` for an array."""
    source = cast("ConstantOp", op)
    dtype = numpy_dtype(source.result.type)
    number = e.constant(constant_value(source), dtype)
    return e.filled(number, shape_of(source.result.type)) if is_tensor(source.result.type) else number
