"""One node with its inputs: what an operator's function is given."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias, TypeVar, cast

import numpy as np
import numpy.typing as npt

from fleet.frontend.onnx.array import OnnxArray
from fleet.frontend.onnx.build import Build
from fleet.frontend.onnx.graph import Graph, OnnxNode
from fleet.frontend.onnx.limits import MAX_MADE
from fleet.frontend.onnx.texts import decoded

NodeValue: TypeAlias = "OnnxArray | list[OnnxArray] | None"
"""A tensor, a sequence of tensors whose length is known, or an optional output that is not made."""

_T = TypeVar("_T")
NodeBody: TypeAlias = Callable[[Graph, Sequence[NodeValue]], list[NodeValue]]


@dataclass(frozen=True)
class NodeCall:
    """A node whose inputs are there.

    Attributes:
        values: None for an optional input that is not given. opset: version of the node's domain.
        body: reads a subgraph with these inputs and gives its outputs.
    """

    build: Build
    node: OnnxNode
    values: Sequence[NodeValue]
    opset: int
    body: NodeBody

    @property
    def x(self) -> OnnxArray:
        """The first input."""
        return self.array(0)

    @property
    def count(self) -> int:
        """Inputs that the node names, missing ones at the end not counted."""
        return len(self.values)

    def array(self, index: int) -> OnnxArray:
        """An input that must be there. Raises ModelError."""
        found = self.optional(index)
        if found is None:
            self.refuse(f"its input {index} is missing")
        return found

    def optional(self, index: int) -> OnnxArray | None:
        """An input, or None if it is not given. Raises ModelError for a sequence."""
        value = self.values[index] if index < len(self.values) else None
        if isinstance(value, list):
            self.refuse(f"its input {index} is a sequence, expected a tensor")
        return value

    def arrays(self) -> list[OnnxArray]:
        """All inputs, each of which must be there."""
        return [self.array(i) for i in range(len(self.values))]

    def sequence(self, index: int) -> list[OnnxArray]:
        """An input that is a sequence. Raises ModelError."""
        value = self.values[index] if index < len(self.values) else None
        if not isinstance(value, list):
            self.refuse(f"its input {index} is no sequence")
        return value

    def known(self, index: int, what: str) -> np.ndarray:
        """The elements of an input. Raises NeedsInputs or ModelError where they are not known."""
        return self.build.values_of(self.array(index), what)

    def integers(self, index: int, what: str) -> list[int]:
        """The elements of an input of integers."""
        found = self.known(index, what)
        if found.dtype.kind not in "iu" or found.ndim > 1:
            self.refuse(f"{what} must be integers, found {found.dtype}{list(found.shape)}")
        return [int(v) for v in found.reshape(-1)]

    def attribute(self, name: str, default: _T) -> _T:
        """An attribute of the default's kind. Raises ModelError for another kind."""
        found = self.node.attributes.get(name, default)
        if default is not None and found is not default:
            if isinstance(default, float) and isinstance(found, int):
                return cast("_T", float(found))
            if not isinstance(found, type(default)):
                self.refuse(f"its attribute {name} must be {type(default).__name__}, found {type(found).__name__}")
        return cast("_T", found)

    def words(self, name: str) -> np.ndarray:
        """Numbers of the texts that an attribute lists, int64; empty where the node has none."""
        texts: list[str] = []
        return np.array([self.build.words[text] for text in self.attribute(name, texts)], np.int64)

    def texts(self, index: int) -> np.ndarray:
        """The texts that an input holds, objects of str. Raises NeedsInputs or ModelError where they are not known."""
        return decoded(self.build.words, self.known(index, "its text"))

    def written(self, texts: np.ndarray) -> OnnxArray:
        """Texts, as their numbers."""
        return self.build.known(self.build.spell(texts))

    def has(self, name: str) -> bool:
        """Whether the node has an attribute."""
        return name in self.node.attributes

    def given(self, values: Sequence[NodeValue]) -> NodeCall:
        """The same node with other inputs."""
        return replace(self, values=values)

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from the front. Raises ModelError."""
        if not -rank <= axis < rank:
            self.refuse(f"the axis {axis} of a tensor of rank {rank}")
        return axis % rank

    def wants(self, output: int) -> bool:
        """Whether the node's output is named, and so may be used."""
        return output < len(self.node.outputs) and bool(self.node.outputs[output])

    def bounded(self, *sizes: int) -> None:
        """Refuses an array of indices or weights that would be too large, before it is made. Raises ModelError."""
        if math.prod(sizes) > MAX_MADE:
            self.refuse(f"needs an array of {' x '.join(map(str, sizes))} elements beside its inputs, at most {MAX_MADE} are made")

    def constant(self, value: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> OnnxArray:
        """A known array."""
        return self.build.known(np.asarray(value, dtype))

    def refuse(self, what: str, hint: str | None = None) -> NoReturn:
        """Raises ModelError at this node."""
        self.build.refuse(what, hint)
