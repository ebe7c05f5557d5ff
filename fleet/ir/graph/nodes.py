"""Nodes of a graph: variables, constants, calls and parts of their results.

Nodes are immutable in what they mean; a graph is what can be reached from its last node. Two nodes are the same only if they
are the same object. A pass makes new nodes (`fleet.ir.graph.walk`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from fleet.ir.graph.errors import GraphError
from fleet.symbols.expr import Expr

__all__ = [
    "HBM",
    "Accelerator",
    "Call",
    "Constant",
    "Data",
    "DataType",
    "Dim",
    "Node",
    "Tensor",
    "Tuple",
    "TupleItem",
    "Type",
    "Var",
    "sizes",
]

Dim = int | Expr
"""A size: a number, or an expression of dynamic dimensions."""

Data = str | np.ndarray | Callable[[], np.ndarray] | None
"""What a constant holds: a file of packed bytes, an array, what makes the array, or nothing (only the shape is known)."""


@dataclass(frozen=True)
class DataType:
    """dtype: "float16", "int4", "int8", "int32"; mapped: the memory that holds it, "ddr", "hbm" or "onchip"."""

    dtype: str
    mapped: str

    def __str__(self) -> str:
        return f"({self.dtype}, {self.mapped})"


@dataclass(frozen=True)
class Accelerator:
    """What a graph is for. kind: memory of its weights, as it is printed ("hbm"); name: of the device, "" before `infer_type`."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return self.kind


HBM = Accelerator("hbm")
"""Any accelerator with HBM."""


@dataclass(frozen=True)
class Tensor:
    """The type of a node. shape: (1, tokens, channels) or (heads, tokens, channels) of features; (CHin, CHout) of weights."""

    shape: tuple[Dim, ...]
    dtype: DataType
    device: Accelerator

    def __str__(self) -> str:
        shape = ", ".join(str(d) for d in self.shape)
        return f"/* ret=({shape}), dtype={self.dtype}, device={self.device} */"


Type = Tensor | tuple[Tensor, ...]


def sizes(what: str, given: object) -> tuple[Dim, ...]:
    """A shape as a tuple. Raises GraphError for what is none; what stands in it is `infer_type`'s matter."""
    if not isinstance(given, Iterable) or isinstance(given, str | Expr):
        raise GraphError(f"{what} {given!r}, expected a tuple or a list of sizes")
    return tuple(cast("Iterable[Dim]", given))


def _named(name: object) -> str | None:
    if name is not None and not isinstance(name, str):
        raise GraphError(f"{name!r} is no name of an input or a constant")
    return name


def _nodes(given: object, all_of_them: str, one: str) -> tuple[Node, ...]:
    """Nodes as a tuple. Raises GraphError for anything else."""
    if not isinstance(given, Iterable) or isinstance(given, Node | str):
        raise GraphError(f"{all_of_them} {type(cast('object', given)).__name__}, expected a list of nodes")
    found = tuple(cast("Iterable[Node]", given))
    for index, node in enumerate(found):
        if not isinstance(cast("object", node), Node):
            raise GraphError(f"{one.format(index)} {node!r}, expected a node of a graph")
    return found


class Node:
    """What all nodes have.

    Attributes:
        prefix: the memory block that its result is placed in ("runtime", "weight", "hbm", "hbm_cache", a user's own).
        checked_type: what `infer_type` found; None before.
        name: for people and reports; calls have one only where the builder gave it (attribute "name").
    """

    def __init__(self, prefix: str, checked_type: Type | None = None, name: str | None = None) -> None:
        self.prefix = prefix
        self.checked_type = checked_type
        self.name = name

    def __getitem__(self, index: int) -> TupleItem:
        if not isinstance(cast("object", index), int):
            raise GraphError(f"result {index!r} of a node, expected a number")
        return TupleItem(self, index)

    def __iter__(self) -> Any:
        # `__getitem__` alone would make every node an endless sequence.
        raise TypeError("a node has no known number of results: take them by index")

    def __str__(self) -> str:
        from fleet.ir.graph.printing import print_graph

        return print_graph(self)


class Var(Node):
    """An input: shape as (1, tokens, channels)."""

    def __init__(
        self, name: str, shape: Sequence[Dim], dtype: DataType, device: Accelerator = HBM, prefix: str = "runtime",
        checked_type: Type | None = None,
    ) -> None:  # fmt: skip
        super().__init__(prefix, checked_type, _named(name))
        self.shape, self.dtype, self.device = sizes(f"{name}: shape", shape), dtype, device


class Constant(Node):
    """Weights. shape None: taken from the data. See `Data`."""

    def __init__(
        self, name: str, data: Data, shape: Sequence[Dim] | None, dtype: DataType, device: Accelerator = HBM,
        prefix: str = "weight", checked_type: Type | None = None,
    ) -> None:  # fmt: skip
        super().__init__(prefix, checked_type, _named(name))
        self.data, self.shape = data, None if shape is None else sizes(f"{name}: shape", shape)
        self.dtype, self.device = dtype, device


class Call(Node):
    """An operator ("accel.hbm.mvm") on arguments. attrs: what else it needs."""

    def __init__(
        self, op: str, args: Sequence[Node], attrs: Mapping[str, Any] | None = None, prefix: str = "runtime",
        checked_type: Type | None = None,
    ) -> None:  # fmt: skip
        self.op, self.attrs = op, dict(attrs or {})
        self.args = _nodes(args, f"arguments of {op} are", f"argument {{}} of {op} is")
        super().__init__(prefix, checked_type, self.attrs.get("name"))


class Tuple(Node):
    """Several results of a graph."""

    def __init__(self, fields: Sequence[Node], checked_type: Type | None = None) -> None:
        super().__init__("runtime", checked_type)
        self.fields = _nodes(fields, "fields of a tuple are", "field {} of a tuple is")


class TupleItem(Node):
    """One result of a node that has several."""

    def __init__(self, source: Node, index: int, checked_type: Type | None = None) -> None:
        super().__init__(source.prefix, checked_type)
        self.source, self.index = source, index
