"""An ONNX graph without protobuf: nodes with plain attributes, in an order in which all is defined before it is used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class OnnxPort:
    """An input or output of a graph: dims are sizes, names of sizes, or "" if unknown; None if the shape is not declared."""

    name: str
    code: int | None
    dims: tuple[int | str, ...] | None
    sequence: bool = False


@dataclass(frozen=True, eq=False)
class OnnxNode:
    """One node.

    Attributes:
        where: "model.onnx:node 17 (Conv conv1)"; label: its name, or its first output's.
        attributes: int, float, str, list, array or Graph by name. references: attribute -> the function's attribute it takes.
        texts: names of the attributes that are texts, as numbers where they are tensors.
        raw: the node of the file, for ONNX's own definitions of operators.
    """

    op: str
    domain: str
    label: str
    where: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    references: Mapping[str, str] = field(default_factory=dict)
    raw: Any = None
    texts: frozenset[str] = frozenset()

    def subgraphs(self) -> list[Graph]:
        """Bodies among the attributes."""
        return [v for v in self.attributes.values() if isinstance(v, Graph)]


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes in an order in which they can be computed.

    texts: names of the weights that are strings, stored as numbers. replaceable: inputs with a default, an initializer of their
    name.
    """

    inputs: tuple[OnnxPort, ...]
    outputs: tuple[OnnxPort, ...]
    nodes: Sequence[OnnxNode]
    weights: Mapping[str, np.ndarray]
    texts: frozenset[str] = frozenset()
    replaceable: tuple[OnnxPort, ...] = ()


@dataclass(frozen=True, eq=False)
class OnnxFunction:
    """A function of the model, or the body that ONNX defines for an operator."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    nodes: Sequence[OnnxNode]
    opsets: Mapping[str, int]
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class OnnxModel:
    """A file. functions: by domain and name. words: numbers of the texts that it names (`fleet.frontend.onnx.texts`)."""

    name: str
    graph: Graph
    opsets: Mapping[str, int]
    functions: Mapping[tuple[str, str], OnnxFunction] = field(default_factory=dict)
    words: Mapping[str, int] = field(default_factory=dict)
