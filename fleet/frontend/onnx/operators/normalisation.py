"""Softmax and the normalisations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, unary
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.registry import operator


def softmax(x: OnnxArray, axis: int) -> OnnxArray:
    """Over one axis, as one operation."""
    return unary("softmax", x, axis=axis)


def log_softmax(x: OnnxArray, axis: int) -> OnnxArray:
    """`log(softmax(x))` without the logarithm of what became 0."""
    apart = x - x.max([axis], keepdims=True)
    return apart - unary("log", unary("exp", apart).sum([axis], keepdims=True))


@operator("Softmax", "LogSoftmax")
def _softmax(n: NodeCall) -> OnnxArray:
    function = softmax if n.node.op == "Softmax" else log_softmax
    if n.opset >= 13:
        return function(n.x, n.axis(n.attribute("axis", -1), n.x.rank))
    axis = n.axis(n.attribute("axis", 1), n.x.rank)  # the older one: everything from the axis on is one dimension
    if axis == n.x.rank - 1:
        return function(n.x, axis)
    flat = n.x.reshape(math.prod(n.x.shape[:axis]), math.prod(n.x.shape[axis:]))
    return function(flat, 1).reshape(*n.x.shape)


def standardised(x: OnnxArray, axes: Sequence[int], eps: float) -> tuple[OnnxArray, OnnxArray, OnnxArray]:
    """`(x - mean) / sqrt(var + eps)`, the mean and `1 / sqrt(var + eps)`."""
    mean = x.mean(axes, keepdims=True)
    apart = x - mean
    inverse = 1 / unary("sqrt", (apart * apart).mean(axes, keepdims=True) + eps)
    return apart * inverse, mean, inverse


@operator("LayerNormalization")
def _layer_normalization(n: NodeCall) -> Sequence[OnnxArray]:
    x, scale, bias = n.x, n.array(1), n.optional(2)
    axis, eps = n.axis(n.attribute("axis", -1), x.rank), n.attribute("epsilon", 1e-5)
    axes = list(range(axis, x.rank))
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    if axis == x.rank - 1 and scale.shape == x.shape[-1:] and wide is x and not n.wants(1) and not n.wants(2):
        beta = bias if bias is not None else n.constant(np.zeros(scale.shape, scale.dtype))
        return [x.build.emit("layer_norm", [x, scale, beta], axis=axis, eps=eps)]
    y, mean, inverse = standardised(wide, axes, eps)
    y = y.astype(x.dtype) * scale
    return [y if bias is None else y + bias, mean, inverse]


@operator("RMSNormalization")
def _rms_normalization(n: NodeCall) -> OnnxArray:
    x, scale = n.x, n.array(1)
    axis, eps = n.axis(n.attribute("axis", -1), x.rank), n.attribute("epsilon", 1e-5)
    if axis == x.rank - 1 and scale.shape == x.shape[-1:] and x.dtype != np.float16:
        return x.build.emit("rms_norm", [x, scale], eps=eps)
    wide = x.astype(np.float32) if x.dtype == np.float16 else x
    size = unary("sqrt", (wide * wide).mean(list(range(axis, x.rank)), keepdims=True) + eps)
    return (wide / size).astype(scale.dtype) * scale


def per_channel(v: OnnxArray, rank: int) -> OnnxArray:
    """[C] as [C, 1, 1 ...], which broadcasts over [N, C, ...]."""
    return v.reshape(v.size, *[1] * (rank - 2))


@operator("BatchNormalization")
def _batch_normalization(n: NodeCall) -> Sequence[OnnxArray]:
    x, scale, bias, mean, variance = (n.array(i) for i in range(5))
    eps, rank = n.attribute("epsilon", 1e-5), n.x.rank
    if n.attribute("training_mode", 0):
        axes, momentum = [i for i in range(rank) if i != 1], n.attribute("momentum", 0.9)
        y, found, _ = standardised(x, axes, eps)
        apart = x - found
        spread = (apart * apart).mean(axes)
        y = y * per_channel(scale, rank) + per_channel(bias, rank)
        return [y, mean * momentum + x.mean(axes) * (1 - momentum), variance * momentum + spread * (1 - momentum)]
    # As runtimes compute it: a factor and an addend for each channel. They stay operations, so that bounds know how they round.
    scale, bias, mean, variance = (v.unfolded() for v in (scale, bias, mean, variance))
    factor = scale / unary("sqrt", variance + eps)
    return [x * per_channel(factor, rank) + per_channel(bias - mean * factor, rank)]


@operator("InstanceNormalization")
def _instance_normalization(n: NodeCall) -> OnnxArray:
    y, _, _ = standardised(n.x, list(range(2, n.x.rank)), n.attribute("epsilon", 1e-5))
    return y * per_channel(n.array(1), n.x.rank) + per_channel(n.array(2), n.x.rank)


@operator("GroupNormalization", since=21)
def _group_normalization(n: NodeCall) -> OnnxArray:
    x, groups = n.x, n.attribute("num_groups", 1)
    if groups < 1 or x.rank < 2 or x.shape[1] % groups:
        n.refuse(f"{groups} groups of {list(x.shape)}")
    apart = x.reshape(x.shape[0], groups, -1)
    y, _, _ = standardised(apart, [2], n.attribute("epsilon", 1e-5))
    return y.reshape(*x.shape) * per_channel(n.array(1), x.rank) + per_channel(n.array(2), x.rank)


@operator("LpNormalization")
def _lp_normalization(n: NodeCall) -> OnnxArray:
    axis = n.axis(n.attribute("axis", -1), n.x.rank)
    if n.attribute("p", 2) == 1:
        size = unary("abs", n.x).sum([axis], keepdims=True)
    else:
        size = unary("sqrt", (n.x * n.x).sum([axis], keepdims=True))
    return n.x / (size + size.equal(0).astype(size.dtype))


@operator("LRN")
def _lrn(n: NodeCall) -> OnnxArray:
    """Local response normalisation over neighbouring channels: sums of squares are differences of nothing, but slices added."""
    x, size = n.x, n.attribute("size", 1)
    low, high = (size - 1) // 2, size // 2
    before, after = [0] * x.rank, [0] * x.rank
    before[1], after[1] = low, high
    squares = (x * x).pad(before, after)
    total = squares.part(1, 0, x.shape[1])
    for i in range(1, size):
        total = total + squares.part(1, i, x.shape[1])
    scaled = total * (n.attribute("alpha", 1e-4) / size) + n.attribute("bias", 1.0)
    return x / scaled ** n.attribute("beta", 0.75)


@operator("MeanVarianceNormalization")
def _mean_variance(n: NodeCall) -> OnnxArray:
    axes = [n.axis(a, n.x.rank) for a in n.attribute("axes", [0, 2, 3])]
    apart = n.x - n.x.mean(axes, keepdims=True)
    return apart / (unary("sqrt", (apart * apart).mean(axes, keepdims=True)) + 1e-9)
