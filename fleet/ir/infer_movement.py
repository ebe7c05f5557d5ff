"""Inference for operations that move data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute

from fleet.ir.promotion import common_dtype
from fleet.ir.shapes import UNKNOWN, InferenceError, broadcast, normal_axis, shape_words, tensor_of, unify
from fleet.ir.types import DTYPES, element_type, is_tensor, shape_of, tensor_type

__all__ = ["RULES"]


def _transpose(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "transpose")
    permutation = tuple(attributes["permutation"])
    if sorted(permutation) != list(range(len(shape))):
        raise InferenceError(f"transpose of shape {shape_words(shape)} by {permutation}, which is no permutation of its dimensions")
    return tensor_type([shape[p] for p in permutation], dtype)


def _reshape(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "reshape")
    target = tuple(attributes["shape"])
    words = f"reshape of shape {shape_words(shape)}"
    if UNKNOWN in shape:
        if any(d < UNKNOWN for d in target) or target.count(UNKNOWN) > 1:
            raise InferenceError(f"{words} to {shape_words(target)}: at most one dimension may be unknown")
    elif any(d < 0 for d in target) or math.prod(target) != math.prod(shape):
        raise InferenceError(f"{words} ({math.prod(shape)} elements) to {shape_words(target)}")
    return tensor_type(target, dtype)


def _broadcast_to(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "broadcast_to")
    target = tuple(attributes["shape"])
    fits = len(target) >= len(shape) and all(d >= UNKNOWN for d in target)
    lead = len(target) - len(shape)
    if not fits or UNKNOWN in target[:lead] or broadcast(shape, target, "broadcast_to") != target:
        raise InferenceError(f"broadcast_to of shape {shape_words(shape)} to {shape_words(target)}")
    if any(t == UNKNOWN != s for s, t in zip(shape, target[lead:], strict=True)):
        raise InferenceError(f"broadcast_to of shape {shape_words(shape)} to {shape_words(target)}: its size is unknown")
    return tensor_type(target, dtype)


def _cast(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    target = np.dtype(attributes["dtype"])
    if target.name not in DTYPES:
        raise InferenceError(f"cast to {target.name}, supported are {', '.join(DTYPES)}")
    return tensor_type(shape_of(operands[0]), target) if is_tensor(operands[0]) else element_type(target)


def _slice(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "slice")
    start, size = tuple(attributes["start"]), tuple(attributes["size"])
    step = tuple(attributes.get("step") or (1,) * len(shape))
    fits = len(start) == len(size) == len(step) == len(shape)
    if not fits or not all(_window(*d) for d in zip(start, size, step, shape, strict=True)):
        by = f" by {step}" if any(s != 1 for s in step) else ""
        raise InferenceError(f"slice of shape {shape_words(shape)} from {start} of size {size}{by}")
    return tensor_type(size, dtype)


def _window(start: int, size: int, step: int, dimension: int) -> bool:
    if step == 0:
        return False
    if dimension == UNKNOWN:
        return size >= UNKNOWN
    if size == 0:
        return 0 <= start <= dimension
    return size > 0 and 0 <= start < dimension and 0 <= start + (size - 1) * step < dimension


def _gather(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "gather")
    indices, index_dtype = tensor_of(operands[1], "gather")
    if not shape:
        raise InferenceError("gather from an array of rank 0")
    if index_dtype.kind != "i":
        raise InferenceError(f"gather with indices of dtype {index_dtype}, which must be integers")
    axis = normal_axis(attributes.get("axis", 0), len(shape))
    return tensor_type((*shape[:axis], *indices, *shape[axis + 1 :]), dtype)


_COMBINED = ("none", "add", "mul", "max", "min")


def _scatter(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    (shape, dtype), (indices, index_dtype), (updates, other) = (tensor_of(t, "scatter") for t in operands)
    if not shape or len(indices) != 1 or index_dtype.kind != "i":
        raise InferenceError(f"scatter into shape {shape_words(shape)} at indices {index_dtype}{shape_words(indices)}")
    if updates != (*indices, *shape[1:]) or other != dtype:
        words = f"{dtype}{shape_words(shape)} at {shape_words(indices)}"
        raise InferenceError(f"scatter of updates {other}{shape_words(updates)} into {words}")
    if attributes["reduction"] not in _COMBINED:
        raise InferenceError(f"scatter with the reduction {attributes['reduction']!r}, there are {', '.join(_COMBINED)}")
    return tensor_type(shape, dtype)


def _concat(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    if not operands:
        raise InferenceError("concat of nothing")
    shapes = [tensor_of(t, "concat")[0] for t in operands]
    result = list(shapes[0])
    axis = normal_axis(attributes["axis"], len(result))
    for shape in shapes[1:]:
        joined = [unify(a, b) for a, b in zip(result, shape, strict=False)]
        if len(shape) != len(result) or any(d is None for i, d in enumerate(joined) if i != axis):
            raise InferenceError(f"concat of shapes {shape_words(shapes[0])} and {shape_words(shape)} along axis {axis}")
        result = [r if d is None else d for r, d in zip(result, joined, strict=True)]
    dims = [shape[axis] for shape in shapes]
    result[axis] = UNKNOWN if UNKNOWN in dims else sum(dims)
    return tensor_type(result, common_dtype(operands))


def _pad(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "pad")
    low, high = tuple(attributes["low"]), tuple(attributes["high"])
    if shape_of(operands[1]) != ():
        raise InferenceError(f"pad with a value of shape {shape_words(shape_of(operands[1]))}, which must be one number")
    if not len(low) == len(high) == len(shape) or min((*low, *high), default=0) < 0:
        raise InferenceError(f"pad of shape {shape_words(shape)} by {low} before and {high} after")
    return tensor_type([UNKNOWN if d == UNKNOWN else a + d + b for a, d, b in zip(low, shape, high, strict=True)], dtype)


def _dim(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    normal_axis(attributes["axis"], len(tensor_of(operands[0], "dim")[0]))
    return i64


RULES: Mapping[str, Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]] = {
    "transpose": _transpose,
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "cast": _cast,
    "slice": _slice,
    "gather": _gather,
    "scatter": _scatter,
    "concat": _concat,
    "pad": _pad,
    "dim": _dim,
}
