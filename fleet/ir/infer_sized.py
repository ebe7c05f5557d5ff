"""Inference for operations whose sizes are operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from fleet.ir.shapes import UNKNOWN, InferenceError, broadcast, shape_words, tensor_of
from fleet.ir.types import DTYPES, is_tensor, numpy_dtype, spelling, tensor_type

__all__ = ["RULES"]


def _check_numbers(name: str, operands: Sequence[Attribute]) -> None:
    for type_ in operands:
        if is_tensor(type_) or numpy_dtype(type_).kind != "i":
            raise InferenceError(f"{name} with a size of type {spelling(type_)}, which must be a Python integer")


def _target(name: str, operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> tuple[int, ...]:
    """The result's shape, whose unknown dimensions have one operand each."""
    _check_numbers(name, operands[1:])
    target = tuple(attributes["shape"])
    if any(d < UNKNOWN for d in target) or target.count(UNKNOWN) != len(operands) - 1:
        raise InferenceError(f"{name} to {shape_words(target)} with {len(operands) - 1} sizes")
    return target


def _dynamic_reshape(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    _, dtype = tensor_of(operands[0], "dynamic_reshape")
    return tensor_type(_target("dynamic_reshape", operands, attributes), dtype)


def _dynamic_broadcast(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "dynamic_broadcast")
    target = _target("dynamic_broadcast", operands, attributes)
    lead = len(target) - len(shape)
    broadcast(shape, target, "dynamic_broadcast")
    if lead < 0 or any(t >= 0 and s not in (UNKNOWN, 1, t) for s, t in zip(shape, target[lead:], strict=True)):
        raise InferenceError(f"dynamic_broadcast of shape {shape_words(shape)} to {shape_words(target)}")
    return tensor_type(target, dtype)


def _dynamic_slice(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "dynamic_slice")
    axes, step = list(attributes["axes"]), list(attributes["step"])
    _check_numbers("dynamic_slice", operands[1:])
    fits = len(operands) - 1 == 2 * len(axes) and len(axes) == len(step) and 0 not in step
    if not fits or not axes or axes != sorted(set(axes)) or not all(0 <= a < len(shape) for a in axes):
        raise InferenceError(f"dynamic_slice of shape {shape_words(shape)} along {axes} by {step} with {len(operands) - 1} bounds")
    return tensor_type([UNKNOWN if i in axes else d for i, d in enumerate(shape)], dtype)


def _arange(operands: Sequence[Attribute], _attributes: Mapping[str, Any]) -> Attribute:
    _check_numbers("arange", operands)
    return tensor_type([UNKNOWN], np.int64)


def _tri(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    _check_numbers("tri", operands)
    dtype = np.dtype(attributes["dtype"])
    if dtype.name not in DTYPES:
        raise InferenceError(f"tri of {dtype.name}, supported are {', '.join(DTYPES)}")
    return tensor_type([UNKNOWN, UNKNOWN], dtype)


RULES: Mapping[str, Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]] = {
    "dynamic_reshape": _dynamic_reshape,
    "dynamic_broadcast": _dynamic_broadcast,
    "dynamic_slice": _dynamic_slice,
    "arange": _arange,
    "tri": _tri,
}
