"""Operators of com.microsoft that onnxruntime's optimiser makes of several: products, activations, normalisations, embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, maximum, minimum, unary, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.convolution import biased, convolve
from fleet.frontend.onnx.operators.indexing import wrapped
from fleet.frontend.onnx.operators.normalisation import standardised
from fleet.frontend.onnx.operators.products import gemm, matmul
from fleet.frontend.onnx.registry import MICROSOFT, operator

# ---- products


@operator("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def _fused_matmul(n: NodeCall) -> OnnxArray:
    found = matmul(_turned(n, n.array(0), "A"), _turned(n, n.array(1), "B"))
    alpha = n.attribute("alpha", 1.0)
    return found if alpha == 1 else found * alpha


def _turned(n: NodeCall, x: OnnxArray, side: str) -> OnnxArray:
    """transBatch puts the first dimension before the last, trans exchanges the last two."""
    if x.rank > 2 and n.attribute(f"transBatch{side}", 0):
        x = x.transpose(*range(1, x.rank - 1), 0, x.rank - 1)
    return x.swapped() if x.rank > 1 and n.attribute(f"trans{side}", 0) else x


@operator("CDist", domain=MICROSOFT)
def _cdist(n: NodeCall) -> OnnxArray:
    """Distances of each row of a to each row of b, by their squares and products as onnxruntime computes them."""
    a, b, metric = n.array(0), n.array(1), n.attribute("metric", "sqeuclidean")
    if metric not in ("euclidean", "sqeuclidean"):
        n.refuse(f"the metric {metric!r:.40}", "it may be euclidean or sqeuclidean")
    if a.rank != 2 or b.rank != 2 or a.shape[1] != b.shape[1]:
        n.refuse(f"distances of {list(a.shape)} and {list(b.shape)}, expected rows of one length")
    squares = (a * a).sum([1], keepdims=True) + (b * b).sum([1]).reshape(1, b.shape[0])
    found = maximum(squares - (a @ b.swapped()) * 2, 0)
    return found if metric == "sqeuclidean" else unary("sqrt", found)


_ACTIVATIONS: dict[str, Callable[[OnnxArray, Sequence[float]], OnnxArray]] = {
    "Relu": lambda x, _p: maximum(x, 0),
    "Tanh": lambda x, _p: unary("tanh", x),
    "Sigmoid": lambda x, _p: unary("sigmoid", x),
    "LeakyRelu": lambda x, p: where(x < 0, x * (p[0] if p else 0.01), x),
    "Clip": lambda x, p: minimum(maximum(x, p[0]), p[1]),
    "HardSigmoid": lambda x, p: maximum(minimum(x * p[0] + p[1], 1), 0),
}
"""What may follow a FusedConv or FusedGemm, with its parameters."""
_NEEDED = {"Clip": 2, "HardSigmoid": 2}
"""Parameters that every activation needs."""


def _activated(n: NodeCall, x: OnnxArray, parameters: Sequence[float]) -> OnnxArray:
    name = n.attribute("activation", "")
    if not name:
        return x
    if name not in _ACTIVATIONS:
        n.refuse(f"the activation {name!r} is not supported", f"supported are {', '.join(_ACTIVATIONS)}")
    if len(parameters) < (needed := _NEEDED.get(name, 0)):
        n.refuse(f"the activation {name} with {len(parameters)} parameters, expected {needed}")
    return _ACTIVATIONS[name](x, parameters)


@operator("FusedConv", domain=MICROSOFT)
def _fused_conv(n: NodeCall) -> OnnxArray:
    y = biased(convolve(n, n.x, n.array(1)), n.optional(2))
    added = n.optional(3)
    y = y if added is None else y + added
    return _activated(n, y, n.attribute("activation_params", [0.0]) if n.has("activation_params") else [])


@operator("FusedGemm", domain=MICROSOFT)
def _fused_gemm(n: NodeCall) -> OnnxArray:
    given = [v for v in ("activation_alpha", "activation_beta", "activation_gamma") if n.has(v)]
    if given and given[0] != "activation_alpha":
        n.refuse(f"its attribute {given[0]} without activation_alpha")
    return _activated(n, gemm(n), [n.attribute(v, 0.0) for v in given])


# ---- activations


def _gelu_erf(x: OnnxArray) -> OnnxArray:
    return unary("gelu", x, approximate="erf")


@operator("Gelu", domain=MICROSOFT)
def _gelu(n: NodeCall) -> OnnxArray:
    return _gelu_erf(n.x)


@operator("BiasGelu", domain=MICROSOFT)
def _bias_gelu(n: NodeCall) -> OnnxArray:
    return _gelu_erf(n.x + n.array(1))


@operator("FastGelu", domain=MICROSOFT)
def _fast_gelu(n: NodeCall) -> OnnxArray:
    bias = n.optional(1)
    return unary("gelu", n.x if bias is None else n.x + bias, approximate="tanh")


@operator("QuickGelu", domain=MICROSOFT)
def _quick_gelu(n: NodeCall) -> OnnxArray:
    alpha = n.attribute("alpha", 1.702)
    return unary("silu", n.x) if alpha == 1 else n.x * unary("sigmoid", n.x * alpha)


@operator("BiasSplitGelu", domain=MICROSOFT)
def _bias_split_gelu(n: NodeCall) -> OnnxArray:
    both = n.x + n.array(1)
    half = both.shape[-1] // 2
    return both.part(-1, 0, half) * _gelu_erf(both.part(-1, half, half))


@operator("BiasAdd", domain=MICROSOFT)
def _bias_add(n: NodeCall) -> OnnxArray:
    return n.x + n.array(1) + n.array(2)


@operator("BiasSoftmax", domain=MICROSOFT)
def _bias_softmax(n: NodeCall) -> OnnxArray:
    x = n.x + n.array(1)
    axis = n.axis(n.attribute("axis", 1), x.rank)
    rows = x.reshape(*x.shape[:axis], -1)
    return unary("softmax", rows, axis=axis).reshape(*x.shape)


# ---- normalisations


def _layer_norm(n: NodeCall, x: OnnxArray, gamma: OnnxArray, beta: OnnxArray | None) -> list[OnnxArray]:
    """The result, mean and inverse deviation."""
    eps = n.attribute("epsilon", 1e-12)
    mean = inverse = None
    if n.wants(1) or n.wants(2):
        _, mean, inverse = standardised(x, [x.rank - 1], eps)
    shift = beta if beta is not None else n.constant(np.zeros(gamma.shape, gamma.dtype))
    y = n.build.emit("layer_norm", [x, gamma, shift], axis=x.rank - 1, eps=eps)
    return [y, *(v for v in (mean, inverse) if v is not None)]


def _skipped(n: NodeCall, bias: OnnxArray | None) -> OnnxArray:
    """input + skip + bias; what is skipped may be one for all of the batch."""
    found = n.array(0) + n.array(1)
    return found if bias is None else found + bias


@operator("SkipLayerNormalization", domain=MICROSOFT)
def _skip_layer_normalization(n: NodeCall) -> Sequence[OnnxArray | None]:
    total = _skipped(n, n.optional(4))
    y, *rest = _layer_norm(n, total, n.array(2), n.optional(3))
    mean, inverse = rest or (None, None)
    return [y, mean, inverse, total]


@operator("SkipSimplifiedLayerNormalization", domain=MICROSOFT)
def _skip_simplified(n: NodeCall) -> Sequence[OnnxArray | None]:
    total = _skipped(n, n.optional(3))
    return [_rms(n, total, n.array(2), total.rank - 1, 1e-12), None, None, total]


@operator("SimplifiedLayerNormalization")
def _simplified(n: NodeCall) -> Sequence[OnnxArray | None]:
    """onnxruntime's own, in ONNX's domain."""
    return [_rms(n, n.x, n.array(1), n.axis(n.attribute("axis", -1), n.x.rank), 1e-5)]


def _rms(n: NodeCall, x: OnnxArray, scale: OnnxArray, axis: int, eps: float) -> OnnxArray:
    if n.wants(1) or n.wants(2):
        n.refuse("its mean and inverse deviation are not supported", "they are for training: export the model for inference")
    eps = n.attribute("epsilon", eps)
    if axis == x.rank - 1 and x.dtype != np.float16:
        return n.build.emit("rms_norm", [x, scale], eps=eps)
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    size = unary("sqrt", (wide * wide).mean(list(range(axis, x.rank)), keepdims=True) + eps)
    return (wide / size).astype(scale.dtype) * scale


@operator("EmbedLayerNormalization", domain=MICROSOFT)
def _embed_layer_normalization(n: NodeCall) -> Sequence[OnnxArray | None]:
    ids, segments, words, places, kinds = n.array(0), n.optional(1), n.array(2), n.array(3), n.optional(4)
    gamma, beta, mask, positions = n.array(5), n.array(6), n.optional(7), n.optional(8)
    found = words.take(wrapped(ids, words.shape[0]))
    length = ids.shape[1]
    if positions is not None:
        found = found + places.take(wrapped(positions, places.shape[0]))
    else:
        if length > places.shape[0]:
            n.refuse(f"{length} positions, its table has {places.shape[0]}")
        found = found + places.part(0, 0, length)
    if segments is not None and kinds is not None:
        found = found + kinds.take(wrapped(segments, kinds.shape[0]))
    y = n.build.emit("layer_norm", [found, gamma, beta], axis=2, eps=n.attribute("epsilon", 1e-12))
    if mask is None:
        counts = n.constant(np.zeros(ids.shape[0], np.int32))
    else:
        counts = mask.equal(1).astype(np.int32).sum([1])
    return [y, counts, found]
