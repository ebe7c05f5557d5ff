"""The VM's composites: the textbook sequence of each in NumPy, batched over heads for attention."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.expand import MASKED
from fleet.targets.bytecode.erf import erf
from fleet.targets.bytecode.hints import DispatchInfo

CompositeKernel: TypeAlias = Callable[..., Any]


def softmax(x: Any, axis: int) -> Any:
    """Return `e / e.sum(axis)` with `e = exp(x - x.max(axis))`."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def gelu_tanh(x: Any) -> Any:
    """Return GELU by tanh."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * (x * x * x))))


def gelu_erf(x: Any) -> Any:
    """Return GELU by erf."""
    return 0.5 * x * (1 + erf(x / math.sqrt(2)))


def sigmoid(x: Any) -> Any:
    """Return `1 / (1 + exp(-x))`."""
    return 1 / (1 + np.exp(-x))


def silu(x: Any) -> Any:
    """Return `x / (1 + exp(-x))`."""
    return x / (1 + np.exp(-x))


def relu(x: Any) -> Any:
    """Return `maximum(x, 0)`."""
    return np.maximum(x, 0)


def _same(x: Any) -> Any:
    return x


_ACTIVATIONS: Mapping[str, CompositeKernel] = {"none": _same, "gelu_tanh": gelu_tanh, "silu": silu, "relu": relu}


def _softmax(info: DispatchInfo) -> CompositeKernel:
    axis = info.attrs["axis"]
    return lambda x: softmax(x, axis)


def _layer_norm(info: DispatchInfo) -> CompositeKernel:
    axis, eps = info.attrs["axis"], info.attrs["eps"]

    def run(x: Any, gamma: Any, beta: Any) -> Any:
        mean = np.mean(x, axis=axis, keepdims=True)
        # np.var would compute its mean again: for float16 one that is not rounded, for other dtypes this one.
        variance = np.var(x, axis=axis, keepdims=True, **({} if x.dtype == np.float16 else {"mean": mean}))
        return (x - mean) / np.sqrt(variance + eps) * gamma + beta

    return run


def _rms_norm(info: DispatchInfo) -> CompositeKernel:
    eps = info.attrs["eps"]
    return lambda x, gamma: x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * gamma


def _gelu(info: DispatchInfo) -> CompositeKernel:
    return {"tanh": gelu_tanh, "erf": gelu_erf}[info.attrs["approximate"]]


def _rope(info: DispatchInfo) -> CompositeKernel:
    interleaved = bool(info.attrs["interleaved"])

    def run(x: Any, cos: Any, sin: Any) -> Any:
        half = x.shape[-1] // 2
        first, second = (np.s_[..., 0::2], np.s_[..., 1::2]) if interleaved else (np.s_[..., :half], np.s_[..., half:])
        a, b = x[first], x[second]
        out = np.empty(x.shape, np.result_type(x, cos, sin))
        out[first], out[second] = a * cos - b * sin, a * sin + b * cos
        return out

    return run


def _linear(info: DispatchInfo) -> CompositeKernel:
    activation = _ACTIVATIONS[info.attrs["activation"]]
    bias, residual = bool(info.attrs["bias"]), bool(info.attrs["residual"])

    def run(x: Any, w: Any, *rest: Any) -> Any:
        y = np.matmul(x, w)
        y = activation(y + rest[0] if bias else y)
        return y + rest[-1] if residual else y

    return run


def _attention(info: DispatchInfo) -> CompositeKernel:
    heads, kv_heads, scale, causal = (info.attrs[k] for k in ("heads", "kv_heads", "scale", "causal"))

    def run(q: Any, k: Any, v: Any, *mask: Any) -> Any:
        *lead, n, columns = q.shape
        m, d, group = k.shape[-2], columns // heads, heads // kv_heads
        qh = np.moveaxis(q.reshape(*lead, n, kv_heads, group, d), -4, -2)
        kh = np.moveaxis(k.reshape(*lead, m, kv_heads, 1, d), -4, -1)
        vh = np.moveaxis(v.reshape(*lead, m, kv_heads, 1, d), -4, -2)
        scores = np.matmul(qh, kh) * scale
        if mask:
            scores = scores + (mask[0] if mask[0].ndim < 3 else mask[0][:, None, None])
        if causal:
            if m < n:
                raise ValueError(f"causal attention of {n} queries needs at least as many keys, found {m}")
            scores = np.where(np.tri(n, m, m - n, dtype=bool), scores, MASKED[scores.dtype.name])
        return np.moveaxis(np.matmul(softmax(scores, -1), vh), -2, -4).reshape(*lead, n, columns)

    return run


COMPOSITES: Mapping[type[FleetOp], Callable[[DispatchInfo], CompositeKernel]] = {
    d.SoftmaxOp: _softmax,
    d.LayerNormOp: _layer_norm,
    d.RmsNormOp: _rms_norm,
    d.GeluOp: _gelu,
    d.SiluOp: lambda _info: silu,
    d.SigmoidOp: lambda _info: sigmoid,
    d.RopeOp: _rope,
    d.LinearOp: _linear,
    d.AttentionOp: _attention,
}
