"""Shapes and dtypes of results: one place, used by the front end, by builders of new operations and by the verifier.

Everything follows NumPy 2 (NEP 50). A builtin scalar type stands for a Python number, which is weak: only its kind
(bool, int, float) takes part in promotion. A tensor of rank 0 stands for a NumPy scalar, which is not. Promotion is
asked of NumPy itself (`ufunc.resolve_dtypes`), so that it cannot drift from it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f64
from xdsl.ir import Attribute

from fleet.ir.types import SUPPORTED_DTYPES, element_type, is_tensor, numpy_dtype, shape_of, spelling, tensor_type

__all__ = ["MAX_ELEMENTS", "InferenceError", "broadcast", "compute_types", "result_type"]

MAX_ELEMENTS = 1 << 31
"""Elements of the largest tensor that a program may name; a guard against sources that would exhaust memory."""

BINARY: Mapping[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
UNARY: Mapping[str, np.ufunc] = {
    "neg": np.negative,
    "abs": np.absolute,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
}
_PYTHON_OPERATORS = ("add", "sub", "mul", "div", "pow", "neg", "abs")
"""Of two Python numbers these give a Python number; all else gives a NumPy scalar."""


class InferenceError(Exception):
    """The operands do not fit the operation; the message says how, without a place."""


def broadcast(lhs: tuple[int, ...], rhs: tuple[int, ...], what: str) -> tuple[int, ...]:
    """NumPy's broadcast of two shapes. Raises InferenceError that names both."""
    try:
        return np.broadcast_shapes(lhs, rhs)
    except ValueError:
        raise InferenceError(f"{what} of shapes {_shape(lhs)} and {_shape(rhs)}, which do not broadcast") from None


def compute_types(name: str, operands: Sequence[Attribute]) -> tuple[np.dtype, ...]:
    """The dtypes in which NumPy computes an elementwise operation: one an operand, then the result's.

    Raises InferenceError where NumPy has no such loop, or where the result is no dtype of fleet's.
    """
    ufunc = BINARY.get(name) or UNARY.get(name) or np.matmul
    resolved = _resolve(ufunc, tuple(_promotion_key(t) for t in operands))
    if isinstance(resolved, str):
        raise InferenceError(f"{name} of {' and '.join(_words(t) for t in operands)}: {resolved}")
    return resolved


def result_type(name: str, operands: Sequence[Attribute], attributes: Mapping[str, Any] | None = None) -> Attribute:
    """The type that operation `name` ("matmul", without the dialect's prefix) gives for operands of these types.

    `attributes`: axes, keepdims, axis, permutation, start, size as in the dialect; shape (reshape), dtype (cast) for
    what the dialect keeps in the result's type. Raises InferenceError; KeyError for an unknown operation.
    """
    if name in BINARY:
        return _binary(name, operands)
    if name in UNARY:
        return _unary(name, operands)
    result = _RULES[name](list(operands), attributes or {})
    _check_size(shape_of(result))
    return result


def _check_size(shape: tuple[int, ...]) -> None:
    if math.prod(shape) > MAX_ELEMENTS:
        raise InferenceError(f"a tensor of shape {_shape(shape)} has more than {MAX_ELEMENTS} elements")


def _binary(name: str, operands: Sequence[Attribute]) -> Attribute:
    lhs, rhs = operands
    dtype = compute_types(name, operands)[-1]
    if not is_tensor(lhs) and not is_tensor(rhs) and name in _PYTHON_OPERATORS:
        return _python_number((lhs, rhs), dtype)
    shape = broadcast(shape_of(lhs), shape_of(rhs), name)
    _check_size(shape)
    return tensor_type(shape, dtype)


def _unary(name: str, operands: Sequence[Attribute]) -> Attribute:
    (operand,) = operands
    dtype = compute_types(name, operands)[-1]
    if not is_tensor(operand) and name in _PYTHON_OPERATORS:
        return _python_number((operand,), dtype)
    return tensor_type(shape_of(operand), dtype)


def _python_number(operands: tuple[Attribute, ...], dtype: np.dtype) -> Attribute:
    if dtype.kind == "f":
        return f64
    widest = max((numpy_dtype(t) for t in operands), key=lambda d: d.itemsize)
    return element_type(widest if widest.kind == "i" else np.dtype(np.int32))


@lru_cache(maxsize=4096)
def _resolve(ufunc: np.ufunc, keys: tuple[Any, ...]) -> tuple[np.dtype, ...] | str:
    try:
        resolved = ufunc.resolve_dtypes((*keys, None))
    except TypeError as error:
        return str(error).split("\n", maxsplit=1)[0]
    except ValueError as error:
        return str(error)
    if resolved[-1].name not in SUPPORTED_DTYPES:
        return f"would give {resolved[-1].name}, supported are {', '.join(SUPPORTED_DTYPES)}"
    return tuple(resolved)


def _promotion_key(type_: Attribute) -> Any:
    dtype = numpy_dtype(type_)
    if is_tensor(type_) or dtype.kind == "b":  # a Python bool promotes as numpy.bool does
        return dtype
    return float if dtype.kind == "f" else int


def _matmul(operands: list[Attribute], _attributes: Mapping[str, Any]) -> Attribute:
    lhs, rhs = operands
    a, b = shape_of(lhs), shape_of(rhs)
    if len(a) < 2 or len(b) < 2:
        raise InferenceError(f"matmul of shapes {_shape(a)} and {_shape(b)}: both need rank 2 or more")
    if a[-1] != b[-2]:
        raise InferenceError(
            f"matmul of shapes {_shape(a)} and {_shape(b)}: the inner dimensions {a[-1]} and {b[-2]} must be equal"
        )
    batch = broadcast(a[:-2], b[:-2], "matmul with leading dimensions")
    return tensor_type((*batch, a[-2], b[-1]), compute_types("matmul", operands)[-1])


