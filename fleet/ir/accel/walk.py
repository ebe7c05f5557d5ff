"""Queries of a graph and rewriting, for passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, VarNode, arguments, post_order


def rewrite(root: Node, change: Callable[[Node, tuple[Node, ...]], Node]) -> Node:
    """A new graph: `change(node, new arguments)` gives what takes a node's place; the old graph is not touched."""
    new: dict[Node, Node] = {}
    for node in post_order(root):
        new[node] = change(node, tuple(new[a] for a in arguments(node)))
    return new[root]


def function(nodes: Iterable[Node], root: Node) -> Node:
    """The root, all nodes put into a function "main" of one block, in this order."""
    block = Block([*nodes, ReturnOp(root.results[0])])
    FuncOp("main", ((), (root.results[0].type,)), Region(block))
    return root


def inputs(root: Node) -> list[VarNode]:
    """The variables, in the order of the printed graph."""
    return [n for n in post_order(root) if isinstance(n, VarNode)]


def constants(root: Node) -> list[ConstantNode]:
    """The constants, in the order of the printed graph."""
    return [n for n in post_order(root) if isinstance(n, ConstantNode)]


def caches(root: Node, operators: Sequence[str] = ("accel.hbm.dat_hbm",)) -> dict[str, OperatorCall]:
    """The calls that keep state from step to step: their names ("cache0", ... in order, unless they have one) -> call."""
    found: dict[str, OperatorCall] = {}
    for node in post_order(root):
        if isinstance(node, OperatorCall) and node.op in operators:
            found[node.label or f"cache{len(found)}"] = node
    return found
