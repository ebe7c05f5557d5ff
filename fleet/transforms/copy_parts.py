"""Copies of what is joined and cannot be written where the join wants it: the device has no instruction that copies, but one that
computes a function of every element, and the identity is one. Every bit stays, but for NaNs.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, TupleItemNode, post_order
from fleet.ir.accel.pointwise import SEGMENTS, ActivateCall
from fleet.ir.accel.types import AccelTensor, DataType
from fleet.ir.accel.views import ConcatCall, SplitCall
from fleet.sdk.tasks import GraphTasks
from fleet.transforms.graph_edit import GraphCopy, GraphPattern, RewrittenGraph, rebuilt, rewritten

IDENTITY = np.stack([np.linspace(-64, 64, SEGMENTS), np.ones(SEGMENTS), np.full(SEGMENTS, -0.0)]).astype(np.float16)
"""x[16], k[16], b[16] of 1 * x + -0.0, which keeps the sign of a zero."""


def copy_parts(graph: Node, tasks: GraphTasks) -> RewrittenGraph:
    """Copies the operands of joins that a view or an input gives, that have another join already, or stand in this one twice.

    graph: as `infer_type` gives it; it is not touched.
    tasks: which operators have instructions; without `activate`, nothing changes.
    """
    joins = any(isinstance(node, ConcatCall) for node in post_order(graph))
    if not joins or ActivateCall.name not in tasks.tasks:
        return RewrittenGraph(graph)
    return rewritten(graph, lambda copy: _Join(copy, tasks))


class _Join(GraphPattern):
    """A join with an operand that no instruction can write where it belongs."""

    def __init__(self, copy: GraphCopy, tasks: GraphTasks) -> None:
        super().__init__(copy)
        self.tasks = tasks
        self.taken: set[Node] = set()
        self.table: ConstantNode | None = None

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatCall, rewriter: PatternRewriter) -> None:
        """Rewrites one; all its operands are written in place then, none of them for another join."""
        if op.name not in self.tasks.joins or _adjacent(op) or not all(isinstance(a.checked_type, AccelTensor) for a in op.args):
            return
        # A copy must not read from where it writes: what two operands come from has a place of its own.
        roots = Counter(root for part in op.args for root in _roots(part))
        new: list[Node] = []
        operands: list[Node] = []
        for part in op.args:
            if isinstance(part, ConstantNode):
                return
            if part in self.taken or roots[part] > 1 or not self._written(part, op):
                operands.append(self._copied(part, op, new))
                new.append(operands[-1])
            else:
                self.taken.add(part)
                operands.append(part)
        if not new:
            return
        self.replace(op, [*new, rebuilt(op, operands, op.checked_type)], rewriter)

    def _written(self, part: Node, join: ConcatCall) -> bool:
        return isinstance(part, OperatorCall) and part.name in self.tasks.tasks and part.prefix == join.prefix

    def _copied(self, part: Node, join: ConcatCall, new: list[Node]) -> Node:
        type_ = part.checked_type
        assert isinstance(type_, AccelTensor)
        if self.table is None:
            table = AccelTensor(IDENTITY.shape, DataType("float16", "ddr"), type_.device)
            label = self.copy.label("identity_weight")
            self.table = ConstantNode(label, IDENTITY, IDENTITY.shape, table.dtype, prefix="weight", checked_type=table)
            new.append(self.table)
        attrs = {"out_and_in_mode": 0}
        return OperatorCall(ActivateCall.name, (part, self.table), attrs, join.prefix, type_)


def _roots(node: Node) -> set[Node]:
    """What a value's memory belongs to: itself, or what it is a view of."""
    found: set[Node] = set()
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, TupleItemNode):
            waiting.append(one.source)
        elif isinstance(one, OperatorCall) and one.VIEW:
            waiting += one.args
        else:
            found.add(one)
    return found


def _adjacent(join: ConcatCall) -> bool:
    """Return whether the operands are parts of one split, one behind the other: they stand where they belong."""
    parts = [a for a in join.args if isinstance(a, TupleItemNode) and isinstance(a.source, SplitCall)]
    if len(parts) != len(join.args) or len({part.source for part in parts}) != 1:
        return False
    source = parts[0].source
    assert isinstance(source, SplitCall)
    same_axis = int(source.attrs["axis"]) % 3 == int(join.attrs["dim"]) % 3
    return same_axis and [p.index for p in parts] == list(range(parts[0].index, parts[0].index + len(parts)))
