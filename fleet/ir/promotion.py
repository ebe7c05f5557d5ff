"""Dtypes of results, asked of NumPy itself (`ufunc.resolve_dtypes`, `numpy.result_type`), so that they cannot drift from it.

Everything follows NumPy 2 (NEP 50). A builtin scalar type stands for a Python number, which is weak: only its kind
(bool, int, float) takes part in promotion. A tensor of rank 0 stands for a NumPy scalar, which is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from fleet.ir.shapes import InferenceError
from fleet.ir.types import DTYPES, is_tensor, numpy_dtype, spelling

__all__ = ["BINARY", "PYTHON_OPERATORS", "UNARY", "common_dtype", "compute_types"]

BINARY: Mapping[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "floor_div": np.floor_divide,
    "mod": np.remainder,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}
UNARY: Mapping[str, np.ufunc] = {
    "neg": np.negative,
    "abs": np.absolute,
    "sqrt": np.sqrt,
    "rsqrt": np.sqrt,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "tanh": np.tanh,
    "erf": np.tanh,
    "sin": np.sin,
    "cos": np.cos,
    "floor": np.floor,
    "ceil": np.ceil,
    "rint": np.rint,
    "sign": np.sign,
    "logical_not": np.logical_not,
    "isnan": np.isnan,
}
"""Name -> the ufunc that decides the dtypes (of rsqrt and erf, which NumPy lacks: one that promotes as they do)."""

PYTHON_OPERATORS = frozenset(
    [
        *("add", "sub", "mul", "div", "pow", "floor_div", "mod", "neg", "abs"),
        *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
    ]
)
"""Of Python numbers these give a Python number; all else gives a NumPy scalar."""


def compute_types(name: str, operands: Sequence[Attribute]) -> tuple[np.dtype, ...]:
    """The dtypes in which NumPy computes an elementwise operation or matmul: one an operand, then the result's.

    Raises InferenceError where NumPy has no such loop, or where the result is no dtype of fleet's.
    """
    if name == "where":
        dtype = common_dtype("where", operands[1:])
        return numpy_dtype(operands[0]), dtype, dtype, dtype
    ufunc = BINARY.get(name) or UNARY.get(name) or np.matmul
    resolved = _resolve(ufunc, tuple(_promotion_key(t) for t in operands))
    if isinstance(resolved, str):
        raise InferenceError(f"{name} of {' and '.join(_words(t) for t in operands)}: {resolved}")
    return resolved


def common_dtype(name: str, types: Sequence[Attribute]) -> np.dtype:
    """`numpy.result_type` of arrays and Python numbers. Raises InferenceError for a result that is no dtype of fleet's."""
    keys = (_promotion_key(t) for t in types)
    dtype = np.result_type(*(1.0 if k is float else 1 if k is int else k for k in keys))
    if dtype.name not in DTYPES:
        raise InferenceError(f"{name} would give {dtype.name}, supported are {', '.join(DTYPES)}")
    return dtype


@lru_cache(maxsize=4096)
def _resolve(ufunc: np.ufunc, keys: tuple[Any, ...]) -> tuple[np.dtype, ...] | str:
    try:
        resolved = ufunc.resolve_dtypes((*keys, None))
    except TypeError as error:
        return str(error).split("\n", maxsplit=1)[0]
    except ValueError as error:
        return str(error)
    if resolved[-1].name not in DTYPES:
        return f"would give {resolved[-1].name}, supported are {', '.join(DTYPES)}"
    return tuple(resolved)


def _promotion_key(type_: Attribute) -> Any:
    dtype = numpy_dtype(type_)
    if is_tensor(type_) or dtype.kind == "b":  # a Python bool promotes as numpy.bool does
        return dtype
    return float if dtype.kind == "f" else int


def _words(type_: Attribute) -> str:
    return spelling(type_) if is_tensor(type_) else f"the Python number {spelling(type_)}"
