"""Fusion: what follows a product goes into the product's own instruction, where the device's epilogue has it.

The epilogue is (product * weight + bias), then plus or times a residual, then the positive part, then an argmax: in this order,
each at most once. Graphs of `fleet.llm` are written with it; a graph from elsewhere is brought there by this pass. On a device a
fused chain rounds once instead of after every operator.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import Call, Constant, Node, TupleItem, arguments, describe, labels
from fleet.ir.accel.pointwise import Activate, Argmax, Mul, Sub, TwoFeatures
from fleet.ir.accel.products import Mvm, MvmBn, MvmBnRes, Product
from fleet.ir.accel.types import DataType, Tensor
from fleet.ir.accel.walk import caches, function

__all__ = ["Fused", "Fusion", "Missed", "fuse"]

Pair = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""(weights, biases) -> (weights, biases)."""


@dataclass(frozen=True)
class Fusion:
    """An operator that went into a product. node, product: as the graph before is printed; what: "bias", "residual", ..."""

    node: str
    product: str
    what: str


@dataclass(frozen=True)
class Missed:
    """An operator behind a product that stays one. reason: why."""

    node: str
    product: str
    reason: str


@dataclass(frozen=True)
class Fused:
    """The new graph, and what was done."""

    graph: Node
    made: tuple[Fusion, ...]
    missed: tuple[Missed, ...]

    def __str__(self) -> str:
        lines = [f"fused {f.what}: {f.node} into {f.product}" for f in self.made]
        return "\n".join([*lines, *(f"not fused: {m.node} behind {m.product}: {m.reason}" for m in self.missed)])


class _Miss(Exception):
    """Why an operator cannot go into the product."""


def fuse(graph: Node) -> Fused:
    """Puts biases, residuals, ReLU and argmax into the products before them.

    Args:
        graph: as `infer_type` gives it; it is not touched.

    Returns:
        A new graph with its types, of the same inputs, results and caches, and what was fused and what was not.
    """
    if graph.checked_type is None:
        raise GraphError("the graph's types are not known", hint="call infer_type first")
    fusing = _Fusing(graph)
    PatternRewriteWalker(GreedyRewritePatternApplier([_Follower(fusing), _Argmax(fusing)]), apply_recursively=False).rewrite_region(
        fusing.region
    )
    (root,) = fusing.returned.operands
    assert isinstance(root.owner, Node)
    return Fused(root.owner, tuple(fusing.made), tuple(fusing.missed))


class _Fusing:
    """The copy of a graph that is rewritten, and what is said of it."""

    def __init__(self, graph: Node) -> None:
        named = labels(graph)
        cached: dict[Node, str] = {node: name for name, node in caches(graph).items()}
        copies: dict[Node, Node] = {}
        for node in named:
            copies[node] = copy = node.with_arguments([copies[a] for a in arguments(node)])
            copy.label = cached.get(node, node.label)  # the order of calls may change, their state must not
        root = function(copies.values(), copies[graph])
        assert root.parent is not None
        assert root.parent.parent is not None
        assert root.parent.last_op is not None
        self.region, self.returned = root.parent.parent, root.parent.last_op
        self.labels = {copy: named[node] for node, copy in copies.items()}
        self.described = {copy: describe(node, named) for node, copy in copies.items() if isinstance(node, Call)}
        self.names = {node.label for node in named if node.label}
        self.made: list[Fusion] = []
        self.missed: list[Missed] = []

    def replace(self, node: Node, product: Node, what: str, new: Sequence[Node], rewriter: PatternRewriter) -> None:
        """Puts new nodes, of which the last has the result, in the place of one that went into a product."""
        self.made.append(Fusion(self.described[node], self.labels[product], what))
        self.labels[new[-1]] = self.labels[node]
        args = arguments(node)
        rewriter.replace(node, new)
        _sweep(args, rewriter)

    def miss(self, node: Node, product: Node, reason: str) -> None:
        """Says why a node stays."""
        self.missed.append(Missed(self.described[node], self.labels[product], reason))

    def bn(self, product: Product, change: Pair | None, known: bool = True) -> Constant | None:
        """A new bn for the product, its own changed; None where it stays. known: there are numbers, not only shapes."""
        weight = product.args[1].checked_type
        assert isinstance(weight, Tensor)
        chout = weight.shape[1]
        if not isinstance(chout, int):
            raise _Miss("the number of output channels is not known")
        old: Callable[[], np.ndarray] | None = partial(_identity, chout)
        if not isinstance(product, Mvm):
            bn = product.args[2]
            if change is None:
                return None
            if not isinstance(bn, Constant):
                raise _Miss("the product's bn is no constant")
            old = _values(bn)

        def data() -> np.ndarray:
            assert old is not None
            weights, biases = old().reshape(2, -1)
            return np.stack((weights, biases) if change is None else change(weights, biases))

        name = f"{product.args[1].label or 'product'}_bn"
        while name in self.names:
            name += "_"
        self.names.add(name)
        checked = Tensor((2 * chout,), DataType("float16", "ddr"), weight.device)
        return Constant(
            name, data if known and old is not None else None, (2 * chout,), checked.dtype, weight.device, checked_type=checked
        )


