"""Fusion: moves operators after a product into the product's instruction, as far as the device's epilogue supports them.

The epilogue is (product * weight + bias), then plus or times a residual, then ReLU, then an argmax: in this order,
each at most once. Graphs of `fleet.llm` are written in fused form; this pass brings other graphs into it. On a device a
fused chain rounds once instead of after every operator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, TupleItemNode
from fleet.ir.accel.pointwise import ActivateCall, ArgmaxCall, MulCall, SubCall, TwoFeaturesCall
from fleet.ir.accel.products import MvmBnCall, MvmBnResCall, MvmCall, ProductCall
from fleet.ir.accel.types import AccelTensor, DataType
from fleet.transforms.graph_edit import GraphCopy

Pair = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""(weights, biases) -> (weights, biases)."""


@dataclass(frozen=True)
class Fusion:
    """An operator that was fused into a product. node, product: as printed in the original graph; what: "bias", "residual", ..."""

    node: str
    product: str
    what: str


@dataclass(frozen=True)
class MissedFusion:
    """An operator after a product that was not fused. reason: why."""

    node: str
    product: str
    reason: str


@dataclass(frozen=True)
class Fused:
    """The new graph, and a record of the changes.

    fates: what became of every removed node, by its name in the printed original graph. names: that name for every node of the
        new graph that replaces one; new constants have none.
    """

    graph: Node
    made: tuple[Fusion, ...]
    missed: tuple[MissedFusion, ...]
    fates: Mapping[str, str]
    names: Mapping[Operation, str]

    def __str__(self) -> str:
        lines = [f"fused {f.what}: {f.node} into {f.product}" for f in self.made]
        return "\n".join([*lines, *(f"not fused: {m.node} behind {m.product}: {m.reason}" for m in self.missed)])


class _Miss(Exception):
    """The reason why an operator cannot be fused into the product."""


def fuse(graph: Node) -> Fused:
    """Fuse biases, residuals, ReLU and argmax into the products before them.

    Args:
        graph: as returned by `infer_type`; it is not changed.

    Returns:
        A new graph with types and the same inputs, results and caches, and the lists of fused and unfused operators.
    """
    fusing = _Fusing(graph)
    root = fusing.rewrite(_Follower(fusing), _Argmax(fusing))
    return Fused(root, tuple(fusing.made), tuple(fusing.missed), fusing.fates.fates, fusing.names)


class _Fusing(GraphCopy):
    """The copy of a graph, and the record of its changes."""

    def __init__(self, graph: Node) -> None:
        super().__init__(graph)
        self.made: list[Fusion] = []
        self.missed: list[MissedFusion] = []

    def fused(self, node: Node, product: Node, what: str, new: Sequence[Node], rewriter: PatternRewriter) -> None:
        """Replace a node that was fused into a product by new nodes; the last one has the result."""
        self.made.append(Fusion(self.described[node], self.fates.names[product], what))
        self.replace(node, new, rewriter)

    def miss(self, node: Node, product: Node, reason: str) -> None:
        """Record why a node was not fused."""
        self.missed.append(MissedFusion(self.described[node], self.fates.names[product], reason))

    def bn(self, product: ProductCall, change: Pair | None, known: bool = True) -> ConstantNode | None:
        """Return a new bn for the product, derived from its own; None if it stays. known: there are numbers, not only shapes."""
        weight = product.args[1].checked_type
        assert isinstance(weight, AccelTensor)
        chout = weight.shape[1]
        if not isinstance(chout, int):
            raise _Miss("the number of output channels is not known")
        old: Callable[[], np.ndarray] | None = partial(_identity, chout)
        if not isinstance(product, MvmCall):
            bn = product.args[2]
            if change is None:
                return None
            if not isinstance(bn, ConstantNode):
                raise _Miss("the product's bn is not a constant")
            old = _values(bn)

        def data() -> np.ndarray:
            assert old is not None
            weights, biases = old().reshape(2, -1)
            return np.stack((weights, biases) if change is None else change(weights, biases))

        name = self.label(f"{product.args[1].label or 'product'}_bn")
        checked = AccelTensor((2 * chout,), DataType("float16", "ddr"), weight.device)
        return ConstantNode(
            name, data if known and old is not None else None, (2 * chout,), checked.dtype, weight.device, checked_type=checked
        )


