"""Operations that sum, compare or accumulate along axes; matrix products and einsum."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, prop_def, var_operand_def

from fleet.ir.operations.einsum import result_shape
from fleet.ir.operations.operation import AxisOp, BinaryOp, ReduceOp, ValueOp, kind_of
from fleet.ir.operations.promotion import common_dtype, reduced_dtype
from fleet.ir.shapes import InferenceError, broadcast, normal_axis, shape_words, tensor_of, unify
from fleet.ir.types import Attributes, shape_of, tensor_type

__all__ = [
    "ArgmaxOp",
    "ArgminOp",
    "ArgsortOp",
    "CumsumOp",
    "EinsumOp",
    "MatmulOp",
    "MeanOp",
    "ReduceAllOp",
    "ReduceAnyOp",
    "ReduceMaxOp",
    "ReduceMinOp",
    "ReduceProdOp",
    "ReduceSumOp",
    "VarOp",
]


@irdl_op_definition
class MatmulOp(BinaryOp):
    """`lhs @ rhs`, rank 2 or more, leading dimensions broadcast."""

    name = "fleet.matmul"
    NUMPY: ClassVar = np.matmul
    RESULT: ClassVar = "leading dimensions broadcast, then rows of lhs, columns of rhs; `numpy.matmul`'s dtype"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        lhs, rhs = operands
        a, b = shape_of(lhs), shape_of(rhs)
        words = f"matmul of shapes {shape_words(a)} and {shape_words(b)}"
        if len(a) < 2 or len(b) < 2:
            raise InferenceError(f"{words}: both need rank 2 or more")
        if unify(a[-1], b[-2]) is None:
            raise InferenceError(f"{words}: the inner dimensions {a[-1]} and {b[-2]} must be equal")
        batch = broadcast(a[:-2], b[:-2], "matmul with leading dimensions")
        return tensor_type((*batch, a[-2], b[-1]), cls.compute_types(operands)[-1])


@irdl_op_definition
class EinsumOp(ValueOp):
    """`numpy.einsum(subscripts, *inputs)`; the subscripts are explicit ("ij,jk->ik", see `fleet.ir.operations.einsum`)."""

    name = "fleet.einsum"
    inputs = var_operand_def()
    subscripts = prop_def(StringAttr)
    RESULT: ClassVar = "the letters behind `->`; common dtype"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shapes = [tensor_of(t, "einsum")[0] for t in operands]
        return tensor_type(result_shape(attributes["subscripts"], shapes), common_dtype(operands))

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return np.einsum(attributes["subscripts"], *operands)


@irdl_op_definition
class ReduceSumOp(ReduceOp):
    """`numpy.sum`."""

    name = "fleet.reduce_sum"
    NUMPY: ClassVar = np.sum


@irdl_op_definition
class ReduceProdOp(ReduceOp):
    """`numpy.prod`."""

    name = "fleet.reduce_prod"
    NUMPY: ClassVar = np.prod


@irdl_op_definition
class ReduceMaxOp(ReduceOp):
    """`numpy.max`."""

    name = "fleet.reduce_max"
    NUMPY: ClassVar = np.max
    IDENTITY: ClassVar = False


@irdl_op_definition
class ReduceMinOp(ReduceOp):
    """`numpy.min`."""

    name = "fleet.reduce_min"
    NUMPY: ClassVar = np.min
    IDENTITY: ClassVar = False


@irdl_op_definition
class ReduceAnyOp(ReduceOp):
    """`numpy.any`."""

    name = "fleet.reduce_any"
    NUMPY: ClassVar = np.any


@irdl_op_definition
class ReduceAllOp(ReduceOp):
    """`numpy.all`."""

    name = "fleet.reduce_all"
    NUMPY: ClassVar = np.all


@irdl_op_definition
class MeanOp(ReduceOp):
    """`numpy.mean`."""

    name = "fleet.mean"
    NUMPY: ClassVar = np.mean


@irdl_op_definition
class VarOp(ReduceOp):
    """Population variance, as `numpy.var`."""

    name = "fleet.var"
    NUMPY: ClassVar = np.var


class _PlaceOp(AxisOp, ABC):
    """The index of an extreme along an axis."""

    RESULT: ClassVar = "axis removed; int64"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, _ = tensor_of(operands[0], kind_of(cls))
        axis = normal_axis(attributes["axis"], len(shape))
        if shape[axis] == 0:
            raise InferenceError(f"{kind_of(cls)} over no elements (shape {shape_words(shape)})")
        return tensor_type(shape[:axis] + shape[axis + 1 :], np.int64)


@irdl_op_definition
class ArgmaxOp(_PlaceOp):
    """`numpy.argmax(x, axis)`: lowest index on ties, first NaN wins; result int64."""

    name = "fleet.argmax"
    NUMPY: ClassVar = np.argmax


@irdl_op_definition
class ArgminOp(_PlaceOp):
    """`numpy.argmin(x, axis)`: lowest index on ties, first NaN wins; result int64."""

    name = "fleet.argmin"
    NUMPY: ClassVar = np.argmin


@irdl_op_definition
class ArgsortOp(AxisOp):
    """`numpy.argsort(x, axis, kind="stable")`: of equal elements the lowest index first, NaN last; int64."""

    name = "fleet.argsort"
    RESULT: ClassVar = "operand's shape; int64"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, _ = tensor_of(operands[0], "argsort")
        normal_axis(attributes["axis"], len(shape))
        return tensor_type(shape, np.int64)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        return np.argsort(operands[0], axis=attributes["axis"], kind="stable")


@irdl_op_definition
class CumsumOp(AxisOp):
    """`numpy.cumsum(x, axis)`; integers become int64."""

    name = "fleet.cumsum"
    NUMPY: ClassVar = np.cumsum
    RESULT: ClassVar = "operand's shape; int64 of integers"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape, dtype = tensor_of(operands[0], "cumsum")
        normal_axis(attributes["axis"], len(shape))
        return tensor_type(shape, reduced_dtype(np.cumsum, dtype))