def _tensor(type_: Attribute, name: str) -> tuple[tuple[int, ...], np.dtype]:
    if not is_tensor(type_):
        raise InferenceError(f"{name} needs an array, found the Python number {spelling(type_)}")
    return shape_of(type_), numpy_dtype(type_)


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InferenceError(f"axis {axis} is out of bounds for an array of rank {rank}")
    return axis % rank


def _reduce(name: str) -> Callable[[list[Attribute], Mapping[str, Any]], Attribute]:
    def rule(operands: list[Attribute], attributes: Mapping[str, Any]) -> Attribute:
        shape, dtype = _tensor(operands[0], name)
        axes = [_axis(a, len(shape)) for a in attributes["axes"]]
        if sorted(set(axes)) != list(attributes["axes"]):
            raise InferenceError(f"{name} over axes {list(attributes['axes'])}: they must be ascending, non-negative and distinct")
        if name == "reduce_max" and math.prod(shape[a] for a in axes) == 0:
            raise InferenceError(f"{name} over no elements (shape {_shape(shape)})")
        if attributes["keepdims"]:
            kept = tuple(1 if i in axes else d for i, d in enumerate(shape))
        else:
            kept = tuple(d for i, d in enumerate(shape) if i not in axes)
        return tensor_type(kept, _reduced_dtype(name, dtype))

    return rule


def _reduced_dtype(name: str, dtype: np.dtype) -> np.dtype:
    if name == "reduce_max" or dtype.kind == "f":
        return dtype
    return np.dtype(np.int64) if name == "reduce_sum" else np.dtype(np.float64)


def _argmax(operands: list[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, _ = _tensor(operands[0], "argmax")
    axis = _axis(attributes["axis"], len(shape))
    if shape[axis] == 0:
        raise InferenceError(f"argmax over no elements (shape {_shape(shape)})")
    return tensor_type(shape[:axis] + shape[axis + 1 :], np.int64)


def _transpose(operands: list[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = _tensor(operands[0], "transpose")
    permutation = tuple(attributes["permutation"])
    if sorted(permutation) != list(range(len(shape))):
        raise InferenceError(f"transpose of shape {_shape(shape)} by {permutation}, which is no permutation of its dimensions")
    return tensor_type([shape[p] for p in permutation], dtype)


def _reshape(operands: list[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = _tensor(operands[0], "reshape")
    target = tuple(attributes["shape"])
    if any(d < 0 for d in target) or math.prod(target) != math.prod(shape):
        raise InferenceError(f"reshape of shape {_shape(shape)} ({math.prod(shape)} elements) to {_shape(target)}")
    return tensor_type(target, dtype)


def _cast(operands: list[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    target = np.dtype(attributes["dtype"])
    if target.name not in SUPPORTED_DTYPES:
        raise InferenceError(f"cast to {target.name}, supported are {', '.join(SUPPORTED_DTYPES)}")
    return tensor_type(shape_of(operands[0]), target) if is_tensor(operands[0]) else element_type(target)


def _slice(operands: list[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = _tensor(operands[0], "slice")
    start, size = tuple(attributes["start"]), tuple(attributes["size"])
    if not len(start) == len(size) == len(shape) or any(
        s < 0 or n < 0 or s + n > d for s, n, d in zip(start, size, shape, strict=False)
    ):
        raise InferenceError(f"slice of shape {_shape(shape)} from {start} of size {size}")
    return tensor_type(size, dtype)


def _gather(operands: list[Attribute], _attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = _tensor(operands[0], "gather")
    indices, index_dtype = _tensor(operands[1], "gather")
    if not shape:
        raise InferenceError("gather from an array of rank 0")
    if index_dtype.kind != "i":
        raise InferenceError(f"gather with indices of dtype {index_dtype}, which must be integers")
    return tensor_type((*indices, *shape[1:]), dtype)


def _concat(operands: list[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    if not operands:
        raise InferenceError("concat of nothing")
    parts = [_tensor(t, "concat") for t in operands]
    first = parts[0][0]
    axis = _axis(attributes["axis"], len(first))
    for shape, _ in parts[1:]:
        if len(shape) != len(first) or any(a != b for i, (a, b) in enumerate(zip(shape, first, strict=True)) if i != axis):
            raise InferenceError(f"concat of shapes {_shape(first)} and {_shape(shape)} along axis {axis}")
    dtype = np.result_type(*(d for _, d in parts))
    if dtype.name not in SUPPORTED_DTYPES:
        raise InferenceError(f"concat would give {dtype.name}, supported are {', '.join(SUPPORTED_DTYPES)}")
    total = sum(shape[axis] for shape, _ in parts)
    return tensor_type((*first[:axis], total, *first[axis + 1 :]), dtype)


_RULES: Mapping[str, Callable[[list[Attribute], Mapping[str, Any]], Attribute]] = {
    "matmul": _matmul,
    **{name: _reduce(name) for name in ("reduce_sum", "reduce_max", "mean", "var")},
    "argmax": _argmax,
    "transpose": _transpose,
    "reshape": _reshape,
    "cast": _cast,
    "slice": _slice,
    "gather": _gather,
    "concat": _concat,
}


def _shape(shape: Sequence[int]) -> str:
    return "(" + ", ".join(str(d) for d in shape) + ("," if len(shape) == 1 else "") + ")"


def _words(type_: Attribute) -> str:
    return spelling(type_) if is_tensor(type_) else f"the Python number {spelling(type_)}"