class _Follower(RewritePattern):
    """Fuses a factor, a bias, a residual or a ReLU into the product before it."""

    def __init__(self, fusing: _Fusing) -> None:
        self.fusing = fusing

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TwoFeaturesCall | ActivateCall, rewriter: PatternRewriter) -> None:
        """Rewrite one that follows a product, or record why it is not fused."""
        why: tuple[Node, str] | None = None
        for index, product in enumerate(op.args if isinstance(op, TwoFeaturesCall) else op.args[:1]):
            if isinstance(product, ProductCall) and not _chosen(product):
                try:
                    new, what = self._follow(op, index, product)
                except _Miss as miss:
                    why = why or (product, str(miss))
                else:
                    self.fusing.fused(op, product, what, new, rewriter)
                    return
        if why is not None:
            self.fusing.miss(op, *why)

    def _follow(self, node: TwoFeaturesCall | ActivateCall, index: int, product: ProductCall) -> tuple[Sequence[Node], str]:
        uses = sum(1 for _ in product.results[0].uses)
        if uses != 1:
            raise _Miss(f"the product's result is used {uses} times")
        if product.prefix not in {"runtime", "onchip"}:  # these two only say where an intermediate result would be stored
            raise _Miss(f"the product's result was placed in {product.prefix}")
        if product.attrs.get("relu"):
            raise _Miss("ReLU comes last in the product's instruction")
        if isinstance(node, ActivateCall):
            return self._relu(node, product), "ReLU"
        other = node.args[1 - index]
        if index == 0 and isinstance(other, ConstantNode) and other.shape is not None and other.shape[:2] == (1, 1):
            return self._channels(node, product, other)
        return self._residual(node, index, product, other)

    def _relu(self, node: ActivateCall, product: ProductCall) -> Sequence[Node]:
        table = node.args[1]
        if node.attrs.get("function") != "relu" or not isinstance(table, ConstantNode) or table.data is not None:
            raise _Miss("the product's instruction has no activation but ReLU")
        return [_result(node, product.op, product.args, product, relu=1)]

    def _channels(self, node: TwoFeaturesCall, product: ProductCall, constant: ConstantNode) -> tuple[Sequence[Node], str]:
        scales = isinstance(node, MulCall)
        if isinstance(product, MvmBnResCall) and (scales or product.attrs.get("res_mul")):
            raise _Miss("behind the residual a product's instruction has neither factor nor bias")
        values = _values(constant)
        sign = -1 if isinstance(node, SubCall) else 1

        def change(weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            assert values is not None
            c = values()
            return (weight * c, bias * c) if scales else (weight, bias + sign * c)

        bn = self.fusing.bn(product, change, known=values is not None)
        assert bn is not None
        op = MvmBnResCall if isinstance(product, MvmBnResCall) else MvmBnCall
        args = (*product.args[:2], bn, *product.args[3:])
        return [bn, _result(node, op.name, args, product)], "factor" if scales else "bias"

    def _residual(self, node: TwoFeaturesCall, index: int, product: ProductCall, other: Node) -> tuple[Sequence[Node], str]:
        if isinstance(product, MvmBnResCall):
            raise _Miss("the product has a residual already")
        if isinstance(node, SubCall) and index == 0:
            raise _Miss("the product's instruction adds or multiplies a residual, it does not subtract one")
        if isinstance(other, ConstantNode):
            raise _Miss("a constant of several tokens is not a residual")
        new = self.fusing.bn(product, (lambda w, b: (-w, -b)) if isinstance(node, SubCall) else None)
        args = (*product.args[:2], new or product.args[2], other)
        fused = _result(node, MvmBnResCall.name, args, product, res_mul=int(isinstance(node, MulCall)))
        return [fused] if new is None else [new, fused], "factor from another node" if isinstance(node, MulCall) else "residual"


class _Argmax(RewritePattern):
    """Makes an argmax the second result of the product before it."""

    def __init__(self, fusing: _Fusing) -> None:
        self.fusing = fusing

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ArgmaxCall, rewriter: PatternRewriter) -> None:
        """Rewrite one that follows a product, or record why it is not fused."""
        (logits,) = op.args
        if isinstance(logits, ProductCall):
            try:
                logits = self._with_argmax(logits, rewriter)
            except _Miss as miss:
                self.fusing.miss(op, logits, str(miss))
                return
        if isinstance(logits, TupleItemNode) and isinstance(logits.source, OperatorCall) and logits.source.attrs.get("arg_max"):
            self.fusing.fused(op, logits, "argmax", [TupleItemNode(logits.source, 1, op.checked_type)], rewriter)
        else:
            self.fusing.miss(op, logits, "its argument is no product")

    def _with_argmax(self, product: ProductCall, rewriter: PatternRewriter) -> TupleItemNode:
        bn = self.fusing.bn(product, None)
        op = MvmBnCall.name if isinstance(product, MvmCall) else product.op
        args = (*product.args[:2], bn or product.args[2], *product.args[3:])
        new = OperatorCall(op, args, {**product.attrs, "arg_max": 1}, product.prefix)
        new.label, logits = product.label, product.checked_type
        assert isinstance(logits, AccelTensor)
        new.checked_type = logits, AccelTensor(logits.shape[:2], DataType("int32", "ddr"), logits.device)
        item = TupleItemNode(new, 0, logits)
        rewriter.replace(product, [new, item] if bn is None else [bn, new, item])
        return item


def _chosen(product: ProductCall) -> bool:
    """Return whether an argmax uses its result, which must then stay unchanged."""
    return any(isinstance(use.operation, ArgmaxCall) for use in product.results[0].uses)


def _identity(chout: int) -> np.ndarray:
    return np.stack([np.ones(chout), np.zeros(chout)])


def _values(constant: ConstantNode) -> Callable[[], np.ndarray] | None:
    """Return a function that computes the constant's numbers; None if only its shape is known."""
    data = constant.data
    if isinstance(data, str):
        raise _Miss(f"{constant.label} is a file of packed bytes")
    return None if data is None else lambda: np.asarray(data() if callable(data) else data, np.float64).reshape(-1)


def _result(node: OperatorCall, op: str, args: Sequence[Node], product: ProductCall, **attrs: int) -> OperatorCall:
    """Return a product that replaces `node`."""
    kept = {k: v for k, v in product.attrs.items() if k != "name"}
    name = node.attrs.get("name") or product.attrs.get("name")
    new = OperatorCall(op, args, {**kept, **attrs, "name": name}, node.prefix, node.checked_type)
    new.label = node.label or name
    return new
