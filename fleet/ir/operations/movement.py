"""Operations that move data without computing, and `dim`, which returns a size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, var_operand_def

from fleet.ir.operations.operation import AxisOp, ShapedOp, ValueOp
from fleet.ir.operations.promotion import common_dtype
from fleet.ir.shapes import UNKNOWN, InferenceError, broadcast, normal_axis, shape_words, tensor_of, unify
from fleet.ir.types import Attributes, shape_of, tensor_type

__all__ = ["BroadcastToOp", "ConcatOp", "DimOp", "GatherOp", "PadOp", "ReshapeOp", "ScatterOp", "SliceOp", "TransposeOp"]


@irdl_op_definition
class TransposeOp(ValueOp):
    """`numpy.transpose` by a full permutation."""

    name = "fleet.transpose"
    operand = operand_def()
    permutation = prop_def(DenseArrayBase)
    RESULT: ClassVar = "dimensions in the permutation's order"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "transpose")
        permutation = tuple(attributes["permutation"])
        if sorted(permutation) != list(range(len(shape))):
            words = f"transpose of shape {shape_words(shape)} by {permutation}"
            raise InferenceError(f"{words}, which is not a permutation of its dimensions")
        return tensor_type([shape[p] for p in permutation], dtype)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return np.transpose(operands[0], attributes["permutation"])


@irdl_op_definition
class ReshapeOp(ShapedOp):
    """The new shape is the result's; one unknown dimension takes the remaining size."""

    name = "fleet.reshape"
    operand = operand_def()
    RESULT: ClassVar = "as many elements; the shape is the result's"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "reshape")
        target = tuple(attributes["shape"])
        words = f"reshape of shape {shape_words(shape)}"
        if UNKNOWN in shape:
            if any(d < UNKNOWN for d in target) or target.count(UNKNOWN) > 1:
                raise InferenceError(f"{words} to {shape_words(target)}: at most one dimension may be unknown")
        elif any(d < 0 for d in target) or math.prod(target) != math.prod(shape):
            raise InferenceError(f"{words} ({math.prod(shape)} elements) to {shape_words(target)}")
        return tensor_type(target, dtype)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return np.reshape(operands[0], attributes["shape"])


@irdl_op_definition
class BroadcastToOp(ShapedOp):
    """`numpy.broadcast_to`; the shape is the result's, an unknown dimension keeps the operand's."""

    name = "fleet.broadcast_to"
    operand = operand_def()
    RESULT: ClassVar = "the shape is the result's"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "broadcast_to")
        target = tuple(attributes["shape"])
        words = f"broadcast_to of shape {shape_words(shape)} to {shape_words(target)}"
        fits = len(target) >= len(shape) and all(d >= UNKNOWN for d in target)
        lead = len(target) - len(shape)
        if not fits or UNKNOWN in target[:lead] or broadcast(shape, target, "broadcast_to") != target:
            raise InferenceError(words)
        if any(t == UNKNOWN != s for s, t in zip(shape, target[lead:], strict=True)):
            raise InferenceError(f"{words}: its size is unknown")
        return tensor_type(target, dtype)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return np.broadcast_to(operands[0], attributes["shape"])


@irdl_op_definition
class SliceOp(ValueOp):
    """`start` and `size` for every dimension, as in the seeds' slice hint; element i of a dimension is start + i * step.

    `step` may be missing (all 1) and may be negative. In an unknown dimension, a negative start counts from its end and
    size -1 takes everything from start on, in the step's direction.
    """

    name = "fleet.slice"
    operand = operand_def()
    start = prop_def(DenseArrayBase)
    size = prop_def(DenseArrayBase)
    step = opt_prop_def(DenseArrayBase)
    RESULT: ClassVar = "`size`"
    UNWRITTEN: ClassVar = {"step": 1}

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "slice")
        start, size = tuple(attributes["start"]), tuple(attributes["size"])
        step = tuple(attributes.get("step") or (1,) * len(shape))
        fits = len(start) == len(size) == len(step) == len(shape)
        if not fits or not all(_inside(*d) for d in zip(start, size, step, shape, strict=True)):
            by = f" by {step}" if any(s != 1 for s in step) else ""
            raise InferenceError(f"slice of shape {shape_words(shape)} from {start} of size {size}{by}")
        return tensor_type(size, dtype)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        start, size = attributes["start"], attributes["size"]
        window: list[slice] = []
        for first, count, step in zip(start, size, attributes.get("step") or [1] * len(start), strict=True):
            end = first + count * step
            window.append(slice(first, end if end >= 0 else None, step))
        return operands[0][tuple(window)]


def _inside(start: int, size: int, step: int, dimension: int) -> bool:
    if step == 0:
        return False
    if dimension == UNKNOWN:
        return size >= UNKNOWN
    if size == 0:
        return 0 <= start <= dimension
    return size > 0 and 0 <= start < dimension and 0 <= start + (size - 1) * step < dimension


