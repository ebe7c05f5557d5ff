"""Windows that slide over the spatial dimensions of [N, C, ...]: what convolutions and poolings share.

All windows of a tensor are one gather along its flattened spatial dimensions: [N, C, window's elements, places]. It is the same for
any rank, stride and dilation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.call import NodeCall
from fleet.ir.shapes import MAX_ELEMENTS


def numbers(n: NodeCall, name: str, rank: int, default: int) -> list[int]:
    """An attribute with one positive number for each spatial dimension. Raises ModelError."""
    found = n.attribute(name, [default] * rank)
    if len(found) != rank or any(type(v) is not int or v < 1 for v in found):
        n.refuse(f"its attribute {name} is {found}, expected {rank} positive numbers")
    return found


def padding(
    n: NodeCall, sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Padding before and after each spatial dimension, by `pads` or `auto_pad`."""
    rank = len(sizes)
    mode = n.attribute("auto_pad", "NOTSET")
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        total = [max(0, (-(-x // s) - 1) * s + r - x) for x, s, r in zip(sizes, strides, reach, strict=True)]
        small, large = [t // 2 for t in total], [t - t // 2 for t in total]
        return (small, large) if mode == "SAME_UPPER" else (large, small)
    pads = [0] * (2 * rank) if mode == "VALID" else n.attribute("pads", [0] * (2 * rank))
    if len(pads) != 2 * rank or any(type(p) is not int or p < 0 for p in pads):
        n.refuse(f"its attribute pads is {pads}, expected {2 * rank} numbers that are not negative")
    return pads[:rank], pads[rank:]


@dataclass(frozen=True)
class Windows:
    """What a kernel covers.

    Attributes:
        values: [N, C, window, places]. shape: places along each spatial dimension.
        places: [window, places], flat index into the padded input.
        padded: sizes of the padded input; low: padding before.
    """

    values: OnnxArray
    shape: tuple[int, ...]
    places: np.ndarray
    padded: tuple[int, ...]
    low: tuple[int, ...]

    def inside(self, sizes: Sequence[int]) -> np.ndarray:
        """[window, places]: whether the element is one of the input's, and not padding."""
        at = np.unravel_index(self.places, self.padded)
        found = np.ones(self.places.shape, bool)
        for i, low, size in zip(at, self.low, sizes, strict=True):
            found &= (i >= low) & (i < low + size)
        return found


def windows(
    n: NodeCall,
    x: OnnxArray,
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    fill: float = 0,
    *,
    ceil: bool = False,
) -> Windows:
    """All windows of x; `ceil`: the last may begin inside and end outside of the padding."""
    sizes = x.shape[2:]
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
    high = list(high)
    shape: list[int] = []
    for i, size in enumerate(sizes):
        room = size + low[i] + high[i] - reach[i]
        if room < 0:
            n.refuse(f"a window of {reach[i]} over {size + low[i] + high[i]} elements")
        count = room // strides[i] + 1
        if ceil and room % strides[i] and count * strides[i] < size + low[i]:
            high[i] += count * strides[i] - room
            count += 1
        shape.append(count)
    padded = tuple(s + a + b for s, a, b in zip(sizes, low, high, strict=True))
    if np.prod([*x.shape[:2], *kernel, *shape], dtype=np.float64) > MAX_ELEMENTS:
        n.refuse(f"windows of {list(kernel)} over {list(x.shape)} are too large")
    n.bounded(*kernel, *shape)
    flat = np.zeros((1, 1), np.int64)
    for i, size in enumerate(padded):
        along = np.arange(kernel[i])[:, None] * dilations[i] + np.arange(shape[i])[None, :] * strides[i]
        flat = (flat[:, None, :, None] * size + along[None, :, None, :]).reshape(flat.shape[0] * kernel[i], -1)
    x = x.pad([0, 0, *low], [0, 0, *high], fill)
    rows = x.reshape(*x.shape[:2], int(np.prod(padded)))
    plain = flat.shape[0] == 1 and flat.shape[1] == rows.shape[2] and np.array_equal(flat[0], np.arange(flat.shape[1]))
    values = rows.unsqueeze(2) if plain else rows.take(x.build.known(flat), 2)
    return Windows(values, tuple(shape), flat, padded, tuple(low))