class _Follower(RewritePattern):
    """A factor, a bias, a residual or a ReLU goes into the product before it."""

    def __init__(self, fusing: _Fusing) -> None:
        self.fusing = fusing

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TwoFeatures | Activate, rewriter: PatternRewriter) -> None:
        """Rewrites one that follows a product; notes why, where it stays."""
        why: tuple[Node, str] | None = None
        for index, product in enumerate(op.args if isinstance(op, TwoFeatures) else op.args[:1]):
            if isinstance(product, Product) and not _chosen(product):
                try:
                    new, what = self._follow(op, index, product)
                except _Miss as miss:
                    why = why or (product, str(miss))
                else:
                    self.fusing.replace(op, product, what, new, rewriter)
                    return
        if why is not None:
            self.fusing.miss(op, *why)

    def _follow(self, node: TwoFeatures | Activate, index: int, product: Product) -> tuple[Sequence[Node], str]:
        uses = sum(1 for _ in product.results[0].uses)
        if uses != 1:
            raise _Miss(f"the product's result is used {uses} times")
        if product.prefix not in {"runtime", "onchip"}:  # these two only say where a passing result would stand
            raise _Miss(f"the product's result was placed in {product.prefix}")
        if product.attrs.get("relu"):
            raise _Miss("ReLU comes last in the product's instruction")
        if isinstance(node, Activate):
            return self._relu(node, product), "ReLU"
        other = node.args[1 - index]
        if index == 0 and isinstance(other, Constant) and other.shape is not None and other.shape[:2] == (1, 1):
            return self._channels(node, product, other)
        return self._residual(node, index, product, other)

    def _relu(self, node: Activate, product: Product) -> Sequence[Node]:
        table = node.args[1]
        if node.attrs.get("function") != "relu" or not isinstance(table, Constant) or table.data is not None:
            raise _Miss("the product's instruction has no activation but ReLU")
        return [_result(node, product.op, product.args, product, relu=1)]

    def _channels(self, node: TwoFeatures, product: Product, constant: Constant) -> tuple[Sequence[Node], str]:
        scales = isinstance(node, Mul)
        if isinstance(product, MvmBnRes) and (scales or product.attrs.get("res_mul")):
            raise _Miss("behind the residual a product's instruction has neither factor nor bias")
        values = _values(constant)
        sign = -1 if isinstance(node, Sub) else 1

        def change(weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            assert values is not None
            c = values()
            return (weight * c, bias * c) if scales else (weight, bias + sign * c)

        bn = self.fusing.bn(product, change, known=values is not None)
        assert bn is not None
        op = MvmBnRes if isinstance(product, MvmBnRes) else MvmBn
        args = (*product.args[:2], bn, *product.args[3:])
        return [bn, _result(node, op.name, args, product)], "factor" if scales else "bias"

    def _residual(self, node: TwoFeatures, index: int, product: Product, other: Node) -> tuple[Sequence[Node], str]:
        if isinstance(product, MvmBnRes):
            raise _Miss("the product has a residual already")
        if isinstance(node, Sub) and index == 0:
            raise _Miss("the product's instruction adds or multiplies a residual, it does not subtract one")
        if isinstance(other, Constant):
            raise _Miss("a constant of several tokens is no residual")
        new = self.fusing.bn(product, (lambda w, b: (-w, -b)) if isinstance(node, Sub) else None)
        args = (*product.args[:2], new or product.args[2], other)
        fused = _result(node, MvmBnRes.name, args, product, res_mul=int(isinstance(node, Mul)))
        return [fused] if new is None else [new, fused], "factor from another node" if isinstance(node, Mul) else "residual"


class _Argmax(RewritePattern):
    """An argmax becomes the second result of the product before it."""

    def __init__(self, fusing: _Fusing) -> None:
        self.fusing = fusing

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: Argmax, rewriter: PatternRewriter) -> None:
        """Rewrites one behind a product; notes why, where it stays."""
        (logits,) = op.args
        if isinstance(logits, Product):
            try:
                logits = self._with_argmax(logits, rewriter)
            except _Miss as miss:
                self.fusing.miss(op, logits, str(miss))
                return
        if isinstance(logits, TupleItem) and isinstance(logits.source, Call) and logits.source.attrs.get("arg_max"):
            self.fusing.replace(op, logits, "argmax", [TupleItem(logits.source, 1, op.checked_type)], rewriter)
        else:
            self.fusing.miss(op, logits, "its argument is no product")

    def _with_argmax(self, product: Product, rewriter: PatternRewriter) -> TupleItem:
        bn = self.fusing.bn(product, None)
        op = MvmBn.name if isinstance(product, Mvm) else product.op
        args = (*product.args[:2], bn or product.args[2], *product.args[3:])
        new = Call(op, args, {**product.attrs, "arg_max": 1}, product.prefix)
        new.label, logits = product.label, product.checked_type
        assert isinstance(logits, Tensor)
        new.checked_type = logits, Tensor(logits.shape[:2], DataType("int32", "ddr"), logits.device)
        item = TupleItem(new, 0, logits)
        self.fusing.labels[item] = self.fusing.labels[product]
        rewriter.replace(product, [new, item] if bn is None else [bn, new, item])
        return item


