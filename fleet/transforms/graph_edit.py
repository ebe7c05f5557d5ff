"""Rewrites a copy of a graph with xDSL's patterns, with a listener that records what becomes of every node."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, VarNode, arguments, describe, labels
from fleet.ir.accel.products import MvmBnCall, MvmCall
from fleet.ir.accel.types import Dim, Type
from fleet.ir.accel.views import ReshapeCall
from fleet.ir.accel.walk import caches, function
from fleet.sdk import Device
from fleet.transforms.simplify.infer_types import infer_type

Watcher = Callable[[str, str, Node], None]
"""Called with a pattern's name, the node that it rewrote, and the graph after it, in which new nodes may have no types."""

_watcher: ContextVar[Watcher | None] = ContextVar("watcher", default=None)


@contextmanager
def watching(watcher: Watcher) -> Generator[None]:
    """Have every rewriting of a graph seen, so that a check can name the first pattern that is wrong."""
    token = _watcher.set(watcher)
    try:
        yield
    finally:
        _watcher.reset(token)


@dataclass(frozen=True)
class RewrittenGraph:
    """The new graph. made: names of the nodes that the pattern rewrote; fates: removed node -> what became of it.

    Names are those of the printed original graph.
    """

    graph: Node
    made: tuple[str, ...] = ()
    fates: Mapping[str, str] = field(default_factory=dict[str, str])


class NodeFates:
    """Attributes:
    names: operation -> its name. A replacement takes the name of the operation it replaces, if it has none.
    listener: to be passed to the walker.
    """

    def __init__(self, names: Mapping[Operation, str]) -> None:
        self.names = dict(names)
        self._gone: dict[str, str] = {}
        self._into: dict[Operation, str] = {}
        self._replacement: dict[Operation, str] = {}
        self.listener = PatternRewriterListener(
            operation_replacement_handler=[self._replaced], operation_removal_handler=[self._removed]
        )

    def goes_into(self, op: Operation, name: str) -> None:
        """Announce into which operation an operation and its operands will be merged, if they are removed."""
        self._into[op] = name

    @property
    def fates(self) -> Mapping[str, str]:
        """Name -> fate of every removed operation whose name no other one has taken."""
        return dict(self._gone)

    def _replaced(self, op: Operation, results: Sequence[SSAValue | None]) -> None:
        owners = [value.owner for value in results if value is not None and isinstance(value.owner, Operation)]
        if op in self.names and owners:
            self._replacement[op] = self.names.setdefault(owners[-1], self.names[op])

    def _removed(self, op: Operation) -> None:
        name = self.names.get(op)
        if name is None:
            return
        if op in self._replacement:
            if self._replacement[op] != name:
                self._gone[name] = f"the same as {self._replacement[op]}"
        elif op in self._into:
            self._gone[name] = f"fused into {self._into[op]}"
            for value in op.operands:
                if isinstance(value.owner, Operation):
                    self._into.setdefault(value.owner, self._into[op])
        else:
            self._gone[name] = "not needed"


class GraphCopy:
    """A copy of a typed graph, in its own function.

    Attributes:
        fates: what becomes of its nodes, by their names in the printed graph.
        described: call -> its line in the printed graph.
        taken: labels of nodes.
    """

    def __init__(self, graph: Node) -> None:
        """Raises GraphError if the graph's types are not known."""
        if graph.checked_type is None:
            raise GraphError("the graph's types are not known", hint="call infer_type first")
        named = labels(graph)
        cached: dict[Node, str] = {node: name for name, node in caches(graph).items()}
        copies: dict[Node, Node] = {}
        for node in named:
            copies[node] = copy = node.with_arguments([copies[a] for a in arguments(node)])
            copy.label = cached.get(node, node.label)  # names keep each call's state, even if the order of calls changes
        root = function(copies.values(), copies[graph])
        assert root.parent is not None
        assert root.parent.parent is not None
        assert root.parent.last_op is not None
        self._region, self._returned = root.parent.parent, root.parent.last_op
        self.fates = NodeFates({copy: named[node] for node, copy in copies.items()})
        self.described = {copy: describe(node, named) for node, copy in copies.items() if isinstance(node, OperatorCall)}
        self.taken = {node.label for node in named if node.label}

    def rewrite(self, *patterns: RewritePattern) -> Node:
        """Apply patterns once to every node. Return the graph."""
        watcher = _watcher.get()
        applied: list[RewritePattern] = list(patterns)
        if watcher is not None:
            applied = [_Watched(pattern, self, watcher) for pattern in patterns]
        walker = PatternRewriteWalker(GreedyRewritePatternApplier(applied), apply_recursively=False, listener=self.fates.listener)
        walker.rewrite_region(self._region)
        return self.root

    @property
    def root(self) -> Node:
        """The graph as it is now."""
        (root,) = self._returned.operands
        assert isinstance(root.owner, Node)
        return root.owner

    @property
    def names(self) -> Mapping[Operation, str]:
        """Node -> the name of its counterpart in the original graph; new constants have none."""
        return {op: name for op, name in self.fates.names.items() if op.parent is not None}

    def label(self, wanted: str) -> str:
        """Return a label for a new constant."""
        while wanted in self.taken:
            wanted += "_"
        self.taken.add(wanted)
        return wanted

    def changed(
        self, node: Node, kind: str, change: Callable[[np.ndarray], np.ndarray], shape: Sequence[Dim] | None = None
    ) -> ConstantNode:
        """Return a constant that replaces one, with other numbers; untyped if its shape changes. kind: suffix of its label."""
        assert isinstance(node, ConstantNode)
        data = node.data
        made = None if data is None else lambda: change(np.asarray(data() if callable(data) else data))
        known = node.checked_type if shape is None else None
        label = self.label(f"{node.label}_{kind}")
        return ConstantNode(label, made, shape or node.shape, node.dtype, node.device, node.prefix, checked_type=known)

    def replace(self, node: Node, new: Sequence[Node], rewriter: PatternRewriter) -> None:
        """Replace a node by new nodes; the last one has the result. Nodes needed only by the old one are merged into it."""
        name, args = self.fates.names[node], arguments(node)
        for argument in args:
            self.fates.goes_into(argument, name)
        rewriter.replace(node, new)
        sweep(args, rewriter)


