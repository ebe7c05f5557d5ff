"""The same blocks in float64 NumPy, from the weights as the device stores them: what the stream means."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from emitter import Block


def reference(block: Block) -> np.ndarray:
    """[tokens, channels] float64, after the last block; a product with the vocabulary is not in it."""
    arrays = {k: v.astype(np.float64) for k, v in block.arrays.items()}
    x = arrays["x"]
    for layer in range(block.layers):
        x = _layer(block, arrays, layer, x)
    return x


def _layer(block: Block, a: Mapping[str, np.ndarray], layer: int, x: np.ndarray) -> np.ndarray:
    s, n, last = block.shape, block.tokens, block.last

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        codes, scales = block.weights[f"{layer}.{name}"]
        w = codes * np.repeat(scales.astype(np.float64), s.tblk, axis=0)[: codes.shape[0]]
        return x @ w + a.get(f"{layer}.{name}.bias", 0.0)

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * a[f"{layer}.{name}.gamma"]

    def rotate(x: np.ndarray) -> np.ndarray:
        """[tokens, heads, head]."""
        table = a["table"][last : last + n, None, :]
        cos, sin, even, odd = table[..., 0::2], table[..., 1::2], x[..., 0::2], x[..., 1::2]
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=3).reshape(x.shape)

    def products(fused: str, parts: tuple[str, ...], ends: list[int], x: np.ndarray) -> list[np.ndarray]:
        """Products that may be one."""
        return np.split(linear(fused, x), ends, axis=1) if f"{layer}.{fused}" in block.weights else [linear(p, x) for p in parts]

    normed = norm("norm1", x)
    q, k_new, v_new = products("qkv", ("wq", "wk", "wv"), [s.query, s.query + s.key], normed)
    q = rotate(q.reshape(n, s.heads, s.head))
    k, v = a[f"{layer}.k"][:, : last + n].copy(), a[f"{layer}.v"][:, : last + n].copy()
    k[:, last:] = rotate(k_new.reshape(n, s.kv_heads, s.head)).transpose(1, 0, 2)
    v[:, last:] = v_new.reshape(n, s.kv_heads, s.head).transpose(1, 0, 2)
    mixed = np.empty((n, s.heads, s.head))
    for h in range(s.heads):
        kv = h // (s.heads // s.kv_heads)
        scores = q[:, h] @ k[kv].T / np.sqrt(s.head)
        scores[np.arange(last + n) > last + np.arange(n)[:, None]] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed[:, h] = weights / weights.sum(axis=1, keepdims=True) @ v[kv]
    middle = linear("wo", mixed.reshape(n, s.query)) + x
    gate, up = products("gate_up", ("gate", "up"), [s.ffn], norm("norm2", middle))
    return linear("down", up * gate / (1 + np.exp(-gate))) + middle
