"""Choice of the half of on-chip memory for each tensor, so that no later instruction finds its operands in both.

A result stands in another half than its operands. So all operands of an instruction whose result is on chip stand in one half, and
what hangs together so has two colourings; which of the two is open until the first of it is placed.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleet.ir.accel.nodes import Node, OperatorCall
from fleet.sdk.tasks import GraphTasks
from fleet.targets.liveness import Lives

ONCHIP = "onchip"


class Halves:
    """Wishes, not rules: what does not fit where it is wanted may stand elsewhere as long as instructions allow it."""

    def __init__(self, order: Iterable[Node], tasks: GraphTasks, lives: Lives[Node]) -> None:
        """order: every node, arguments first."""
        self._parent: dict[Node, tuple[Node, int]] = {}
        self._turned: dict[Node, int] = {}
        for node in order:
            if isinstance(node, OperatorCall) and node.op in tasks.tasks and node.prefix == ONCHIP:
                for argument in node.args:
                    for root in lives.roots(argument):
                        if root.prefix == ONCHIP:
                            for own in lives.roots(node):
                                self._differ(own, root)

    def wanted(self, node: Node) -> int | None:
        """The half that a tensor should stand in; None where nothing of what it hangs together with is placed yet."""
        root, parity = self._find(node)
        turned = self._turned.get(root)
        return None if turned is None else turned ^ parity

    def placed(self, node: Node, half: int) -> None:
        """Says where a tensor stands now; the first of those that hang together decides for all."""
        root, parity = self._find(node)
        self._turned.setdefault(root, half ^ parity)

    def _find(self, node: Node) -> tuple[Node, int]:
        """Return the representative of a connected set, and whether the node is in the other half than it."""
        parity, at = 0, node
        while at in self._parent:
            at, step = self._parent[at]
            parity ^= step
        if at is not node:
            self._parent[node] = at, parity
        return at, parity

    def _differ(self, a: Node, b: Node) -> None:
        """The two stand in different halves; nothing where they are in one already, by other instructions."""
        (x, p), (y, q) = self._find(a), self._find(b)
        if x is not y:
            self._parent[x] = y, p ^ q ^ 1
