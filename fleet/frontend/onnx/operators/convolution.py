"""Convolutions: a gather of windows and a matrix product."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.windows import numbers, padding, windows
from fleet.frontend.onnx.registry import operator


def convolve(n: NodeCall, x: OnnxArray, w: OnnxArray, fill: float = 0) -> OnnxArray:
    """x [N, C, ...], w [M, C / group, ...] -> [N, M, ...] by the node's attributes."""
    rank, group = x.rank - 2, n.attribute("group", 1)
    if rank < 1 or w.rank != x.rank or group < 1 or x.shape[1] != w.shape[1] * group or w.shape[0] % group:
        n.refuse(f"a convolution of {list(x.shape)} with {list(w.shape)} in {group} groups")
    kernel = n.attribute("kernel_shape", list(w.shape[2:]))
    if kernel != list(w.shape[2:]):
        n.refuse(f"its kernel_shape is {kernel}, its weight has {list(w.shape[2:])}")
    strides, dilations = numbers(n, "strides", rank, 1), numbers(n, "dilations", rank, 1)
    low, high = padding(n, x.shape[2:], kernel, strides, dilations)
    found = windows(n, x, kernel, strides, dilations, low, high, fill)
    return product(found.values, w, group).reshape(x.shape[0], w.shape[0], *found.shape)


