"""Elementwise operations: they broadcast as NumPy does, and give the dtypes that NumPy 2 gives."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from fleet.ir.operation import BinaryOp, FleetOp, UnaryOp

__all__ = [
    "AbsOp",
    "AddOp",
    "BitwiseAndOp",
    "BitwiseOrOp",
    "BitwiseXorOp",
    "CastOp",
    "CeilOp",
    "CosOp",
    "DivOp",
    "EqualOp",
    "ErfOp",
    "ExpOp",
    "Expm1Op",
    "FloorDivOp",
    "FloorOp",
    "GreaterEqualOp",
    "GreaterOp",
    "IsnanOp",
    "LessEqualOp",
    "LessOp",
    "Log1pOp",
    "LogOp",
    "LogicalAndOp",
    "LogicalNotOp",
    "LogicalOrOp",
    "MaximumOp",
    "MinimumOp",
    "ModOp",
    "MulOp",
    "NegOp",
    "NotEqualOp",
    "PowOp",
    "RintOp",
    "RsqrtOp",
    "SignOp",
    "SinOp",
    "SqrtOp",
    "SubOp",
    "TanhOp",
    "WhereOp",
]


@irdl_op_definition
class AddOp(BinaryOp):
    """`lhs + rhs`."""

    name = "fleet.add"


@irdl_op_definition
class SubOp(BinaryOp):
    """`lhs - rhs`."""

    name = "fleet.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """`lhs * rhs`."""

    name = "fleet.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    """`lhs / rhs`."""

    name = "fleet.div"


@irdl_op_definition
class PowOp(BinaryOp):
    """`lhs ** rhs`."""

    name = "fleet.pow"


@irdl_op_definition
class MaximumOp(BinaryOp):
    """`numpy.maximum`: NaN wins."""

    name = "fleet.maximum"


@irdl_op_definition
class MinimumOp(BinaryOp):
    """`numpy.minimum`: NaN wins."""

    name = "fleet.minimum"


@irdl_op_definition
class FloorDivOp(BinaryOp):
    """`lhs // rhs`."""

    name = "fleet.floor_div"


@irdl_op_definition
class ModOp(BinaryOp):
    """`lhs % rhs`: the sign of the divisor, as Python has it."""

    name = "fleet.mod"


@irdl_op_definition
class LessOp(BinaryOp):
    """`lhs < rhs`."""

    name = "fleet.less"


@irdl_op_definition
class LessEqualOp(BinaryOp):
    """`lhs <= rhs`."""

    name = "fleet.less_equal"


@irdl_op_definition
class GreaterOp(BinaryOp):
    """`lhs > rhs`."""

    name = "fleet.greater"


@irdl_op_definition
class GreaterEqualOp(BinaryOp):
    """`lhs >= rhs`."""

    name = "fleet.greater_equal"


@irdl_op_definition
class EqualOp(BinaryOp):
    """`lhs == rhs`."""

    name = "fleet.equal"


@irdl_op_definition
class NotEqualOp(BinaryOp):
    """`lhs != rhs`."""

    name = "fleet.not_equal"


@irdl_op_definition
class LogicalAndOp(BinaryOp):
    """`numpy.logical_and`."""

    name = "fleet.logical_and"


@irdl_op_definition
class LogicalOrOp(BinaryOp):
    """`numpy.logical_or`."""

    name = "fleet.logical_or"


@irdl_op_definition
class BitwiseAndOp(BinaryOp):
    """`numpy.bitwise_and` of integers."""

    name = "fleet.bitwise_and"


@irdl_op_definition
class BitwiseOrOp(BinaryOp):
    """`numpy.bitwise_or` of integers."""

    name = "fleet.bitwise_or"


@irdl_op_definition
class BitwiseXorOp(BinaryOp):
    """`numpy.bitwise_xor` of integers."""

    name = "fleet.bitwise_xor"


@irdl_op_definition
class NegOp(UnaryOp):
    """`-operand`."""

    name = "fleet.neg"


@irdl_op_definition
class AbsOp(UnaryOp):
    """`abs(operand)`."""

    name = "fleet.abs"


@irdl_op_definition
class SqrtOp(UnaryOp):
    """`numpy.sqrt`."""

    name = "fleet.sqrt"


@irdl_op_definition
class ExpOp(UnaryOp):
    """`numpy.exp`."""

    name = "fleet.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    """`numpy.log`."""

    name = "fleet.log"


@irdl_op_definition
class TanhOp(UnaryOp):
    """`numpy.tanh`."""

    name = "fleet.tanh"


@irdl_op_definition
class ErfOp(UnaryOp):
    """The error function (NumPy has none; see `fleet.targets.bytecode.erf`)."""

    name = "fleet.erf"


@irdl_op_definition
class RsqrtOp(UnaryOp):
    """`1 / numpy.sqrt(operand)`."""

    name = "fleet.rsqrt"


@irdl_op_definition
class SinOp(UnaryOp):
    """`numpy.sin`."""

    name = "fleet.sin"


@irdl_op_definition
class CosOp(UnaryOp):
    """`numpy.cos`."""

    name = "fleet.cos"


@irdl_op_definition
class FloorOp(UnaryOp):
    """`numpy.floor`."""

    name = "fleet.floor"


@irdl_op_definition
class CeilOp(UnaryOp):
    """`numpy.ceil`."""

    name = "fleet.ceil"


@irdl_op_definition
class RintOp(UnaryOp):
    """`numpy.rint`: ties to even."""

    name = "fleet.rint"


@irdl_op_definition
class SignOp(UnaryOp):
    """`numpy.sign`."""

    name = "fleet.sign"


@irdl_op_definition
class LogicalNotOp(UnaryOp):
    """`numpy.logical_not`."""

    name = "fleet.logical_not"


@irdl_op_definition
class IsnanOp(UnaryOp):
    """`numpy.isnan`."""

    name = "fleet.isnan"


@irdl_op_definition
class Log1pOp(UnaryOp):
    """`numpy.log1p`."""

    name = "fleet.log1p"


@irdl_op_definition
class Expm1Op(UnaryOp):
    """`numpy.expm1`."""

    name = "fleet.expm1"


@irdl_op_definition
class CastOp(UnaryOp):
    """`x.astype(dtype)`; the target is the result's element type."""

    name = "fleet.cast"


@irdl_op_definition
class WhereOp(FleetOp):
    """`numpy.where(condition, lhs, rhs)`; a condition that is no truth value counts as one where it is not zero."""

    name = "fleet.where"
    condition = operand_def()
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self, condition: SSAValue | Operation, lhs: SSAValue | Operation, rhs: SSAValue | Operation, result: Attribute
    ) -> None:
        super().__init__(operands=[condition, lhs, rhs], result_types=[result])
