"""Operations that move data: results that cannot be views of operands (see `views`), so elements are copied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from xdsl.dialects.builtin import IntegerAttr

from fleet.ir.dialect import CheckOp, ConstantOp, FleetOp
from fleet.ir.library.call import LibraryCall
from fleet.ir.operations.operation import attributes_of
from fleet.targets.riscv.faults import RuntimeFault, check_number, emit_fault
from fleet.targets.riscv.kernels.kernel import (
    ArrayOperand,
    Builder,
    Value,
    broadcast_strides,
    contiguous,
    index,
    is_float,
    load,
    load_spread,
    number,
    store,
)
from fleet.targets.riscv.kernels.loops import moved, nest, nest_fold, shifted
from fleet.targets.riscv.kernels.reductions import combine
from fleet.targets.riscv.plan import refuse


def emit_copy(
    b: Builder,
    shape: Sequence[int],
    target: ArrayOperand,
    steps: Sequence[int],
    begin: Value,
    source: ArrayOperand,
    walk: Sequence[int],
    start: Value,
) -> None:
    """Copy `shape` elements between two strided places, converting to the target's dtype."""

    def body(offsets: list[Value], inner: Sequence[int], lanes: int) -> None:
        store(b, target, offsets[0], load_spread(b, source, offsets[1], target.dtype, lanes, inner[1]))

    size = max(target.dtype.itemsize, source.dtype.itemsize, 4)
    nest(b, shape, [steps, walk], [begin, start], body, size=size)


def emit_reshape(b: Builder, op: FleetOp, out: ArrayOperand, operand: ArrayOperand) -> None:
    """Emit a reshape that copies in C order, if the operand's strides allow no view."""
    if operand.size != out.size:
        raise refuse(op, f"{operand.size} elements into shape {out.shape}")
    flat = contiguous(operand.shape)
    emit_copy(b, operand.shape, out, flat, index(0), operand, operand.strides, index(0))


def copies_bits(op: FleetOp, arrays: Sequence[ArrayOperand]) -> bool:
    """True for `ndarray.view` between dtypes of one size, the one call of NumPy that has code. arrays: result and operands."""
    function = LibraryCall.parse(attributes_of(op)["call"]).function
    return function == "ndarray.view" and arrays[0].dtype.itemsize == arrays[1].dtype.itemsize


