"""The dialect `accel`: a device's own operators on tensors with dynamic dimensions, as seed 004 writes a model.

Importing this fills the registry with the operators that fleet brings; a user adds others (`register`).
"""

from __future__ import annotations

from xdsl.ir import Dialect

from fleet.ir.accel import attention, pointwise, products, views
from fleet.ir.accel.nodes import Call, Constant, Tuple, TupleItem, Var, find_operator, register
from fleet.ir.accel.types import Content, Size, Tensor, Unknown

__all__ = ["ATTRIBUTES", "FUNCTIONS", "accel", "find_operator", "operators", "register"]

FUNCTIONS = (products, attention, pointwise, views)
"""The modules whose functions build nodes."""

ATTRIBUTES = (Content, Size, Tensor, Unknown)


def operators() -> dict[str, type[Call]]:
    """Name -> operator, in the order of registration."""
    return dict(Call.OPERATORS)


def accel() -> Dialect:
    """The dialect with the operators that are registered now."""
    return Dialect("accel", [Var, Constant, Tuple, TupleItem, *Call.OPERATORS.values()], list(ATTRIBUTES))
