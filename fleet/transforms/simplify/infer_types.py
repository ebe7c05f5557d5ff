"""`infer_type`: checks a graph and finds the type of every node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

import numpy as np

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.nodes import (
    ConstantNode,
    Node,
    OperatorCall,
    TupleItemNode,
    TupleNode,
    VarNode,
    arguments,
    describe,
    labels,
    post_order,
    single,
)
from fleet.ir.accel.types import Accelerator, AccelTensor, DataType, Dim, show_shape, to_attribute
from fleet.ir.accel.walk import function
from fleet.isa.registry import find_device
from fleet.sdk import Device
from fleet.symbols.expr import Expr, ExprError, as_expr, dim
from fleet.symbols.expr import Var as Variable

_DTYPES = frozenset({"float16", "int4", "int8", "int32"})
_SPACES = frozenset({"ddr", "hbm", "onchip"})


def infer_type(graph: Node, device: Device | str, attrs: Mapping[str, Any] | None = None) -> Node:
    """Return a new graph in which every node has its `checked_type`; the given one is not changed.

    Args:
        graph: as built by `fleet.ir.accel`.
        device: the target device, or its name.
        attrs: set on every call that does not have an attribute of that name (or has None): {"last_token": last_token}.

    Returns:
        The graph with the same nodes in the same order, in a function; constants of equal name and content become one node.

    Raises:
        GraphError: naming the node and the error: types or sizes do not fit, a variable has no bound, a name is used
            twice.
        DeviceError: there is no such device.
    """
    if not isinstance(cast("object", graph), Node):
        raise GraphError(f"{graph!r}, expected a node of a graph", where="graph")
    if not isinstance(cast("object", attrs or {}), Mapping):
        raise GraphError(f"attrs is {attrs!r}, expected a dict", where="infer_type")
    found = device if isinstance(device, Device) else find_device(device)[1]
    return _Inferring(graph, found, dict(attrs or {})).run()


class _Inferring:
    def __init__(self, graph: Node, device: Device, attrs: dict[str, Any]) -> None:
        self.graph, self.device = graph, device
        self.attributes = {name: to_attribute(name, value) for name, value in attrs.items() if value is not None}
        self.labels = labels(graph)
        self.new: dict[Node, Node] = {}
        self.variables: dict[str, Variable] = {}
        self.leaves: dict[str, VarNode | ConstantNode] = {}
        self.sizes: set[Dim] = set()

    def run(self) -> Node:
        for node in post_order(self.graph):
            try:
                self.new[node] = self._node(node)
            except ExprError as error:
                raise GraphError(error.what, where=describe(node, self.labels), hint=error.hint) from None
            except GraphError as error:
                raise GraphError(error.what, where=error.where or describe(node, self.labels), hint=error.hint) from None
        return function(dict.fromkeys(self.new.values()), self.new[self.graph])

    def _node(self, node: Node) -> Node:
        new = node.with_arguments([self.new[a] for a in arguments(node)])
        match new:
            case VarNode() | ConstantNode():
                return self._leaf(new)
            case OperatorCall():
                self._call(new)
            case TupleItemNode():
                types = new.source.checked_type
                if not isinstance(types, tuple):
                    raise GraphError(f"[{new.index}] of a node with one result")
                if not 0 <= new.index < len(types):
                    raise GraphError(f"result {new.index} of {len(types)}")
                new.checked_type = types[new.index]
            case TupleNode():
                new.checked_type = tuple(map(single, new.fields))
            case _:
                raise GraphError(f"{type(node).__name__} is not a kind of node")
        return new

    def _leaf(self, new: VarNode | ConstantNode) -> Node:
        name = new.label or ""
        if not name:
            raise GraphError("an input or a constant without a name")
        known = self.leaves.get(name)
        if known is not None:
            if isinstance(known, ConstantNode) and isinstance(new, ConstantNode) and _same_constant(known, new):
                return known
            raise GraphError(f"two different nodes are called {name}", hint="give every input and constant a name of its own")
        self.leaves[name] = new
        if new.dtype.dtype not in _DTYPES or new.dtype.mapped not in _SPACES:
            raise GraphError(f"type {new.dtype}, expected one of {', '.join(sorted(_DTYPES))} in {', '.join(sorted(_SPACES))}")
        if new.device.kind not in self.device.memory:
            raise GraphError(f"built for an accelerator with {new.device.kind}, device {self.device.name} has none")
        shape = tuple(self._size(d) for d in (_constant_shape(new) if isinstance(new, ConstantNode) else new.shape))
        new.resize(shape)
        new.checked_type = AccelTensor(shape, new.dtype, Accelerator(new.device.kind, self.device.name))
        return new

    def _size(self, size: Dim) -> Dim:
        if size not in self.sizes:
            self._bounded([size])
            low = size if isinstance(size, int) else size.upper()  # for a dynamic dimension only the maximum is checked
            if low < 1:
                raise GraphError(f"a size is {size}, expected at least 1")
            self.sizes.add(size)
        return size

    def _bounded(self, values: Iterable[Any]) -> None:
        """Check that every variable has exactly one bound."""
        for value in values:
            for v in value.variables if isinstance(value, Expr) else ():
                if v.max_data is None:
                    raise GraphError(f"variable {v.name} has no bound", hint=f'write ne.Var("{v.name}", max_data=...)')
                known = self.variables.setdefault(v.name, v)
                if known is not v:
                    raise GraphError(f"variable {v.name} has two bounds: {known.min_data} to {known.max_data} and "
                                     f"{v.min_data} to {v.max_data}")  # fmt: skip

    def _call(self, call: OperatorCall) -> None:
        call.attributes = {**self.attributes, **call.attributes}
        for value in call.attrs.values():
            self._bounded(value if isinstance(value, tuple) else [value])
        found = call.inferred(self.device.parameters)
        for result in found if isinstance(found, tuple) else (found,):
            for size in result.shape:
                self._size(size)
        call.checked_type = found


def _same_constant(a: ConstantNode, b: ConstantNode) -> bool:
    same_data = a.data is b.data or (isinstance(a.data, str) and a.data == b.data)
    same_shape = a.shape is None or b.shape is None or [*map(as_expr, a.shape)] == [*map(as_expr, b.shape)]
    return same_data and same_shape and a.dtype == b.dtype and a.prefix == b.prefix


def _constant_shape(node: ConstantNode) -> tuple[Dim, ...]:
    array = node.data if isinstance(node.data, np.ndarray) else None
    if array is not None and array.dtype.kind not in "fiu":
        raise GraphError(f"data of dtype {array.dtype}, expected numbers")
    if node.shape is None:
        if array is None:
            raise GraphError("a constant without a shape", hint="give shape=..., which only an array brings along")
        return array.shape
    if array is not None:
        sizes = [d for d in map(dim, node.shape) if isinstance(d, int)]
        fits = array.shape == tuple(sizes) if node.dtype == DataType("int4", "hbm") else array.size == int(np.prod(sizes))
        if len(sizes) == len(node.shape) and not fits:
            raise GraphError(f"data of shape {show_shape(array.shape)}, declared {show_shape(node.shape)}")
    return node.shape
