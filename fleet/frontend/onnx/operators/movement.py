"""Operators that move data."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, concat, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.limits import MAX_PARTS
from fleet.frontend.onnx.older import OLDER
from fleet.frontend.onnx.operators.shapes import checked
from fleet.frontend.onnx.registry import Result, operator


@operator("Reshape")
def _reshape(n: NodeCall) -> OnnxArray:
    wanted = n.integers(1, "its shape")
    if not n.attribute("allowzero", 0):
        if any(d == 0 and i >= n.x.rank for i, d in enumerate(wanted)):
            n.refuse(f"a reshape of {list(n.x.shape)} to {wanted}")
        wanted = [n.x.shape[i] if d == 0 else d for i, d in enumerate(wanted)]
    if wanted.count(-1) > 1 or any(d < -1 for d in wanted):
        n.refuse(f"a reshape of {list(n.x.shape)} to {wanted}")
    return n.x.reshape(*wanted)


@operator("Flatten")
def _flatten(n: NodeCall) -> OnnxArray:
    axis = n.attribute("axis", 1)
    if not -n.x.rank <= axis <= n.x.rank:
        n.refuse(f"the axis {axis} of a tensor of rank {n.x.rank}")
    axis = axis + n.x.rank if axis < 0 else axis
    rows = int(np.prod(n.x.shape[:axis], dtype=np.int64))
    return n.x.reshape(rows, int(np.prod(n.x.shape[axis:], dtype=np.int64)))


@operator("Transpose")
def _transpose(n: NodeCall) -> OnnxArray:
    return n.x.transpose(*n.attribute("perm", list(range(n.x.rank))[::-1]))


def axes_of(n: NodeCall, index: int, rank: int, *, since: int = 13) -> list[int] | None:
    """Axes as an input, or in older opsets as an attribute; counted from the front. None if they are not given."""
    found: list[int] | None = n.attribute("axes", [0]) if n.has("axes") else None
    if n.opset >= since and n.optional(index) is not None:
        found = n.integers(index, "its axes")
    if found is None:
        return None
    axes = [n.axis(a, rank) for a in found]
    if len(set(axes)) < len(axes):
        n.refuse(f"the axes {found} of a tensor of rank {rank}")
    return axes


@operator("Squeeze")
def _squeeze(n: NodeCall) -> OnnxArray:
    axes = axes_of(n, 1, n.x.rank)
    if axes is None:
        axes = [i for i, d in enumerate(n.x.shape) if d == 1]
        n.build.chose(axes)
    if any(n.x.shape[a] != 1 for a in axes):
        n.refuse(f"a squeeze of {list(n.x.shape)} along {axes}")
    return n.x.squeeze(*axes)


@operator("Unsqueeze")
def _unsqueeze(n: NodeCall) -> OnnxArray:
    given = n.integers(1, "its axes") if n.opset >= 13 else n.attribute("axes", [0])
    axes = axes_of(n, 1, n.x.rank + len(given)) or []
    return n.x.unsqueeze(*axes)


@operator("Concat")
def _concat(n: NodeCall) -> OnnxArray:
    parts = n.arrays()
    axis = n.axis(n.attribute("axis", 0), parts[0].rank)
    if len({p.dtype for p in parts}) > 1:
        n.refuse(f"a concatenation of {', '.join(str(p.dtype) for p in parts)}, which must be one type")
    return concat(parts, axis)


def split_sizes(n: NodeCall, axis: int, outputs: int) -> list[int]:
    """Sizes of the parts of input 0."""
    size = n.x.shape[axis]
    if n.optional(1) is not None and n.opset >= 13:
        sizes = n.integers(1, "the sizes of its parts")
    elif n.has("split"):
        sizes = n.attribute("split", [0])
    else:
        count = n.attribute("num_outputs", outputs)
        each = -(-size // max(count, 1))
        sizes = [min(each, max(0, size - i * each)) for i in range(count)]
    if sum(sizes) != size or min(sizes, default=0) < 0 or len(sizes) > MAX_PARTS:
        n.refuse(f"a split of {size} into {sizes}")
    return sizes


@operator("Split")
def _split(n: NodeCall) -> Sequence[OnnxArray]:
    axis = n.axis(n.attribute("axis", 0), n.x.rank)
    parts: list[OnnxArray] = []
    start = 0
    for size in split_sizes(n, axis, len(n.node.outputs)):
        parts.append(n.x.part(axis, start, size))
        start += size
    return parts


@operator("Slice")
def _slice(n: NodeCall) -> OnnxArray:
    starts, ends = n.integers(1, "its starts"), n.integers(2, "its ends")
    axes = n.integers(3, "its axes") if n.optional(3) is not None else list(range(len(starts)))
    steps = n.integers(4, "its steps") if n.optional(4) is not None else [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        n.refuse(f"a slice from {starts} to {ends} by {steps} along {axes}")
    begin, size, by = [0] * n.x.rank, list(n.x.shape), [1] * n.x.rank
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        a = n.axis(axis, n.x.rank)
        found = range(n.x.shape[a])[slice(start, end, step)]
        begin[a], size[a], by[a] = (found.start if len(found) else 0), len(found), step
    return n.x.window(begin, size, by)


@operator("Expand")
def _expand(n: NodeCall) -> OnnxArray:
    shape = checked(n, n.integers(1, "its shape"))
    try:
        return n.x.broadcast_to(*np.broadcast_shapes(n.x.shape, shape))
    except ValueError:
        return n.refuse(f"an expansion of {list(n.x.shape)} to {list(shape)}")


@operator("Tile")
def _tile(n: NodeCall) -> OnnxArray:
    repeats = n.integers(1, "its repeats")
    if len(repeats) != n.x.rank or min(repeats, default=0) < 0:
        n.refuse(f"{repeats} repeats of a tensor of shape {list(n.x.shape)}")
    checked(n, [d * r for d, r in zip(n.x.shape, repeats, strict=True)])
    apart = [v for d in n.x.shape for v in (1, d)]
    spread = [v for d, r in zip(n.x.shape, repeats, strict=True) for v in (r, d)]
    return n.x.reshape(*apart).broadcast_to(*spread).reshape(*(d * r for d, r in zip(n.x.shape, repeats, strict=True)))


def _pad_axis(x: OnnxArray, axis: int, low: int, high: int, mode: str) -> OnnxArray:
    size = x.shape[axis]
    places = np.arange(-low, size + high)
    if mode == "edge":
        places = np.clip(places, 0, size - 1)
    elif mode == "wrap":
        places %= size
    else:
        period = max(2 * (size - 1), 1)
        places = np.abs((places + size - 1) % period - (size - 1)) if size > 1 else places * 0
    return x.take(x.build.known(places.astype(np.int64)), axis)


@operator("Pad", domain=OLDER)
def _pad_by_attributes(n: NodeCall) -> Result:
    """Opset 1 has `paddings`, and the value, as attributes."""
    none: list[int] = []
    return _pad(
        n.given([n.x, n.constant(n.attribute("paddings", none), np.int64), n.constant(n.attribute("value", 0.0), n.x.dtype)])
    )


@operator("Pad")
def _pad(n: NodeCall) -> OnnxArray:
    x, mode = n.x, n.attribute("mode", "constant")
    pads = n.integers(1, "its pads")
    axes = [n.axis(a, x.rank) for a in n.integers(3, "its axes")] if n.optional(3) is not None else list(range(x.rank))
    if len(pads) != 2 * len(axes):
        n.refuse(f"{len(pads)} pads of {len(axes)} axes")
    low, high = [0] * x.rank, [0] * x.rank
    for i, axis in enumerate(axes):
        low[axis], high[axis] = pads[i], pads[len(axes) + i]
    start, stop = [max(0, -v) for v in low], [max(0, -v) for v in high]
    x = x.window(start, [d - a - b for d, a, b in zip(x.shape, start, stop, strict=True)])
    low, high = [max(0, v) for v in low], [max(0, v) for v in high]
    checked(n, [d + a + b for d, a, b in zip(x.shape, low, high, strict=True)])
    if mode == "constant":
        value = n.optional(2)
        return x.pad(low, high, 0 if value is None else value.reshape())
    for axis, (a, b) in enumerate(zip(low, high, strict=True)):
        if a or b:
            x = _pad_axis(x, axis, a, b, mode)
    return x


@operator("Trilu")
def _trilu(n: NodeCall) -> OnnxArray:
    k = n.integers(1, "its diagonal")[0] if n.optional(1) is not None else 0
    rows, columns = n.x.shape[-2:]
    n.bounded(rows, columns)
    upper = n.attribute("upper", 1)
    kept = ~np.tri(rows, columns, max(min(k - 1, columns), -rows), dtype=bool) if upper else None
    kept = np.tri(rows, columns, max(min(k, columns), -rows), dtype=bool) if kept is None else kept
    return where(n.constant(kept), n.x, n.x.like(0))


@operator("DepthToSpace")
def _depth_to_space(n: NodeCall) -> OnnxArray:
    b, c, h, w = n.x.shape
    s = n.attribute("blocksize", 1)
    if n.attribute("mode", "DCR") == "DCR":
        x = n.x.reshape(b, s, s, c // (s * s), h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        x = n.x.reshape(b, c // (s * s), s, s, h, w).transpose(0, 1, 4, 2, 5, 3)
    return x.reshape(b, c // (s * s), h * s, w * s)


@operator("SpaceToDepth")
def _space_to_depth(n: NodeCall) -> OnnxArray:
    b, c, h, w = n.x.shape
    s = n.attribute("blocksize", 1)
    x = n.x.reshape(b, c, h // s, s, w // s, s)
    order = (0, 3, 5, 1, 2, 4) if n.attribute("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    return x.transpose(*order).reshape(b, c * s * s, h // s, w // s)


@operator("ReverseSequence")
def _reverse_sequence(n: NodeCall) -> OnnxArray:
    """Reverse the first `lengths` steps of each sequence, by a gather along the time axis for each."""
    time, batch = n.attribute("time_axis", 0), n.attribute("batch_axis", 1)
    lengths = n.integers(1, "its lengths")
    rows: list[OnnxArray] = []
    for i, length in enumerate(lengths):
        row = n.x.part(batch, i, 1)
        places = np.arange(n.x.shape[time])
        places[:length] = places[:length][::-1]
        rows.append(row.take(n.constant(places, np.int64), time))
    return concat(rows, batch)
