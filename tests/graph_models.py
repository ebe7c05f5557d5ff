"""Small graphs for tests, and what they compute written straight in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from fleet.dlavm import adr, ne
from fleet.ir.accel.nodes import Node

TOKEN, LAST = ne.Var("token", max_data=64), ne.Var("last_token", max_data=64)
C, HEADS, KV, D, FF, VOCAB = 128, 4, 2, 32, 96, 50


def block_weights(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Weights of one block and the output layer, small enough that nothing saturates."""

    def matrix(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape) / np.sqrt(shape[0])

    angles = np.arange(64)[:, None] * 10000.0 ** (-2 * np.arange(D // 2) / D)
    return {
        "norm0": np.stack([1 + rng.standard_normal(C) / 9, np.zeros(C)]),
        "norm1": 1 + rng.standard_normal(C) / 9,
        "rotary": np.stack([np.cos(angles), np.sin(angles)]),
        "wq": matrix(C, HEADS * D),
        "wk": matrix(C, KV * D),
        "wv": matrix(C, KV * D),
        "bv": np.stack([np.ones(KV * D), rng.standard_normal(KV * D)]),
        "wo": matrix(HEADS * D, C),
        "gate": matrix(C, FF),
        "up": matrix(C, FF),
        "down": matrix(FF, C),
        "head": matrix(C, VOCAB),
    }


def block(w: dict[str, np.ndarray], *, token: Any = TOKEN, with_data: bool = True) -> Node:
    """One llama block and the output layer, written without fused products: (logits, index)."""

    def ddr(name: str) -> Node:
        return adr.hbm.const_ddr(name, w[name] if with_data else None, w[name].shape)

    def hbm(name: str) -> Node:
        return adr.hbm.const_hbm(name, w[name] if with_data else None, w[name].shape)

    x = adr.hbm.var_ddr("x", [1, token, C])
    h = adr.hbm.rms_norm(x, ddr("norm0"))
    rotary = ddr("rotary")
    q = adr.hbm.pos_emb(adr.reshape(adr.hbm.mvm(h, hbm("wq")), [HEADS, token, D]), rotary)
    k = adr.hbm.pos_emb(adr.reshape(adr.hbm.mvm(h, hbm("wk")), (KV, token, -1)), rotary)
    v = adr.reshape(adr.hbm.mvm_bn(h, hbm("wv"), ddr("bv")), (-1, token, D))
    a = adr.reshape(adr.hbm.attention(q, k, v), (1, token, HEADS * D))
    x1 = adr.hbm.add(adr.hbm.mvm(a, hbm("wo")), x)
    h1 = adr.hbm.rms_norm(x1, ddr("norm1"))
    gated = adr.hbm.mul(adr.hbm.silu(adr.hbm.mvm(h1, hbm("gate"))), adr.hbm.mvm(h1, hbm("up")))
    x2 = adr.hbm.add(adr.hbm.mvm(gated, hbm("down")), x1)
    logits = adr.hbm.mvm(adr.gather(x2), hbm("head"))
    return adr.tuple([logits, adr.hbm.argmax(logits)])


def block_reference(w: dict[str, np.ndarray], x: np.ndarray) -> np.ndarray:
    """Logits (T, VOCAB) after every token of x (T, C), without any cache."""
    n = len(x)

    def norm(v: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return v / np.sqrt(np.mean(v**2, axis=1, keepdims=True) + 1e-5) * weight

    def turn(v: np.ndarray) -> np.ndarray:  # (T, D): pairs as complex numbers
        cos, sin = w["rotary"][:, :n]
        z = (v[:, 0::2] + 1j * v[:, 1::2]) * (cos + 1j * sin)
        return np.stack([z.real, z.imag], axis=-1).reshape(n, D)

    h = norm(x, w["norm0"][0])
    q, k, v = h @ w["wq"], h @ w["wk"], h @ w["wv"] + w["bv"][1]
    heads: list[np.ndarray] = []
    for i in range(HEADS):
        j = i * KV // HEADS
        scores = turn(q[:, i * D : i * D + D]) @ turn(k[:, j * D : j * D + D]).T / np.sqrt(D)
        scores[np.triu_indices(n, 1)] = -np.inf
        e = np.exp(scores - scores.max(axis=1, keepdims=True))
        heads.append(e / e.sum(axis=1, keepdims=True) @ v[:, j * D : j * D + D])
    x = x + np.hstack(heads) @ w["wo"]
    h = norm(x, w["norm1"])
    gate = h @ w["gate"]
    x = x + (gate / (1 + np.exp(-gate)) * (h @ w["up"])) @ w["down"]
    return x @ w["head"]