def _chosen(product: Product) -> bool:
    """Whether an argmax takes its result, which stays what it is then."""
    return any(isinstance(use.operation, Argmax) for use in product.results[0].uses)


def _sweep(nodes: Sequence[Node], rewriter: PatternRewriter) -> None:
    """Takes out products, their results and constants that nothing uses any more."""
    for node in nodes:
        if isinstance(node, Product | TupleItem | Constant) and node.results[0].first_use is None and node.parent is not None:
            args = arguments(node)
            rewriter.erase(node)
            _sweep(args, rewriter)


def _identity(chout: int) -> np.ndarray:
    return np.stack([np.ones(chout), np.zeros(chout)])


def _values(constant: Constant) -> Callable[[], np.ndarray] | None:
    """What makes the constant's numbers; None where only its shape is known."""
    data = constant.data
    if isinstance(data, str):
        raise _Miss(f"{constant.label} is a file of packed bytes")
    return None if data is None else lambda: np.asarray(data() if callable(data) else data, np.float64).reshape(-1)


def _result(node: Call, op: str, args: Sequence[Node], product: Product, **attrs: int) -> Call:
    """A product in the place of `node`."""
    kept = {k: v for k, v in product.attrs.items() if k != "name"}
    name = node.attrs.get("name") or product.attrs.get("name")
    new = Call(op, args, {**kept, **attrs, "name": name}, node.prefix, node.checked_type)
    new.label = node.label or name
    return new
