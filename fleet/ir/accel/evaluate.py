"""Evaluates a graph with NumPy, in float64 or float32: its meaning, without any rounding of a device.

Slow and simple: for tests, and to compare the results of passes and compilers with the original graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, TupleItemNode, TupleNode, VarNode, describe, labels, post_order
from fleet.ir.accel.types import AccelTensor
from fleet.ir.accel.walk import caches
from fleet.symbols.expr import Expr, ExprError, as_expr

Value = np.ndarray | tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Evaluation:
    """The values of an evaluated graph.

    Attributes:
        result: of the graph's last node; several results as a tuple.
        values: of every node of the graph.
        state: cache's name (`fleet.ir.accel.walk.caches`) -> all its positions (kv_heads, last_token + token, D).
    """

    result: Value
    values: Mapping[Node, Value]
    state: Mapping[str, np.ndarray]


def evaluate(
    graph: Node,
    inputs: Mapping[str, np.ndarray],
    bindings: Mapping[str, int],
    *,
    state: Mapping[str, np.ndarray] | None = None,
    constants: Mapping[str, np.ndarray] | None = None,
    dtype: Any = np.float64,
) -> Evaluation:
    """Evaluates one step.

    Args:
        graph: as returned by `infer_type`.
        inputs: arrays of the graph's variables.
        bindings: numbers of the dynamic dimensions ("token", "last_token").
        state: caches after the steps before; their first `last_token` positions are used.
        constants: arrays of constants that have no data.
        dtype: precision of the computation.

    Raises:
        GraphError: naming the node; an array is missing or has the wrong shape.
        ExprError: a dimension has no value, or one out of its bounds.
    """
    if graph.checked_type is None:
        raise GraphError("the graph's types are not known", hint="call infer_type first")
    run = _Run(graph, dict(inputs), dict(bindings), dict(state or {}), dict(constants or {}), np.dtype(dtype))
    for node in post_order(graph):
        try:
            run.values[node] = run.checked(node, run.value(node))
        except (GraphError, ExprError) as error:
            raise type(error)(error.what, where=error.where or describe(node, run.labels), hint=error.hint) from None
    return Evaluation(run.values[graph], run.values, {name: run.array(node) for name, node in run.caches.items()})


class _Run:
    def __init__(
        self,
        graph: Node,
        inputs: dict[str, np.ndarray],
        bindings: dict[str, int],
        state: dict[str, np.ndarray],
        constants: dict[str, np.ndarray],
        dtype: np.dtype,
    ) -> None:
        self.inputs, self.bindings, self.state, self.constants, self.dtype = inputs, bindings, state, constants, dtype
        self.caches = caches(graph)
        self.cache_names = {node: name for name, node in self.caches.items()}
        self.labels = labels(graph)
        self.values: dict[Node, Value] = {}

    def array(self, node: Node) -> np.ndarray:
        found = self.values[node]
        if isinstance(found, tuple):
            raise GraphError(f"{self.labels[node]} has {len(found)} results and is used as one")
        return found

    def value(self, node: Node) -> Value:
        match node:
            case VarNode():
                return self._input(node)
            case ConstantNode():
                return self._constant(node)
            case TupleNode():
                return tuple(self.array(f) for f in node.fields)
            case TupleItemNode():
                return self.values[node.source][node.index]
            case OperatorCall():
                return self._call(node)
            case _:
                raise GraphError(f"{type(node).__name__} is not a kind of node")

    def checked(self, node: Node, value: Value) -> Value:
        types = node.checked_type if isinstance(node.checked_type, tuple) else (node.checked_type,)
        if isinstance(node, ConstantNode):
            return value
        for found, expected in zip(value if isinstance(value, tuple) else (value,), types, strict=True):
            if isinstance(expected, AccelTensor):
                shape = tuple(as_expr(d).evaluate(self.bindings) for d in expected.shape)
                if found.shape != shape:
                    raise GraphError(f"value of shape {found.shape}, expected {shape}")
        return value

    def _input(self, node: VarNode) -> np.ndarray:
        if node.label not in self.inputs:
            raise GraphError("no array for this input", hint=f"given are {', '.join(self.inputs) or 'none'}")
        return np.asarray(self.inputs[node.label], self.dtype)

    def _constant(self, node: ConstantNode) -> np.ndarray:
        data = self.constants.get(node.label or "", node.data)
        array = data() if callable(data) else data
        if isinstance(array, np.ndarray):
            shape = tuple(d for d in node.shape or () if isinstance(d, int))
            fits = node.dtype.mapped == "hbm" and array.size == int(np.prod(shape))
            return array.reshape(shape if fits else array.shape).astype(self.dtype)
        return np.empty(0, self.dtype)  # a node that needs it raises

    def _call(self, node: OperatorCall) -> Value:
        roles = node.roles()
        args = [self.array(a) for a in node.args]
        for index, (a, source) in enumerate(zip(args, node.args, strict=True)):
            if a.size == 0 and isinstance(source, ConstantNode) and roles[min(index, len(roles) - 1)] != "act":
                raise GraphError(f"constant {source.label} has no array", hint="give one in `constants`")
        attrs = {name: self._number(value) for name, value in node.attrs.items()}
        if node in self.cache_names:
            attrs["past"] = self._past(node, int(attrs.get("last_token") or 0))
        return node.compute(args, attrs)

    def _number(self, value: Any) -> Any:
        if isinstance(value, Expr):
            return value.evaluate(self.bindings)
        return tuple(self._number(v) for v in value) if isinstance(value, tuple | list) else value

    def _past(self, node: OperatorCall, last: int) -> np.ndarray | None:
        if last == 0:
            return None
        name = self.cache_names[node]
        held = self.state.get(name)
        if held is None or held.shape[1] < last:
            raise GraphError(f"{name} holds {0 if held is None else held.shape[1]} positions, last_token is {last}",
                             hint="give the state of the step before")  # fmt: skip
        return np.asarray(held[:, :last], self.dtype)
