"""Dtypes of results, queried from NumPy itself, so that they cannot drift from it.

A ufunc resolves its own loop (`ufunc.resolve_dtypes`); a function that is not a ufunc is called on operands of one element.

Everything follows NumPy 2 (NEP 50). A builtin scalar type stands for a Python number, which is weak: only its kind
(bool, int, float) takes part in promotion. A tensor of rank 0 stands for a NumPy scalar, which is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f64, i1
from xdsl.ir import Attribute

from fleet.ir.shapes import InferenceError
from fleet.ir.types import DTYPES, element_type, is_tensor, numpy_dtype, spelling


def loop_types(name: str, function: Callable[..., Any], operands: Sequence[Attribute]) -> tuple[np.dtype, ...]:
    """Return the dtypes in which NumPy computes a ufunc, or a function that computes in the dtype of its result: one per operand,
    then the result's.

    Raises InferenceError if NumPy has no such loop. `name` is for messages.
    """
    resolved = _resolve(function, tuple(_promotion_key(t) for t in operands))
    if isinstance(resolved, str):
        raise InferenceError(f"{name} of {' and '.join(_words(t) for t in operands)}: {resolved}")
    return resolved


@lru_cache(maxsize=1024)
def reduced_dtype(function: Callable[..., Any], dtype: np.dtype) -> np.dtype:
    """Return the dtype of NumPy's reduction or running sum of an array of `dtype`."""
    return np.asarray(function(np.ones(1, dtype))).dtype


def python_number(operands: Sequence[Attribute], dtype: np.dtype) -> Attribute:
    """Return the type of Python's result for such numbers, for which NumPy returns `dtype`."""
    if dtype.kind in "fb":
        return f64 if dtype.kind == "f" else i1
    widest = max((numpy_dtype(t) for t in operands), key=lambda d: d.itemsize)
    return element_type(widest if widest.kind == "i" else np.dtype(np.int32))


def carried(dtype: Any, what: str) -> np.dtype:
    """Return the dtype. Raises InferenceError, naming `what`, if fleet does not support it."""
    found = np.dtype(dtype)
    if found.name not in DTYPES:
        raise InferenceError(f"{what} {found.name}, supported are {', '.join(DTYPES)}")
    return found


def common_dtype(types: Sequence[Attribute]) -> np.dtype:
    """`numpy.result_type` of arrays and Python numbers."""
    keys = (_promotion_key(t) for t in types)
    return np.result_type(*(1.0 if k is float else 1 if k is int else k for k in keys))


@lru_cache(maxsize=4096)
def _resolve(function: Callable[..., Any], keys: tuple[Any, ...]) -> tuple[np.dtype, ...] | str:
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
    if any(t.hasobject for t in resolved):  # of Python integers, which NumPy compares as objects
        return _resolve(function, tuple(np.dtype(np.int64) if k is int else k for k in keys))
    return tuple(resolved)


def _promotion_key(type_: Attribute) -> Any:
    dtype = numpy_dtype(type_)
    if is_tensor(type_) or dtype.kind == "b":  # a Python bool promotes as numpy.bool does
        return dtype
    return float if dtype.kind == "f" else int


def _words(type_: Attribute) -> str:
    return spelling(type_) if is_tensor(type_) else f"the Python number {spelling(type_)}"
