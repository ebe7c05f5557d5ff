"""A language model's forward pass in NumPy float32: a whole sequence at once, without a cache and without fleet's IR.

It is the independent reference for all other implementations, and the basis of perplexity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig
from fleet.llm.weights import WeightArray
from fleet.targets.bytecode.erf import erf

Observer = Callable[[str, WeightArray], None]
"""Called with a linear layer's canonical name and its inputs [tokens, inputs], before it is computed."""


def forward(config: ModelConfig, weights: Mapping[str, WeightArray], tokens: Sequence[int]) -> WeightArray:
    """Return the logits of every position.

    Args:
        config: the model's shape.
        weights: by canonical name (`fleet.llm.weights`).
        tokens: ids.

    Returns:
        [tokens, vocabulary] float32; row t scores the token after tokens[: t + 1].

    Raises:
        ModelError: no tokens, too many for the context, or an id outside the vocabulary.
    """
    logits = head_inputs(config, weights, hidden_states(config, weights, tokens)) @ weights["head"]
    return logits + weights["head.bias"] if config.head_bias else logits


def hidden_states(config: ModelConfig, weights: Mapping[str, WeightArray], tokens: Sequence[int]) -> WeightArray:
    """Return the residual stream [tokens, channels] after the last block. Raises as `forward` does."""
    x = embed(config, weights, tokens)
    for i in range(config.blocks):
        x = block_forward(config, weights, i, x)
    return x


def head_inputs(config: ModelConfig, weights: Mapping[str, WeightArray], x: WeightArray) -> WeightArray:
    """Return the last norm's result [tokens, channels], the input of the head."""
    return _norm(config, weights, "norm", x)


def embed(config: ModelConfig, weights: Mapping[str, WeightArray], tokens: Sequence[int]) -> WeightArray:
    """Return the residual stream [tokens, channels] before the first block. Raises as `forward` does."""
    ids = np.asarray(tokens, np.int64)
    if ids.ndim != 1 or not 0 < len(ids) <= config.context:
        raise ModelError(f"{ids.size} tokens, expected 1 to {config.context}", where=f"{config.architecture} model")
    if ids.min() < 0 or ids.max() >= config.vocabulary:
        raise ModelError(f"a token outside 0 to {config.vocabulary - 1}", where=f"{config.architecture} model")
    x = weights["embedding"][ids]
    return x + weights["position_embedding"][: len(ids)] if config.learned_positions else x


def block_forward(
    config: ModelConfig, weights: Mapping[str, WeightArray], block: int, x: WeightArray, observe: Observer | None = None
) -> WeightArray:
    """Run one block on the residual stream [tokens, channels]. observe: called with the inputs of each linear layer."""

    def linear(name: str, y: WeightArray) -> WeightArray:
        name = f"blocks.{block}.{name}"
        if observe is not None:
            observe(name, y)
        out = y @ weights[name]
        return out + weights[f"{name}.bias"] if f"{name}.bias" in weights else out

    c, tokens, b = config, len(x), f"blocks.{block}"
    before, after = c.norm_place != "after", c.norm_place != "before"
    y = _norm(c, weights, f"{b}.norm1", x) if before else x
    q, k, v = (linear(f"attention.{kind}", y) for kind in "qkv")
    if c.qk_norm == "all":
        q, k = (_rms(c, weights, f"{b}.attention.{kind}_norm", z) for kind, z in (("q", q), ("k", k)))
    q = q.reshape(tokens, c.heads, c.head_channels)
    k, v = (z.reshape(tokens, c.kv_heads, c.head_channels) for z in (k, v))
    if c.qk_norm == "head":
        q, k = (_rms(c, weights, f"{b}.attention.{kind}_norm", z) for kind, z in (("q", q), ("k", k)))
    q, k = _rotate(c, block, q), _rotate(c, block, k)
    # Query head h attends with key and value head h // (heads / kv_heads): [kv_heads, heads of each * tokens, head_channels].
    q = q.reshape(tokens, c.kv_heads, -1, c.head_channels).transpose(1, 2, 0, 3).reshape(c.kv_heads, -1, c.head_channels)
    scores = (q @ k.transpose(1, 2, 0)).reshape(c.heads, tokens, tokens) / np.float32(np.sqrt(c.head_channels))
    scores[:, ~np.tri(tokens, dtype=bool)] = -np.inf
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed = scores.reshape(c.kv_heads, -1, tokens) @ v.transpose(1, 0, 2)
    mixed = mixed.reshape(c.heads, tokens, c.head_channels).transpose(1, 0, 2).reshape(tokens, c.query_channels)
    mixed = linear("attention.o", mixed)
    middle = x + (_norm(c, weights, f"{b}.norm1_after", mixed) if after else mixed)

    if c.parallel != "one":
        read = x if c.parallel else middle
        y = _norm(c, weights, f"{b}.norm2", read) if before else read
    up = linear("ffn.up", y)
    hidden = _activation(c, linear("ffn.gate", y)) * up if c.gated else _activation(c, up)
    down = linear("ffn.down", hidden)
    return middle + (_norm(c, weights, f"{b}.norm2_after", down) if after else down)


def log_softmax(logits: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return log probabilities along the last axis, in float64."""
    wide = logits.astype(np.float64)
    wide -= wide.max(axis=-1, keepdims=True)
    return wide - np.log(np.exp(wide).sum(axis=-1, keepdims=True))


def _norm(config: ModelConfig, weights: Mapping[str, WeightArray], name: str, x: WeightArray) -> WeightArray:
    if config.norm == "layer":
        return _rms(config, weights, name, x - x.mean(axis=-1, keepdims=True)) + weights[f"{name}.beta"]
    return _rms(config, weights, name, x)


def _rms(config: ModelConfig, weights: Mapping[str, WeightArray], name: str, x: WeightArray) -> WeightArray:
    return x / np.sqrt(np.square(x).mean(axis=-1, keepdims=True) + np.float32(config.norm_eps)) * weights[f"{name}.gamma"]


def _rotate(config: ModelConfig, block: int, x: WeightArray) -> WeightArray:
    """Apply rotary positions to [tokens, heads, head_channels]; channels from `rotary` on stay."""
    r, rope = config.rotary, config.rope_of(block)
    if rope is None:
        return x
    angles = np.arange(len(x))[:, None] * np.array(rope.frequencies)
    cos, sin = ((rope.magnitude * f(angles)).astype(np.float32)[:, None, :] for f in (np.cos, np.sin))
    first, second = (slice(0, r, 2), slice(1, r, 2)) if config.rope_interleaved else (slice(0, r // 2), slice(r // 2, r))
    y = x.copy()
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., first] * sin + x[..., second] * cos
    return y


def _activation(config: ModelConfig, x: WeightArray) -> WeightArray:
    half = np.float32(0.5)
    with np.errstate(over="ignore"):  # exp(-x) of a very negative x is infinite, and the quotient 0
        match config.activation:
            case "silu":
                return x / (np.float32(1) + np.exp(-x))
            case "relu":
                return np.maximum(x, 0)
            case "relu2":
                return np.square(np.maximum(x, 0))
            case "gelu":
                return half * x * (1 + erf(x / np.float32(np.sqrt(2))))
            case _:
                inner = np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * (x * x * x))
                return half * x * (1 + np.tanh(inner))
