"""Fusion: what follows a product goes into the product's own instruction, where the device's epilogue has it.

The epilogue is (product * weight + bias), then plus or times a residual, then the positive part, then an argmax: in this order,
each at most once. Graphs of `fleet.llm` are written with it; a graph from elsewhere is brought there by this pass. On a device a
fused chain rounds once instead of after every operator.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import Call, Constant, Node, TupleItem, arguments, describe, labels, post_order
from fleet.ir.accel.types import DataType, Tensor
from fleet.ir.accel.walk import caches

__all__ = ["Fused", "Fusion", "Missed", "fuse"]

MVM, BN, RES = "accel.hbm.mvm", "accel.hbm.mvm_bn", "accel.hbm.mvm_bn_res"
_TWO = {"accel.hbm.add": "add", "accel.hbm.sub": "sub", "accel.hbm.mul": "mul"}
_FOLLOWERS = (*_TWO, "accel.hbm.activate")

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
    return _Fusing(graph).run()


class _Fusing:
    def __init__(self, graph: Node) -> None:
        self.graph = graph
        self.uses = _uses(graph)
        self.labels = labels(graph)
        self.cache_names: dict[Node, str] = {node: name for name, node in caches(graph).items()}
        self.names = {n.label for n in post_order(graph) if n.label}
        self.argmaxed: set[Node] = {n.args[0] for n in post_order(graph) if isinstance(n, Call) and n.op == "accel.hbm.argmax"}
        self.new: dict[Node, Node] = {}
        self.made: list[Fusion] = []
        self.missed: list[Missed] = []

    def run(self) -> Fused:
        for node in post_order(self.graph):
            new = self._node(node)
            if node in self.argmaxed and isinstance(new, Call) and new.op in {MVM, BN, RES}:
                new = TupleItem(self._with_argmax(new), 0, new.checked_type)
            self.new[node] = new
        return Fused(self.new[self.graph], tuple(self.made), tuple(self.missed))

    def _node(self, node: Node) -> Node:
        if isinstance(node, Call) and node.op == "accel.hbm.argmax":
            return self._argmax(node)
        if isinstance(node, Call) and node.op in _FOLLOWERS:
            fused = self._followed(node)
            if fused is not None:
                return fused
        new = node.with_arguments([self.new[a] for a in arguments(node)])
        if isinstance(node, Call) and node in self.cache_names:
            new.label = self.cache_names[node]  # the order of calls may change, their state must not
        return new

    # What may follow.

    def _followed(self, node: Call) -> Call | None:
        why: Missed | None = None
        for index, old in enumerate(node.args[: 2 if node.op in _TWO else 1]):
            product = self.new[old]
            if isinstance(product, Call) and product.op in {MVM, BN, RES}:
                try:
                    fused, what = self._follow(node, index, product)
                except _Miss as miss:
                    why = why or Missed(describe(node, self.labels), self.labels[old], str(miss))
                else:
                    self.made.append(Fusion(describe(node, self.labels), self.labels[old], what))
                    return fused
        self.missed += [why] if why else []
        return None

    def _follow(self, node: Call, index: int, product: Call) -> tuple[Call, str]:
        old = node.args[index]
        if self.uses[old] != 1 or old is self.graph:
            raise _Miss(f"the product's result is used {self.uses[old]} times")
        if product.prefix not in {"runtime", "onchip"}:  # these two only say where a passing result would stand
            raise _Miss(f"the product's result was placed in {product.prefix}")
        if product.attrs.get("relu"):
            raise _Miss("ReLU comes last in the product's instruction")
        if node.op == "accel.hbm.activate":
            return self._relu(node, product), "ReLU"
        other = node.args[1 - index]
        if index == 0 and isinstance(other, Constant) and other.shape is not None and other.shape[:2] == (1, 1):
            return self._channels(node, product, other)
        return self._residual(node, index, product, self.new[other])

    def _relu(self, node: Call, product: Call) -> Call:
        table = node.args[1]
        if node.attrs.get("function") != "relu" or not isinstance(table, Constant) or table.data is not None:
            raise _Miss("the product's instruction has no activation but ReLU")
        return _result(node, product.op, product.args, {**product.attrs, "relu": 1})

    def _channels(self, node: Call, product: Call, constant: Constant) -> tuple[Call, str]:
        kind = _TWO[node.op]
        if product.op == RES and (kind == "mul" or product.attrs.get("res_mul")):
            raise _Miss("behind the residual a product's instruction has neither factor nor bias")
        values = _values(constant)
        sign = -1 if kind == "sub" else 1

        def change(weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            assert values is not None
            c = values()
            return (weight * c, bias * c) if kind == "mul" else (weight, bias + sign * c)

        bn = self._bn(product, change, known=values is not None)
        op = RES if product.op == RES else BN
        return _result(node, op, (*product.args[:2], bn, *product.args[3:]), product.attrs), "factor" if kind == "mul" else "bias"

    def _residual(self, node: Call, index: int, product: Call, other: Node) -> tuple[Call, str]:
        kind = _TWO[node.op]
        if product.op == RES:
            raise _Miss("the product has a residual already")
        if kind == "sub" and index == 0:
            raise _Miss("the product's instruction adds or multiplies a residual, it does not subtract one")
        if isinstance(other, Constant):
            raise _Miss("a constant of several tokens is no residual")
        bn = self._bn(product, (lambda w, b: (-w, -b)) if kind == "sub" else None)
        attrs = {**product.attrs, "res_mul": int(kind == "mul")}
        return _result(
            node, RES, (*product.args[:2], bn, other), attrs
        ), "factor from another node" if kind == "mul" else "residual"

    # argmax.

    def _with_argmax(self, product: Call) -> Call:
        bn = product.args[2] if product.op != MVM else self._bn(product, None)
        new = Call(
            BN if product.op == MVM else product.op, (*product.args[:2], bn, *product.args[3:]), {**product.attrs, "arg_max": 1}
        )
        new.prefix, new.label = product.prefix, product.label
        logits = product.checked_type
        assert isinstance(logits, Tensor)
        new.checked_type = logits, Tensor(logits.shape[:2], DataType("int32", "ddr"), logits.device)
        return new

    def _argmax(self, node: Call) -> Node:
        logits = self.new[node.args[0]]
        if isinstance(logits, TupleItem) and isinstance(logits.source, Call) and logits.source.attrs.get("arg_max"):
            self.made.append(Fusion(describe(node, self.labels), self.labels[node.args[0]], "argmax"))
            return TupleItem(logits.source, 1, node.checked_type)
        self.missed.append(Missed(describe(node, self.labels), self.labels[node.args[0]], "its argument is no product"))
        return node.with_arguments([logits])

    # bn.

    def _bn(self, product: Call, change: Pair | None, known: bool = True) -> Node:
        """The product's bn, changed; one that changes nothing where it has none. known: there are numbers, not only shapes."""
        weight = product.args[1].checked_type
        assert isinstance(weight, Tensor)
        chout = weight.shape[1]
        if not isinstance(chout, int):
            raise _Miss("the number of output channels is not known")
        old: Callable[[], np.ndarray] | None = partial(_identity, chout)
        if product.op != MVM:
            bn = product.args[2]
            if change is None:
                return bn
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
        new = Constant(name, data if known and old is not None else None, (2 * chout,), DataType("float16", "ddr"), weight.device)
        new.checked_type = Tensor((2 * chout,), new.dtype, weight.device)
        return new


def _uses(root: Node) -> Mapping[Node, int]:
    """How often every node is an argument; the root counts one."""
    return Counter([root, *(a for node in post_order(root) for a in arguments(node))])


def _identity(chout: int) -> np.ndarray:
    return np.stack([np.ones(chout), np.zeros(chout)])


def _values(constant: Constant) -> Callable[[], np.ndarray] | None:
    """What makes the constant's numbers; None where only its shape is known."""
    data = constant.data
    if isinstance(data, str):
        raise _Miss(f"{constant.label} is a file of packed bytes")
    return None if data is None else lambda: np.asarray(data() if callable(data) else data, np.float64).reshape(-1)


def _result(node: Call, op: str, args: tuple[Node, ...], attrs: dict[str, Any]) -> Call:
    """A call in the place of `node`."""
    kept = {k: v for k, v in attrs.items() if k != "name"}
    name = node.attrs.get("name") or attrs.get("name")
    new = Call(op, args, {**kept, **({"name": name} if name else {})}, node.prefix, node.checked_type)
    new.label = node.label or name
    return new
