"""An operation's attributes as plain Python values, the form in which inference, printing and operators take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute

from fleet.ir.dialect import (
    BroadcastToOp,
    CastOp,
    ConstantOp,
    DynamicBroadcastOp,
    DynamicReshapeOp,
    FleetOp,
    LinearOp,
    ReshapeOp,
    TriOp,
)
from fleet.ir.types import numpy_dtype, shape_of

__all__ = ["attributes_of", "integers"]

_NOT_ATTRIBUTES = frozenset({"id", "var", "at", "covers", "operandSegmentSizes"})


def integers(attr: Attribute) -> tuple[int, ...]:
    """The numbers of a dense array of integers (xDSL's own type of `get_values` depends on the element type)."""
    return tuple(int(v) for v in cast("Any", attr).get_values())


def attributes_of(op: FleetOp) -> Mapping[str, Any]:
    """Property name -> int, bool, float, str or list of int; and for what is no property: shape or dtype of operations
    that keep them in their type, bias and residual of linear (whether it has them).

    A constant has none (its `value` is a number with a type, see `fleet.ir.constants.constant_value`).
    """
    found: dict[str, Any] = {}
    if isinstance(op, ConstantOp):
        return found
    for name, attr in op.properties.items():
        if name in _NOT_ATTRIBUTES:
            continue
        if isinstance(attr, DenseArrayBase):
            found[name] = list(integers(attr))
        elif isinstance(attr, IntegerAttr):
            truth = isinstance(attr.type, IntegerType) and attr.type.width.data == 1
            found[name] = bool(attr.value.data) if truth else attr.value.data
        elif isinstance(attr, FloatAttr | StringAttr):
            found[name] = attr.value.data if isinstance(attr, FloatAttr) else attr.data
    if isinstance(op, ReshapeOp | BroadcastToOp | DynamicReshapeOp | DynamicBroadcastOp):
        found["shape"] = list(shape_of(op.result.type))
    elif isinstance(op, CastOp | TriOp):
        found["dtype"] = numpy_dtype(op.result.type)
    elif isinstance(op, LinearOp):
        found |= {"bias": op.bias is not None, "residual": op.residual is not None}
    return found
