"""Numbers of the source as constants of the IR, and back."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute

from fleet.ir.dialect import ConstantOp
from fleet.ir.shapes import InferenceError
from fleet.ir.types import element_type, numpy_dtype


def constant(number: bool | int | float, type_: Attribute) -> ConstantOp:
    """Return `number` as a constant of scalar or tensor type `type_` (filled), rounded to its dtype as NumPy does.

    Raises InferenceError for an integer that the dtype cannot hold (NumPy raises OverflowError there).
    """
    dtype = numpy_dtype(type_)
    element = element_type(dtype)
    if dtype.kind == "c":
        raise InferenceError(f"a constant of {dtype}: a complex array is a cast, or a weight")
    if dtype.kind == "f":
        with np.errstate(over="ignore"):
            return ConstantOp(FloatAttr(float(dtype.type(number)), cast("AnyFloat", element)), type_)
    if dtype.kind == "b":
        return ConstantOp(IntegerAttr(int(bool(number)), cast("IntegerType", element)), type_)
    if isinstance(number, float):
        raise InferenceError(f"the float {number} as a constant of {dtype}")
    limits = np.iinfo(dtype)
    if not limits.min <= number <= limits.max:
        raise InferenceError(f"Python integer {number} out of bounds for {dtype}")
    return ConstantOp(IntegerAttr(int(number), cast("IntegerType", element)), type_)


def constant_value(op: ConstantOp) -> bool | int | float:
    """Return the number of a constant as a Python number of its kind."""
    attr = op.properties["value"]
    assert isinstance(attr, IntegerAttr | FloatAttr)
    number = attr.value.data
    if numpy_dtype(op.result.type).kind == "b":
        return bool(number)
    return number
