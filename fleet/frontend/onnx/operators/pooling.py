"""Poolings: windows, reduced."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, unary
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.windows import Windows, numbers, padding, windows
from fleet.frontend.onnx.registry import operator


def _windows(n: NodeCall, x: OnnxArray, fill: float) -> Windows:
    rank = x.rank - 2
    if rank < 1:
        n.refuse(f"a pooling of {list(x.shape)}")
    kernel = numbers(n, "kernel_shape", rank, 0)
    strides, dilations = numbers(n, "strides", rank, 1), numbers(n, "dilations", rank, 1)
    low, high = padding(n, x.shape[2:], kernel, strides, dilations)
    return windows(n, x, kernel, strides, dilations, low, high, fill, ceil=bool(n.attribute("ceil_mode", 0)))


def _shaped(x: OnnxArray, y: OnnxArray, found: Windows) -> OnnxArray:
    return y.reshape(*x.shape[:2], *found.shape)


@operator("MaxPool")
def _max_pool(n: NodeCall) -> Sequence[OnnxArray]:
    return max_pool(n, n.x)


def max_pool(n: NodeCall, x: OnnxArray) -> list[OnnxArray]:
    """x [N, C, ...] by the node's attributes: the result, and where its elements stood if the node wants it."""
    lowest = -np.inf if x.dtype.kind == "f" else float(np.iinfo(x.dtype).min)
    found = _windows(n, x, lowest)
    outputs = [_shaped(x, found.values.max([2]), found)]
    if n.wants(1):
        outputs.append(_indices(n, x, found))
    return outputs


def _indices(n: NodeCall, x: OnnxArray, found: Windows) -> OnnxArray:
    """Where in the whole tensor, flattened, each maximum stood."""
    at = np.unravel_index(found.places, found.padded)
    sizes = x.shape[2:]
    own = [i - low for i, low in zip(at, found.low, strict=True)]
    order = range(len(sizes)) if n.attribute("storage_order", 0) == 0 else range(len(sizes) - 1, -1, -1)
    flat = np.zeros(found.places.shape, np.int64)
    for axis in order:
        flat = flat * sizes[axis] + own[axis]
    best = x.build.emit("argmax", [found.values], axis=2)  # [N, C, places]
    window, places = found.places.shape
    chosen = best * places + n.constant(np.arange(places, dtype=np.int64))
    inside = n.constant(flat.reshape(window * places)).take(chosen)
    images = np.arange(x.shape[0] * x.shape[1], dtype=np.int64).reshape(*x.shape[:2], 1) * math.prod(sizes)
    return _shaped(x, inside + n.constant(images), found)


@operator("AveragePool")
def _average_pool(n: NodeCall) -> OnnxArray:
    return average_pool(n, n.x)


def average_pool(n: NodeCall, x: OnnxArray) -> OnnxArray:
    """x [N, C, ...] by the node's attributes."""
    found = _windows(n, x, 0)
    total = found.values.sum([2])
    if n.attribute("count_include_pad", 0):
        rank = x.rank - 2
        kernel = numbers(n, "kernel_shape", rank, 0)
        strides, dilations = numbers(n, "strides", rank, 1), numbers(n, "dilations", rank, 1)
        low, high = padding(n, x.shape[2:], kernel, strides, dilations)
        at = np.unravel_index(found.places, found.padded)
        counted = np.ones(found.places.shape, bool)
        for i, size, a, b in zip(at, x.shape[2:], low, high, strict=True):
            counted &= i < size + a + b
        counts = counted.sum(axis=0)
    else:
        counts = found.inside(x.shape[2:]).sum(axis=0)
    return _shaped(x, total / n.constant(counts.astype(x.dtype)), found)


@operator("LpPool")
def _lp_pool(n: NodeCall) -> OnnxArray:
    found, p = _windows(n, n.x, 0), n.attribute("p", 2)
    total = (unary("abs", found.values) ** float(p)).sum([2])
    return _shaped(n.x, total ** (1 / p), found)


@operator("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def _global_pool(n: NodeCall) -> OnnxArray:
    x, axes = n.x, list(range(2, n.x.rank))
    match n.node.op:
        case "GlobalAveragePool":
            return x.mean(axes, keepdims=True)
        case "GlobalMaxPool":
            return x.max(axes, keepdims=True)
        case _:
            p = n.attribute("p", 2)
            return (unary("abs", x) ** float(p)).sum(axes, keepdims=True) ** (1 / p)


@operator("MaxUnpool")
def _max_unpool(n: NodeCall) -> OnnxArray:
    """Every element to the place that its index names; all others are 0."""
    x, indices = n.x, n.array(1)
    rank = x.rank - 2
    kernel, strides = numbers(n, "kernel_shape", rank, 0), numbers(n, "strides", rank, 1)
    pads = n.attribute("pads", [0] * (2 * rank))
    sizes = [
        (d - 1) * s + k - pads[i] - pads[i + rank] for i, (d, s, k) in enumerate(zip(x.shape[2:], strides, kernel, strict=True))
    ]
    shape = tuple(n.integers(2, "its output's shape")) if n.optional(2) is not None else (*x.shape[:2], *sizes)
    places = indices.reshape(x.size)
    if n.optional(2) is not None and shape != (*x.shape[:2], *sizes):
        places = _moved(places, (*x.shape[:2], *sizes), shape)
    zeros = x.like(0).broadcast_to(math.prod(shape))
    return n.build.emit("scatter", [zeros, places, x.reshape(x.size)], reduction="none").reshape(*shape)


def _moved(places: OnnxArray, inner: Sequence[int], outer: Sequence[int]) -> OnnxArray:
    """Indices into the tensor that the pooling read -> into a larger one, which holds that one at its beginning."""
    found: OnnxArray | None = None
    for i, size in enumerate(inner):
        own = (places // math.prod(inner[i + 1 :])) % size
        found = own if found is None else found * outer[i] + own
    assert found is not None
    return found
