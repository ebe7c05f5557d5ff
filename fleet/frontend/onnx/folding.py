"""Operations on known arrays, computed while the model is read: shapes, indices and other small arrays.

What is computed is what the VM would compute (`fleet.ir` names the operations); large results are left to the run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fleet.frontend.onnx.limits import MAX_FOLDED
from fleet.ir import dialect as d
from fleet.ir.shapes import InferenceError
from fleet.ir.types import numpy_dtype, shape_of, tensor_type
from fleet.transforms.simplify.numbers import COMPUTED

__all__ = ["folded"]

_FOLDED = (COMPUTED - {d.VarOp}) | {d.CumsumOp, d.ArgmaxOp, d.ArgminOp, d.GatherOp, d.PadOp}


def folded(name: str, arrays: Sequence[np.ndarray], attributes: Mapping[str, Any]) -> np.ndarray | None:
    """The result; None if it is too large, not a matter of NumPy, or does not fit (the operation then says why)."""
    record = d.OPERATIONS.get(name)
    if record is None or record not in _FOLDED or sum(a.size for a in arrays) > 4 * MAX_FOLDED:
        return None
    try:
        type_ = record.infer([tensor_type(a.shape, a.dtype) for a in arrays], attributes)
    except InferenceError:
        return None
    if math.prod(shape_of(type_)) > MAX_FOLDED:
        return None
    try:
        with np.errstate(all="ignore"):
            return np.asarray(record.compute(arrays, attributes), numpy_dtype(type_))
    except (ArithmeticError, ValueError, LookupError):
        return None
