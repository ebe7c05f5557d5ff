"""The operations' verifier: result types must be what inference gives for the operands."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.utils.exceptions import VerifyException

from fleet.ir.attributes import attributes_of
from fleet.ir.dialect import ConstantOp, FleetOp, PrintOp
from fleet.ir.infer import InferenceError, result_type
from fleet.ir.shapes import UNKNOWN, shape_words
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, spelling

__all__ = ["verify_types"]


def verify_types(op: FleetOp) -> None:
    """Raises VerifyException, naming the operation's id, when its types are not those of `fleet.ir.infer`."""
    if isinstance(op, PrintOp):
        return
    found = op.results[0].type
    name = op.name.removeprefix("fleet.")
    where = op.properties.get("id", name)
    try:
        if isinstance(op, ConstantOp):
            _verify_constant(op)
            return
        expected = result_type(name, [v.type for v in op.operands], attributes_of(op))
    except InferenceError as error:
        raise VerifyException(f"{where}: {error}") from None
    except KeyError as error:
        raise VerifyException(f"{where}: a type or attribute that fleet does not know ({error})") from None
    if expected != found and not (_is_python_integer(expected) and _is_python_integer(found)):
        raise VerifyException(f"{where}: result type is {found}, expected {expected}")


def _is_python_integer(type_: object) -> bool:
    """Python integers have no width of their own: i32 and i64 both stand for one."""
    return not is_tensor(type_) and spelling(type_) in ("i32", "i64")  # pyright: ignore[reportArgumentType]


def _verify_constant(op: ConstantOp) -> None:
    if UNKNOWN in (shape := shape_of(op.results[0].type)):
        raise InferenceError(f"constant of shape {shape_words(shape)}, which must be known")
    kind = numpy_dtype(op.results[0].type).kind
    number = op.properties["value"]
    if not isinstance(number, FloatAttr if kind == "f" else IntegerAttr):
        raise InferenceError(f"constant {number} for a result of type {op.results[0].type}")
    if numpy_dtype(number.get_type()) != numpy_dtype(op.results[0].type):
        raise InferenceError(f"constant {number} for a result of type {op.results[0].type}")
