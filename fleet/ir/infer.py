"""Shapes and dtypes of results: one place, used by the front end, by builders of new operations and by the verifier.

Dtypes are those of NumPy 2 (`promotion`), shapes may have unknown dimensions (`shapes`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f64, i1
from xdsl.ir import Attribute

from fleet.ir import infer_composite, infer_movement, infer_reductions, infer_sized
from fleet.ir.promotion import BINARY, PYTHON_OPERATORS, UNARY, compute_types
from fleet.ir.shapes import MAX_ELEMENTS, InferenceError, broadcast, check_size
from fleet.ir.types import element_type, is_tensor, numpy_dtype, shape_of, tensor_type

__all__ = ["MAX_ELEMENTS", "InferenceError", "broadcast", "compute_types", "result_type"]


def result_type(name: str, operands: Sequence[Attribute], attributes: Mapping[str, Any] | None = None) -> Attribute:
    """The type that operation `name` ("matmul", without the dialect's prefix) gives for operands of these types.

    `attributes`: the properties' names of the dialect with plain Python values; shape (reshape, broadcast_to) and dtype (cast)
    for what the dialect keeps in the result's type; bias and residual (linear) for which optional operands there are.
    Raises InferenceError; KeyError for an unknown operation.
    """
    if name in BINARY or name in UNARY:
        result = _elementwise(name, operands)
    else:
        result = _RULES[name](list(operands), attributes or {})
    check_size(shape_of(result))
    return result


def _elementwise(name: str, operands: Sequence[Attribute]) -> Attribute:
    dtype = compute_types(name, operands)[-1]
    if name in PYTHON_OPERATORS and not any(is_tensor(t) for t in operands):
        return _python_number(operands, dtype)
    shape = shape_of(operands[0])
    for other in operands[1:]:
        shape = broadcast(shape, shape_of(other), name)
    return tensor_type(shape, dtype)


def _python_number(operands: Sequence[Attribute], dtype: np.dtype) -> Attribute:
    if dtype.kind in "fb":
        return f64 if dtype.kind == "f" else i1
    widest = max((numpy_dtype(t) for t in operands), key=lambda d: d.itemsize)
    return element_type(widest if widest.kind == "i" else np.dtype(np.int32))


def _where(operands: Sequence[Attribute], _attributes: Mapping[str, Any]) -> Attribute:
    return _elementwise("where", operands)


def _clip(operands: Sequence[Attribute], _attributes: Mapping[str, Any]) -> Attribute:
    return _elementwise("clip", operands)


_RULES: Mapping[str, Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]] = {
    "where": _where,
    "clip": _clip,
    **infer_reductions.RULES,
    **infer_movement.RULES,
    **infer_sized.RULES,
    **infer_composite.RULES,
}
