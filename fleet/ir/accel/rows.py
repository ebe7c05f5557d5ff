"""A graph as plain rows, which a stored result keeps and pictures are drawn from."""

from __future__ import annotations

from fleet.core.records.graph_row import GraphRow
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, TupleItemNode, TupleNode, VarNode, labels, post_order
from fleet.ir.accel.types import AccelTensor, show_shape


def graph_rows(graph: Node) -> list[GraphRow]:
    """Inputs and calls in program order, then one row of kind "result" for each result."""
    named = labels(graph)
    rows: list[GraphRow] = []
    for node in post_order(graph):
        if isinstance(node, VarNode):
            rows.append(_row(named[node], "input", "input", node, [], []))
        elif isinstance(node, OperatorCall):
            weights = [_constant(a) for a in node.args if isinstance(a, ConstantNode)]
            args = [_source(a, named) for a in node.args if not isinstance(a, ConstantNode)]
            kind = "view" if node.VIEW else "call"
            rows.append(_row(named[node], kind, node.op.removeprefix("accel.").removeprefix("hbm."), node, args, weights))
    for n, result in enumerate(graph.fields if isinstance(graph, TupleNode) else (graph,)):
        if not isinstance(result, ConstantNode):
            rows.append(_row(f"result{n}", "result", "result", result, [_source(result, named)], []))
    return rows


def _source(node: Node, named: dict[Node, str]) -> str:
    return named[node.source if isinstance(node, TupleItemNode) else node]


def _constant(node: ConstantNode) -> str:
    shape = f" {show_shape(node.shape)}" if node.shape is not None else ""
    return f"{node.label}{shape} {node.dtype.dtype}"


def _row(name: str, kind: str, op: str, node: Node, args: list[str], weights: list[str]) -> GraphRow:
    types = node.checked_type if isinstance(node.checked_type, tuple) else (node.checked_type,)
    shapes = [show_shape(t.shape) for t in types if isinstance(t, AccelTensor)]
    return GraphRow(name, kind, op, node.label or "", " ".join(shapes), node.prefix, tuple(weights), tuple(dict.fromkeys(args)))
