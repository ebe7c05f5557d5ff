"""A whole model as a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from fleet.ir.graph.nodes import Call, Node
from fleet.llm.config import ModelConfig
from fleet.llm.models.blocks import Blocks
from fleet.llm.models.options import SHORT, ModelOptions
from fleet.symbols import expr as ne

__all__ = ["VIEWS", "ModelGraph", "build_model"]

VIEWS = frozenset({"reshape", "split", "realloc", "tuple", "concat", "gather"})
"""Operators without an instruction."""


@dataclass(frozen=True)
class ModelGraph:
    """A model's graph.

    Attributes:
        root: its last node, the logits of the last token; there is one variable, "x" (1, token, channels), the embedded tokens.
        config, options: what it was made of.
        blocks: the results of the transformer blocks, in order.
        token, last_token: its dynamic dimensions.
    """

    root: Node
    config: ModelConfig
    options: ModelOptions
    blocks: tuple[Node, ...]
    token: ne.Var
    last_token: ne.Var

    def calls(self) -> Iterator[Call]:
        """Its calls, each once, in no particular order."""
        seen: set[int] = set()
        stack: list[Node] = [self.root]
        while stack:
            node = stack.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, Call):
                yield node
            stack += [*getattr(node, "args", ()), *([node.source] if hasattr(node, "source") else [])]  # pyright: ignore

    def counts(self) -> Counter[str]:
        """Operators that are instructions, by name ("mvm_bn")."""
        kinds = (call.op.rsplit(".", 1)[-1] for call in self.calls())
        return Counter(kind for kind in kinds if kind not in VIEWS)


def build_model(
    config: ModelConfig, weights: Mapping[str, np.ndarray] | None = None, options: ModelOptions = SHORT,
    table: Callable[[str], np.ndarray] | None = None,
) -> ModelGraph:  # fmt: skip
    """The graph of a model.

    Args:
        config: its shape.
        weights: by the names of `fleet.llm.weights`, read when they are needed; None: shapes only.
        options: which sequence of operators, and the limits of a step.
        table: an activation's segments [3, 16] by its name ("silu"), as the device has them; None: without data.
    """
    token = ne.Var("token", max_data=options.tokens)
    last_token = ne.Var("last_token", max_data=options.positions)
    read = None if weights is None else weights.__getitem__
    make = Blocks(config, options, read, table, token, last_token)
    x: Node = make.input()
    results: list[Node] = []
    for index in range(config.blocks):
        x = make.block(index, x, place="onchip")
        results.append(x)
    return ModelGraph(make.head(x), config, options, tuple(results), token, last_token)
