"""The dialect `accel`: a device's own operators on tensors with dynamic dimensions, as seed 004 writes a model.

Importing this fills the registry with fleet's operators; users add others (`register`).
"""

from __future__ import annotations

from xdsl.ir import Dialect

from fleet.ir.accel import attention, pointwise, products, views
from fleet.ir.accel.nodes import ConstantNode, OperatorCall, TupleItemNode, TupleNode, VarNode
from fleet.ir.accel.types import AccelTensor, Content, Size, Unknown

FUNCTIONS = (products, attention, pointwise, views)
"""The modules whose functions build nodes."""

ATTRIBUTES = (Content, Size, AccelTensor, Unknown)


def operators() -> dict[str, type[OperatorCall]]:
    """Name -> operator, in the order of registration."""
    return dict(OperatorCall.OPERATORS)


def accel() -> Dialect:
    """Return the dialect with the currently registered operators."""
    return Dialect("accel", [VarNode, ConstantNode, TupleNode, TupleItemNode, *OperatorCall.OPERATORS.values()], list(ATTRIBUTES))