def emit_bits(b: Builder, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit a copy of an array's bits into an array of another dtype of the same size."""
    bits = np.dtype(f"uint{8 * out.dtype.itemsize}")
    source, target = (replace(a, dtype=bits, constant=None) for a in (operands[0], out))
    emit_copy(b, out.shape, target, target.strides, index(0), source, source.strides, index(0))


def emit_concat(b: Builder, op: FleetOp, out: ArrayOperand, operands: Sequence[ArrayOperand]) -> None:
    """Emit `numpy.concatenate` along one axis."""
    rank = len(out.shape)
    axis: int = attributes_of(op)["axis"]
    if not -rank <= axis < rank:
        raise refuse(op, f"axis {axis} of rank {rank}")
    axis %= rank
    begin = 0
    for operand in operands:
        expected = (*out.shape[:axis], operand.shape[axis] if len(operand.shape) == rank else -1, *out.shape[axis + 1 :])
        if operand.shape != expected:
            raise refuse(op, f"operand of shape {operand.shape} in a result of shape {out.shape}, axis {axis}")
        emit_copy(b, operand.shape, out, out.strides, index(begin * out.strides[axis]), operand, operand.strides, index(0))
        begin += operand.shape[axis]
    if begin != out.shape[axis]:
        raise refuse(op, f"{begin} indices in an axis of {out.shape[axis]}")


def emit_pad(b: Builder, op: FleetOp, out: ArrayOperand, operand: ArrayOperand, value: ArrayOperand) -> None:
    """Emit `numpy.pad` with a constant: fill everything, then copy the operand to its place."""
    found = attributes_of(op)
    low: list[int] = found["low"]
    expected = tuple(a + n + z for a, n, z in zip(low, operand.shape, found["high"], strict=True))
    if expected != out.shape or min([0, *low, *found["high"]]) < 0:
        raise refuse(op, f"shape {operand.shape} padded into {out.shape}; expected {expected}")
    emit_copy(b, out.shape, out, out.strides, index(0), value, [0] * len(out.shape), index(0))
    begin = sum(a * s for a, s in zip(low, out.strides, strict=True))
    emit_copy(b, operand.shape, out, out.strides, index(begin), operand, operand.strides, index(0))


def emit_gather(b: Builder, op: FleetOp, out: ArrayOperand, table: ArrayOperand, indices: ArrayOperand) -> None:
    """Emit `numpy.take` along an axis: negative indices count from the end, others out of range are a fault."""
    axis = int(attributes_of(op).get("axis", 0))
    if not table.shape or indices.dtype.kind != "i":
        raise refuse(op, f"indices of dtype {indices.dtype} into shape {table.shape}; expected integers into rank 1 or more")
    axis %= len(table.shape)
    before, after = table.shape[:axis], table.shape[axis + 1 :]
    if (*before, *indices.shape, *after) != out.shape:
        raise refuse(op, f"result shape {out.shape}; expected {(*before, *indices.shape, *after)}")
    rows, apart = table.shape[axis], table.strides[axis]
    first, last = axis, axis + len(indices.shape)

    def body(offsets: list[Value], _: list[Value]) -> list[Value]:
        given = load(b, indices, offsets[1], np.dtype(np.int64))
        place = b.select(b.icmp_signed("<", given, index(0)), b.add(given, index(rows)), given)
        emit_fault(b, b.icmp_unsigned(">=", place, index(rows)), RuntimeFault.INDEX, given, index(rows))
        source = moved(b, index(0), place, apart)
        shape = (*before, *after)
        steps = (*out.strides[:first], *out.strides[last:])
        walk = (*table.strides[:axis], *table.strides[axis + 1 :])
        emit_copy(b, shape, out, steps, offsets[0], table, walk, source)
        return []

    nest_fold(b, indices.shape, [out.strides[first:last], indices.strides], [index(0)] * 2, [], body, 1)


def emit_scatter(
    b: Builder, op: FleetOp, out: ArrayOperand, operand: ArrayOperand, indices: ArrayOperand, updates: ArrayOperand
) -> None:
    """Copy the operand, then write or combine rows of it with updates, one index after another (see `emit_gather`)."""
    reduction = str(attributes_of(op)["reduction"])
    emit_copy(b, out.shape, out, out.strides, index(0), operand, operand.strides, index(0))
    rows, dtype = out.shape[0], out.dtype

    def body(offsets: list[Value], _: list[Value]) -> list[Value]:
        given = load(b, indices, offsets[0], np.dtype(np.int64))
        place = b.select(b.icmp_signed("<", given, index(0)), b.add(given, index(rows)), given)
        emit_fault(b, b.icmp_unsigned(">=", place, index(rows)), RuntimeFault.INDEX, given, index(rows))

        def put(inner: list[Value], walk: Sequence[int], lanes: int) -> None:
            value = load_spread(b, updates, inner[1], dtype, lanes, walk[1])
            if reduction != "none":
                value = combine(b, reduction, load_spread(b, out, inner[0], dtype, lanes, walk[0]), value, dtype)
            store(b, out, inner[0], value)

        begin = [moved(b, index(0), place, out.strides[0]), offsets[1]]
        nest(b, out.shape[1:], [out.strides[1:], updates.strides[1:]], begin, put, size=8)
        return []

    nest_fold(b, indices.shape, [indices.strides, updates.strides[:1]], [index(0)] * 2, [], body, 1)


def emit_constant(b: Builder, op: ConstantOp, out: ArrayOperand) -> None:
    """Fill the result with the number."""
    value = op.value.value.data
    if not is_float(out.dtype) and out.dtype.kind != "b":
        limits = np.iinfo(out.dtype)
        if not isinstance(op.value, IntegerAttr) or not limits.min <= value <= limits.max:
            raise refuse(op, f"value {value} in a result of dtype {out.dtype}")
    emit_fill(b, out, value)


def emit_item(b: Builder, out: ArrayOperand, operand: ArrayOperand) -> None:
    """Emit the only element as a number."""
    if operand.dtype == np.uint64 and out.dtype == np.int64:
        word = load(b, operand, index(0), operand.dtype)
        emit_fault(b, b.icmp_signed("<", word, index(0)), RuntimeFault.INTEGER, word, index(0))
    store(b, out, index(0), load(b, operand, index(0), out.dtype))


def emit_check(b: Builder, op: CheckOp, out: ArrayOperand, operand: ArrayOperand) -> None:
    """Emit a condition that must hold."""
    holds = load(b, operand, index(0), np.dtype(np.bool_))
    emit_fault(b, b.not_(holds), RuntimeFault.CHECK, index(check_number(op)), index(0))
    store(b, out, index(0), holds)


def emit_fill(b: Builder, out: ArrayOperand, value: float) -> None:
    """Fill an array with a number."""

    def body(offsets: list[Value], _walk: Sequence[int], lanes: int) -> None:
        store(b, out, offsets[0], number(out.dtype, value, lanes))

    nest(b, [out.size], [[1]], [index(0)], body, size=out.dtype.itemsize)


def emit_rope(
    b: Builder, out: ArrayOperand, operand: ArrayOperand, cos: ArrayOperand, sin: ArrayOperand, *, interleaved: bool
) -> None:
    """Emit a rotary embedding (`RopeOp`): rotate pairs of elements by the broadcast angles."""
    half = (*out.shape[:-1], out.shape[-1] // 2)
    turn = [s for s in (broadcast_strides(a, half) for a in (cos, sin)) if s is not None]
    assert len(turn) == 2, "shapes are checked before code is made"
    step, apart = (2, 1) if interleaved else (1, half[-1])
    pair = [(*a.strides[:-1], a.strides[-1] * step) for a in (out, operand)]
    far = [a.strides[-1] * apart for a in (out, operand)]

    def body(offsets: list[Value], walk: Sequence[int], lanes: int) -> None:
        dtype = out.dtype
        x = load_spread(b, operand, offsets[1], dtype, lanes, walk[1])
        y = load_spread(b, operand, shifted(b, offsets[1], far[1]), dtype, lanes, walk[1])
        c, s = (load_spread(b, a, offsets[i], dtype, lanes, walk[i]) for i, a in ((2, cos), (3, sin)))
        store(b, out, offsets[0], b.fsub(b.fmul(x, c), b.fmul(y, s)))
        store(b, out, shifted(b, offsets[0], far[0]), b.fadd(b.fmul(x, s), b.fmul(y, c)))

    nest(b, half, [*pair, *turn], [index(0)] * 4, body, size=8, group=2)
