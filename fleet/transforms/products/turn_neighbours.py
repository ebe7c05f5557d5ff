"""Rotary embedding of halves for devices that rotate adjacent channels: permutes the weights before it; scores do not change.

Channels i and i + D / 2 of a head become 2i and 2i + 1 by permuting the product's columns. Queries and keys get the same
order, so their products do not change; the cache holds keys in that order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from fleet.ir.accel.attention import DatHbmCall, PosEmbCall, RopeCall, TransposeCall, TrpMvmCall
from fleet.ir.accel.nodes import Node, OperatorCall, post_order, single
from fleet.ir.accel.products import MvmBnCall
from fleet.transforms.graph_edit import GraphPattern, RewrittenGraph, projected, rebuilt, rewritten, users


def turn_neighbours(graph: Node) -> RewrittenGraph:
    """Rewrite embeddings of halves whose queries and keys come from products with unshared weights; others stay.

    Returns the same graph if it has none. Raises GraphError if the graph has no types.
    """
    if not any(_halves(node) for node in post_order(graph)):
        return RewrittenGraph(graph)
    return rewritten(graph, _Scores)


class _Scores(GraphPattern):
    """Match scores of queries and keys that are both rotated by halves."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TrpMvmCall, rewriter: PatternRewriter) -> None:
        """Rewrite all queries of the keys' cache, and the keys."""
        keys = op.args[1]
        if not isinstance(keys, DatHbmCall | TransposeCall):
            return
        scores = users(keys)
        turned = [keys.args[0], *(s.args[0] for s in scores if isinstance(s, TrpMvmCall) and s.args[1] is keys)]
        if len(turned) != len(scores) + 1 or not all(_movable(t, [keys, *scores]) for t in turned):
            return
        for rope in dict.fromkeys(turned):
            assert isinstance(rope, RopeCall)
            self.replace(rope, self._turned(rope), rewriter)

    def _turned(self, rope: RopeCall) -> Sequence[Node]:
        """Return the product with permuted columns, its view, and the embedding of adjacent channels."""
        view, product = projected(rope.args[0])
        assert product is not None
        heads, _, channels = single(rope.args[0]).shape
        assert isinstance(heads, int)
        assert isinstance(channels, int)
        order = np.arange(heads * channels).reshape(heads, 2, channels // 2).swapaxes(1, 2).reshape(-1)
        constants = [self.copy.changed(product.args[1], "neighbours", lambda array: array[:, order])]
        if isinstance(product, MvmBnCall):
            constants.append(self.copy.changed(product.args[2], "neighbours", lambda array: array.reshape(2, -1)[:, order]))
        made: list[Node] = [*constants, rebuilt(product, [product.args[0], *constants], product.checked_type)]
        if view is not None:
            made.append(rebuilt(view, [made[-1]], view.checked_type))
        attrs = {name: value for name, value in rope.attrs.items() if name != "mode"}
        turned = OperatorCall(PosEmbCall.name, (made[-1], rope.args[1]), attrs, rope.prefix, rope.checked_type)
        turned.label = rope.label
        return [*made, turned]


def _halves(node: Node) -> bool:
    return isinstance(node, RopeCall) and node.attrs.get("mode") == "qwen"


def _movable(rope: Node, readers: Sequence[Node]) -> bool:
    """Return whether only the readers depend on the order of an embedding's channels, and its product's constants may change."""
    if not isinstance(rope, RopeCall) or not _halves(rope) or not set(users(rope)) <= set(readers):
        return False
    heads, _, channels = single(rope.args[0]).shape
    return isinstance(heads, int) and isinstance(channels, int) and projected(rope.args[0])[1] is not None
