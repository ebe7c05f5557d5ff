"""Operations that move data without computing, and the one that asks for a size."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from fleet.ir.operation import AxisOp, BinaryOp, FleetOp, UnaryOp, axes_attr

__all__ = ["BroadcastToOp", "ConcatOp", "DimOp", "GatherOp", "PadOp", "ReshapeOp", "ScatterOp", "SliceOp", "TransposeOp"]


@irdl_op_definition
class TransposeOp(FleetOp):
    """`numpy.transpose` by a full permutation."""

    name = "fleet.transpose"
    operand = operand_def()
    permutation = prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, permutation: Sequence[int], result: Attribute) -> None:
        super().__init__(operands=[operand], properties={"permutation": axes_attr(permutation)}, result_types=[result])


@irdl_op_definition
class ReshapeOp(UnaryOp):
    """The new shape is the result's; one unknown dimension takes what is left."""

    name = "fleet.reshape"


@irdl_op_definition
class BroadcastToOp(UnaryOp):
    """`numpy.broadcast_to`; the shape is the result's, an unknown dimension keeps the operand's."""

    name = "fleet.broadcast_to"


@irdl_op_definition
class SliceOp(FleetOp):
    """`start` and `size` for every dimension, as the seeds' slice hint has them; element i of a dimension is start + i * step.

    `step` may be missing (all 1) and may be negative. Of an unknown dimension, a negative start counts from its end and
    size -1 takes everything from start on, in the step's direction.
    """

    name = "fleet.slice"
    operand = operand_def()
    start = prop_def(DenseArrayBase)
    size = prop_def(DenseArrayBase)
    step = opt_prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue | Operation,
        start: Sequence[int],
        size: Sequence[int],
        result: Attribute,
        step: Sequence[int] | None = None,
    ) -> None:
        properties: dict[str, Attribute] = {"start": axes_attr(start), "size": axes_attr(size)}
        if step is not None and any(s != 1 for s in step):
            properties["step"] = axes_attr(step)
        super().__init__(operands=[operand], properties=properties, result_types=[result])


@irdl_op_definition
class GatherOp(BinaryOp):
    """`numpy.take(lhs, rhs, axis)` with an integer array `rhs`; the axis is 0 where it is missing (`lhs[rhs]`)."""

    name = "fleet.gather"
    axis = opt_prop_def(IntegerAttr)

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation, result: Attribute, axis: int = 0) -> None:
        super().__init__(lhs, rhs, result)
        if axis != 0:
            self.properties["axis"] = IntegerAttr(axis, i64)


@irdl_op_definition
class ScatterOp(FleetOp):
    """`operand` with the rows of `updates` put at `operand[indices]`, or combined into them, in their order.

    `indices` is [k], `updates` [k, ...] of the operand's rows; `reduction` is "none" (the last one stays), "add", "mul", "max" or
    "min". Negative indices count from the end.
    """

    name = "fleet.scatter"
    operand = operand_def()
    indices = operand_def()
    updates = operand_def()
    reduction = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue | Operation,
        indices: SSAValue | Operation,
        updates: SSAValue | Operation,
        reduction: str,
        result: Attribute,
    ) -> None:
        super().__init__(
            operands=[operand, indices, updates], properties={"reduction": StringAttr(reduction)}, result_types=[result]
        )


@irdl_op_definition
class ConcatOp(FleetOp):
    """`numpy.concatenate` along one axis."""

    name = "fleet.concat"
    inputs = var_operand_def()
    axis = prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, inputs: Sequence[SSAValue | Operation], axis: int, result: Attribute) -> None:
        super().__init__(operands=[inputs], properties={"axis": IntegerAttr(axis, i64)}, result_types=[result])


@irdl_op_definition
class PadOp(FleetOp):
    """`numpy.pad` with a constant: `low` and `high` elements before and after, for every dimension; `value` is a scalar."""

    name = "fleet.pad"
    operand = operand_def()
    value = operand_def()
    low = prop_def(DenseArrayBase)
    high = prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue | Operation,
        value: SSAValue | Operation,
        low: Sequence[int],
        high: Sequence[int],
        result: Attribute,
    ) -> None:
        super().__init__(
            operands=[operand, value], properties={"low": axes_attr(low), "high": axes_attr(high)}, result_types=[result]
        )


@irdl_op_definition
class DimOp(AxisOp):
    """`operand.shape[axis]` when the program runs, a Python integer: for dimensions unknown before."""

    name = "fleet.dim"
