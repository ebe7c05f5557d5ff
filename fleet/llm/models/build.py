"""Builds a whole model as a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from fleet.ir.accel.nodes import Node, OperatorCall, post_order
from fleet.llm.config import ModelConfig
from fleet.llm.models.blocks import Blocks
from fleet.llm.models.options import SHORT, ModelOptions
from fleet.symbols import expr as ne


@dataclass(frozen=True)
class ModelGraph:
    """A model's graph.

    Attributes:
        root: two results, the logits of the last token and the index of the largest. The only variable is "x"
            (1, token, channels), the embedded tokens.
        config, options: the arguments of `build_model`.
        blocks: the results of the transformer blocks, in order.
        token, last_token: its dynamic dimensions.
    """

    root: Node
    config: ModelConfig
    options: ModelOptions
    blocks: tuple[Node, ...]
    token: ne.Var
    last_token: ne.Var

    def calls(self) -> Iterator[OperatorCall]:
        """Yield the calls that become instructions, in order."""
        for node in post_order(self.root):
            if isinstance(node, OperatorCall) and not node.VIEW:
                yield node

    def counts(self) -> Counter[str]:
        """Count instructions by operator ("mvm_bn")."""
        return Counter(call.op.rsplit(".", 1)[-1] for call in self.calls())


def build_model(config: ModelConfig, weights: Mapping[str, np.ndarray] | None = None, options: ModelOptions = SHORT) -> ModelGraph:
    """Build the graph of a model.

    Args:
        config: its shape.
        weights: by the names of `fleet.llm.weights`, read on access; None: shapes only.
        options: the sequence of operators, and the limits of a step.
    """
    token = ne.Var("token", max_data=options.tokens)
    last_token = ne.Var("last_token", max_data=options.positions)
    read = None if weights is None else weights.__getitem__
    make = Blocks(config, options, read, token)
    x: Node = make.input()
    results: list[Node] = []
    for index in range(config.blocks):
        x = make.block(index, x, place="onchip")
        results.append(x)
    return ModelGraph(make.head(x), config, options, tuple(results), token, last_token)
