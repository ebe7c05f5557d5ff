"""Inference for composites. Their operands are floating point; dtypes promote as in their textbook sequences."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.ir import Attribute

from fleet.ir.infer_reductions import RULES as REDUCTIONS
from fleet.ir.promotion import common_dtype
from fleet.ir.shapes import UNKNOWN, InferenceError, broadcast, normal_axis, shape_words, tensor_of, unify
from fleet.ir.types import numpy_dtype, shape_of, tensor_type

__all__ = ["RULES"]

ACTIVATIONS = ("none", "gelu_tanh", "silu", "relu")
GELUS = ("tanh", "erf")


def _floats(name: str, operands: Sequence[Attribute]) -> list[tuple[int, ...]]:
    shapes = [tensor_of(t, name)[0] for t in operands]
    for type_ in operands:
        if numpy_dtype(type_).kind != "f":
            raise InferenceError(f"{name} of {numpy_dtype(type_)}, which must be floating point")
    return shapes


def _inside(name: str, shape: tuple[int, ...], into: tuple[int, ...], what: str) -> None:
    """`shape` broadcasts to `into` without making it larger."""
    if len(shape) > len(into) or broadcast(shape, into, f"{name} with {what}") != into:
        raise InferenceError(f"{name}: {what} of shape {shape_words(shape)} for {shape_words(into)}")


def _activation(name: str) -> Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]:
    def rule(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
        _floats(name, operands)
        if name == "gelu" and attributes["approximate"] not in GELUS:
            raise InferenceError(f'gelu approximate "{attributes["approximate"]}", expected {" or ".join(GELUS)}')
        return operands[0]

    return rule


def _softmax(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    (shape,) = _floats("softmax", operands)
    if shape[normal_axis(attributes["axis"], len(shape))] == 0:
        raise InferenceError(f"softmax over no elements (shape {shape_words(shape)})")
    return operands[0]


def _norm(name: str) -> Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]:
    def rule(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
        shape, *parameters = _floats(name, operands)
        normal_axis(attributes.get("axis", -1), len(shape))
        for parameter in parameters:
            _inside(name, parameter, shape, "a parameter")
        return tensor_type(shape, common_dtype(operands))

    return rule


def _rope(operands: Sequence[Attribute], _attributes: Mapping[str, Any]) -> Attribute:
    shape, cos, sin = _floats("rope", operands)
    if not shape or shape[-1] == UNKNOWN or shape[-1] % 2:
        raise InferenceError(f"rope of shape {shape_words(shape)}: the last dimension must be even")
    half = (*shape[:-1], shape[-1] // 2)
    _inside("rope", cos, half, "a cosine")
    _inside("rope", sin, half, "a sine")
    return tensor_type(shape, common_dtype(operands))


def _linear(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    shapes = _floats("linear", operands)
    activation, extra = attributes["activation"], [k for k in ("bias", "residual") if attributes.get(k, False)]
    if activation not in ACTIVATIONS:
        raise InferenceError(f'linear with activation "{activation}", expected {", ".join(ACTIVATIONS)}')
    if len(shapes) != 2 + len(extra):
        raise InferenceError(f"linear with {' and '.join(extra) or 'neither bias nor residual'}, found {len(shapes)} operands")
    product = shape_of(REDUCTIONS["matmul"](operands[:2], {}))
    for shape, what in zip(shapes[2:], extra, strict=True):
        _inside("linear", shape, product, f"a {what}")
    return tensor_type(product, common_dtype(operands))


def _attention(operands: Sequence[Attribute], attributes: Mapping[str, Any]) -> Attribute:
    q, k, v, *mask = _floats("attention", operands)
    heads, kv_heads = attributes["heads"], attributes["kv_heads"]
    words = f"attention of q {shape_words(q)}, k {shape_words(k)}, v {shape_words(v)} with {heads} heads and {kv_heads} of k and v"
    if not len(q) == len(k) == len(v) == 2:
        raise InferenceError(f"{words}: all need rank 2")
    if heads < 1 or kv_heads < 1 or heads % kv_heads or UNKNOWN in (q[1], k[1], v[1]) or q[1] % heads:
        raise InferenceError(f"{words}: the heads do not divide the columns")
    d = q[1] // heads
    if k[1] != kv_heads * d or v[1] != kv_heads * d:
        raise InferenceError(f"{words}: k and v need {kv_heads * d} columns")
    if (m := unify(k[0], v[0])) is None or m == 0:
        raise InferenceError(f"{words}: k and v need the same rows, at least one")
    if attributes["causal"] and UNKNOWN not in (m, q[0]) and m < q[0]:
        raise InferenceError(f"{words}: causal needs at least as many keys as queries")
    for shape in mask:
        _inside("attention", shape, (q[0], m), "a mask")
    return tensor_type((q[0], heads * d), common_dtype(operands))


RULES: Mapping[str, Callable[[Sequence[Attribute], Mapping[str, Any]], Attribute]] = {
    **{name: _activation(name) for name in ("gelu", "silu", "sigmoid")},
    "softmax": _softmax,
    "layer_norm": _norm("layer_norm"),
    "rms_norm": _norm("rms_norm"),
    "rope": _rope,
    "linear": _linear,
    "attention": _attention,
}
