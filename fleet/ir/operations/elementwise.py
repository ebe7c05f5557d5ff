"""Elementwise operations, with NumPy's broadcasting and NumPy 2's result dtypes."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from fleet.ir.operations.operation import BinaryOp, ElementwiseOp, TypedOp, UnaryOp
from fleet.ir.operations.promotion import carried, common_dtype
from fleet.ir.types import Attributes, element_type, is_tensor, numpy_dtype, shape_of, tensor_type

__all__ = [
    "AbsOp", "AddOp", "BitwiseAndOp", "BitwiseOrOp", "BitwiseXorOp", "CastOp", "CeilOp", "CosOp", "DivOp", "EqualOp", "ErfOp",
    "ExpOp", "Expm1Op", "FloorDivOp", "FloorOp", "GreaterEqualOp", "GreaterOp", "IsnanOp", "LessEqualOp", "LessOp", "Log1pOp",
    "LogOp", "LogicalAndOp", "LogicalNotOp", "LogicalOrOp", "MaximumOp", "MinimumOp", "ModOp", "MulOp", "NegOp", "NotEqualOp",
    "PowOp", "RintOp", "RsqrtOp", "SignOp", "SinOp", "SqrtOp", "SubOp", "TanhOp", "WhereOp",
]  # fmt: skip


@irdl_op_definition
class AddOp(BinaryOp):
    """`lhs + rhs`."""

    name = "fleet.add"
    NUMPY: ClassVar = np.add
    PYTHON: ClassVar = operator.add


@irdl_op_definition
class SubOp(BinaryOp):
    """`lhs - rhs`."""

    name = "fleet.sub"
    NUMPY: ClassVar = np.subtract
    PYTHON: ClassVar = operator.sub


@irdl_op_definition
class MulOp(BinaryOp):
    """`lhs * rhs`."""

    name = "fleet.mul"
    NUMPY: ClassVar = np.multiply
    PYTHON: ClassVar = operator.mul


@irdl_op_definition
class DivOp(BinaryOp):
    """`lhs / rhs`."""

    name = "fleet.div"
    NUMPY: ClassVar = np.divide
    PYTHON: ClassVar = operator.truediv


_ROOTS = (np.dtype(np.float32), np.dtype(np.float64))


@irdl_op_definition
class PowOp(BinaryOp):
    """`lhs ** rhs`."""

    name = "fleet.pow"
    NUMPY: ClassVar = np.power
    PYTHON: ClassVar = operator.pow

    def is_root(self, exponent: float | None) -> bool:
        """Return whether NumPy computes square roots: for an array of float32 or float64 with the single exponent 0.5.

        The root of -inf is NaN, its power inf. exponent: its value if known, else None.
        """
        base, power = (shape_of(v.type) for v in self.operands)
        dtype = numpy_dtype(self.results[0].type)
        return exponent == 0.5 and dtype in _ROOTS and bool(base) and math.prod(power) == 1 and base != power


@irdl_op_definition
class MaximumOp(BinaryOp):
    """`numpy.maximum`: NaN wins."""

    name = "fleet.maximum"
    NUMPY: ClassVar = np.maximum


@irdl_op_definition
class MinimumOp(BinaryOp):
    """`numpy.minimum`: NaN wins."""

    name = "fleet.minimum"
    NUMPY: ClassVar = np.minimum


@irdl_op_definition
class FloorDivOp(BinaryOp):
    """`lhs // rhs`."""

    name = "fleet.floor_div"
    NUMPY: ClassVar = np.floor_divide
    PYTHON: ClassVar = operator.floordiv


@irdl_op_definition
class ModOp(BinaryOp):
    """`lhs % rhs`: the sign of the divisor, as Python has it."""

    name = "fleet.mod"
    NUMPY: ClassVar = np.remainder
    PYTHON: ClassVar = operator.mod


@irdl_op_definition
class LessOp(BinaryOp):
    """`lhs < rhs`."""

    name = "fleet.less"
    NUMPY: ClassVar = np.less
    PYTHON: ClassVar = operator.lt


@irdl_op_definition
class LessEqualOp(BinaryOp):
    """`lhs <= rhs`."""

    name = "fleet.less_equal"
    NUMPY: ClassVar = np.less_equal
    PYTHON: ClassVar = operator.le


@irdl_op_definition
class GreaterOp(BinaryOp):
    """`lhs > rhs`."""

    name = "fleet.greater"
    NUMPY: ClassVar = np.greater
    PYTHON: ClassVar = operator.gt


@irdl_op_definition
class GreaterEqualOp(BinaryOp):
    """`lhs >= rhs`."""

    name = "fleet.greater_equal"
    NUMPY: ClassVar = np.greater_equal
    PYTHON: ClassVar = operator.ge


@irdl_op_definition
class EqualOp(BinaryOp):
    """`lhs == rhs`."""

    name = "fleet.equal"
    NUMPY: ClassVar = np.equal
    PYTHON: ClassVar = operator.eq


@irdl_op_definition
class NotEqualOp(BinaryOp):
    """`lhs != rhs`."""

    name = "fleet.not_equal"
    NUMPY: ClassVar = np.not_equal
    PYTHON: ClassVar = operator.ne


@irdl_op_definition
class LogicalAndOp(BinaryOp):
    """`numpy.logical_and`."""

    name = "fleet.logical_and"
    NUMPY: ClassVar = np.logical_and


@irdl_op_definition
class LogicalOrOp(BinaryOp):
    """`numpy.logical_or`."""

    name = "fleet.logical_or"
    NUMPY: ClassVar = np.logical_or


@irdl_op_definition
class BitwiseAndOp(BinaryOp):
    """`numpy.bitwise_and` of integers."""

    name = "fleet.bitwise_and"
    NUMPY: ClassVar = np.bitwise_and


@irdl_op_definition
class BitwiseOrOp(BinaryOp):
    """`numpy.bitwise_or` of integers."""

    name = "fleet.bitwise_or"
    NUMPY: ClassVar = np.bitwise_or


@irdl_op_definition
class BitwiseXorOp(BinaryOp):
    """`numpy.bitwise_xor` of integers."""

    name = "fleet.bitwise_xor"
    NUMPY: ClassVar = np.bitwise_xor


@irdl_op_definition
class NegOp(UnaryOp):
    """`-operand`."""

    name = "fleet.neg"
    NUMPY: ClassVar = np.negative
    PYTHON: ClassVar = operator.neg


@irdl_op_definition
class AbsOp(UnaryOp):
    """`abs(operand)`."""

    name = "fleet.abs"
    NUMPY: ClassVar = np.absolute
    PYTHON: ClassVar = abs


@irdl_op_definition
class SqrtOp(UnaryOp):
    """`numpy.sqrt`."""

    name = "fleet.sqrt"
    NUMPY: ClassVar = np.sqrt


@irdl_op_definition
class ExpOp(UnaryOp):
    """`numpy.exp`."""

    name = "fleet.exp"
    NUMPY: ClassVar = np.exp


@irdl_op_definition
class LogOp(UnaryOp):
    """`numpy.log`."""

    name = "fleet.log"
    NUMPY: ClassVar = np.log


@irdl_op_definition
class TanhOp(UnaryOp):
    """`numpy.tanh`."""

    name = "fleet.tanh"
    NUMPY: ClassVar = np.tanh


@irdl_op_definition
class ErfOp(UnaryOp):
    """The error function (NumPy has none; see `fleet.targets.bytecode.erf`)."""

    name = "fleet.erf"
    LIKE: ClassVar = np.tanh


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """`1 / numpy.sqrt(operand)`."""

    name = "fleet.rsqrt"
    LIKE: ClassVar = np.sqrt


@irdl_op_definition
class SinOp(UnaryOp):
    """`numpy.sin`."""

    name = "fleet.sin"
    NUMPY: ClassVar = np.sin


@irdl_op_definition
class CosOp(UnaryOp):
    """`numpy.cos`."""

    name = "fleet.cos"
    NUMPY: ClassVar = np.cos


@irdl_op_definition
class FloorOp(UnaryOp):
    """`numpy.floor`."""

    name = "fleet.floor"
    NUMPY: ClassVar = np.floor


@irdl_op_definition
class CeilOp(UnaryOp):
    """`numpy.ceil`."""

    name = "fleet.ceil"
    NUMPY: ClassVar = np.ceil


@irdl_op_definition
class RintOp(UnaryOp):
    """`numpy.rint`: ties to even."""

    name = "fleet.rint"
    NUMPY: ClassVar = np.rint


@irdl_op_definition
class SignOp(UnaryOp):
    """`numpy.sign`."""

    name = "fleet.sign"
    NUMPY: ClassVar = np.sign


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """`numpy.logical_not`."""

    name = "fleet.logical_not"
    NUMPY: ClassVar = np.logical_not


@irdl_op_definition
class IsnanOp(UnaryOp):
    """`numpy.isnan`."""

    name = "fleet.isnan"
    NUMPY: ClassVar = np.isnan


@irdl_op_definition
class Log1pOp(UnaryOp):
    """`numpy.log1p`."""

    name = "fleet.log1p"
    NUMPY: ClassVar = np.log1p


@irdl_op_definition
class Expm1Op(UnaryOp):
    """`numpy.expm1`."""

    name = "fleet.expm1"
    NUMPY: ClassVar = np.expm1


@irdl_op_definition
class CastOp(UnaryOp, TypedOp):
    """`x.astype(dtype)`; the target is the result's element type."""

    name = "fleet.cast"
    RESULT: ClassVar = "operand's shape; the dtype is the result's"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        target = carried(attributes["dtype"], "cast to")
        return tensor_type(shape_of(operands[0]), target) if is_tensor(operands[0]) else element_type(target)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        target = np.dtype(attributes["dtype"])
        # NumPy drops the imaginary part with a warning; in a cast to bool it counts.
        operand = operands[0].real if operands[0].dtype.kind == "c" and target.kind in "iuf" else operands[0]
        return operand.astype(target)


@irdl_op_definition
class WhereOp(ElementwiseOp):
    """`numpy.where(condition, lhs, rhs)`; a condition that is not boolean counts as true if it is not zero."""

    name = "fleet.where"
    condition = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    NUMPY: ClassVar = np.where
    RESULT: ClassVar = "broadcast of all three; common dtype of lhs and rhs"

    @classmethod
    def compute_types(cls, operands: Sequence[Attribute]) -> tuple[np.dtype, ...]:
        """The condition keeps its dtype."""
        dtype = common_dtype(operands[1:])
        return numpy_dtype(operands[0]), dtype, dtype, dtype
