"""Weights with wider heads that mean the same: zeros after the channels of every head."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt

import numpy as np

from fleet.errors import ModelError
from fleet.llm.weights import ModelWeights
from fleet.transforms.products.widen_heads import padded_heads


def widened(weights: ModelWeights, wide: int) -> ModelWeights:
    """Return the weights with heads of `wide` channels: columns of zeros in q, k and v, rows of zeros in o.

    Scores are divided by the root of a head's channels, of which there are more now; q makes up for it. What is rotated stays.
    Done before weights are rounded, so that a group of inputs with one scale lies within the rows that a device stores.

    Raises:
        ModelError: queries and keys are normalised, whose mean would count the zeros.
    """
    c = weights.config
    if c.qk_norm:
        raise ModelError(f"heads of {c.head_channels} channels are normalised, so that no zeros can fill them", where=weights.place)
    scale = np.float32(sqrt(wide / c.head_channels))
    readers: dict[str, Callable[[], np.ndarray]] = {}
    for block in range(c.blocks):
        for part, heads in (("q", c.heads), ("k", c.kv_heads), ("v", c.kv_heads)):
            for name in (f"blocks.{block}.attention.{part}", f"blocks.{block}.attention.{part}.bias"):
                if name in weights.shapes:
                    factor = scale if part == "q" else np.float32(1)
                    readers[name] = _padded(weights, name, -1, heads, wide, factor)
        name = f"blocks.{block}.attention.o"
        readers[name] = _padded(weights, name, 0, c.heads, wide, np.float32(1))
    return weights.replaced(readers, f"heads of {wide}", replace(c, head_channels=wide))


def _padded(weights: ModelWeights, name: str, axis: int, heads: int, wide: int, factor: np.float32) -> Callable[[], np.ndarray]:
    at = axis % len(weights.shapes[name])
    return lambda: padded_heads(weights[name], at, heads, wide) * factor
