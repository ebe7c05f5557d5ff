"""Nodes of a graph: variables, constants, calls and parts of their results; the way through them, and their text.

Nodes are immutable in what they mean; a graph is what can be reached from its last node. Two nodes are the same only if they
are the same object. A pass makes new nodes (`fleet.ir.accel.walk`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from fleet.ir.accel.errors import GraphError
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
    "arguments",
    "describe",
    "labels",
    "post_order",
    "print_graph",
    "show_type",
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


# Ways through a graph, none of them recursive: a graph may be as deep as memory allows.


def arguments(node: Node) -> tuple[Node, ...]:
    """The nodes that a node is made of, in order."""
    if isinstance(node, Call):
        return node.args
    if isinstance(node, Tuple):
        return node.fields
    return (node.source,) if isinstance(node, TupleItem) else ()


def post_order(root: Node) -> Iterator[Node]:
    """Every node once, arguments before what uses them, first arguments first."""
    seen: set[Node] = set()
    stack = [(root, False)]
    while stack:
        node, done = stack.pop()
        if done:
            yield node
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(a, False) for a in reversed(arguments(node)) if a not in seen]


def labels(root: Node) -> dict[Node, str]:
    """How every node is called in the printed graph: its name, "%3", "%3.0"; a Tuple by its fields."""
    named: dict[Node, str] = {}
    calls = 0
    for node in post_order(root):
        match node:
            case Call():
                named[node] = f"%{calls}"
                calls += 1
            case TupleItem():
                named[node] = f"{named[node.source]}.{node.index}"
            case Tuple():
                named[node] = f"({', '.join(named[f] for f in node.fields)})"
            case _:
                named[node] = node.name or "?"
    return named


def print_graph(root: Node, name: str = "main") -> str:
    """The graph as text.

    Example:
        >>> print(print_graph(c))  # doctest: +SKIP
        def main(a) {
          a = var()
          b = constant()
          %0 = accel.hbm.mvm(a, b)
          return %0
        }
    """
    named = labels(root)
    lines = [f"def {name}({', '.join(named[v] for v in post_order(root) if isinstance(v, Var))}) {{"]
    for node in post_order(root):
        if isinstance(node, Var | Constant | Call):
            checked = f" {show_type(node.checked_type)}" if node.checked_type is not None else ""
            lines.append(f"  {named[node]} = {_right_side(node, named)}{checked}")
    return "\n".join([*lines, f"  return {named[root]}", "}"])


def _right_side(node: Node, named: dict[Node, str]) -> str:
    if isinstance(node, Var):
        return "var()"
    if isinstance(node, Constant):
        return "constant()"
    assert isinstance(node, Call)
    return f"{node.op}({', '.join(named[a] for a in node.args)})"


def describe(node: Node, named: dict[Node, str]) -> str:
    """A node for an error: "%3 = accel.hbm.mvm(%2, wq)"; calls with a name of their own have it behind."""
    if not isinstance(node, Call):
        return named[node]
    return f"{named[node]} = {_right_side(node, named)}" + (f' "{node.name}"' if node.name else "")


def show_type(checked: Type) -> str:
    """A type as it stands behind a node; of several results one behind the other."""
    return str(checked) if isinstance(checked, Tensor) else " ".join(map(str, checked))
