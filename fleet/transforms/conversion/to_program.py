"""Lowers a graph of accelerator operators to an ordinary program in float32, which the golden and RISC-V run.

The program computes one step: `tokens` new tokens after `past` cached ones. Each node becomes one IR operation (or a few, whose
ids start with the node's name and a slash); the last one has the node's name as its id, so that traces align by node.

Shapes: a feature tensor (1, token, C) is [tokens, C]; (heads, token, D) is [heads, tokens, D].

Arguments of the program, besides one weight per constant:
    the graph's variables under their own names, float32
    "<cache node>.past"   [kv_heads, past, D]: what the cache holds; past may be unknown until the run
    "<table>.cos", "<table>.sin"    [tokens, pairs]: the rows of a rotary table from the step's first position on
    "mask"                [tokens, past + tokens], added to scores: 0, or `MASKED` for keys that a query must not see; if `masked`
Results: those of the graph, "output" or "output0", "output1" ... of a tuple, and "<cache node>" [kv_heads, tokens, D]: the rows
that this step adds to the cache. An argmax is int64, one per token.
"""

from __future__ import annotations

import numpy as np

from fleet.errors import ModelError
from fleet.ir.accel.nodes import Node, TupleNode, post_order
from fleet.ir.expand import MASKED
from fleet.ir.shapes import UNKNOWN
from fleet.transforms.conversion.emitter import GraphEmitter, StepProgram
from fleet.transforms.conversion.lowerings import LOWERINGS
from fleet.transforms.conversion.weights import GraphWeights


def mask_of(tokens: int, past: int, slots: int) -> np.ndarray:
    """The additive mask of a step: [tokens, slots + tokens] float32.

    past: filled slots of the cache, the first ones of `slots`. New token i sees these and new tokens up to itself.
    """
    mask = np.full((tokens, slots + tokens), MASKED["float32"], np.float32)
    mask[:, :past] = 0
    mask[:, slots:][np.tri(tokens, dtype=bool)] = 0
    return mask


def to_program(
    graph: Node, tokens: int, past: int | None = None, *, masked: bool = True, weights: GraphWeights | None = None,
    name: str = "graph",
) -> StepProgram:  # fmt: skip
    """Lowers a graph.

    Args:
        graph: its calls and constants; types are not needed.
        tokens: new tokens of the step.
        past: slots of the caches; None: any number, known in the run.
        masked: the mask of the run is added to the scores; without it every query sees every slot and every new token, which is
            correct for one new token after a full cache.
        weights: provides the constants' arrays; shared by programs, so that none is computed twice. None: the constants' own data.
        name: of the model, for messages.

    Raises:
        ModelError: an operator has no lowering, shapes do not fit, a constant has no data; the message names the node.
    """
    if tokens < 1 or (past is not None and past < 0):
        raise ModelError(f"a step of {tokens} tokens behind {past}, expected at least 1 behind at least 0", where=name)
    emitter = GraphEmitter(tokens, UNKNOWN if past is None else past, masked, weights or GraphWeights(), name)
    fields = graph.fields if isinstance(graph, TupleNode) else (graph,)
    for node in post_order(graph):
        emitter.add(node, LOWERINGS)
    results = ["output"] if not isinstance(graph, TupleNode) else [f"output{i}" for i in range(len(fields))]
    return emitter.finish(dict(zip(results, fields, strict=True)), past)
