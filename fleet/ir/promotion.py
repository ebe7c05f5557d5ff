"""Dtypes of results, asked of NumPy itself, so that they cannot drift from it.

A ufunc resolves its own loop (`ufunc.resolve_dtypes`); a function that is no ufunc is called on operands of one element.

Everything follows NumPy 2 (NEP 50). A builtin scalar type stands for a Python number, which is weak: only its kind
(bool, int, float) takes part in promotion. A tensor of rank 0 stands for a NumPy scalar, which is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import Attribute

from fleet.ir.shapes import InferenceError
from fleet.ir.types import is_tensor, numpy_dtype, spelling

__all__ = ["BINARY", "PYTHON_OPERATORS", "UNARY", "common_dtype", "compute_types", "loop_types", "reduced_dtype"]

Function: TypeAlias = "np.ufunc | Callable[..., Any]"

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
    "hypot": np.hypot,
    "logaddexp": np.logaddexp,
    "fmax": np.fmax,
    "fmin": np.fmin,
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
    "log2": np.log2,
    "log10": np.log10,
    "exp2": np.exp2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tan": np.tan,
}
"""Name -> the ufunc that decides the dtypes (of rsqrt and erf, which NumPy lacks: one that promotes as they do)."""

_OTHERS: Mapping[str, Function] = {"matmul": np.matmul, "clip": np.clip}
_REDUCTIONS: Mapping[str, Callable[[np.ndarray], Any]] = {
    "reduce_sum": np.sum,
    "reduce_prod": np.prod,
    "reduce_max": np.max,
    "reduce_min": np.min,
    "reduce_any": np.any,
    "reduce_all": np.all,
    "nan_max": np.nanmax,
    "nan_min": np.nanmin,
    "mean": np.mean,
    "var": np.var,
    "cumsum": np.cumsum,
}

PYTHON_OPERATORS = frozenset(
    [
        *("add", "sub", "mul", "div", "pow", "floor_div", "mod", "neg", "abs"),
        *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"),
    ]
)
"""Of Python numbers these give a Python number; all else gives a NumPy scalar."""


def compute_types(name: str, operands: Sequence[Attribute]) -> tuple[np.dtype, ...]:
    """The dtypes in which NumPy computes an elementwise operation, clip or matmul: one an operand, then the result's.

    Raises InferenceError where NumPy has no such loop.
    """
    if name == "where":
        dtype = common_dtype(operands[1:])
        return numpy_dtype(operands[0]), dtype, dtype, dtype
    return loop_types(name, BINARY.get(name) or UNARY.get(name) or _OTHERS[name], operands)


def loop_types(name: str, function: Function, operands: Sequence[Attribute]) -> tuple[np.dtype, ...]:
    """As `compute_types`, of any ufunc, or of a function that computes in the dtype of its result. `name` is for messages."""
    resolved = _resolve(function, tuple(_promotion_key(t) for t in operands))
    if isinstance(resolved, str):
        raise InferenceError(f"{name} of {' and '.join(_words(t) for t in operands)}: {resolved}")
    return resolved


@lru_cache(maxsize=1024)
def reduced_dtype(name: str, dtype: np.dtype) -> np.dtype:
    """What a reduction or a running sum gives for an array of `dtype`. Raises KeyError for an unknown name."""
    return np.asarray(_REDUCTIONS[name](np.ones(1, dtype))).dtype


def common_dtype(types: Sequence[Attribute]) -> np.dtype:
    """`numpy.result_type` of arrays and Python numbers."""
    keys = (_promotion_key(t) for t in types)
    return np.result_type(*(1.0 if k is float else 1 if k is int else k for k in keys))


@lru_cache(maxsize=4096)
def _resolve(function: Function, keys: tuple[Any, ...]) -> tuple[np.dtype, ...] | str:
    try:
        if isinstance(function, np.ufunc):
            resolved = function.resolve_dtypes((*keys, None))
        else:
            result = function(*(1.0 if k is float else 1 if k is int else np.ones(1, k) for k in keys))
            resolved = (np.asarray(result).dtype,) * (len(keys) + 1)
    except TypeError as error:
        return str(error).split("\n", maxsplit=1)[0]
    except ValueError as error:
        return str(error)
    return tuple(resolved)


def _promotion_key(type_: Attribute) -> Any:
    dtype = numpy_dtype(type_)
    if is_tensor(type_) or dtype.kind == "b":  # a Python bool promotes as numpy.bool does
        return dtype
    return float if dtype.kind == "f" else int


def _words(type_: Attribute) -> str:
    return spelling(type_) if is_tensor(type_) else f"the Python number {spelling(type_)}"