class GraphPattern(RewritePattern):
    """A pattern on the copy of a graph. made: names of the nodes that it rewrote."""

    def __init__(self, copy: GraphCopy) -> None:
        self.copy = copy
        self.made: list[str] = []

    def replace(self, node: Node, new: Sequence[Node], rewriter: PatternRewriter) -> None:
        """Replace a node by new nodes, as `GraphCopy.replace` does, and record it."""
        self.made.append(self.copy.fates.names[node])
        self.copy.replace(node, new, rewriter)


def rewritten(graph: Node, pattern: Callable[[GraphCopy], GraphPattern], device: Device | None = None) -> RewrittenGraph:
    """Apply a pattern to a copy of a typed graph. device: of the new nodes, whose types are inferred; None: they have theirs."""
    copy = GraphCopy(graph)
    made = pattern(copy)
    root = copy.rewrite(made)
    return RewrittenGraph(root if device is None else infer_type(root, device), tuple(made.made), copy.fates.fates)


class _Watched(RewritePattern):
    """A pattern whose rewritings are seen."""

    def __init__(self, pattern: RewritePattern, copy: GraphCopy, watcher: Watcher) -> None:
        self.pattern, self.copy, self.watcher = pattern, copy, watcher

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        name, done = self.copy.fates.names.get(op, op.name), rewriter.has_done_action
        rewriter.has_done_action = False
        self.pattern.match_and_rewrite(op, rewriter)
        if rewriter.has_done_action:
            self.watcher(type(self.pattern).__name__, name, self.copy.root)
        rewriter.has_done_action |= done


def sweep(nodes: Sequence[Node], rewriter: PatternRewriter) -> None:
    """Remove unused calls, their results and constants; inputs stay."""
    for node in nodes:
        if not isinstance(node, VarNode) and node.results[0].first_use is None and node.parent is not None:
            args = arguments(node)
            rewriter.erase(node)
            sweep(args, rewriter)


def users(node: Node) -> list[Node]:
    """Return the users of a node, once per use."""
    return [use.operation for use in node.results[0].uses if isinstance(use.operation, Node)]


def projected(data: Node) -> tuple[ReshapeCall | None, MvmCall | MvmBnCall | None]:
    """Return the view and the product that compute heads, if nothing else uses them and the product's constants may change."""
    view = data if isinstance(data, ReshapeCall) else None
    product = view.args[0] if view is not None else data
    if not isinstance(product, MvmCall | MvmBnCall) or product.attrs.get("arg_max"):
        return view, None
    alone = all(len(users(node)) == 1 for node in (view, product) if node is not None)
    held = all(isinstance(c, ConstantNode) and not isinstance(c.data, str) for c in product.args[1:])
    return view, product if alone and held else None


def rebuilt(node: OperatorCall, args: Sequence[Node], checked_type: Type | None = None, **attrs: object) -> OperatorCall:
    """Return a call like another one, with other arguments. attrs: those that differ."""
    new = OperatorCall(node.op, args, {**node.attrs, **attrs}, node.prefix, checked_type)
    new.label = node.label
    return new
