"""Products and convolutions of StableHLO."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Mapping, Sequence

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import dtype_of
from fleet.frontend.mlir.scalars import Rule
from fleet.frontend.mlir.stablehlo.movement import edged, fields_of, shape_of_result, spaced, wanted, windows
from fleet.frontend.mlir.stablehlo.text import StableOperation, numbers, words


def _dot(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """Multiply: batch dimensions first, then those of x that are left, then those of y."""
    text = fields_of(words(op, "dot_dimension_numbers"))

    def dims(side: str, kind: str) -> list[int]:
        return numbers(op, f"{side}_{kind}") or text.get(f"{side}_{kind}_dimensions", [])

    plain = op.name.endswith(".dot")  # without numbers: the last dimension and the first
    batch = dims("lhs", "batching"), dims("rhs", "batching")
    summed = ([x.rank - 1], [0]) if plain else (dims("lhs", "contracting"), dims("rhs", "contracting"))
    dtype = dtype_of(b, op.results[0].type)
    x, y = b.cast(x, dtype), b.cast(y, dtype)
    left = [n for n in range(x.rank) if n not in (*batch[0], *summed[0])]
    right = [n for n in range(y.rank) if n not in (*batch[1], *summed[1])]
    count = math.prod(x.shape[n] for n in summed[0])
    both = [x.shape[n] for n in batch[0]]
    kept, added = [x.shape[n] for n in left], [y.shape[n] for n in right]
    x = b.transpose(x, [*batch[0], *left, *summed[0]])
    y = b.transpose(y, [*batch[1], *summed[1], *right])
    rows = [*both, math.prod(kept)] if both else kept or [1]
    x = b.reshape(x, (*rows, count))
    y = b.reshape(y, (*both, count, math.prod(added)))
    return b.reshape(b.emit("matmul", x, y), (*both, *kept, *added))


def _convolution(b: MlirBuild, op: StableOperation, x: MlirArray, weight: MlirArray) -> MlirArray:
    """The windows of the image beside each other, times the weights: one product a group of features."""
    found = re.search(r"\[([^\]]*)\]\s*x\s*\[([^\]]*)\]\s*->\s*\[([^\]]*)\]", words(op, "dimension_numbers"))
    if found is None:
        b.refuse("a convolution whose dimension_numbers are not [b, 0, f]x[0, i, o]->[b, 0, f]")
    image, kernel, result = ([word.strip() for word in part.split(",")] for part in found.groups())
    space = [str(n) for n in range(x.rank - 2)]
    ones = [1] * len(space)
    dtype = dtype_of(b, op.results[0].type)
    x = b.transpose(b.cast(x, dtype), [image.index(n) for n in ("b", *space, "f")])
    weight = b.transpose(b.cast(weight, dtype), [kernel.index(n) for n in (*space, "i", "o")])
    x, groups = _grouped(b, op, x)
    weight = _reversed(b, weight, [bool(n) for n in numbers(op, "window_reversal") or []])
    zero = b.known(0, dtype)
    margins = numbers(op, "padding") or [0] * 2 * len(space)
    x = spaced(b, x, zero, [0, *(n - 1 for n in numbers(op, "lhs_dilation") or ones), 0])
    x = edged(b, x, zero, [0, *margins[::2], 0], [0, *margins[1::2], 0])
    sizes, inner, outer = weight.shape[:-2], weight.shape[-2], weight.shape[-1]
    stride, dilation = (numbers(op, name) or ones for name in ("window_strides", "rhs_dilation"))
    met = windows(b, x, [1, *sizes, 1], [1, *stride, 1], [1, *dilation, 1])
    place = met[0].shape[:-1]
    taps, each = math.prod(sizes), outer // groups
    weight = b.reshape(weight, (taps, inner, outer))
    if inner == 1 and groups > 1:
        made = _by_channel(b, met, weight, groups, each)
    else:
        parts = [_of_group(b, met, weight, g, inner, each) for g in range(groups)]
        made = b.concat(parts, 1)
    made = b.reshape(made, (*place, outer))
    order = ["b", *space, "f"]
    return b.transpose(made, [order.index(n) for n in result])


def _grouped(b: MlirBuild, op: StableOperation, x: MlirArray) -> tuple[MlirArray, int]:
    """Return an image [batch, space, features] and its groups of features: groups of the batch become such."""
    parts, groups = ((numbers(op, f"{kind}_group_count") or [1])[0] for kind in ("batch", "feature"))
    if parts == 1:
        return x, groups
    if groups != 1 or x.shape[0] % parts:
        b.refuse(
            f"a convolution with {parts} groups of a batch of {x.shape[0]} and {groups} of features", "one kind of groups is read"
        )
    split = b.reshape(x, (parts, x.shape[0] // parts, *x.shape[1:]))
    moved = b.transpose(split, [*range(1, x.rank), 0, x.rank])
    return b.reshape(moved, (*moved.shape[:-2], parts * x.shape[-1])), parts


def _reversed(b: MlirBuild, weight: MlirArray, turned: Sequence[bool]) -> MlirArray:
    """Return weights [space, in, out] with the dimensions of space turned round that are so."""
    if not any(turned):
        return weight
    every = [*turned, False, False]
    start = [n - 1 if t else 0 for n, t in zip(weight.shape, every, strict=True)]
    return b.window(weight, start, weight.shape, [-1 if t else 1 for t in every])


def _of_group(b: MlirBuild, met: Sequence[MlirArray], weight: MlirArray, group: int, inner: int, outer: int) -> MlirArray:
    """Return [places, outer] of a group: its channels of all windows times its weights."""
    rank, taps = met[0].rank, weight.shape[0]
    rows = math.prod(met[0].shape[:-1])
    parts = [
        b.reshape(b.window(w, [0] * (rank - 1) + [group * inner], [*w.shape[:-1], inner], [1] * rank), (rows, inner)) for w in met
    ]
    own = b.window(weight, [0, 0, group * outer], [taps, inner, outer], [1] * 3)
    return b.emit("matmul", b.concat(parts, 1), b.reshape(own, (taps * inner, outer)))


def _by_channel(b: MlirBuild, met: Sequence[MlirArray], weight: MlirArray, groups: int, times: int) -> MlirArray:
    """Each channel has weights of its own."""
    total: MlirArray | None = None
    for tap, window in enumerate(met):
        own = b.reshape(b.window(weight, [tap, 0, 0], [1, 1, groups * times], [1] * 3), (groups, times))
        part = b.emit("mul", b.reshape(window, (*window.shape, 1)), own)
        total = part if total is None else b.emit("add", total, part)
    assert total is not None
    return total


def reduced_windows(b: MlirBuild, op: StableOperation, x: MlirArray, start: MlirArray, kind: str) -> MlirArray:
    """Combine the elements of each window; margins hold the start value."""
    kernel = wanted(b, op, "window_dimensions")
    ones = [1] * x.rank
    stride, dilation = (numbers(op, name) or ones for name in ("window_strides", "window_dilations"))
    margins = numbers(op, "padding") or [0] * 2 * x.rank
    low, high = margins[::2], margins[1::2]
    axes = [n for n, k in enumerate(kernel) if k != 1]
    running = [n for n in axes if kernel[n] == x.shape[n] and (low[n], high[n]) == (x.shape[n] - 1, 0)]
    neutral = start.known is not None and not start.known.any()
    if kind == "add" and neutral and axes == running and len(axes) == 1 and stride == dilation == ones:
        return b.cast(b.emit("cumsum", x, axis=axes[0]), x.dtype)
    first, *rest = windows_of(b, op, x, start)
    for window in rest:
        first = b.emit(kind, first, window)
    return b.reshape(first, shape_of_result(b, op))


def windows_of(b: MlirBuild, op: StableOperation, x: MlirArray, start: MlirArray) -> list[MlirArray]:
    """Return the elements that each place of the window meets; margins hold the start value."""
    kernel, ones, start = wanted(b, op, "window_dimensions"), [1] * x.rank, b.reshape(start, ())
    stride, dilation, base = (numbers(op, n) or ones for n in ("window_strides", "window_dilations", "base_dilations"))
    margins = numbers(op, "padding") or [0] * 2 * x.rank
    x = spaced(b, x, start, [n - 1 for n in base])
    return windows(b, edged(b, x, start, margins[::2], margins[1::2]), kernel, stride, dilation)


def put_back(b: MlirBuild, op: StableOperation, parts: Sequence[MlirArray], shape: Sequence[int]) -> MlirArray:
    """Sum windows at the places that `windows_of` took them from, without the margins."""
    kernel, ones = wanted(b, op, "window_dimensions"), [1] * len(shape)
    stride, margins = numbers(op, "window_strides") or ones, numbers(op, "padding") or [0] * 2 * len(shape)
    zero, total = b.known(0, parts[0].dtype), None
    for place, part in zip(itertools.product(*(range(k) for k in kernel)), parts, strict=True):
        wide = spaced(b, part, zero, [s - 1 for s in stride])
        low = [p - m for p, m in zip(place, margins[::2], strict=True)]
        moved = edged(b, wide, zero, low, [n - lo - s for n, lo, s in zip(shape, low, wide.shape, strict=True)])
        total = moved if total is None else b.emit("add", total, moved)
    assert total is not None
    return total


RULES: Mapping[str, Rule] = {"dot_general": _dot, "dot": _dot, "convolution": _convolution}
"""Operation without its dialect -> what computes it."""
