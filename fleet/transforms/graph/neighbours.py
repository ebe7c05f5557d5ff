"""Rotary embedding of halves for devices that turn neighbours: the weights before it change places, the scores do not.

Channels i and i + D / 2 of a head become 2i and 2i + 1 by another order of the product's columns. Queries and keys get the same
order, so their products are what they were; the cache holds keys in that order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from fleet.ir.accel.attention import DatHbmCall, PosEmbCall, RopeCall, TransposeCall, TrpMvmCall
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, post_order
from fleet.ir.accel.products import MvmBnCall, MvmCall
from fleet.ir.accel.types import AccelTensor
from fleet.ir.accel.views import ReshapeCall
from fleet.transforms.graph.rewriting import GraphCopy

__all__ = ["Neighbours", "turn_neighbours"]


@dataclass(frozen=True)
class Neighbours:
    """The new graph. made: names of the embeddings that turn neighbours now; fates: as in `fleet.transforms.graph.fuse.Fused`."""

    graph: Node
    made: tuple[str, ...]
    fates: Mapping[str, str]


def turn_neighbours(graph: Node) -> Neighbours:
    """Rewrites embeddings of halves whose queries and keys come from products with weights of their own; others stay.

    The very same graph where it has none. Raises GraphError for a graph without types.
    """
    if not any(_halves(node) for node in post_order(graph)):
        return Neighbours(graph, (), {})
    copy = GraphCopy(graph)
    pattern = _Scores(copy)
    root = copy.rewrite(pattern)
    return Neighbours(root, tuple(pattern.made), copy.fates.fates)


class _Scores(RewritePattern):
    """Scores of queries and keys that are both turned by halves."""

    def __init__(self, copy: GraphCopy) -> None:
        self.copy = copy
        self.made: list[str] = []

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TrpMvmCall, rewriter: PatternRewriter) -> None:
        """Rewrites all queries of the keys' cache, and the keys."""
        keys = op.args[1]
        if not isinstance(keys, DatHbmCall | TransposeCall):
            return
        scores = _users(keys)
        turned = [keys.args[0], *(s.args[0] for s in scores if isinstance(s, TrpMvmCall) and s.args[1] is keys)]
        if len(turned) != len(scores) + 1 or not all(_movable(t, [keys, *scores]) for t in turned):
            return
        for rope in dict.fromkeys(turned):
            assert isinstance(rope, RopeCall)
            self.made.append(self.copy.fates.names[rope])
            self.copy.replace(rope, self._turned(rope), rope, rewriter)

    def _turned(self, rope: RopeCall) -> Sequence[Node]:
        """The product with its columns in the other order, its view, and the embedding of neighbours."""
        view, product = _source(rope)
        assert product is not None
        data = rope.args[0].checked_type
        assert isinstance(data, AccelTensor)
        heads, _, channels = data.shape
        assert isinstance(heads, int)
        assert isinstance(channels, int)
        order = np.arange(heads * channels).reshape(heads, 2, channels // 2).swapaxes(1, 2).reshape(-1)
        weight = self._constant(product.args[1], lambda array: array[:, order])
        made: list[Node] = [weight]
        args = [product.args[0], weight]
        if isinstance(product, MvmBnCall):
            made.append(bn := self._constant(product.args[2], lambda array: array.reshape(2, -1)[:, order]))
            args.append(bn)
        made.append(_like(product, args))
        if view is not None:
            made.append(_like(view, [made[-1]]))
        attrs = {name: value for name, value in rope.attrs.items() if name != "mode"}
        turned = OperatorCall(PosEmbCall.name, (made[-1], rope.args[1]), attrs, rope.prefix, rope.checked_type)
        turned.label = rope.label
        return [*made, turned]

    def _constant(self, node: Node, change: Callable[[np.ndarray], np.ndarray]) -> ConstantNode:
        assert isinstance(node, ConstantNode)
        data = node.data
        changed = None if data is None else lambda: change(np.asarray(data() if callable(data) else data))
        label = self.copy.label(f"{node.label}_neighbours")
        return ConstantNode(label, changed, node.shape, node.dtype, node.device, node.prefix, checked_type=node.checked_type)


def _halves(node: Node) -> bool:
    return isinstance(node, RopeCall) and node.attrs.get("mode") == "qwen"


def _users(node: Node) -> list[Node]:
    return [use.operation for use in node.results[0].uses if isinstance(use.operation, Node)]


def _source(rope: Node) -> tuple[ReshapeCall | None, MvmCall | MvmBnCall | None]:
    """The view and the product that an embedding turns."""
    (data, *_) = rope.args if isinstance(rope, OperatorCall) else (rope,)
    view = data if isinstance(data, ReshapeCall) else None
    product = view.args[0] if view is not None else data
    return view, product if isinstance(product, MvmCall | MvmBnCall) else None


def _movable(rope: Node, readers: Sequence[Node]) -> bool:
    """Whether nothing but the readers sees the order of an embedding's channels, and its product's constants may change."""
    if not isinstance(rope, RopeCall) or not _halves(rope) or not set(_users(rope)) <= set(readers):
        return False
    view, product = _source(rope)
    data = rope.args[0].checked_type
    if product is None or product.attrs.get("arg_max") or not isinstance(data, AccelTensor):
        return False
    if not all(isinstance(size, int) for size in (data.shape[0], data.shape[2])):
        return False
    if any(len(list(node.results[0].uses)) != 1 for node in (view, product) if node is not None):
        return False
    return all(isinstance(c, ConstantNode) and not isinstance(c.data, str) for c in product.args[1:])


def _like(node: OperatorCall, args: Sequence[Node]) -> OperatorCall:
    new = OperatorCall(node.op, args, dict(node.attrs), node.prefix, node.checked_type)
    new.label = node.label
    return new
