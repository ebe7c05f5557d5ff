"""Values at places that are computed (GridSample, RoiAlign), as gathers of the neighbours with their weights; AffineGrid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, binary, maximum, minimum, unary, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.indexing import wrapped
from fleet.frontend.onnx.registry import operator


def _and(a: OnnxArray, b: OnnxArray) -> OnnxArray:
    return binary("logical_and", a, b)


def _at(x: OnnxArray, images: OnnxArray, places: Sequence[OnnxArray]) -> OnnxArray:
    """x [N, C, ...] at whole places, each [R, P], of the images [R, 1] -> [R, P, C]."""
    sizes = x.shape[2:]
    rows = x.reshape(x.shape[0], x.shape[1], math.prod(sizes)).transpose(0, 2, 1).reshape(-1, x.shape[1])
    flat = images
    for place, size in zip(places, sizes, strict=True):
        flat = flat * size + place.astype(np.int64)
    return rows.take(flat)


def _reflected(at: OnnxArray, low: float, high: float) -> OnnxArray:
    """A place folded back between two borders, as often as it takes."""
    reach = high - low
    if reach <= 0:
        return at * 0 + low
    turn = (at - low) % (2 * reach)
    return minimum(turn, 2 * reach - turn) + low


def _cubic(part: OnnxArray) -> list[OnnxArray]:
    """Weights of the four neighbours of a place that lies this far behind the second."""
    a = -0.75

    def near(d: OnnxArray) -> OnnxArray:
        return ((d * (a + 2) - (a + 3)) * d) * d + 1

    def far(d: OnnxArray) -> OnnxArray:
        return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a

    return [far(part + 1), near(part), near(1 - part), far(2 - part)]


@operator("GridSample", since=16)
def _grid_sample(n: NodeCall) -> OnnxArray:
    x, grid = n.x, n.array(1)
    mode = {"bilinear": "linear", "bicubic": "cubic"}.get(n.attribute("mode", "linear"), n.attribute("mode", "linear"))
    padding, align = n.attribute("padding_mode", "zeros"), bool(n.attribute("align_corners", 0))
    sizes, rank = x.shape[2:], x.rank - 2
    if mode not in ("linear", "nearest", "cubic") or padding not in ("zeros", "border", "reflection"):
        n.refuse(f"the mode {mode!r} with the padding {padding!r}")
    if grid.rank != x.rank or grid.shape[-1] != rank or grid.shape[0] != x.shape[0]:
        n.refuse(f"a grid of shape {list(grid.shape)} over {list(x.shape)}")
    count, shape = grid.shape[0], grid.shape[1:-1]
    flat = grid.astype(x.dtype).reshape(count, math.prod(shape), rank)
    images = n.constant(np.arange(count, dtype=np.int64).reshape(count, 1))
    borders = [(0.0, size - 1.0) if align else (-0.5, size - 0.5) for size in sizes]
    taps: list[list[tuple[OnnxArray, OnnxArray | None]]] = []
    for axis, size in enumerate(sizes):
        g = flat.part(2, rank - 1 - axis, 1).squeeze(2)  # the last dimension of the grid is x, y, z
        at = (g + 1) * ((size - 1) / 2) if align else ((g + 1) * size - 1) * 0.5
        if padding == "reflection":
            at = _reflected(at, *borders[axis])
        taps.append(_taps(at, mode))
    total: OnnxArray | None = None
    for chosen in product(*taps):
        places, weight, inside = [], None, None
        for (place, share), size, border in zip(chosen, sizes, borders, strict=True):
            if padding == "zeros":
                fits = _and(place >= 0, place <= size - 1)
                inside = fits if inside is None else _and(inside, fits)
            elif padding == "reflection":
                places.append(minimum(maximum(_reflected(place, *border), 0), size - 1))
            if padding != "reflection":
                places.append(minimum(maximum(place, 0), size - 1))
            weight = share if weight is None or share is None else weight * share
        value = _at(x, images, places)
        if inside is not None:
            value = where(inside.unsqueeze(2), value, x.like(0))
        value = value if weight is None else value * weight.unsqueeze(2)
        total = value if total is None else total + value
    assert total is not None
    return total.transpose(0, 2, 1).reshape(count, x.shape[1], *shape)


def _taps(at: OnnxArray, mode: str) -> list[tuple[OnnxArray, OnnxArray | None]]:
    """Neighbours along one axis, each with its weight."""
    if mode == "nearest":
        return [(unary("rint", at), None)]
    low = unary("floor", at)
    part = at - low
    if mode == "linear":
        return [(low, 1 - part), (low + 1, part)]
    return [(low + (i - 1), w) for i, w in enumerate(_cubic(part))]


@operator("RoiAlign", since=10)
def _roi_align(n: NodeCall) -> OnnxArray:
    x, rois, images = n.x, n.array(1), n.array(2)
    mode, ratio = n.attribute("mode", "avg"), n.attribute("sampling_ratio", 0)
    sizes = (n.attribute("output_height", 1), n.attribute("output_width", 1))
    if mode not in ("avg", "max") or x.rank != 4 or rois.rank != 2 or rois.shape[1] != 4:
        n.refuse(f"the mode {mode!r} of {list(x.shape)} with regions of shape {list(rois.shape)}")
    if ratio < 1:
        n.refuse("takes as many samples as a region is large, which data decide", "give it a sampling_ratio")
    half = n.attribute("coordinate_transformation_mode", "half_pixel" if n.opset >= 16 else "output_half_pixel") == "half_pixel"
    scale, count = n.attribute("spatial_scale", 1.0), rois.shape[0]
    axes: list[list[tuple[OnnxArray, OnnxArray]]] = []
    outside: OnnxArray | None = None
    n.bounded(count, *sizes, ratio, ratio)
    samples = [size * ratio for size in sizes]
    for axis, (size, dim) in enumerate(zip(sizes, x.shape[2:], strict=True)):
        low, high = (rois.part(1, i, 1) * scale - (0.5 if half else 0.0) for i in (1 - axis, 3 - axis))
        length = high - low if half else maximum(high - low, 1)
        whole, part = (n.constant(v.astype(x.dtype).reshape(1, -1)) for v in np.divmod(np.arange(size * ratio), ratio))
        step = length / size  # rounded in this order by the standard's reference and by onnxruntime
        at = (low + step * whole) + step * (part + 0.5) / ratio
        gone = binary("logical_or", at < -1, at > dim)
        shaped = gone.unsqueeze(2) if axis == 0 else gone.unsqueeze(1)
        outside = shaped if outside is None else binary("logical_or", outside, shaped)
        at = minimum(maximum(at, 0), dim - 1)
        first = unary("floor", at)
        part = at - first
        pairs = [(first, 1 - part), (minimum(first + 1, dim - 1), part)]
        axes.append([tuple(v.unsqueeze(2) if axis == 0 else v.unsqueeze(1) for v in p) for p in pairs])  # pyright: ignore[reportArgumentType]
    rows = wrapped(images, x.shape[0]).reshape(count, 1)
    points = samples[0] * samples[1]
    parts: list[OnnxArray] = []
    for (y, y_share), (z, z_share) in product(*axes):
        spread = [v.broadcast_to(count, *samples).reshape(count, points) for v in (y, z)]
        weight = (y_share * z_share).reshape(count, points, 1)
        parts.append(_at(x, rows, spread) * weight)
    assert outside is not None
    gone = outside.broadcast_to(count, *samples).reshape(count, points, 1)
    combine = OnnxArray.__add__ if mode == "avg" else maximum
    value = parts[0]
    for other in parts[1:]:
        value = combine(value, other)
    value = where(gone, value.like(0), value).reshape(count, sizes[0], ratio, sizes[1], ratio, x.shape[1])
    found = value.mean([2, 4]) if mode == "avg" else value.max([2, 4])
    return found.transpose(0, 3, 1, 2)


@operator("AffineGrid", since=20)
def _affine_grid(n: NodeCall) -> OnnxArray:
    """Places for GridSample. Not by the standard's expansion, whose Squeeze drops the images' axis where there is one image."""
    theta, sizes = n.x, n.integers(1, "the size")[2:]
    rank = len(sizes)
    if rank not in (2, 3) or theta.rank != 3 or theta.shape[1:] != (rank, rank + 1):
        n.refuse(f"theta of shape {list(theta.shape)} for {rank} axes of places", "it takes [N, 2, 3] or [N, 3, 4]")
    n.bounded(theta.shape[0], rank, *sizes)
    ends = [1 - (0 if n.attribute("align_corners", 0) else 1 / size) for size in sizes]
    along = [np.linspace(-end, end, size) for end, size in zip(ends, sizes, strict=True)]
    places = [p.reshape(-1) for p in np.meshgrid(*along, indexing="ij")][::-1]  # the last axis' place comes first
    base = n.constant(np.stack([*places, np.ones(math.prod(sizes))]).astype(theta.dtype))
    return (theta @ base).transpose(0, 2, 1).reshape(theta.shape[0], *sizes, rank)
