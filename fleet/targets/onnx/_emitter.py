"""Builds the nodes of an ONNX graph: names, casts, constants."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import NodeProto, helper, numpy_helper

from fleet.core.unique import Taken
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.onnx.types import ELEMENT_TYPES, stand_in


class Unsupported(Exception):
    """ONNX's operators cannot express the operation; the message says why."""


@dataclass(frozen=True)
class EmittedValue:
    """A value of the graph. shape: -1 for unknown sizes."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)


class OnnxEmitter:
    """The nodes so far, in order. Names are unique among nodes, and among values."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.nodes: list[NodeProto] = []
        self._values = Taken(taken)
        self._names = Taken()
        self._constants: dict[tuple[str, tuple[int, ...], bytes], EmittedValue] = {}
        self._base, self._at = "model", ""

    # ---- identity

    def begin(self, op: FleetOp) -> int:
        """Begin an operation: later nodes belong to it. Returns the index of its first node."""
        at = op.properties.get("at")
        self._base, self._at = op_id(op), str(getattr(at, "data", ""))
        return len(self.nodes)

    def finish(self, first: int, value: EmittedValue, wanted: str) -> EmittedValue:
        """Return the operation's result under its own name; the node that makes it gets the operation's id.

        Args:
            first: from `begin`.
            value: from the rule.
            wanted: name of the value.
        """
        makers = {output: node for node in self.nodes[first:] for output in node.output if node.op_type != "Constant"}
        node = makers.get(value.name)
        if node is None:  # the result is an operand, or a shared constant
            value = self.node("Identity", [value], value.dtype, value.shape)
            node = self.nodes[-1]
        name = self.fresh(wanted)
        for user in self.nodes[first:]:
            for field in (user.input, user.output):
                field[:] = [name if n == value.name else n for n in field]
        self._values.discard(value.name)
        self._names.discard(node.name)
        node.name = self._names.unique(self._base)
        return EmittedValue(name, value.dtype, value.shape)

    def fresh(self, wanted: str) -> str:
        """Return a name that no value has."""
        return self._values.unique(wanted)

    def release(self, name: str) -> None:
        """Release a reserved name."""
        self._values.discard(name)

    def copy(self, value: EmittedValue, name: str) -> EmittedValue:
        """Return a copy of the value under this name, which the caller has reserved."""
        self._base, self._at = name, ""
        label = self._names.unique(name)
        self.nodes.append(helper.make_node("Identity", [value.name], [name], name=label))
        return EmittedValue(name, value.dtype, value.shape)

    # ---- bodies

    @contextmanager
    def inside(self, nodes: list[NodeProto]) -> Generator[None]:
        """Append to the nodes of a body within the context; a body sees constants from outside, and not the other way round."""
        outer, constants = self.nodes, self._constants
        self.nodes, self._constants = nodes, dict(constants)
        try:
            yield
        finally:
            self.nodes, self._constants = outer, constants

    def own(self, values: Sequence[EmittedValue]) -> list[EmittedValue]:
        """Return each value as a value of these nodes' own that no other place has: the results of a body."""
        made = {name for node in self.nodes for name in node.output}
        found: list[EmittedValue] = []
        for value in values:
            found.append(value if value.name in made else self.node("Identity", [value], value.dtype, value.shape))
            made.discard(value.name)
        return found

    # ---- nodes

    def node(
        self,
        operator: str,
        inputs: Sequence[EmittedValue | None],
        dtype: Any,
        shape: Sequence[int],
        outputs: int = 1,
        **attributes: Any,
    ) -> EmittedValue:
        """Append one node and return the last of its outputs. An input None is omitted."""
        label = self._names.unique(f"{self._base}.{operator}")
        names = [self.fresh(label if i == outputs - 1 else f"{label}.{i}") for i in range(outputs)]
        made = helper.make_node(operator, [v.name if v is not None else "" for v in inputs], names, name=label, **attributes)
        if self._at:
            made.doc_string = self._at
        self.nodes.append(made)
        return EmittedValue(names[-1], np.dtype(dtype), tuple(shape))

    def results(
        self, operator: str, inputs: Sequence[EmittedValue | None], like: Sequence[EmittedValue], **attributes: Any
    ) -> list[EmittedValue]:
        """Append one node with bodies; its results are of the dtypes and shapes of these values."""
        self.node(operator, inputs, np.bool_, (), outputs=len(like), **attributes)
        return [EmittedValue(name, v.dtype, v.shape) for name, v in zip(self.nodes[-1].output, like, strict=True)]

    def compute(
        self,
        operator: str,
        inputs: Sequence[EmittedValue],
        shape: Sequence[int],
        rest: Sequence[EmittedValue] = (),
        **attributes: Any,
    ) -> EmittedValue:
        """Append a node whose result has its inputs' dtype, computed in a supported dtype (`fleet.targets.onnx.types`).

        rest: further inputs, of other dtypes.
        """
        dtype = inputs[0].dtype
        wide = stand_in(operator, dtype)
        found = self.node(operator, [*(self.cast(v, wide) for v in inputs), *rest], wide, shape, **attributes)
        return self.cast(found, dtype)

    def predicate(self, operator: str, inputs: Sequence[EmittedValue], shape: Sequence[int]) -> EmittedValue:
        """Append a node whose result is a bool."""
        wide = stand_in(operator, inputs[0].dtype)
        return self.node(operator, [self.cast(v, wide) for v in inputs], np.bool_, shape)

    def cast(self, value: EmittedValue, dtype: Any) -> EmittedValue:
        """Return `value.astype(dtype)`; the value itself if it has the dtype."""
        wanted = np.dtype(dtype)
        if value.dtype == wanted:
            return value
        return self.node("Cast", [value], wanted, value.shape, to=ELEMENT_TYPES[wanted.name])

    def bits(self, value: EmittedValue, dtype: Any) -> EmittedValue:
        """Return `value.view(dtype)` for a dtype of the same size."""
        wanted = np.dtype(dtype)
        return self.node("BitCast", [value], wanted, value.shape, to=ELEMENT_TYPES[wanted.name])

    def reshape(self, value: EmittedValue, shape: Sequence[int]) -> EmittedValue:
        """Return `value.reshape(shape)`; one size may be -1."""
        zero = {"allowzero": 1} if 0 in shape else {}
        return self.node("Reshape", [value, self.integers(shape)], value.dtype, shape, **zero)

    # ---- constants

    def constant(self, array: np.ndarray) -> EmittedValue:
        """Return a small array; equal contents share one constant."""
        array = np.asarray(array)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            label = self._names.unique("constant")
            name = self.fresh(label)
            self.nodes.append(helper.make_node("Constant", [], [name], name=label, value=numpy_helper.from_array(array)))
            self._constants[key] = EmittedValue(name, array.dtype, array.shape)
        return self._constants[key]

    def number(self, value: bool | int | float, dtype: Any) -> EmittedValue:
        """Return a scalar of this dtype."""
        with np.errstate(over="ignore"):
            return self.constant(np.asarray(value).astype(dtype))

    def integers(self, values: Sequence[int]) -> EmittedValue:
        """Return a vector of int64: axes, shapes, bounds."""
        return self.constant(np.asarray(list(values), np.int64))


def result_of(op: FleetOp) -> tuple[np.dtype, tuple[int, ...]]:
    """Return the IR's dtype and shape of an operation's result."""
    return numpy_dtype(op.results[0].type), shape_of(op.results[0].type)
