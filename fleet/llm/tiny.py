"""A tiny model that tests can run everywhere and that does something visible: it continues repeated text.

`tiny_model()` is a llama of two blocks whose weights are constructed, not trained: an induction head. Block 0 has a head that
attends to the previous position (its q is its k rotated back by one position, so the rotary score is highest there) and writes that
token's code beside the token's own code. Block 1 has a head that finds an earlier position whose previous token equals the present
token, and adds the code of the token at that position: the one that followed last time. So "abcdabc" continues with "dabcd". That
needs correct positions, rotary angles, cache, grouped heads, norms and residuals. All weights carry small noise.

The other architectures get random weights with the magnitudes of a trained model.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from fleet.llm.config import ModelConfig
from fleet.llm.weights import ModelWeights, weight_shapes

VOCABULARY, FIRST_BYTE = 320, 64
"""Number of tokens; token of byte 0. Lower ids are control tokens and, in files written for tests, merges."""
_CODE = 64
"""Channels of a token's code. The previous token's code follows; the last channel holds a constant."""
_CONSTANT = 8.0
_FAST = 8
"""Number of leading rotary pairs that tell positions apart; pairs from `_SLOW` on turn too slowly to disturb a match."""
_SLOW = 14


def tiny_config(architecture: str = "llama") -> ModelConfig:
    """Return a small shape: 2 blocks, 128 channels, 2 heads of 64 (1 for keys and values), 256 hidden channels."""
    llama = ModelConfig(
        "llama", blocks=2, channels=128, heads=2, kv_heads=1, head_channels=64, ffn=256, vocabulary=VOCABULARY, context=512,
        rotary=64, rope_base=1e6, tied=True, bos=1, eos=(2,), chat="chatml", system="Be brief",
    )  # fmt: skip
    match architecture:
        case "qwen2":
            return replace(llama, architecture=architecture, tied=False, norm_eps=1e-6, qkv_bias=True)
        case "chatglm2":
            return replace(llama, architecture=architecture, tied=False, rotary=32, rope_base=1e4, qkv_bias=True)
        case "gpt2":
            return replace(
                llama, architecture=architecture, kv_heads=2, rotary=0, rope_base=1e4, norm="layer", qkv_bias=True,
                o_bias=True, ffn_bias=True, activation="gelu_tanh", gated=False,
            )  # fmt: skip
        case _:
            return replace(llama, architecture=architecture)


def tiny_model(architecture: str = "llama", seed: int = 0) -> ModelWeights:
    """Return the weights of `tiny_config(architecture)`; equal seeds give equal weights on every machine."""
    config = tiny_config(architecture)
    rng = np.random.Generator(np.random.PCG64(seed))
    arrays = _induction(config, rng) if architecture == "llama" else _random(config, rng)
    return ModelWeights.of(config, arrays, place=f"tiny {architecture}")


def _random(config: ModelConfig, rng: np.random.Generator) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}
    for name, shape in weight_shapes(config).items():
        if name == "head" and config.tied:
            continue
        noise = rng.standard_normal(shape).astype(np.float32)
        match name.rsplit(".", 1)[-1]:
            case "gamma":
                arrays[name] = 1 + np.float32(0.1) * noise
            case "beta" | "bias":
                arrays[name] = np.float32(0.1) * noise
            case "embedding" | "position_embedding":
                arrays[name] = np.float32(0.25) * noise
            case _:
                arrays[name] = noise * np.float32(1 / math.sqrt(shape[0]))
    return arrays


def _induction(config: ModelConfig, rng: np.random.Generator) -> dict[str, np.ndarray]:
    arrays = {name: np.float32(0.02) * array for name, array in _random(config, rng).items()}
    for name in arrays:
        if name.endswith("gamma"):
            arrays[name] += np.float32(0.98)
        elif ".ffn." in name:
            arrays[name] *= np.float32(20)  # silu(gate) * up becomes visible but does not hide the codes
    embedding = arrays["embedding"]
    embedding[:, :_CODE] += rng.choice(np.array([-1, 1], np.float32), (config.vocabulary, _CODE))
    embedding[:, -1] += np.float32(_CONSTANT)
    constant = config.channels - 1
    code, d = np.arange(_CODE), config.head_channels

    # Block 0, query head 0 attends to the previous position. Fast pairs only, amplitude 11 = 1.375 * the constant.
    angles = config.rope_base ** (-2 * np.arange(_FAST) / config.rotary)
    arrays["blocks.0.attention.k"][constant, 0 : 2 * _FAST : 2] += np.float32(1.375)
    arrays["blocks.0.attention.q"][constant, 0 : 2 * _FAST : 2] += (1.375 * np.cos(angles)).astype(np.float32)
    arrays["blocks.0.attention.q"][constant, 1 : 2 * _FAST : 2] -= (1.375 * np.sin(angles)).astype(np.float32)
    arrays["blocks.0.attention.v"][code, code] += np.float32(1)
    arrays["blocks.0.attention.o"][code[:-1], _CODE + code[:-1]] += np.float32(1)

    # Block 1, query head 0: finds a position whose previous token is the present one; not the first, which precedes itself.
    slow = np.arange(2 * _SLOW, d)
    used = code[: len(slow)]
    arrays["blocks.1.attention.q"][used, slow] += np.float32(3)
    arrays["blocks.1.attention.k"][_CODE + used, slow] += np.float32(3)
    arrays["blocks.1.attention.k"][used, slow] -= np.float32(1.5)
    arrays["blocks.1.attention.v"][code, code] += np.float32(1)
    arrays["blocks.1.attention.o"][code, code] += np.float32(6)
    arrays["norm.gamma"] *= np.float32(0.12)
    return arrays
