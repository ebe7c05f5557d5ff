"""Operations that move elements: transpose, reshape, slice, gather, concat, broadcast_to, pad; and sizes as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX as _DYNAMIC_INDEX
from xdsl.dialects.builtin import IndexType, TensorType
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from fleet.errors import DeviceError
from fleet.ir.dialect import FleetOp, name_of, op_id
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, tensor_type
from fleet.targets.mlir import _scalar as scalar
from fleet.targets.mlir._elementwise import MlirOperand, cast_to, operands_of, spread
from fleet.targets.mlir._emitter import DYNAMIC, Dim, MlirEmitter, through


def refuse(op: FleetOp, what: str) -> DeviceError:
    """Return the error for an operation that the export cannot express."""
    at = op.properties.get("at")
    return DeviceError(f"operation {op_id(op)} ({name_of(op)}) as MLIR: {what}", where=getattr(at, "data", None))


def transpose(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic` that permutes the loops."""
    permutation = attributes_of(op)["permutation"]
    sizes = e.dims(values[0])
    rank = len(sizes)
    empty = e.empty(numpy_dtype(values[0].type), [sizes[p] for p in permutation], op.results[0].type)
    walk: list[AffineExpr] = [AffineExpr.dimension(permutation.index(n)) for n in range(rank)]
    return e.generic([(values[0], walk)], [(empty, through(range(rank)))], rank, lambda elements, _outs: [elements[0]])[0]


