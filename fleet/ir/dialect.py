"""The tensor-level dialect `fleet`: what a NumPy program means, one operation for one NumPy call.

Why not the seeds' mix of tosa, arith, math and tensor: xDSL's tosa has 21 operations (no reshape, transpose, tanh,
exp), and a model's operations must keep their identity from the source line to the report. So one dialect carries
the whole model; export to the standard dialects is a later, one-way step.

Every operation carries
  `id`   unique in the function, stable for the same source: the key by which traces are aligned ("h1", "mul.7");
  `var`  the Python variable that the result is bound to, where there is one (the `cpython` oracle aligns by it);
  `at`   "file.py:12:4", the place in the source.
Weights and inputs are function arguments; constants are `fleet.constant`. Weight data never stands in the IR.
Elementwise operations broadcast as NumPy does. Scalars (Python numbers) have builtin types, arrays tensor types.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, FloatAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

__all__ = ["FLEET", "FleetOp", "axes_attr", "op_id"]


def axes_attr(values: Sequence[int]) -> DenseArrayBase:
    """A list of dimensions as `array<i64: ...>`."""
    return DenseArrayBase.from_list(i64, list(values))


class FleetOp(IRDLOperation, ABC):
    """Base of all operations of the dialect: the identity that traces and reports use."""

    id = opt_prop_def(StringAttr)
    var = opt_prop_def(StringAttr)
    at = opt_prop_def(StringAttr)

    def describe(self, *, id: str, var: str | None = None, at: str | None = None) -> None:
        """Sets the identity (see the module's docstring)."""
        self.properties["id"] = StringAttr(id)
        if var is not None:
            self.properties["var"] = StringAttr(var)
        if at is not None:
            self.properties["at"] = StringAttr(at)

    def verify_(self) -> None:
        """Shapes and dtypes as `fleet.ir.infer` has them. Raises VerifyException."""
        from fleet.ir.verify import verify_types

        verify_types(self)


def op_id(op: Operation) -> str:
    """The operation's `id`; KeyError where it has none."""
    attr = op.properties["id"]
    assert isinstance(attr, StringAttr)
    return attr.data


class BinaryOp(FleetOp, ABC):
    """Elementwise with NumPy broadcasting."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue | Operation, rhs: SSAValue | Operation, result: Attribute) -> None:
        super().__init__(operands=[lhs, rhs], result_types=[result])


class UnaryOp(FleetOp, ABC):
    """Elementwise on one operand."""

    operand = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, result: Attribute) -> None:
        super().__init__(operands=[operand], result_types=[result])


class ReduceOp(FleetOp, ABC):
    """Reduction over `axes` (ascending, non-negative); `keepdims` as in NumPy."""

    operand = operand_def()
    axes = prop_def(DenseArrayBase)
    keepdims = prop_def(BoolAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, axes: Sequence[int], keepdims: bool, result: Attribute) -> None:
        super().__init__(
            operands=[operand],
            properties={"axes": axes_attr(axes), "keepdims": BoolAttr.from_bool(keepdims)},
            result_types=[result],
        )


@irdl_op_definition
class AddOp(BinaryOp):
    name = "fleet.add"


@irdl_op_definition
class SubOp(BinaryOp):
    name = "fleet.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    name = "fleet.mul"


@irdl_op_definition
class DivOp(BinaryOp):
    name = "fleet.div"


@irdl_op_definition
class PowOp(BinaryOp):
    name = "fleet.pow"


@irdl_op_definition
class MaximumOp(BinaryOp):
    name = "fleet.maximum"


@irdl_op_definition
class MinimumOp(BinaryOp):
    name = "fleet.minimum"


@irdl_op_definition
class NegOp(UnaryOp):
    name = "fleet.neg"


@irdl_op_definition
class AbsOp(UnaryOp):
    name = "fleet.abs"


@irdl_op_definition
class SqrtOp(UnaryOp):
    name = "fleet.sqrt"


@irdl_op_definition
class ExpOp(UnaryOp):
    name = "fleet.exp"


@irdl_op_definition
class LogOp(UnaryOp):
    name = "fleet.log"


@irdl_op_definition
class TanhOp(UnaryOp):
    name = "fleet.tanh"


@irdl_op_definition
class CastOp(UnaryOp):
    """`x.astype(dtype)`; the target is the result's element type."""

    name = "fleet.cast"


@irdl_op_definition
class MatmulOp(BinaryOp):
    """`lhs @ rhs`, rank 2 or more, leading dimensions broadcast."""

    name = "fleet.matmul"


@irdl_op_definition
class ReduceSumOp(ReduceOp):
    name = "fleet.reduce_sum"


@irdl_op_definition
class ReduceMaxOp(ReduceOp):
    name = "fleet.reduce_max"


@irdl_op_definition
class MeanOp(ReduceOp):
    name = "fleet.mean"


@irdl_op_definition
class VarOp(ReduceOp):
    """Population variance, as `numpy.var`."""

    name = "fleet.var"


@irdl_op_definition
class ArgmaxOp(FleetOp):
    """`numpy.argmax(x, axis)`: lowest index on ties, first NaN wins; result int64."""

    name = "fleet.argmax"
    operand = operand_def()
    axis = prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, axis: int, result: Attribute) -> None:
        super().__init__(operands=[operand], properties={"axis": IntegerAttr(axis, i64)}, result_types=[result])


@irdl_op_definition
class TransposeOp(FleetOp):
    name = "fleet.transpose"
    operand = operand_def()
    permutation = prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, permutation: Sequence[int], result: Attribute) -> None:
        super().__init__(operands=[operand], properties={"permutation": axes_attr(permutation)}, result_types=[result])


@irdl_op_definition
class ReshapeOp(UnaryOp):
    """The new shape is the result's."""

    name = "fleet.reshape"


@irdl_op_definition
class SliceOp(FleetOp):
    """`start` and `size` for every dimension (step 1), as the seeds' slice hint has them."""

    name = "fleet.slice"
    operand = operand_def()
    start = prop_def(DenseArrayBase)
    size = prop_def(DenseArrayBase)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, start: Sequence[int], size: Sequence[int], result: Attribute) -> None:
        super().__init__(operands=[operand], properties={"start": axes_attr(start), "size": axes_attr(size)}, result_types=[result])


@irdl_op_definition
class GatherOp(BinaryOp):
    """`lhs[rhs]` with an integer array `rhs` on the first dimension."""

    name = "fleet.gather"


@irdl_op_definition
class ConcatOp(FleetOp):
    name = "fleet.concat"
    inputs = var_operand_def()
    axis = prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, inputs: Sequence[SSAValue | Operation], axis: int, result: Attribute) -> None:
        super().__init__(operands=[inputs], properties={"axis": IntegerAttr(axis, i64)}, result_types=[result])


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
    """`print(...)`: the one operation with an effect."""

    name = "fleet.print"
    inputs = var_operand_def()

    def __init__(self, inputs: Sequence[SSAValue | Operation]) -> None:
        super().__init__(operands=[inputs])


FLEET = Dialect(
    "fleet",
    [
        AddOp, SubOp, MulOp, DivOp, PowOp, MaximumOp, MinimumOp, MatmulOp, GatherOp,
        NegOp, AbsOp, SqrtOp, ExpOp, LogOp, TanhOp, CastOp, ReshapeOp,
        ReduceSumOp, ReduceMaxOp, MeanOp, VarOp, ArgmaxOp,
        TransposeOp, SliceOp, ConcatOp, ConstantOp, PrintOp,
    ],
)  # fmt: skip
