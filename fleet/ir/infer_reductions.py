"""Inference for reductions, matrix products and einsum."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from fleet.ir.einsum import result_shape
from fleet.ir.promotion import common_dtype, compute_types, reduced_dtype
from fleet.ir.shapes import InferenceError, broadcast, normal_axis, shape_words, tensor_of, unify
from fleet.ir.types import shape_of, tensor_type

__all__ = ["RULES"]

_NO_IDENTITY = ("reduce_max", "reduce_min", "nan_max", "nan_min")


def _matmul(operands: Sequence[Attribute], _attributes: Mapping[str, Any]) -> Attribute:
    lhs, rhs = operands
    a, b = shape_of(lhs), shape_of(rhs)
    if len(a) < 2 or len(b) < 2:
        raise InferenceError(f"matmul of shapes {shape_words(a)} and {shape_words(b)}: both need rank 2 or more")
    if unify(a[-1], b[-2]) is None:
        raise InferenceError(
            f"matmul of shapes {shape_words(a)} and {shape_words(b)}: the inner dimensions {a[-1]} and {b[-2]} must be equal"
        )
    batch = broadcast(a[:-2], b[:-2], "matmul with leading dimensions")
    return tensor_type((*batch, a[-2], b[-1]), compute_types("matmul", operands)[-1])


def _einsum(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shapes = [tensor_of(t, "einsum")[0] for t in operands]
    return tensor_type(result_shape(attributes["subscripts"], shapes), common_dtype(operands))


def _reduce(name: str) -> Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]:
    def rule(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
        shape, dtype = tensor_of(operands[0], name)
        axes = [normal_axis(a, len(shape)) for a in attributes["axes"]]
        if sorted(set(axes)) != list(attributes["axes"]):
            raise InferenceError(f"{name} over axes {list(attributes['axes'])}: they must be ascending, non-negative and distinct")
        if name in _NO_IDENTITY and any(shape[a] == 0 for a in axes):
            raise InferenceError(f"{name} over no elements (shape {shape_words(shape)})")
        if attributes["keepdims"]:
            kept = tuple(1 if i in axes else d for i, d in enumerate(shape))
        else:
            kept = tuple(d for i, d in enumerate(shape) if i not in axes)
        return tensor_type(kept, reduced_dtype(name, dtype))

    return rule


def _arg(name: str) -> Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]:
    def rule(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
        shape, _ = tensor_of(operands[0], name)
        axis = normal_axis(attributes["axis"], len(shape))
        if shape[axis] == 0:
            raise InferenceError(f"{name} over no elements (shape {shape_words(shape)})")
        return tensor_type(shape[:axis] + shape[axis + 1 :], np.int64)

    return rule


def _cumsum(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, dtype = tensor_of(operands[0], "cumsum")
    normal_axis(attributes["axis"], len(shape))
    return tensor_type(shape, reduced_dtype("cumsum", dtype))


def _argsort(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shape, _ = tensor_of(operands[0], "argsort")
    normal_axis(attributes["axis"], len(shape))
    return tensor_type(shape, np.int64)


_REDUCTIONS = ("reduce_sum", "reduce_prod", *_NO_IDENTITY, "reduce_any", "reduce_all", "mean", "var")

RULES: Mapping[str, Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]] = {
    "matmul": _matmul,
    "einsum": _einsum,
    **{name: _reduce(name) for name in _REDUCTIONS},
    "argmax": _arg("argmax"),
    "argmin": _arg("argmin"),
    "cumsum": _cumsum,
    "argsort": _argsort,
}
