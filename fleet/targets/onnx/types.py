"""Element types of ONNX, and in which of them onnxruntime computes an operator.

ONNX defines its operators for more types than onnxruntime's CPU has code for. What computes modulo 2^n or moves data gives the same
bits in a wider type, so it is exported in that one, between two casts. The table was found by making a session of every operator
with every type, of onnxruntime 1.31.1; `tests/targets/onnx` holds it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

__all__ = ["ELEMENT_TYPES", "STAND_INS", "stand_in"]

ELEMENT_TYPES: Mapping[str, int] = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10, "float64": 11,
    "uint32": 12, "uint64": 13,
}  # fmt: skip
"""NumPy dtype -> `TensorProto.DataType`."""

_SHORT = {"int16": "int32", "uint16": "int32"}
_UNSIGNED = {"uint32": "int64", "uint64": "int64"}
_BYTES = {"int8": "int32", "uint8": "int32"}
_ORDERED = {"bool": "uint8"}
_WIDER = {**_SHORT, "uint32": "int64"}

STAND_INS: Mapping[str, Mapping[str, str]] = {
    "Neg": {"uint8": "int32", "uint16": "int32", **_UNSIGNED},
    "Pow": {**_BYTES, **_SHORT, **_UNSIGNED},
    "Max": _SHORT,
    "Min": _SHORT,
    "Less": _ORDERED,
    "LessOrEqual": _ORDERED,
    "Greater": _ORDERED,
    "GreaterOrEqual": _ORDERED,
    "Where": {**_SHORT, **_ORDERED, "uint64": "int64"},
    "MatMul": {**_BYTES, **_SHORT},
    "Einsum": {**_BYTES, **_SHORT, **_UNSIGNED},
    "ReduceSum": _UNSIGNED,
    "ReduceProd": _UNSIGNED,
    "CumSum": _UNSIGNED,
    "ReduceMax": _WIDER,
    "ReduceMin": _WIDER,
    "ArgMax": {**_WIDER, **_ORDERED},
    "ArgMin": {**_WIDER, **_ORDERED},
    "TopK": {"uint16": "int32", "uint32": "int64", **_ORDERED},
    "Pad": _SHORT,
}
"""Operator -> dtype without code -> dtype that stands in for it. Orders stay what they are: none of the first type's is lost."""


def stand_in(operator: str, dtype: np.dtype) -> np.dtype:
    """The dtype in which the operator is exported for operands of `dtype`."""
    return np.dtype(STAND_INS.get(operator, {}).get(dtype.name, dtype.name))
