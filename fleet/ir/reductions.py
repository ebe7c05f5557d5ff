"""Operations that sum, compare or accumulate along axes; matrix products and einsum."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from fleet.ir.operation import AxisOp, BinaryOp, FleetOp, ReduceOp

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


@irdl_op_definition
class EinsumOp(FleetOp):
    """`numpy.einsum(subscripts, *inputs)`; the subscripts are explicit ("ij,jk->ik", see `fleet.ir.einsum`)."""

    name = "fleet.einsum"
    inputs = var_operand_def()
    subscripts = prop_def(StringAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, inputs: Sequence[SSAValue | Operation], subscripts: str, result: Attribute) -> None:
        super().__init__(operands=[inputs], properties={"subscripts": StringAttr(subscripts)}, result_types=[result])


@irdl_op_definition
class ReduceSumOp(ReduceOp):
    """`numpy.sum`."""

    name = "fleet.reduce_sum"


@irdl_op_definition
class ReduceProdOp(ReduceOp):
    """`numpy.prod`."""

    name = "fleet.reduce_prod"


@irdl_op_definition
class ReduceMaxOp(ReduceOp):
    """`numpy.max`."""

    name = "fleet.reduce_max"


@irdl_op_definition
class ReduceMinOp(ReduceOp):
    """`numpy.min`."""

    name = "fleet.reduce_min"


@irdl_op_definition
class ReduceAnyOp(ReduceOp):
    """`numpy.any`."""

    name = "fleet.reduce_any"


@irdl_op_definition
class ReduceAllOp(ReduceOp):
    """`numpy.all`."""

    name = "fleet.reduce_all"


@irdl_op_definition
class MeanOp(ReduceOp):
    """`numpy.mean`."""

    name = "fleet.mean"


@irdl_op_definition
class VarOp(ReduceOp):
    """Population variance, as `numpy.var`."""

    name = "fleet.var"


@irdl_op_definition
class ArgmaxOp(AxisOp):
    """`numpy.argmax(x, axis)`: lowest index on ties, first NaN wins; result int64."""

    name = "fleet.argmax"


@irdl_op_definition
class ArgminOp(AxisOp):
    """`numpy.argmin(x, axis)`: lowest index on ties, first NaN wins; result int64."""

    name = "fleet.argmin"


@irdl_op_definition
class ArgsortOp(AxisOp):
    """`numpy.argsort(x, axis, kind="stable")`: of equal elements the lowest index first, NaN last; int64."""

    name = "fleet.argsort"


@irdl_op_definition
class CumsumOp(AxisOp):
    """`numpy.cumsum(x, axis)`; integers become int64."""

    name = "fleet.cumsum"
