"""Fourier transforms as products with matrices of cosines and sines, and the weights of a mel spectrum."""

from __future__ import annotations

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, concat
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.registry import operator
from fleet.frontend.onnx.tensors import dtype_of


def _fitted(x: OnnxArray, axis: int, length: int) -> OnnxArray:
    """Cut off, or filled with zeros, to a length along an axis."""
    if x.shape[axis] >= length:
        return x.part(axis, 0, length)
    high = [0] * x.rank
    high[axis] = length - x.shape[axis]
    return x.pad([0] * x.rank, high)


def _transform(n: NodeCall, x: OnnxArray, length: int, inverse: bool, onesided: bool) -> OnnxArray:
    """The transform of [..., length or onesided, 1 or 2] along the last dimension but one, [..., places, 2 or 1]."""
    n.bounded(length, length)
    whole = inverse and onesided
    x = _fitted(x, x.rank - 2, length // 2 + 1 if whole else length)
    given = x.shape[-2]
    rows, places = np.arange(given), np.arange(length // 2 + 1 if onesided and not inverse else length)
    angles = 2 * np.pi * (np.outer(rows, places) % length) / length
    cos, sin = np.cos(angles), np.sin(angles) * (1 if inverse else -1)
    if inverse:
        cos, sin = cos / length, sin / length
    if whole:  # the other half is the conjugate of this one
        twice = np.where((rows == 0) | ((length % 2 == 0) & (rows == length // 2)), 1.0, 2.0)[:, None]
        cos, sin = cos * twice, sin * twice
    # A fast transform loses the logarithm of what a sum of products does: the sums are of float64.
    kind, x = x.dtype, x.astype(np.float64)
    c, s = (n.constant(m) for m in (cos, sin))
    x = x.transpose(*range(x.rank - 2), x.rank - 1, x.rank - 2)
    real = x.part(x.rank - 2, 0, 1)
    imaginary = x.part(x.rank - 2, 1, 1) if x.shape[-2] == 2 else None
    re, im = real @ c, real @ s
    if imaginary is not None:
        re, im = re - imaginary @ s, im + imaginary @ c
    found = re if whole else concat([re, im], re.rank - 2)
    return found.transpose(*range(found.rank - 2), found.rank - 1, found.rank - 2).astype(kind)


@operator("DFT", since=17)
def _dft(n: NodeCall) -> OnnxArray:
    x = n.x
    inverse, onesided = bool(n.attribute("inverse", 0)), bool(n.attribute("onesided", 0))
    given = (
        n.integers(2, "its axis")[0]
        if n.opset >= 20 and n.optional(2) is not None
        else n.attribute("axis", -2 if n.opset >= 20 else 1)
    )
    axis = n.axis(given, x.rank)
    if axis == x.rank - 1 or x.shape[-1] not in (1, 2):
        n.refuse(f"a transform of {list(x.shape)} along axis {axis}", "the last dimension has real and imaginary parts")
    length = 2 * (x.shape[axis] - 1) if inverse and onesided else x.shape[axis]
    if n.optional(1) is not None:
        length = n.integers(1, "its length")[0]
    if length < 1:
        n.refuse(f"a transform of length {length}")
    order = [i for i in range(x.rank - 1) if i != axis] + [axis, x.rank - 1]
    found = _transform(n, x.transpose(*order), length, inverse, onesided)
    return found.transpose(*(order.index(i) for i in range(x.rank)))


@operator("STFT", since=17)
def _stft(n: NodeCall) -> OnnxArray:
    x, step, window = n.x, n.integers(1, "its step")[0], n.optional(2)
    if n.optional(3) is not None:
        length = n.integers(3, "its length")[0]
    else:
        length = x.shape[1] if window is None else window.size
    x = x.unsqueeze(2) if x.rank == 2 else x
    if step < 1 or not 0 < length <= x.shape[1] or x.shape[2] not in (1, 2) or (window is not None and window.size != length):
        n.refuse(f"frames of {length} every {step} of a signal of shape {list(n.x.shape)}")
    frames = 1 + (x.shape[1] - length) // step
    n.bounded(frames, length)
    places = np.arange(frames)[:, None] * step + np.arange(length)[None, :]
    cut = x.take(n.constant(places, np.int64), 1)
    cut = cut if window is None else cut * window.reshape(length, 1)
    return _transform(n, cut, length, False, bool(n.attribute("onesided", 1)) and x.shape[2] == 1)


@operator("MelWeightMatrix", since=17)
def _mel_weight_matrix(n: NodeCall) -> OnnxArray:
    """Triangles over the bins of a spectrum, as ONNX's definition steps through them."""
    bins, length, rate, low, high = (float(n.known(i, "a number of its").reshape(-1)[0]) for i in range(5))
    count, size = int(bins), int(length) // 2 + 1
    if count < 1 or size < 1 or rate <= 0:
        n.refuse(f"{count} mel bins of a spectrum of {size} at {rate}")
    n.bounded(count, size)
    edges = [2595 * np.log10(1 + v / 700) for v in (low, high)]
    mel = np.arange(count + 2) * (edges[1] - edges[0]) / (count + 2) + edges[0]
    at = ((length + 1) * (700 * (10 ** (mel / 2595) - 1)) // rate).astype(int)
    found = np.zeros((size, count))
    for i in range(count):
        left, centre, right = at[i : i + 3]
        if not 0 <= left <= centre < size or right > size:
            n.refuse(f"edges {low} to {high} Hz, beyond the spectrum of {rate} Hz")
        if centre == left:
            found[centre, i] = 1
        else:
            found[left : centre + 1, i] = np.arange(centre - left + 1) / (centre - left)
        if right > centre:
            found[centre:right, i] = (right - np.arange(centre, right)) / (right - centre)
    return n.build.known(found.astype(dtype_of(n.attribute("output_datatype", 1), n.node.where)))
