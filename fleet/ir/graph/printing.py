"""Graphs as text: one line a node, with what `infer_type` found behind it."""

from __future__ import annotations

from fleet.ir.graph.nodes import Call, Constant, Node, Tensor, Type, Var
from fleet.ir.graph.walk import inputs, labels, post_order

__all__ = ["describe", "print_graph", "show_type"]


def print_graph(root: Node, name: str = "main") -> str:
    """The graph as text.

    Example:
        >>> print(print_graph(c))  # doctest: +SKIP
        def main(a) {
          a = var()
          b = constant()
          %0 = accel.hbm.mvm(a, b)
          return %0
        }
    """
    named = labels(root)
    lines = [f"def {name}({', '.join(named[v] for v in inputs(root))}) {{"]
    for node in post_order(root):
        if isinstance(node, Var | Constant | Call):
            checked = f" {show_type(node.checked_type)}" if node.checked_type is not None else ""
            lines.append(f"  {named[node]} = {_right_side(node, named)}{checked}")
    return "\n".join([*lines, f"  return {named[root]}", "}"])


def _right_side(node: Node, named: dict[Node, str]) -> str:
    if isinstance(node, Var):
        return "var()"
    if isinstance(node, Constant):
        return "constant()"
    assert isinstance(node, Call)
    return f"{node.op}({', '.join(named[a] for a in node.args)})"


def describe(node: Node, named: dict[Node, str]) -> str:
    """A node for an error: "%3 = accel.hbm.mvm(%2, wq)"; calls with a name of their own have it behind."""
    if not isinstance(node, Call):
        return named[node]
    return f"{named[node]} = {_right_side(node, named)}" + (f' "{node.name}"' if node.name else "")


def show_type(checked: Type) -> str:
    """A type as it stands behind a node; of several results one behind the other."""
    return str(checked) if isinstance(checked, Tensor) else " ".join(map(str, checked))
