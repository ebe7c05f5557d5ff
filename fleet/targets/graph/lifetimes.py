"""How long what a graph computes is needed: through views, and in a storage that several results share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet.ir.accel.nodes import Node, OperatorCall, TupleItemNode, TupleNode
from fleet.ir.accel.types import AccelTensor
from fleet.sdk.tasks import GraphTasks

__all__ = ["Lifetimes"]


class Lifetimes:
    """Steps are the calls that have instructions, in order, from 0.

    Attributes:
        roots: node -> the nodes whose storages its results stand in.
        last_use: root -> the last step that reads it; absent where none does.
        kept: roots of the graph's results: needed to the end.
        joined: call -> (join, which operand of it): its result is written where that join's result stands.
    """

    def __init__(self, graph: Node, order: Sequence[Node], tasks: GraphTasks) -> None:
        """order: every node, arguments first."""
        self.roots: dict[Node, frozenset[Node]] = {}
        self._numbers = {node: n for n, node in enumerate(order)}
        self.last_use: dict[Node, int] = {}
        self.joined = dict(_joined(order, tasks))
        step = 0
        for node in order:
            match node:
                case OperatorCall() if node.op in tasks.views:
                    self.roots[node] = self._union(node.args)
                case OperatorCall():
                    self.last_use |= dict.fromkeys(self._in_order(node.args), step)
                    self.roots[node] = frozenset((self.joined[node][0] if node in self.joined else node,))
                    step += 1
                case TupleNode():
                    self.roots[node] = self._union(node.fields)
                case TupleItemNode():
                    self.roots[node] = self.roots[node.source]
                case _:
                    self.roots[node] = frozenset((node,))
        self.kept = self.roots[graph]
        self._ending: dict[int, list[Node]] = {}
        for root, last in self.last_use.items():
            self._ending.setdefault(last, []).append(root)

    def ending(self, step: int, made: Node) -> Iterator[Node]:
        """What is needed no more behind a step that made a node; in an order that does not change from run to run."""
        yield from (root for root in self._ending.get(step, ()) if root not in self.kept)
        if made not in self.joined and made not in self.last_use and made not in self.kept:
            yield made

    def _union(self, nodes: Sequence[Node]) -> frozenset[Node]:
        return frozenset(self._in_order(nodes))

    def _in_order(self, nodes: Sequence[Node]) -> list[Node]:
        """The roots of some nodes, in the order of the graph."""
        return sorted({root for node in nodes for root in self.roots[node]}, key=lambda n: self._numbers[n])


def _joined(order: Sequence[Node], tasks: GraphTasks) -> Iterator[tuple[Node, tuple[OperatorCall, int]]]:
    """Results that are written where a later join wants them: those of calls with instructions, each for one join."""
    taken: set[Node] = set()
    for join in order:
        if not isinstance(join, OperatorCall) or join.op not in tasks.joins:
            continue
        parts = [
            a for a in join.args if isinstance(a, OperatorCall) and a.op in tasks.tasks and isinstance(a.checked_type, AccelTensor)
        ]
        if len(set(parts)) == len(join.args) and not any(a in taken or a.prefix != join.prefix for a in parts):
            taken |= set(parts)
            yield from ((a, (join, i)) for i, a in enumerate(parts))
