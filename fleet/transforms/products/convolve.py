"""Convolutions as products over windows: the device has products alone.

A row of the result is a product of the rows that a kernel covers, which stand side by side as channels, with the
columns that it covers joined behind one another (`copy_parts`). Where a kernel reaches over the edge its taps have no
weights, and nothing is padded. Sums are those of one product, rounded once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NoReturn

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, post_order, single
from fleet.ir.accel.products import Conv2dCall, mvm
from fleet.ir.accel.types import Dim
from fleet.ir.accel.views import LANES, concat, reshape, split
from fleet.sdk import Device
from fleet.transforms.graph_edit import GraphPattern, RewrittenGraph, rewritten


def convolve_by_products(graph: Node, device: Device) -> RewrittenGraph:
    """Makes products of convolutions. graph: as `infer_type` gives it; it is not touched.

    Raises:
        GraphError: naming a convolution whose sizes a step decides, whose channels do not fill whole groups of the device's lanes,
            whose weights are a file, or of which a window sees padding alone.
    """
    if not any(isinstance(node, Conv2dCall) for node in post_order(graph)):
        return RewrittenGraph(graph)
    return rewritten(graph, _Convolution, device)


@dataclass(frozen=True)
class _Run:
    """Results first to last - 1 that see the taps `taps` of a kernel, of which the first stands at `start` for the first result."""

    first: int
    last: int
    taps: tuple[int, int]
    start: int


def _runs(size: int, kernel: int, stride: int, pad: int, *, together: bool) -> Iterator[_Run]:
    """The results along one axis. together: neighbours with the same taps are one run, if the stride is 1."""
    seen = [
        (max(0, pad - i * stride), min(kernel, size + pad - i * stride)) for i in range((size + 2 * pad - kernel) // stride + 1)
    ]
    joined = together and stride == 1
    starts = [i for i in range(len(seen)) if i == 0 or not joined or seen[i] != seen[i - 1]]
    for first, last in pairwise([*starts, len(seen)]):
        yield _Run(first, last, seen[first], first * stride - pad + seen[first][0])


class _Convolution(GraphPattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Conv2dCall, rewriter: PatternRewriter) -> None:
        """Rewrites one. Raises GraphError."""
        data, weight = op.args
        height, width, channels = (self._known(op, size) for size in single(data).shape)
        kernel = tuple(self._known(op, size) for size in single(weight).shape[:2])
        strides, padding = op.attrs["strides"], op.attrs["padding"]
        if channels % LANES:
            self._refuse(op, f"its input has {channels} channels, the device's products take windows of whole groups of {LANES}")
        if not isinstance(weight, ConstantNode) or isinstance(weight.data, str):
            self._refuse(op, "its weights are a file of packed bytes, of which no others can be made", "give an array")
        rows = list(_runs(height, kernel[0], strides[0], padding[0], together=False))
        columns = list(_runs(width, kernel[1], strides[1], padding[1], together=True))
        if any(run.taps[0] >= run.taps[1] for run in (*rows, *columns)):
            self._refuse(op, "a window of it sees padding alone")
        made = _Made()
        whole = made(reshape(data, (1, width, height * channels))) if height > 1 else data
        weights: dict[tuple[tuple[int, int], tuple[int, int]], Node] = {}
        lines: list[Node] = []
        for row in rows:
            count = row.taps[1] - row.taps[0]
            seen = made.part(whole, 2, row.start * channels, count * channels, height * channels)
            products: list[Node] = []
            for run in columns:
                taps = range(run.taps[1] - run.taps[0])
                windows = [made.part(seen, 1, run.start + tap, run.last - run.first, width) for tap in taps]
                matrix = weights.get((row.taps, run.taps))
                if matrix is None:
                    matrix = weights[row.taps, run.taps] = made(self._matrix(weight, row.taps, run.taps))
                products.append(made(mvm(made.joined(windows, 2), matrix)))
            lines.append(made.joined(products, 1))
        result = made.joined(lines, 0)
        assert isinstance(result, OperatorCall)
        result.checked_type, result.prefix, result.label = op.checked_type, op.prefix, op.label
        for product in lines if len(lines) > 1 else ():
            product.prefix = op.prefix
        self.replace(op, made.nodes, rewriter)

    def _matrix(self, weight: ConstantNode, rows: tuple[int, int], columns: tuple[int, int]) -> ConstantNode:
        """The weights of some taps: columns, rows and channels of the window, in this order, by output channels."""
        channels, chout = single(weight).shape[2:]
        assert isinstance(channels, int)
        shape = (columns[1] - columns[0]) * (rows[1] - rows[0]) * channels, chout

        def taps(array: np.ndarray) -> np.ndarray:
            return array[slice(*rows), slice(*columns)].swapaxes(0, 1).reshape(-1, array.shape[-1])

        kind = "_".join(map(str, (*rows, *columns)))
        return self.copy.changed(weight, kind, taps, shape)

    def _known(self, op: Conv2dCall, size: Dim) -> int:
        if not isinstance(size, int):
            self._refuse(op, f"its size {size} is one that a step decides, expected a number")
        return size

    def _refuse(self, op: Conv2dCall, what: str, hint: str | None = None) -> NoReturn:
        raise GraphError(what, where=f"{self.copy.fates.names[op]} ({op.name})", hint=hint)


class _Made:
    """New nodes in the order in which they are made."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []

    def __call__(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    def part(self, node: Node, axis: int, first: int, count: int, size: int) -> Node:
        """`count` of `size` channels (2) or tokens (1), from `first` on."""
        sizes = [n for n in (first, count, size - first - count) if n]
        if len(sizes) == 1:
            return node
        return self(self(split(node, axis, sizes))[1 if first else 0])

    def joined(self, nodes: list[Node], axis: int) -> Node:
        """The nodes side by side."""
        return nodes[0] if len(nodes) == 1 else self(concat(nodes, axis))
