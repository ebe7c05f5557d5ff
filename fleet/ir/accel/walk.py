"""Queries of a graph and rewriting, for passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, VarNode, arguments, post_order


def rewrite(root: Node, change: Callable[[Node, tuple[Node, ...]], Node]) -> Node:
    """Return a new graph: `change(node, new arguments)` returns the replacement of a node; the old graph is not changed."""
    new: dict[Node, Node] = {}
    for node in post_order(root):
        new[node] = change(node, tuple(new[a] for a in arguments(node)))
    return new[root]


def function(nodes: Iterable[Node], root: Node) -> Node:
    """Put all nodes into a function "main" of one block, in this order, and return the root."""
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
    """Return the calls that keep state between steps: name -> call; unnamed ones are "cache0", ... in order."""
    found: dict[str, OperatorCall] = {}
    for node in post_order(root):
        if isinstance(node, OperatorCall) and node.op in operators:
            found[node.label or f"cache{len(found)}"] = node
    return found
