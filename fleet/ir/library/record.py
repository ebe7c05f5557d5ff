"""The operation that calls NumPy's own function: for calls without a sequence of operations that gives NumPy's bits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.irdl import irdl_op_definition, opt_prop_def, prop_def, var_operand_def

from fleet.ir.library.call import LibraryCall
from fleet.ir.library.inference import ResultLeaf, results
from fleet.ir.operations.operation import ValueOp
from fleet.ir.shapes import InferenceError
from fleet.ir.types import tensor_type

__all__ = ["NumpyOp", "name_of"]


@irdl_op_definition
class NumpyOp(ValueOp):
    """NumPy's own function on operands and numbers: `call` is "percentile(x0, 50, axis=0)"; `output`: which of several arrays."""

    name = "fleet.numpy"
    inputs = var_operand_def()
    call = prop_def(StringAttr)
    output = opt_prop_def(IntegerAttr)
    RESULT: ClassVar = "what NumPy gives for examples of the operands' types; `?` where values decide"
    UNWRITTEN: ClassVar = {"output": 0}

    @classmethod
    def leaf(cls, operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> ResultLeaf:
        """Return the description of the operation's array. Raises InferenceError as `results` does."""
        found = list(_flat(results(attributes["call"], operands)))
        if not 0 <= (place := int(attributes.get("output") or 0)) < len(found):
            raise InferenceError(f"array {place} of {attributes['call']}, which gives {len(found)}")
        return found[place]

    @classmethod
    def _infer(cls, operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
        found = cls.leaf(operands, attributes)
        return tensor_type(found.shape, found.dtype)

    @classmethod
    def _compute(cls, operands: Sequence[Any], attributes: Mapping[str, Any]) -> Any:
        value = LibraryCall.parse(attributes["call"]).run(operands)
        found = list(_flat(value))[int(attributes.get("output") or 0)]
        return found if isinstance(found, np.ndarray | np.generic) else np.asarray(found)[()]


def name_of(op: Operation) -> str:
    """Return an operation's name for messages: "fleet.add", or for a call the function ("numpy.linalg.inv")."""
    return f"numpy.{LibraryCall.parse(op.call.data).function}" if isinstance(op, NumpyOp) else op.name


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, tuple | list):
        for v in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _flat(v)
    else:
        yield value
