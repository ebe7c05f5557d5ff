"""Rounds a language model layer by layer; each layer also corrects what the layers rounded before it have done to its inputs.

Two streams run through the blocks: a text through the exact layers, and the same text through the rounded ones. For a layer's
inputs X of the second stream, its outputs should be the targets T of the first, so what is rounded is not the exact weights W but

    W + s (X'X + d)^-1 X' (T - X W)        the least-squares answer if s is 1 and d is 0

s (`STRENGTH`) and the damping d keep it from learning the text by heart. T are the outputs of the exact layer on the exact stream.
A block's last layer is given more to correct: its outputs are added to the residual stream, so there T - X W is the difference of
the two streams after the block. Known forms of this: Qronos (Zhang et al., 2025) and GPTAQ (Li et al., 2025).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial

import numpy as np

from fleet.core.blas_threads import one_thread
from fleet.llm import reference
from fleet.llm.config import ModelConfig
from fleet.llm.weights import ModelWeights, WeightArray
from fleet.transforms.quantise import Quantised
from fleet.transforms.quantise_compensated import damped_moments

TOKENS = 12288
"""Tokens to calibrate with; a longer text is cut."""
CHUNK = 410
"""Tokens of a calibration sequence: long enough for typical attention, short enough to be quick."""
LAYERS_TOGETHER = (("attention.q", "attention.k", "attention.v"), ("attention.o",), ("ffn.gate", "ffn.up"), ("ffn.down",))
"""Layers of a block that have the same inputs, in the order of a forward pass."""
STRENGTH = 0.5
"""Part of the least-squares correction that is made."""
DAMPING = 0.1
"""Fraction of the mean second moment that is added to all. Ten times what is usual: what rounding gains with less on the text that
it learns from, it loses on others."""

RoundLayers = Callable[[Sequence[str], Sequence[WeightArray], WeightArray], dict[str, Quantised]]
"""Rounds layers with the same inputs: their names, their matrices and the second moments X'X of the inputs."""


class _Met(Exception):
    """A forward pass has come to the layer that is asked for."""


def corrected_layers(
    weights: ModelWeights,
    tokens: Sequence[int],
    names: Sequence[str],
    round_layers: RoundLayers,
    report: Callable[[float, str], None],
) -> dict[str, Quantised]:
    """Round the layers `names` of a model.

    Args:
        weights: the model.
        tokens: of the text to calibrate with; the first `TOKENS` are used.
        names: canonical names of the layers to round, "head" perhaps among them.
        round_layers: rounds layers with the same inputs.
        report: called with the finished fraction (0 to 1) and a text.
    """
    # Threads take a sequence each: the bits are the same for every number of them, and no product waits for several threads.
    with one_thread(), ThreadPoolExecutor(os.cpu_count()) as threads:
        return _rounded_in_turn(weights, tokens, names, round_layers, report, threads)


def _rounded_in_turn(
    weights: ModelWeights,
    tokens: Sequence[int],
    names: Sequence[str],
    round_layers: RoundLayers,
    report: Callable[[float, str], None],
    threads: Executor,
) -> dict[str, Quantised]:
    config = weights.config
    exact = embedded(weights, tokens[:TOKENS])
    rounded = list(exact)
    layers: dict[str, Quantised] = {}
    for i in range(config.blocks):
        report(i / (config.blocks + 1), f"rounding block {i} of {config.blocks}")
        block = {name: weights[name] for name in weights.shapes if name.startswith(f"blocks.{i}.")}
        now = dict(block)
        targets, exact = _inputs(threads, config, block, i, exact)
        for together in LAYERS_TOGETHER:
            present = [f"blocks.{i}.{layer}" for layer in together if f"blocks.{i}.{layer}" in block]
            wanted = [name for name in present if name in names]
            if not wanted:
                continue
            closes = together == LAYERS_TOGETHER[-1] and config.norm_place == "before"
            met, after = _inputs(threads, config, now, i, rounded, "" if closes else present[0])
            x = met[present[0]]
            moments = _products(x, x)
            if closes:
                aims = [_corrected(block[wanted[0]], _solved(moments, _products(x, _differences(exact, after))))]
            else:
                drift = _solved(moments, _products(x, _differences(targets[present[0]], x)))
                aims = [_corrected(block[name], drift @ block[name]) for name in wanted]
            made = round_layers(wanted, aims, moments)
            layers |= made
            now |= {name: layer.values(np.float32) for name, layer in made.items()}
        rounded = list(threads.map(partial(reference.block_forward, config, now, i), rounded))
    if "head" in names:
        report(config.blocks / (config.blocks + 1), "rounding the head")
        norm = {name: weights[name] for name in weights.shapes if name.startswith("norm.")}
        aims, x = ([reference.head_inputs(config, norm, stream) for stream in streams] for streams in (exact, rounded))
        moments, head = _products(x, x), weights["head"]
        drift = _solved(moments, _products(x, _differences(aims, x)))
        layers |= round_layers(["head"], [_corrected(head, drift @ head)], moments)
    return layers


def embedded(weights: ModelWeights, tokens: Sequence[int]) -> list[WeightArray]:
    """Return the residual streams [chunk, channels] of a text before the first block, in chunks of up to `CHUNK` tokens."""
    config = weights.config
    length = min(CHUNK, config.context)
    embedding = {name: weights[name] for name in weights.shapes if name.endswith("embedding")}
    return [reference.embed(config, embedding, tokens[at : at + length]) for at in range(0, len(tokens), length)]


def _inputs(
    threads: Executor,
    config: ModelConfig,
    block: Mapping[str, WeightArray],
    i: int,
    streams: Sequence[WeightArray],
    last: str = "",
) -> tuple[dict[str, list[WeightArray]], list[WeightArray]]:
    """Return inputs by layer, and the streams after the block. last: the layer to stop at, before it; "" for the whole block."""

    def run(x: WeightArray) -> tuple[dict[str, WeightArray], WeightArray]:
        met: dict[str, WeightArray] = {}

        def observe(name: str, inputs: WeightArray) -> None:
            met[name] = inputs
            if name == last:
                raise _Met

        try:
            return met, reference.block_forward(config, block, i, x, observe)
        except _Met:
            return {last: met[last]}, x

    ran = list(threads.map(run, streams))
    return {name: [met[name] for met, _ in ran] for name in ran[0][0]}, [after for _, after in ran]


def _products(x: Sequence[WeightArray], y: Sequence[WeightArray]) -> WeightArray:
    """Return X'Y of all streams."""
    total = x[0].T @ y[0]
    for one, other in zip(x[1:], y[1:], strict=True):
        total += one.T @ other
    return total


def _solved(moments: WeightArray, pull: WeightArray) -> WeightArray:
    return np.linalg.solve(damped_moments(moments, DAMPING), pull.astype(np.float64)).astype(np.float32)


def _differences(x: Sequence[WeightArray], y: Sequence[WeightArray]) -> list[WeightArray]:
    return [one - other for one, other in zip(x, y, strict=True)]


def _corrected(weight: WeightArray, step: WeightArray) -> WeightArray:
    return (weight + STRENGTH * step).astype(np.float32)
