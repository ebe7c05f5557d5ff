"""What all operations of the dialect `fleet` share: their identity, and the shapes that most of them have.

Every operation carries
  `id`   unique in the function, stable for the same source: the key by which traces are aligned ("h1", "mul.7");
  `var`  the Python variable that the result is bound to, where there is one (the `cpython` oracle aligns by it);
  `at`   "file.py:12:4", the place in the source.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

__all__ = ["AxisOp", "BinaryOp", "FleetOp", "ReduceOp", "UnaryOp", "axes_attr", "op_id"]


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


class AxisOp(FleetOp, ABC):
    """One operand and one `axis` (non-negative)."""

    operand = operand_def()
    axis = prop_def(IntegerAttr)
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue | Operation, axis: int, result: Attribute) -> None:
        super().__init__(operands=[operand], properties={"axis": IntegerAttr(axis, i64)}, result_types=[result])
