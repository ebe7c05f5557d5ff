"""Pads the heads of an attention with zeros to a size that the device takes: the counterpart of `products.widen_heads` for graphs.

Zeros after the channels of queries and keys add nothing to the scores; those after the values meet rows of zeros in the product
that follows. They are columns and rows of weights: no data moves when a step runs, but a cache takes the memory of the wider heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from fleet.ir.accel.attention import (
    DatHbmCall,
    F2wMvmCall,
    Feature2WeightCall,
    PosEmbCall,
    RopeCall,
    SoftmaxCall,
    TransposeCall,
    TrpMvmCall,
)
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, post_order, single
from fleet.ir.accel.products import MvmBnCall, ProductCall
from fleet.ir.accel.types import Dim
from fleet.ir.accel.views import ReshapeCall
from fleet.sdk import Device
from fleet.transforms.graph_edit import GraphCopy, GraphPattern, RewrittenGraph, projected, rebuilt, rewritten, users
from fleet.transforms.products.widen_heads import padded_heads, padded_width


def fill_heads(graph: Node, device: Device, widths: Sequence[int]) -> RewrittenGraph:
    """Pad heads to the next of some sizes, if queries, keys, values and the following operator are products with unshared weights.

    Returns the same graph if all heads have one of these sizes. Raises GraphError if the graph has no types.
    """
    if not any(isinstance(node, F2wMvmCall) and _width(node, widths) for node in post_order(graph)):
        return RewrittenGraph(graph)
    return rewritten(graph, lambda copy: _Attention(copy, widths), device)


class _Attention(GraphPattern):
    """The product after an attention, with all nodes that lead to it."""

    def __init__(self, copy: GraphCopy, widths: Sequence[int]) -> None:
        super().__init__(copy)
        self.widths = widths

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ProductCall, rewriter: PatternRewriter) -> None:
        """Rewrite one whose features are the joined heads of an attention."""
        joined, weight = op.args[0], op.args[1]
        if not isinstance(joined, ReshapeCall) or not isinstance(weight, ConstantNode) or isinstance(weight.data, str):
            return
        mixed = joined.args[0]
        width = _width(mixed, self.widths)
        if width is None or not isinstance(mixed, F2wMvmCall):
            return
        scores, values = mixed.args
        turned = scores.args[0] if isinstance(scores, SoftmaxCall) else None
        if not isinstance(turned, TrpMvmCall) or not isinstance(values, DatHbmCall | Feature2WeightCall):
            return
        query, keys = turned.args
        if not isinstance(keys, DatHbmCall | TransposeCall):
            return
        alone = (joined, mixed, scores, values, turned, query, keys, keys.args[0], values.args[0])
        if any(len(users(node)) != 1 for node in alone):
            return
        if not all(_fillable(node) for node in (query, keys.args[0], values.args[0])):
            return
        assert isinstance(scores, SoftmaxCall)
        heads, _, channels = single(mixed).shape
        assert isinstance(heads, int)
        assert isinstance(channels, int)
        made: list[Node] = []
        q, k, v = (self._filled(node, width, made) for node in (query, keys.args[0], values.args[0]))
        new_keys, new_values = rebuilt(keys, [k]), rebuilt(values, [v])
        new_turned = rebuilt(turned, [q, new_keys], scale=turned.attrs.get("scale") or 1 / sqrt(channels))
        new_scores = rebuilt(scores, [new_turned])
        new_mixed = rebuilt(mixed, [new_scores, new_values])
        new_joined = rebuilt(joined, [new_mixed], new_shape=(1, -1, heads * width))
        shape = heads * width, *single(weight).shape[1:]
        rows = self.copy.changed(weight, "filled", lambda array: padded_heads(array, 0, heads, width), shape)
        product = rebuilt(op, [new_joined, rows, *op.args[2:]], op.checked_type)
        made += [new_keys, new_values, new_turned, new_scores, new_mixed, new_joined, rows, product]
        self.replace(op, made, rewriter)

    def _filled(self, node: Node, width: int, made: list[Node]) -> Node:
        """Return queries, keys or values with zeros after the channels of every head."""
        rope = node if isinstance(node, PosEmbCall | RopeCall) else None
        view, product = projected(rope.args[0] if rope is not None else node)
        assert product is not None
        heads = single(node).shape[0]
        assert isinstance(heads, int)
        columns = heads * width

        def filled(node: Node, rows: int, shape: Sequence[Dim]) -> ConstantNode:
            return self.copy.changed(node, "filled", lambda array: padded_heads(array.reshape(rows, -1), 1, heads, width), shape)

        chin = single(product.args[1]).shape[0]
        assert isinstance(chin, int)
        constants = [filled(product.args[1], chin, (chin, columns))]
        if isinstance(product, MvmBnCall):
            constants.append(filled(product.args[2], 2, (2 * columns,)))
        made += [*constants, rebuilt(product, [product.args[0], *constants])]
        if view is not None:
            made.append(rebuilt(view, [made[-1]], new_shape=(heads, -1, width)))
        if rope is not None:  # the appended zeros are not rotated
            attrs = {**rope.attrs, "mode": "glm"}
            made.append(turned := OperatorCall(RopeCall.name, (made[-1], rope.args[1]), attrs, rope.prefix))
            turned.label = rope.label
        return made[-1]


def _width(node: Node, widths: Sequence[int]) -> int | None:
    """Return the width to which the heads of an attention's result are padded; None if they stay."""
    channels = single(node).shape[-1] if isinstance(node, F2wMvmCall) else None
    if not isinstance(channels, int) or (wide := padded_width(channels, widths)) == channels:
        return None
    return wide


def _fillable(node: Node) -> bool:
    """Return whether heads can be padded with zeros through the weights of a product, perhaps with rotated adjacent channels."""
    if isinstance(node, RopeCall) and node.attrs.get("mode") != "glm":
        return False
    data = node.args[0] if isinstance(node, PosEmbCall | RopeCall) else node
    return isinstance(single(data).shape[0], int) and projected(data)[1] is not None
