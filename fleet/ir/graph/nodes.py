"""Nodes of a graph: variables, constants, calls and parts of their results.

Nodes are immutable in what they mean; a graph is what can be reached from its last node. Two nodes are the same only if they
are the same object. A pass makes new nodes (`fleet.ir.graph.walk`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

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
        super().__init__(prefix, checked_type, name)
        self.shape, self.dtype, self.device = tuple(shape), dtype, device


class Constant(Node):
    """Weights. shape None: taken from the data. See `Data`."""

    def __init__(
        self, name: str, data: Data, shape: Sequence[Dim] | None, dtype: DataType, device: Accelerator = HBM,
        prefix: str = "weight", checked_type: Type | None = None,
    ) -> None:  # fmt: skip
        super().__init__(prefix, checked_type, name)
        self.data, self.shape, self.dtype, self.device = data, None if shape is None else tuple(shape), dtype, device


class Call(Node):
    """An operator ("accel.hbm.mvm") on arguments. attrs: what else it needs."""

    def __init__(
        self, op: str, args: Sequence[Node], attrs: Mapping[str, Any] | None = None, prefix: str = "runtime",
        checked_type: Type | None = None,
    ) -> None:  # fmt: skip
        self.op, self.args, self.attrs = op, tuple(args), dict(attrs or {})
        super().__init__(prefix, checked_type, self.attrs.get("name"))


class Tuple(Node):
    """Several results of a graph."""

    def __init__(self, fields: Sequence[Node], checked_type: Type | None = None) -> None:
        super().__init__("runtime", checked_type)
        self.fields = tuple(fields)


class TupleItem(Node):
    """One result of a node that has several."""

    def __init__(self, source: Node, index: int, checked_type: Type | None = None) -> None:
        super().__init__(source.prefix, checked_type)
        self.source, self.index = source, index
