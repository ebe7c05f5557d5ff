"""Operations that move data: transpose, reshape, slice, concat, gather, constant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import IntegerAttr

from fleet.ir.attributes import attributes_of
from fleet.ir.dialect import ConcatOp, ConstantOp, GatherOp, ReshapeOp, SliceOp, TransposeOp
from fleet.targets.riscv._kernel import Array, Builder, Value, index, is_float, load, nest, number, store
from fleet.targets.riscv.faults import Fault, emit_fault
from fleet.targets.riscv.plan import refuse


def _copy(
    b: Builder,
    shape: Sequence[int],
    target: Array,
    steps: Sequence[int],
    begin: int,
    source: Array,
    walk: Sequence[int],
    start: int,
) -> None:
    """Copies `shape` elements between two strided places, converting to the target's dtype."""

    def body(offsets: list[Value]) -> None:
        store(b, target, offsets[0], load(b, source, offsets[1], target.dtype))

    nest(b, shape, [steps, walk], [index(begin), index(start)], body)


def emit_transpose(b: Builder, op: TransposeOp, out: Array, operand: Array) -> None:
    """`numpy.transpose` with a full permutation."""
    order: list[int] = list(attributes_of(op)["permutation"])
    if sorted(order) != list(range(len(operand.shape))) or tuple(operand.shape[d] for d in order) != out.shape:
        raise refuse(op, f"permutation {order} of shape {operand.shape} into {out.shape}")
    _copy(b, out.shape, out, out.strides, 0, operand, [operand.strides[d] for d in order], 0)


def emit_reshape(b: Builder, op: ReshapeOp, out: Array, operand: Array) -> None:
    """The same elements in C order under another shape."""
    if operand.size != out.size:
        raise refuse(op, f"{operand.size} elements into shape {out.shape}")
    _copy(b, [out.size], out, [1], 0, operand, [1], 0)


def emit_slice(b: Builder, op: SliceOp, out: Array, operand: Array) -> None:
    """`start` and `size` for every dimension."""
    found = attributes_of(op)
    if "step" in found:
        raise refuse(op, f"step {found['step']} is not supported")
    start: list[int] = found["start"]
    size: tuple[int, ...] = tuple(found["size"])
    ranges = zip(start, size, operand.shape, strict=False)
    if len(start) != len(operand.shape) or len(size) != len(start) or any(s < 0 or n < 0 or s + n > d for s, n, d in ranges):
        raise refuse(op, f"start {start} and size {list(size)} of shape {operand.shape}")
    if int(np.prod(size, dtype=np.int64)) != out.size:
        raise refuse(op, f"a slice of shape {size} as result of shape {out.shape}")
    compact = Array(out.pointer, out.dtype, size)
    begin = sum(s * step for s, step in zip(start, operand.strides, strict=True))
    _copy(b, size, out, compact.strides, 0, operand, operand.strides, begin)


def emit_concat(b: Builder, op: ConcatOp, out: Array, operands: Sequence[Array]) -> None:
    """`numpy.concatenate` along one axis."""
    rank = len(out.shape)
    axis = op.axis.value.data
    if not -rank <= axis < rank:
        raise refuse(op, f"axis {axis} of rank {rank}")
    axis %= rank
    begin = 0
    for operand in operands:
        expected = (*out.shape[:axis], operand.shape[axis] if len(operand.shape) == rank else -1, *out.shape[axis + 1 :])
        if operand.shape != expected:
            raise refuse(op, f"operand of shape {operand.shape} in a result of shape {out.shape}, axis {axis}")
        _copy(b, operand.shape, out, out.strides, begin * out.strides[axis], operand, operand.strides, 0)
        begin += operand.shape[axis]
    if begin != out.shape[axis]:
        raise refuse(op, f"{begin} indices in an axis of {out.shape[axis]}")


def emit_gather(b: Builder, op: GatherOp, out: Array, table: Array, indices: Array) -> None:
    """`table[indices]` on the first dimension: negative indices count from the end, others out of range are a fault."""
    if "axis" in op.properties:
        raise refuse(op, f"axis {attributes_of(op)['axis']} is not supported")
    if not table.shape or is_float(indices.dtype):
        raise refuse(op, f"indices of dtype {indices.dtype} into shape {table.shape}; expected integers into rank 1 or more")
    if (*indices.shape, *table.shape[1:]) != out.shape:
        raise refuse(op, f"result shape {out.shape}; expected {(*indices.shape, *table.shape[1:])}")
    rows = table.shape[0]
    row = int(np.prod(table.shape[1:], dtype=np.int64))

    def body(offsets: list[Value]) -> None:
        target, where = offsets
        given = load(b, indices, where, np.dtype(np.int64))
        place = b.select(b.icmp_signed("<", given, index(0)), b.add(given, index(rows)), given)
        emit_fault(b, b.icmp_unsigned(">=", place, index(rows)), Fault.INDEX, given, index(rows))

        def element(inner: list[Value]) -> None:
            store(b, out, inner[0], load(b, table, inner[1], out.dtype))

        nest(b, [row], [[1], [1]], [target, b.mul(place, index(row))], element)

    nest(b, [indices.size], [[row], [1]], [index(0)] * 2, body)


def emit_constant(b: Builder, op: ConstantOp, out: Array) -> None:
    """Fills the result with the number."""
    value = op.value.value.data
    if not is_float(out.dtype):
        limits = np.iinfo(out.dtype)
        if not isinstance(op.value, IntegerAttr) or not limits.min <= value <= limits.max:
            raise refuse(op, f"value {value} in a result of dtype {out.dtype}")
    filled = number(out.dtype, value)
    nest(b, [out.size], [[1]], [index(0)], lambda offsets: store(b, out, offsets[0], filled))
