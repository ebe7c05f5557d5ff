"""Operations whose result sizes are computed in the run: for models with dimensions unknown before it.

Sizes, bounds and steps are operands, Python integers, mostly sums and products of `dim`. If they turn out to be constants
(pass `infer-shapes`), the operation becomes its static form: reshape, broadcast_to, slice, or a weight.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, var_operand_def

from fleet.ir.operations.operation import ShapedOp, TypedOp, ValueOp
from fleet.ir.operations.promotion import carried
from fleet.ir.shapes import UNKNOWN, InferenceError, broadcast, shape_words, tensor_of
from fleet.ir.types import Attributes, is_tensor, numpy_dtype, spelling, tensor_type

__all__ = ["ArangeOp", "DynamicBroadcastOp", "DynamicReshapeOp", "DynamicSliceOp", "SizedOp", "TriOp"]


class SizedOp(ValueOp, ABC):
    """Base: some operands are sizes."""


def _check_numbers(name: str, operands: Sequence[Attribute]) -> None:
    for type_ in operands:
        if is_tensor(type_) or numpy_dtype(type_).kind != "i":
            raise InferenceError(f"{name} with a size of type {spelling(type_)}, which must be a Python integer")


def _target(name: str, operands: Sequence[Attribute], attributes: Attributes) -> tuple[int, ...]:
    """Return the result's shape; each unknown dimension has one operand."""
    _check_numbers(name, operands[1:])
    target = tuple(attributes["shape"])
    if any(d < UNKNOWN for d in target) or target.count(UNKNOWN) != len(operands) - 1:
        raise InferenceError(f"{name} to {shape_words(target)} with {len(operands) - 1} sizes")
    return target


@irdl_op_definition
class DynamicReshapeOp(ShapedOp, SizedOp):
    """`numpy.reshape`; every `?` of the result has its size among `sizes`, in order, and one of them may be -1."""

    name = "fleet.dynamic_reshape"
    operand = operand_def()
    sizes = var_operand_def()
    RESULT: ClassVar = "as many elements; the shape is the result's"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        _, dtype = tensor_of(operands[0], "dynamic_reshape")
        return tensor_type(_target("dynamic_reshape", operands, attributes), dtype)


@irdl_op_definition
class DynamicBroadcastOp(ShapedOp, SizedOp):
    """`numpy.broadcast_to`, of a scalar `numpy.full`; every `?` of the result has its size among `sizes`, in order."""

    name = "fleet.dynamic_broadcast"
    operand = operand_def()
    sizes = var_operand_def()
    RESULT: ClassVar = "the shape is the result's"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "dynamic_broadcast")
        target = _target("dynamic_broadcast", operands, attributes)
        lead = len(target) - len(shape)
        broadcast(shape, target, "dynamic_broadcast")
        if lead < 0 or any(t >= 0 and s not in (UNKNOWN, 1, t) for s, t in zip(shape, target[lead:], strict=True)):
            raise InferenceError(f"dynamic_broadcast of shape {shape_words(shape)} to {shape_words(target)}")
        return tensor_type(target, dtype)


@irdl_op_definition
class DynamicSliceOp(SizedOp):
    """`operand[start:stop:step]` of each of `axes` with Python's rules (negative bounds count from the end, others are cut off);
    `bounds` are start and stop, axis after axis, `step` is a number an axis."""

    name = "fleet.dynamic_slice"
    operand = operand_def()
    bounds = var_operand_def()
    axes = prop_def(DenseArrayBase)
    step = prop_def(DenseArrayBase)
    RESULT: ClassVar = "`axes` unknown, the others kept"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "dynamic_slice")
        axes, step, bounds = list(attributes["axes"]), list(attributes["step"]), len(operands) - 1
        _check_numbers("dynamic_slice", operands[1:])
        fits = bounds == 2 * len(axes) and len(axes) == len(step) and 0 not in step
        if not fits or not axes or axes != sorted(set(axes)) or not all(0 <= a < len(shape) for a in axes):
            raise InferenceError(f"dynamic_slice of shape {shape_words(shape)} along {axes} by {step} with {bounds} bounds")
        return tensor_type([UNKNOWN if i in axes else d for i, d in enumerate(shape)], dtype)


@irdl_op_definition
class ArangeOp(SizedOp):
    """`numpy.arange(start, stop, step)` of Python integers."""

    name = "fleet.arange"
    start = operand_def()
    stop = operand_def()
    step = operand_def()
    RESULT: ClassVar = "rank 1; int64"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        _check_numbers("arange", operands)
        return tensor_type([UNKNOWN], np.int64)


@irdl_op_definition
class TriOp(TypedOp, SizedOp):
    """`numpy.tri(rows, columns, diagonal)`; the dtype is the result's."""

    name = "fleet.tri"
    rows = operand_def()
    columns = operand_def()
    diagonal = operand_def()
    RESULT: ClassVar = "rows x columns"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        _check_numbers("tri", operands)
        return tensor_type([UNKNOWN, UNKNOWN], carried(attributes["dtype"], "tri of"))
