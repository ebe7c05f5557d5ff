"""Operations on known arrays, computed while the model is read: shapes, indices and other small arrays.

What is computed is what the VM would compute (`fleet.ir` names the operations); large results are left to the run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from fleet.frontend.onnx.limits import MAX_FOLDED
from fleet.ir.infer import InferenceError, result_type
from fleet.ir.promotion import BINARY, UNARY
from fleet.ir.types import numpy_dtype, shape_of, tensor_type

__all__ = ["folded"]

_Attributes: TypeAlias = Mapping[str, Any]
_Fold: TypeAlias = Callable[[Sequence[Any], _Attributes], Any]


def _slice(x: np.ndarray, a: _Attributes) -> Any:
    steps = a.get("step") or [1] * len(a["start"])
    places = [np.arange(n) * s + b for b, n, s in zip(a["start"], a["size"], steps, strict=True)]
    return x[np.ix_(*places)] if places else x


def _reduction(ufunc: Any) -> _Fold:
    return lambda v, a: ufunc(v[0], axis=tuple(a["axes"]), keepdims=a["keepdims"])


_FOLDS: Mapping[str, _Fold] = {
    **{name: (lambda v, _a, f=f: f(*v)) for name, f in BINARY.items()},
    **{name: (lambda v, _a, f=f: f(*v)) for name, f in UNARY.items() if name not in ("erf", "rsqrt")},
    "where": lambda v, _a: np.where(*v),
    "matmul": lambda v, _a: np.matmul(*v),
    "reduce_sum": _reduction(np.sum),
    "reduce_prod": _reduction(np.prod),
    "reduce_max": _reduction(np.max),
    "reduce_min": _reduction(np.min),
    "reduce_any": _reduction(np.any),
    "reduce_all": _reduction(np.all),
    "mean": _reduction(np.mean),
    "cumsum": lambda v, a: np.cumsum(v[0], axis=a["axis"]),
    "argmax": lambda v, a: np.argmax(v[0], axis=a["axis"]),
    "argmin": lambda v, a: np.argmin(v[0], axis=a["axis"]),
    "transpose": lambda v, a: np.transpose(v[0], a["permutation"]),
    "reshape": lambda v, a: np.reshape(v[0], a["shape"]),
    "broadcast_to": lambda v, a: np.broadcast_to(v[0], a["shape"]),
    "slice": lambda v, a: _slice(v[0], a),
    "gather": lambda v, a: np.take(v[0], v[1], axis=a.get("axis", 0)),
    "concat": lambda v, a: np.concatenate(v, axis=a["axis"]),
    "pad": lambda v, a: np.pad(v[0], list(zip(a["low"], a["high"], strict=True)), constant_values=v[1].item()),
    "cast": lambda v, a: v[0].astype(a["dtype"]),
}


def folded(name: str, arrays: Sequence[np.ndarray], attributes: _Attributes) -> np.ndarray | None:
    """The result; None where it is too large, not a matter of NumPy, or does not fit (the operation then says why)."""
    if name not in _FOLDS or sum(a.size for a in arrays) > 4 * MAX_FOLDED:
        return None
    try:
        type_ = result_type(name, [tensor_type(a.shape, a.dtype) for a in arrays], attributes)
    except InferenceError:
        return None
    if math.prod(shape_of(type_)) > MAX_FOLDED:
        return None
    try:
        with np.errstate(all="ignore"):
            return np.asarray(_FOLDS[name](arrays, attributes), numpy_dtype(type_))
    except (ArithmeticError, ValueError, LookupError):
        return None