def product(values: OnnxArray, w: OnnxArray, group: int) -> OnnxArray:
    """[N, C, window, places] and [M, C / group, window...] -> [N, M, places]."""
    count, channels, size, places = values.shape
    if group == 1:
        return w.reshape(w.shape[0], channels * size) @ values.reshape(count, channels * size, places)
    rows = values.reshape(count, group, channels // group * size, places)
    columns = w.reshape(group, w.shape[0] // group, channels // group * size)
    return (columns @ rows).reshape(count, w.shape[0], places)


def biased(y: OnnxArray, bias: OnnxArray | None) -> OnnxArray:
    """With a bias for each channel."""
    return y if bias is None else y + bias.reshape(bias.size, *[1] * (y.rank - 2))


@operator("Conv")
def _conv(n: NodeCall) -> OnnxArray:
    return biased(convolve(n, n.x, n.array(1)), n.optional(2))


@operator("ConvTranspose")
def _conv_transpose(n: NodeCall) -> OnnxArray:
    """A convolution of the input with zeros between its elements, by the kernel turned round."""
    x, w, group = n.x, n.array(1), n.attribute("group", 1)
    rank = x.rank - 2
    if w.rank != x.rank or group < 1 or x.shape[1] != w.shape[0] or w.shape[0] % group:
        n.refuse(f"a convolution of {list(x.shape)} with {list(w.shape)} in {group} groups")
    kernel = list(w.shape[2:])
    strides, dilations = numbers(n, "strides", rank, 1), numbers(n, "dilations", rank, 1)
    extra = n.attribute("output_padding", [0] * rank)
    low, high, extra = _cut(n, x.shape[2:], kernel, strides, dilations, extra)
    reach = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    sizes = [(s - 1) * t + 1 for s, t in zip(x.shape[2:], strides, strict=True)]
    spread = _with_gaps(x, strides, sizes)
    before, after = [r - a for r, a in zip(reach, low, strict=True)], [r - b for r, b in zip(reach, high, strict=True)]
    after = [v + e for v, e in zip(after, extra, strict=True)]
    start = [0, 0, *(max(0, -v) for v in before)]
    stop = [0, 0, *(max(0, -v) for v in after)]
    spread = spread.window(start, [d - a - b for d, a, b in zip(spread.shape, start, stop, strict=True)])
    found = windows(n, spread, kernel, [1] * rank, dilations, [max(0, v) for v in before], [max(0, v) for v in after])
    outputs = w.shape[1] * group
    turned = w.window([0, 0, *(k - 1 for k in kernel)], w.shape, [1, 1, *[-1] * rank])
    each = turned.reshape(group, w.shape[0] // group, w.shape[1], math.prod(kernel)).transpose(0, 2, 1, 3)
    y = product(found.values, each.reshape(outputs, w.shape[0] // group, math.prod(kernel)), group)
    return biased(y.reshape(x.shape[0], outputs, *found.shape), n.optional(2))


def _with_gaps(x: OnnxArray, strides: Sequence[int], sizes: Sequence[int]) -> OnnxArray:
    """Zeros between the elements of each spatial dimension."""
    for i, (stride, size) in enumerate(zip(strides, sizes, strict=True)):
        if stride == 1:
            continue
        axis = 2 + i
        high = [0] * (x.rank + 1)
        high[axis + 1] = stride - 1
        spread = x.unsqueeze(axis + 1).pad([0] * (x.rank + 1), high)
        x = spread.reshape(*x.shape[:axis], x.shape[axis] * stride, *x.shape[axis + 1 :]).part(axis, 0, size)
    return x


def _cut(
    n: NodeCall, sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int], extra: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """What is cut off before and after, and what is added after."""
    rank = len(sizes)
    full = [t * (s - 1) + e + (k - 1) * d + 1 for t, s, e, k, d in zip(strides, sizes, extra, kernel, dilations, strict=True)]
    mode = n.attribute("auto_pad", "NOTSET")
    wanted: list[int] | None = None
    if n.has("output_shape"):
        wanted = n.attribute("output_shape", [0])[-rank:]
    elif mode in ("SAME_UPPER", "SAME_LOWER"):
        wanted = [s * t for s, t in zip(sizes, strides, strict=True)]
    if wanted is None:
        pads = [0] * (2 * rank) if mode == "VALID" else n.attribute("pads", [0] * (2 * rank))
        if len(pads) != 2 * rank or min(pads) < 0:
            n.refuse(f"its attribute pads is {pads}")
        return pads[:rank], pads[rank:], list(extra)
    total = [f - w for f, w in zip(full, wanted, strict=True)]
    added = [max(0, -t) for t in total]
    total = [max(0, t) for t in total]
    small, large = [t // 2 for t in total], [t - t // 2 for t in total]
    low, high = (small, large) if mode == "SAME_UPPER" else (large, small)  # NOTSET too, beside an output_shape
    return low, high, [e + a for e, a in zip(extra, added, strict=True)]


@operator("Col2Im")
def _col2im(n: NodeCall) -> OnnxArray:
    """Blocks added where they came from: for every element of the image a sum over the blocks that hold it."""
    image, kernel = n.integers(1, "its image's shape"), n.integers(2, "its block's shape")
    rank = len(image)
    strides, dilations = numbers(n, "strides", rank, 1), numbers(n, "dilations", rank, 1)
    pads = n.attribute("pads", [0] * (2 * rank))
    dummy = n.constant(np.zeros((1, 1, *image), np.float32))
    found = windows(n, dummy, kernel, strides, dilations, pads[:rank], pads[rank:])
    n.bounded(64, *image)  # lists of Python, which are larger
    count, rows, places = n.x.shape
    channels = rows // math.prod(kernel)
    target = math.prod(image)
    padded = np.full(math.prod(found.padded), -1)
    at = np.unravel_index(np.arange(padded.size), found.padded)
    inside = np.all([(i >= a) & (i < a + s) for i, a, s in zip(at, pads, image, strict=False)], axis=0)
    padded[inside] = np.arange(target)
    goal = padded[found.places].reshape(-1)
    lists: list[list[int]] = [[] for _ in range(target)]
    for source, place in enumerate(goal):
        if place >= 0:
            lists[place].append(source)
    depth = max(map(len, lists), default=0)
    flat = n.x.reshape(count, channels, math.prod(kernel) * places).pad([0, 0, 0], [0, 0, 1])
    index = np.array([(entry + [goal.size] * depth)[:depth] for entry in lists], np.int64)
    return flat.take(n.constant(index), 2).sum([3]).reshape(count, channels, *image)


@operator("ConvInteger")
def _conv_integer(n: NodeCall) -> OnnxArray:
    x, w = n.array(0).astype(np.int32), n.array(1).astype(np.int32)
    x_zero, w_zero = n.optional(2), n.optional(3)
    if x_zero is not None:
        x = x - x_zero.astype(np.int32).reshape()
    if w_zero is not None:
        zero = w_zero.astype(np.int32)
        w = w - (zero.reshape() if zero.size == 1 else zero.reshape(zero.size, *[1] * (w.rank - 1)))
    return convolve(n, x, w)
