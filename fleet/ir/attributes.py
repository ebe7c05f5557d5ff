"""An operation's attributes as plain Python values, the form in which inference, printing and operators take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr

from fleet.ir.dialect import CastOp, ConstantOp, FleetOp, ReshapeOp
from fleet.ir.types import numpy_dtype, shape_of

__all__ = ["attributes_of"]

_IDENTITY = frozenset({"id", "var", "at"})


def attributes_of(op: FleetOp) -> Mapping[str, Any]:
    """axes, keepdims, axis, permutation, start, size; and shape or dtype for the operations that keep them in their type.

    A constant has none (its `value` is a number with a type, see `fleet.ir.constants.constant_value`).
    """
    found: dict[str, Any] = {}
    for name, attr in op.properties.items():
        if name in _IDENTITY:
            continue
        if isinstance(attr, DenseArrayBase):
            found[name] = [int(v) for v in attr.get_values()]
        elif isinstance(attr, IntegerAttr) and not isinstance(op, ConstantOp):
            found[name] = bool(attr.value.data) if name == "keepdims" else attr.value.data
    if isinstance(op, ReshapeOp):
        found["shape"] = list(shape_of(op.result.type))
    elif isinstance(op, CastOp):
        found["dtype"] = numpy_dtype(op.result.type)
    return found
