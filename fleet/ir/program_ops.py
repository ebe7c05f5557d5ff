"""Operations without a place among the arrays: numbers of the source, and output."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from fleet.ir.operation import FleetOp

__all__ = ["ConstantOp", "PrintOp"]


@irdl_op_definition
class ConstantOp(FleetOp):
    """A number from the source. A tensor result is filled with it (the seeds' `ldc tensor` of a scalar)."""

    name = "fleet.constant"
    value = prop_def(IntegerAttr | FloatAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, value: IntegerAttr | FloatAttr, result: Attribute) -> None:
        super().__init__(properties={"value": value}, result_types=[result])


@irdl_op_definition
class PrintOp(FleetOp):
    """`print(...)`: the one operation with an effect.

    `format` is what is printed, its newline included, as a format string with numbered places ("loss {0:.3f}"); without it
    the operands are printed as Python's `print` does.
    """

    name = "fleet.print"
    inputs = var_operand_def()
    format = opt_prop_def(StringAttr)

    def __init__(self, inputs: Sequence[SSAValue | Operation], format: str | None = None) -> None:
        properties = {} if format is None else {"format": StringAttr(format)}
        super().__init__(operands=[inputs], properties=properties)