def reshape(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """`tensor.reshape`, which moves nothing; one unknown size follows from the others."""
    (operand,) = operands_of(op, values)
    result = op.results[0].type
    shape = shape_of(result)
    if shape == shape_of(operand.source.type) and DYNAMIC not in shape:
        return operand.value
    sizes: list[Dim] = list(shape)
    unknown = [n for n, size in enumerate(shape) if size == DYNAMIC]
    if len(unknown) > 1:
        raise refuse(op, f"{len(unknown)} unknown sizes in the new shape; expected at most one")
    if unknown:
        total: Dim = 1
        for size in e.dims(operand.value):
            total = e.times(total, size)
        known = int(np.prod([s for s in shape if s != DYNAMIC], dtype=np.int64))
        sizes[unknown[0]] = e.add(arith.DivSIOp(e.index(total), e.index(max(known, 1))))
    return reshaped(e, operand.value, sizes)


def reshaped(e: MlirEmitter, value: SSAValue, sizes: Sequence[Dim]) -> SSAValue:
    """Emit `tensor.reshape` to any sizes with as many elements."""
    shape = [s if isinstance(s, int) else DYNAMIC for s in sizes]
    if not shape:
        return lone(e, e.element(value, [0] * len(shape_of(value.type))))
    wanted = e.add(
        tensor.FromElementsOp.build(operands=[[e.index(s) for s in sizes]], result_types=[TensorType(IndexType(), [len(sizes)])])
    )
    # In generic form: xDSL's verifier multiplies unknown sizes as if they were -1.
    return e.unregistered("tensor.reshape", [value, wanted], tensor_type(shape, numpy_dtype(value.type)))


def lone(e: MlirEmitter, value: SSAValue) -> SSAValue:
    """Return a scalar as a tensor of rank 0."""
    return e.add(tensor.FromElementsOp.build(operands=[[value]], result_types=[TensorType(value.type, [])]))


def slice_(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """`tensor.extract_slice`, copied by a `linalg.generic`; with a negative step `tensor.extract` in one."""
    attributes = attributes_of(op)
    result = op.results[0].type
    steps = attributes.get("step") or [1] * len(attributes["start"])
    source = e.dims(values[0])
    starts = [start if start >= 0 else e.plus(size, start) for start, size in zip(attributes["start"], source, strict=True)]
    dims = [
        size if size != DYNAMIC else _rest(e, start, whole, step)
        for start, size, whole, step in zip(starts, shape_of(result), source, steps, strict=True)
    ]
    if all(step > 0 for step in steps):
        window = e.add(tensor.ExtractSliceOp(values[0], starts, dims, steps, result))
        return copied(e, window, e.empty(numpy_dtype(result), dims, result))

    def element() -> SSAValue:
        indices: list[Dim] = []
        for n, (start, step) in enumerate(zip(starts, steps, strict=True)):
            moved = e.add(arith.MuliOp(e.loop_index(n), e.index(step)))
            indices.append(e.add(arith.AddiOp(moved, e.index(start))))
        return e.element(values[0], indices)

    return e.computed(numpy_dtype(result), dims, result, element)


def _rest(e: MlirEmitter, start: Dim, whole: Dim, step: int) -> Dim:
    """Return the number of elements of a window from `start` to the dimension's end in the step's direction."""
    if step < 0:
        return e.add(arith.AddiOp(e.add(arith.DivUIOp(e.index(start), e.index(-step))), e.index(1)))
    span = e.add(arith.AddiOp(e.add(arith.SubiOp(e.index(whole), e.index(start))), e.index(step - 1)))
    return e.add(arith.DivSIOp(e.add(arith.MaxSIOp(span, e.index(0))), e.index(step)))


def copied(e: MlirEmitter, value: SSAValue, target: SSAValue) -> SSAValue:
    """Write the elements of `value` into `target` with a loop; bufferization would call a run-time library's copy."""
    rank = len(shape_of(value.type))
    walk = through(range(rank))
    return e.generic([(value, walk)], [(target, walk)], rank, lambda elements, _outs: [elements[0]])[0]


def gather(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """`tensor.extract` in a `linalg.generic`. An index out of bounds, which the VM refuses, reads the nearest element."""
    source, indices = operands_of(op, values)
    result = op.results[0].type
    axis = int(attributes_of(op).get("axis", 0)) % len(shape_of(source.source.type))
    sizes = e.dims(values[0])
    rank = len(shape_of(indices.source.type))
    dims = [*sizes[:axis], *(e.dims(values[1]) if indices.is_tensor else []), *sizes[axis + 1 :]]
    total = len(dims)
    length = scalar.from_index(e, e.index(sizes[axis]), indices.dtype)
    zero = e.constant(0, indices.dtype)
    last = e.add(arith.SubiOp(length, e.constant(1, indices.dtype)))

    def body(elements: list[SSAValue], _outs: list[SSAValue]) -> list[SSAValue]:
        number = elements[0] if elements else indices.scalar(e, indices.dtype)
        negative = e.add(arith.CmpiOp(number, zero, "slt"))
        number = e.add(arith.SelectOp(negative, e.add(arith.AddiOp(number, length)), number))
        number = e.add(arith.MinSIOp(e.add(arith.MaxSIOp(number, zero)), last))
        before = [e.loop_index(n) for n in range(axis)]
        after = [e.loop_index(n) for n in range(axis + rank, total)]
        return [e.element(values[0], [*before, scalar.to_index(e, number), *after])]

    reads = [(values[1], through(range(axis, axis + rank)))] if indices.is_tensor else []
    empty = e.empty(numpy_dtype(result), dims, result)
    return e.generic(reads, [(empty, through(range(total)))], total, body)[0]


def concat(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """`tensor.insert_slice` of one part behind the other."""
    result = op.results[0].type
    rank = len(shape_of(result))
    axis = int(attributes_of(op)["axis"]) % rank
    parts = [cast_to(e, value, numpy_dtype(result)) for value in values]
    sizes = [e.dims(part) for part in parts]
    dims = list(sizes[0])
    for part in sizes[1:]:
        dims[axis] = e.plus(dims[axis], part[axis])
    for n, size in enumerate(shape_of(result)):
        dims[n] = size if size != DYNAMIC else dims[n]
    whole = e.empty(numpy_dtype(result), dims, result)
    offset: Dim = 0
    for part, size in zip(parts, sizes, strict=True):
        offsets: list[Dim] = [offset if n == axis else 0 for n in range(rank)]
        whole = insert(e, part, whole, offsets)
        offset = e.plus(offset, size[axis])
    return whole


def insert(e: MlirEmitter, part: SSAValue, whole: SSAValue, offsets: Sequence[Dim]) -> SSAValue:
    """Return `whole` with `part` written at `offsets`."""
    sizes = e.dims(part)
    window = e.add(tensor.ExtractSliceOp(whole, offsets, sizes, [1] * len(sizes), part.type))
    filled = copied(e, part, window)
    return e.add(
        tensor.InsertSliceOp.get(
            filled,
            whole,
            [_static(s) for s in sizes],
            [_static(o) for o in offsets],
            [1] * len(sizes),
            [o for o in offsets if not isinstance(o, int)],
            [s for s in sizes if not isinstance(s, int)],
            [],
        )
    )


def _static(dim: Dim) -> int:
    return dim if isinstance(dim, int) else _DYNAMIC_INDEX


def broadcast_to(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """One `linalg.generic` whose map lacks the repeated loops."""
    operands = operands_of(op, values)
    dtype = numpy_dtype(op.results[0].type)
    return spread(e, operands, [dtype] * len(operands), op.results[0].type, lambda elements: elements[0])


def pad(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """`linalg.fill`, then `tensor.insert_slice`."""
    attributes = attributes_of(op)
    source, fill = operands_of(op, values)
    result = op.results[0].type
    dtype = numpy_dtype(result)
    number = _number(e, fill, dtype)
    dims = [
        e.plus(size, low + high) for size, low, high in zip(e.dims(values[0]), attributes["low"], attributes["high"], strict=True)
    ]
    dims = [s if s != DYNAMIC else d for s, d in zip(shape_of(result), dims, strict=True)]
    whole = e.filled(number, dims, result)
    return insert(e, cast_to(e, source.value, dtype), whole, attributes["low"])


def _number(e: MlirEmitter, operand: MlirOperand, dtype: np.dtype) -> SSAValue:
    if not operand.is_tensor:
        return operand.scalar(e, dtype)
    return scalar.convert(e, e.element(operand.value, [0] * len(shape_of(operand.source.type))), operand.dtype, dtype)


def item(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """`tensor.extract` of the only element, as a number of the run."""
    (value,) = values
    source = numpy_dtype(value.type)
    if is_tensor(value.type):
        value = e.element(value, [0] * len(shape_of(value.type)))
    return scalar.convert(e, value, source, numpy_dtype(op.results[0].type))


def dim(e: MlirEmitter, op: FleetOp, values: Sequence[SSAValue]) -> SSAValue:
    """`tensor.dim` and `arith.index_cast`."""
    size = e.dim(values[0], int(attributes_of(op)["axis"]))
    result = op.results[0].type
    number = scalar.from_index(e, e.index(size), numpy_dtype(result))
    return lone(e, number) if is_tensor(result) else number