@irdl_op_definition
class GatherOp(ValueOp):
    """`numpy.take(lhs, rhs, axis)` with an integer array `rhs`; the axis defaults to 0 (`lhs[rhs]`)."""

    name = "fleet.gather"
    lhs = operand_def()
    rhs = operand_def()
    axis = opt_prop_def(IntegerAttr)
    RESULT: ClassVar = "the axis replaced by the shape of rhs"
    UNWRITTEN: ClassVar = {"axis": 0}

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "gather")
        indices, index_dtype = tensor_of(operands[1], "gather")
        if not shape:
            raise InferenceError("gather from an array of rank 0")
        if index_dtype.kind != "i":
            raise InferenceError(f"gather with indices of dtype {index_dtype}, which must be integers")
        axis = normal_axis(attributes.get("axis", 0), len(shape))
        return tensor_type((*shape[:axis], *indices, *shape[axis + 1 :]), dtype)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return np.take(operands[0], operands[1], axis=attributes.get("axis", 0))


_COMBINED: Mapping[str, np.ufunc | None] = {
    "none": None, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip


@irdl_op_definition
class ScatterOp(ValueOp):
    """`operand` with the rows of `updates` written to `operand[indices]`, or combined with them, in order.

    `indices` is [k], `updates` [k, ...] of the operand's rows; `reduction` is "none" (the last one wins), "add", "mul", "max" or
    "min". Negative indices count from the end.
    """

    name = "fleet.scatter"
    operand = operand_def()
    indices = operand_def()
    updates = operand_def()
    reduction = prop_def(StringAttr)
    RESULT: ClassVar = "operand's"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        (shape, dtype), (indices, index_dtype), (updates, other) = (tensor_of(t, "scatter") for t in operands)
        if not shape or len(indices) != 1 or index_dtype.kind != "i":
            raise InferenceError(f"scatter into shape {shape_words(shape)} at indices {index_dtype}{shape_words(indices)}")
        if updates != (*indices, *shape[1:]) or other != dtype:
            words = f"{dtype}{shape_words(shape)} at {shape_words(indices)}"
            raise InferenceError(f"scatter of updates {other}{shape_words(updates)} into {words}")
        if attributes["reduction"] not in _COMBINED:
            raise InferenceError(f"scatter with the reduction {attributes['reduction']!r}, there are {', '.join(_COMBINED)}")
        return tensor_type(shape, dtype)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        found = np.array(operands[0])
        combine = _COMBINED[attributes["reduction"]]
        if combine is None:
            found[operands[1]] = operands[2]
        else:
            combine.at(found, operands[1], operands[2])
        return found


@irdl_op_definition
class ConcatOp(ValueOp):
    """`numpy.concatenate` along one axis."""

    name = "fleet.concat"
    inputs = var_operand_def()
    axis = prop_def(IntegerAttr)
    RESULT: ClassVar = "the axis summed; common dtype"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        if not operands:
            raise InferenceError("concat of nothing")
        shapes = [tensor_of(t, "concat")[0] for t in operands]
        result = list(shapes[0])
        axis = normal_axis(attributes["axis"], len(result))
        for shape in shapes[1:]:
            joined = [unify(a, b) for a, b in zip(result, shape, strict=False)]
            if len(shape) != len(result) or any(d is None for i, d in enumerate(joined) if i != axis):
                raise InferenceError(f"concat of shapes {shape_words(shapes[0])} and {shape_words(shape)} along axis {axis}")
            result = [r if d is None else d for r, d in zip(result, joined, strict=True)]
        dims = [shape[axis] for shape in shapes]
        result[axis] = UNKNOWN if UNKNOWN in dims else sum(dims)
        return tensor_type(result, common_dtype(operands))

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return np.concatenate(operands, attributes["axis"])


@irdl_op_definition
class PadOp(ValueOp):
    """`numpy.pad` with a constant: `low` and `high` elements before and after, for every dimension; `value` is a scalar."""

    name = "fleet.pad"
    operand = operand_def()
    value = operand_def()
    low = prop_def(DenseArrayBase)
    high = prop_def(DenseArrayBase)
    RESULT: ClassVar = "each dimension with `low` and `high` added; operand's dtype"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "pad")
        low, high = tuple(attributes["low"]), tuple(attributes["high"])
        if shape_of(operands[1]) != ():
            raise InferenceError(f"pad with a value of shape {shape_words(shape_of(operands[1]))}, which must be one number")
        if not len(low) == len(high) == len(shape) or min((*low, *high), default=0) < 0:
            raise InferenceError(f"pad of shape {shape_words(shape)} by {low} before and {high} after")
        padded = [UNKNOWN if d == UNKNOWN else a + d + b for a, d, b in zip(low, shape, high, strict=True)]
        return tensor_type(padded, dtype)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        widths = list(zip(attributes["low"], attributes["high"], strict=True))
        return np.pad(operands[0], widths, constant_values=operands[1].item())


@irdl_op_definition
class DimOp(AxisOp):
    """`operand.shape[axis]` when the program runs, a Python integer: for dimensions unknown before."""

    name = "fleet.dim"
    RESULT: ClassVar = "a Python integer"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        normal_axis(attributes["axis"], len(tensor_of(operands[0], "dim")[0]))
        return i64
