"""Element types of ONNX, and the types in which onnxruntime computes an operator.

ONNX defines its operators for more types than onnxruntime's CPU has code for. An operator that computes modulo 2^n or moves data
gives the same bits in a wider type, so it is exported in that type, between two casts. The table was found with onnxruntime 1.31.1,
by making a session for every operator and type; `tests/targets/onnx` checks it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

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
"""Operator -> dtype without code -> its replacement. Orders do not change: every value of the first type is preserved."""


def stand_in(operator: str, dtype: np.dtype) -> np.dtype:
    """Return the dtype in which the operator is exported for operands of `dtype`."""
    return np.dtype(STAND_INS.get(operator, {}).get(dtype.name, dtype.name))
