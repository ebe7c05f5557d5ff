"""Operations whose result has sizes that are numbers of the run: for models with dimensions unknown before it.

Sizes, bounds and steps are operands, Python integers, mostly sums and products of `dim`. Where they turn out to be constants
(pass `infer-shapes`), the operation becomes the one without them: reshape, broadcast_to, slice, or a weight.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from fleet.ir.operation import FleetOp, axes_attr

__all__ = ["ArangeOp", "DynamicBroadcastOp", "DynamicReshapeOp", "DynamicSliceOp", "SizedOp", "TriOp"]


class SizedOp(FleetOp, ABC):
    """Base: some operands are sizes."""


class _ShapedOp(SizedOp, ABC):
    """One array, and a size for every unknown dimension of the result."""

    operand = operand_def()
    sizes = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, sizes: Sequence[SSAValue | Operation], result: Attribute) -> None:
        super().__init__(operands=[operand, sizes], result_types=[result])


@irdl_op_definition
class DynamicReshapeOp(_ShapedOp):
    """`numpy.reshape`; every `?` of the result has its size among `sizes`, in order, and one of them may be -1."""

    name = "fleet.dynamic_reshape"


@irdl_op_definition
class DynamicBroadcastOp(_ShapedOp):
    """`numpy.broadcast_to`, of a scalar `numpy.full`; every `?` of the result has its size among `sizes`, in order."""

    name = "fleet.dynamic_broadcast"


@irdl_op_definition
class DynamicSliceOp(SizedOp):
    """`operand[start:stop:step]` of each of `axes` with Python's rules (negative bounds count from the end, others are cut off);
    `bounds` are start and stop, axis after axis, `step` is a number an axis."""

    name = "fleet.dynamic_slice"
    operand = operand_def()
    bounds = var_operand_def()
    axes = prop_def(DenseArrayBase)
    step = prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue | Operation,
        bounds: Sequence[SSAValue | Operation],
        axes: Sequence[int],
        step: Sequence[int],
        result: Attribute,
    ) -> None:
        properties: dict[str, Attribute] = {"axes": axes_attr(axes), "step": axes_attr(step)}
        super().__init__(operands=[operand, bounds], properties=properties, result_types=[result])


@irdl_op_definition
class ArangeOp(SizedOp):
    """`numpy.arange(start, stop, step)` of Python integers."""

    name = "fleet.arange"
    start = operand_def()
    stop = operand_def()
    step = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self, start: SSAValue | Operation, stop: SSAValue | Operation, step: SSAValue | Operation, result: Attribute
    ) -> None:
        super().__init__(operands=[start, stop, step], result_types=[result])


@irdl_op_definition
class TriOp(SizedOp):
    """`numpy.tri(rows, columns, diagonal)`; the dtype is the result's."""

    name = "fleet.tri"
    rows = operand_def()
    columns = operand_def()
    diagonal = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(
        self, rows: SSAValue | Operation, columns: SSAValue | Operation, diagonal: SSAValue | Operation, result: Attribute
    ) -> None:
        super().__init__(operands=[rows, columns, diagonal], result_types=[result])
