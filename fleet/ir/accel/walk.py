"""What passes ask of a graph, and how they make another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from fleet.ir.accel.nodes import Call, Constant, Node, Tuple, TupleItem, Var, arguments, post_order

__all__ = ["caches", "constants", "inputs", "rewrite", "uses", "with_arguments"]


def with_arguments(node: Node, args: Sequence[Node]) -> Node:
    """A new node like this one with other arguments; variables and constants, which have none, are copied."""
    match node:
        case Call():
            new: Node = Call(node.op, args, node.attrs, node.prefix, node.checked_type)
        case Tuple():
            new = Tuple(args, node.checked_type)
        case TupleItem():
            new = TupleItem(args[0], node.index, node.checked_type)
        case Var():
            new = Var(node.name or "", node.shape, node.dtype, node.device, node.prefix, node.checked_type)
        case Constant():
            new = Constant(node.name or "", node.data, node.shape, node.dtype, node.device, node.prefix, node.checked_type)
        case _:
            raise TypeError(f"no node: {node!r}")
    new.prefix, new.name = node.prefix, node.name
    return new


def rewrite(root: Node, change: Callable[[Node, tuple[Node, ...]], Node]) -> Node:
    """A new graph: `change(node, new arguments)` gives what takes a node's place; the old graph is not touched."""
    new: dict[Node, Node] = {}
    for node in post_order(root):
        new[node] = change(node, tuple(new[a] for a in arguments(node)))
    return new[root]


def uses(root: Node) -> Mapping[Node, int]:
    """How often every node is an argument; the root counts one."""
    count: dict[Node, int] = {root: 1}
    for node in post_order(root):
        for a in arguments(node):
            count[a] = count.get(a, 0) + 1
    return count


def inputs(root: Node) -> list[Var]:
    """The variables, in the order of the printed graph."""
    return [n for n in post_order(root) if isinstance(n, Var)]


def constants(root: Node) -> list[Constant]:
    """The constants, in the order of the printed graph."""
    return [n for n in post_order(root) if isinstance(n, Constant)]


def caches(root: Node, operators: Sequence[str] = ("accel.hbm.dat_hbm",)) -> dict[str, Call]:
    """The calls that keep state from step to step: their names ("cache0", ... in order, unless they have one) -> call."""
    found: dict[str, Call] = {}
    for node in post_order(root):
        if isinstance(node, Call) and node.op in operators:
            found[node.name or f"cache{len(found)}"] = node
    return found
