"""Operations that do not compute arrays: numbers of the source, checks, and output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, StringAttr, f64, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, var_operand_def

from fleet.errors import ModelError
from fleet.ir.operations.operation import FleetOp, ValueOp
from fleet.ir.shapes import UNKNOWN, InferenceError, shape_words
from fleet.ir.types import Attributes, numpy_dtype, shape_of

__all__ = ["CheckOp", "ConstantOp", "ItemOp", "PrintOp"]


@irdl_op_definition
class ConstantOp(ValueOp):
    """A number from the source. A tensor result is filled with it (the seeds' `ldc tensor` of a scalar)."""

    name = "fleet.constant"
    value = prop_def(IntegerAttr | FloatAttr)
    RESULT: ClassVar = "any; a tensor is filled with the number"

    def __init__(self, value: IntegerAttr | FloatAttr, result: Attribute) -> None:
        IRDLOperation.__init__(self, properties={"value": value}, result_types=[result])

    def check(self) -> None:
        """Check that the number has the result's dtype."""
        type_ = self.result.type
        if UNKNOWN in (shape := shape_of(type_)):
            raise InferenceError(f"constant of shape {shape_words(shape)}, which must be known")
        number = self.properties["value"]
        kind = FloatAttr if numpy_dtype(type_).kind == "f" else IntegerAttr
        if not isinstance(number, kind) or numpy_dtype(number.get_type()) != numpy_dtype(type_):
            raise InferenceError(f"constant {number} for a result of type {type_}")


@irdl_op_definition
class ItemOp(ValueOp):
    """The Python number `number` ("int", "float" or "bool") of an array of one element, or of another number: `float(x)`."""

    name = "fleet.item"
    operand = operand_def()
    number = prop_def(StringAttr)
    RESULT: ClassVar = "i64, f64 or i1"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        shape = shape_of(operands[0])
        if any(size not in (1, UNKNOWN) for size in shape):
            raise InferenceError(f"a number out of an array of shape {shape_words(shape)}")
        if attributes["number"] not in _NUMBERS:
            raise InferenceError(f"a number {attributes['number']!r}, expected {', '.join(_NUMBERS)}")
        return _NUMBERS[attributes["number"]]

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        found = {"int": int, "float": float, "bool": bool}[attributes["number"]](np.asarray(operands[0]).item())
        if found > _LARGEST and isinstance(found, int):
            raise OverflowError(f"{found} is no number of the run: its integers have 64 bits with a sign")
        return found


_LARGEST = (1 << 63) - 1
_NUMBERS: Mapping[str, Attribute] = {"int": i64, "float": f64, "bool": i1}


@irdl_op_definition
class CheckOp(ValueOp):
    """`raise` and `assert`: a boolean that must be true, or the run ends with `message` ("the source raises KeyError")."""

    name = "fleet.check"
    operand = operand_def()
    message = prop_def(StringAttr)
    RESULT: ClassVar = "the operand's type"

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Attributes) -> Attribute:
        if numpy_dtype(operands[0]).kind != "b" or shape_of(operands[0]):
            raise InferenceError("a check of what is not one truth value")
        return operands[0]

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Attributes) -> Any:
        if not operands[0]:
            raise ValueError(attributes["message"])
        return operands[0]


@irdl_op_definition
class PrintOp(FleetOp):
    """`print(...)`.

    `format` is the printed text, including its newline, as a format string with numbered fields ("loss {0:.3f}"); without it
    the operands are printed as by Python's `print`. `options` are those of `numpy.set_printoptions` as JSON.
    """

    name = "fleet.print"
    inputs = var_operand_def()
    format = opt_prop_def(StringAttr)
    options = opt_prop_def(StringAttr)
    RESULT: ClassVar = "none"

    def __init__(self, inputs: Sequence[SSAValue | Operation], format: str | None = None, options: str | None = None) -> None:
        given = {"format": format, "options": options}
        properties = {name: StringAttr(text) for name, text in given.items() if text is not None}
        IRDLOperation.__init__(self, operands=[inputs], properties=properties)

    def check(self) -> None:
        """Accept any operands: all may be printed."""


OPTIONS: Mapping[str, type | tuple[type, ...]] = {
    "precision": int, "threshold": (int, float), "edgeitems": int, "linewidth": int, "suppress": bool, "nanstr": str, "infstr": str,
    "sign": str, "floatmode": str,
}  # fmt: skip
"""Options of `numpy.set_printoptions` that a print may have, and their types."""


def read_options(text: str) -> dict[str, Any]:
    """Parse options from JSON. Raises ModelError if `numpy.printoptions` does not take them."""
    try:
        found: Any = json.loads(text)
        if not isinstance(found, dict) or not all(isinstance(v, OPTIONS.get(k, ())) for k, v in found.items()):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
            raise ValueError("unknown options")
        with np.printoptions(**found):
            return found  # pyright: ignore[reportUnknownVariableType]
    except (ValueError, TypeError) as error:
        raise ModelError(f"the print options {text[:200]!r}: {error}") from error
