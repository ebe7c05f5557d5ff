"""Resize: along each axis a gather (nearest) or a product with a matrix of weights, which is known while the model is read."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.shapes import checked
from fleet.frontend.onnx.registry import operator


@dataclass(frozen=True)
class _Axis:
    """One axis: sizes before and after, the factor between them, and the part of the axis that is taken."""

    axis: int
    before: int
    after: int
    scale: float
    start: float = 0.0
    end: float = 1.0


@operator("Resize", since=11)
def _resize(n: NodeCall) -> OnnxArray:
    x, mode = n.x, n.attribute("mode", "nearest")
    if mode not in ("nearest", "linear", "cubic"):
        n.refuse(f"the mode {mode!r}")
    axes = _axes(n, x)
    checked(n, [next((a.after for a in axes if a.axis == i), d) for i, d in enumerate(x.shape)])
    transform = n.attribute("coordinate_transformation_mode", "half_pixel")
    outside: OnnxArray | None = None
    result = x
    for a in axes:
        n.bounded(a.after, 1 if mode == "nearest" else a.before)
        whole = transform == "tf_crop_and_resize" and (a.start, a.end) != (0.0, 1.0)
        if a.before == a.after and a.scale == 1 and not whole:
            continue
        at = _coordinates(n, a, transform)
        if mode == "nearest":
            places = np.clip(_nearest(n, at, a.scale), 0, a.before - 1).astype(np.int64)
            result = result.take(n.constant(places), a.axis)
        else:
            result = _weighted(result, a.axis, _matrix(n, a, at, mode))
        if transform == "tf_crop_and_resize":
            shape = [1] * x.rank
            shape[a.axis] = a.after
            gone = n.constant(((at < 0) | (at > a.before - 1)).reshape(shape))
            outside = gone if outside is None else n.build.emit("logical_or", [outside, gone])
    if outside is not None:
        result = where(outside, result.like(n.attribute("extrapolation_value", 0.0)), result)
    return result


def _axes(n: NodeCall, x: OnnxArray) -> list[_Axis]:
    chosen = [n.axis(a, x.rank) for a in n.attribute("axes", [0])] if n.has("axes") else list(range(x.rank))
    roi = [float(v) for v in n.known(1, "its region").reshape(-1)] if n.optional(1) is not None else []
    sizes = n.integers(3, "its sizes") if n.optional(3) is not None else []
    scales = [float(v) for v in n.known(2, "its scales").reshape(-1)] if n.optional(2) is not None and not sizes else []
    before = [x.shape[a] for a in chosen]
    if sizes:
        if len(sizes) != len(chosen) or min(before, default=1) < 1:
            n.refuse(f"the sizes {sizes} of the axes {chosen}")
        scales = [s / b for s, b in zip(sizes, before, strict=True)]
        policy = n.attribute("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch":
            one = min(scales) if policy == "not_larger" else max(scales)
            scales, sizes = [one] * len(chosen), [math.floor(one * b + 0.5) for b in before]
    elif len(scales) == len(chosen) and all(math.isfinite(s) and s > 0 for s in scales):
        sizes = [math.floor(b * s) for b, s in zip(before, scales, strict=True)]
    else:
        n.refuse(f"the scales {scales} of the axes {chosen}")
    half = len(chosen)
    parts = [(roi[i], roi[half + i]) if len(roi) == 2 * half else (0.0, 1.0) for i in range(half)]
    return [_Axis(a, b, s, f, *p) for a, b, s, f, p in zip(chosen, before, sizes, scales, parts, strict=True)]


def _coordinates(n: NodeCall, a: _Axis, transform: str) -> np.ndarray:
    """Where in the input each element of the output lies."""
    i = np.arange(a.after, dtype=np.float64)
    length = a.scale * a.before  # not rounded down, as ONNX's definition has it
    match transform:
        case "half_pixel":
            return (i + 0.5) / a.scale - 0.5
        case "half_pixel_symmetric":
            adjustment = a.after / (a.scale * a.before)
            return a.before / 2 * (1 - adjustment) + (i + 0.5) / a.scale - 0.5
        case "pytorch_half_pixel":
            return (i + 0.5) / a.scale - 0.5 if a.after > 1 else i * 0
        case "align_corners":
            return i * (a.before - 1) / (length - 1) if a.after > 1 else i * 0
        case "asymmetric":
            return i / a.scale
        case "tf_crop_and_resize":
            if a.after > 1:
                return a.start * (a.before - 1) + i * (a.end - a.start) * (a.before - 1) / (length - 1)
            return i * 0 + 0.5 * (a.start + a.end) * (a.before - 1)
        case _:
            return n.refuse(f"the coordinate_transformation_mode {transform!r}")


def _nearest(n: NodeCall, at: np.ndarray, scale: float) -> np.ndarray:
    match n.attribute("nearest_mode", "round_prefer_floor"):
        case "round_prefer_floor":
            return np.ceil(at - 0.5)
        case "round_prefer_ceil":
            return np.floor(at + 0.5)
        case "floor":
            return np.floor(at)
        case "ceil":
            return np.ceil(at)
        case "simple":  # of opset 10, which did not say; this is what onnxruntime does
            return np.ceil(at) if scale < 1 else np.floor(at)
        case other:
            return n.refuse(f"the nearest_mode {other!r}")


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    d = np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _matrix(n: NodeCall, a: _Axis, at: np.ndarray, mode: str) -> np.ndarray:
    """[after, before]: the weight of every input for every output; what lies outside is the nearest inside."""
    stretch = min(a.scale, 1.0) if n.attribute("antialias", 0) else 1.0
    reach = (1 if mode == "linear" else 2) / stretch
    first = int(np.floor(-reach)) + 1
    base = np.floor(at)
    offsets = np.arange(first, 2 - first)
    places = base[:, None] + offsets[None, :]
    distance = (places - at[:, None]) * stretch
    if mode == "linear":
        weights = np.clip(1 - np.abs(distance), 0, 1)
    else:
        weights = _cubic(distance, n.attribute("cubic_coeff_a", -0.75))
    if n.attribute("exclude_outside", 0):
        weights = np.where((places >= 0) & (places < a.before), weights, 0.0)
        weights = weights / weights.sum(axis=1, keepdims=True)
    elif stretch < 1:
        weights = weights / weights.sum(axis=1, keepdims=True)
    matrix = np.zeros((a.after, a.before))
    np.add.at(matrix, (np.arange(a.after)[:, None], np.clip(places, 0, a.before - 1).astype(int)), weights)
    return matrix


def _weighted(x: OnnxArray, axis: int, matrix: np.ndarray) -> OnnxArray:
    """The matrix along one axis."""
    order = [i for i in range(x.rank) if i != axis] + [axis]
    back = [order.index(i) for i in range(x.rank)]
    weights = x.build.known(np.ascontiguousarray(matrix.T).astype(x.dtype))
    moved = x.transpose(*order)
    lead = moved.shape[:-1]
    return (moved.reshape(math.prod(lead), moved.shape[-1]) @ weights).reshape(*lead, matrix.shape[0]).transpose(*back)
