"""Numbers known at compile time, and operations on them, computed as the VM does."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.shapes import InferenceError
from fleet.ir.types import Attributes, is_tensor, numpy_dtype, shape_of, tensor_type

MAX_FOLDED = 1 << 20
"""Maximum elements of an array that constant folding computes."""

_MOVES = (d.ReshapeOp, d.BroadcastToOp, d.TransposeOp, d.SliceOp, d.ConcatOp, d.PadOp, d.GatherOp)
_LEFT = (d.ErfOp, d.RsqrtOp, d.ClipOp, d.NanMaxOp, d.NanMinOp)
COMPUTED = frozenset(
    op for op in d.OPERATIONS.values() if issubclass(op, (d.ElementwiseOp, d.ReduceOp, *_MOVES)) and op not in _LEFT
)
"""Operations that `compute` supports."""


def known_number(value: SSAValue) -> bool | int | float | None:
    """Return the number of a constant, scalar or filled tensor; None for any other value."""
    return constant_value(value.owner) if isinstance(value.owner, ConstantOp) else None


def call_of(op: FleetOp) -> Callable[..., Any]:
    """Return the function that computes an operation of `COMPUTED` from its operands' values: the VM's call.

    Operands are arrays, and Python numbers where the IR has them. The function holds no reference to the operation. It raises what
    NumPy or Python raise (ZeroDivisionError, OverflowError, ValueError).
    """
    weak = [not is_tensor(o.type) for o in op.operands]
    function = _function(op)

    def call(*operands: object) -> Any:
        values = [np.asarray(v).item() if number else v for v, number in zip(operands, weak, strict=True)]
        with np.errstate(all="ignore"):
            return function(*values)

    return call


def _function(op: FleetOp) -> Callable[..., Any]:
    record, attributes, type_ = type(op), attributes_of(op), op.results[0].type
    if not is_tensor(type_):
        if record.PYTHON is not None:
            return record.PYTHON
        if record is d.CastOp:
            return lambda x: numpy_dtype(type_).type(x).item()
    return lambda *operands: record.compute(operands, attributes)


def compute(op: FleetOp, operands: Sequence[object]) -> Any:
    """Compute one operation on these values, with `call_of`."""
    return call_of(op)(*operands)


def folded(
    name: str, arrays: Sequence[np.ndarray], attributes: Attributes, among: Collection[type[FleetOp]], most: int
) -> np.ndarray | None:
    """Compute an operation of known arrays as the VM would.

    Args:
        name: of the operation. arrays: its operands.
        among: operations that may be computed. most: elements that the result may have; the operands may have four times as many.

    Returns:
        None if it is another operation or too large, or if it does not fit: the operation itself then says why.
    """
    record = d.OPERATIONS.get(name)
    if record is None or record not in among or sum(a.size for a in arrays) > 4 * most:
        return None
    try:
        given = record.completed(attributes, len(arrays))
        type_ = record.infer([tensor_type(a.shape, a.dtype) for a in arrays], given)
        if math.prod(shape_of(type_)) > most:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(record.compute(arrays, given), numpy_dtype(type_))
    except (InferenceError, ArithmeticError, ValueError, LookupError):
        return None
