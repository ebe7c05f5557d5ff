"""Arrays whose values are known while the source is read: literals, small recipes, and what is computed out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import SSAValue

from fleet.frontend._static import Static
from fleet.frontend._values import Tensor
from fleet.frontend.onnx.folding import folded
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, kind_of
from fleet.ir.operation import attributes_of
from fleet.ir.types import numpy_dtype, shape_of
from fleet.ir.weights import Creation, Entry

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator

_MAX_ELEMENTS = 1 << 16
_MAX_OPERATIONS = 64


def known_array(ev: Evaluator, value: Tensor) -> np.ndarray | None:
    """The elements; None where only the run has them, or where they are too many (more than 2^16, more than 64 operations)."""
    if isinstance(value, Static) and value.entry is not None:
        return _of_entry(value.entry)
    from fleet.frontend._tracing import of

    made: dict[SSAValue, Entry] = {argument: entry for _, argument, entry in of(ev).made.used}
    return _computed(value.ssa, made, [_MAX_OPERATIONS])


def _of_entry(entry: Entry) -> np.ndarray | None:
    if int(np.prod(entry.shape)) > _MAX_ELEMENTS:
        return None
    return entry if isinstance(entry, np.ndarray) else entry.array if isinstance(entry, Creation) else None


def _computed(value: SSAValue, made: dict[SSAValue, Entry], left: list[int]) -> np.ndarray | None:
    op = value.owner
    if not isinstance(op, FleetOp):
        return _of_entry(made[value]) if value in made else None
    shape = shape_of(value.type)
    left[0] -= 1
    if left[0] < 0 or any(d < 0 for d in shape) or int(np.prod(shape)) > _MAX_ELEMENTS:
        return None
    if isinstance(op, ConstantOp):
        return np.full(shape, constant_value(op), numpy_dtype(value.type))
    operands = [_computed(v, made, left) for v in op.operands]
    arrays = [a for a in operands if a is not None]
    return folded(kind_of(op), arrays, attributes_of(op)) if len(arrays) == len(operands) else None
