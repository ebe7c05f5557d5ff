"""Choice of the half of on-chip memory for each tensor, so that no later instruction finds its operands in both.

A result must be in the other half than its operands. So all operands of an instruction whose result is on chip are in one half.
Each connected set of tensors has two colourings; the choice is open until its first tensor is placed.
"""

from __future__ import annotations

from collections.abc import Iterable

from fleet.ir.accel.nodes import Node, OperatorCall
from fleet.sdk.tasks import GraphTasks
from fleet.targets.liveness import Lives

ONCHIP = "onchip"


class Halves:
    """Preferences, not rules: a tensor that does not fit in its preferred half may go elsewhere if the instructions allow it."""

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
        """Return the half that a tensor should use; None if no tensor of its connected set is placed yet."""
        root, parity = self._find(node)
        turned = self._turned.get(root)
        return None if turned is None else turned ^ parity

    def placed(self, node: Node, half: int) -> None:
        """Record the half of a tensor; the first one placed decides for its connected set."""
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
        """Require different halves for two nodes; do nothing if other instructions already force them into one half."""
        (x, p), (y, q) = self._find(a), self._find(b)
        if x is not y:
            self._parent[x] = y, p ^ q ^ 1
