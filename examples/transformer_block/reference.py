"""The same block in float64 NumPy, from the weights as the device stores them: what the stream means."""

from __future__ import annotations

import numpy as np
from block import Block


def reference(block: Block) -> np.ndarray:
    """[tokens, channels] float64."""
    s, a, n, last = block.shape, {k: v.astype(np.float64) for k, v in block.arrays.items()}, block.tokens, block.last

    def linear(name: str, x: np.ndarray) -> np.ndarray:
        codes, scales = block.weights[name]
        w = codes * np.repeat(scales.astype(np.float64), s.tblk, axis=0)[: codes.shape[0]]
        return x @ w + a[f"{name}.bias"]

    def norm(name: str, x: np.ndarray) -> np.ndarray:
        return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + 1e-6) * a[f"{name}.gamma"]

    def rotate(x: np.ndarray) -> np.ndarray:
        """[tokens, heads, head]."""
        table = a["table"][last : last + n, None, :]
        cos, sin, even, odd = table[..., 0::2], table[..., 1::2], x[..., 0::2], x[..., 1::2]
        return np.stack([even * cos - odd * sin, even * sin + odd * cos], axis=3).reshape(x.shape)

    x = a["x"]
    normed = norm("norm1", x)
    q = rotate(linear("wq", normed).reshape(n, s.heads, s.head))
    k, v = a["k"][:, : last + n].copy(), a["v"][:, : last + n].copy()
    k[:, last:] = rotate(linear("wk", normed).reshape(n, s.kv_heads, s.head)).transpose(1, 0, 2)
    v[:, last:] = linear("wv", normed).reshape(n, s.kv_heads, s.head).transpose(1, 0, 2)
    mixed = np.empty((n, s.heads, s.head))
    for h in range(s.heads):
        kv = h // (s.heads // s.kv_heads)
        scores = q[:, h] @ k[kv].T / np.sqrt(s.head)
        scores[np.arange(last + n) > last + np.arange(n)[:, None]] = -np.inf
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed[:, h] = weights / weights.sum(axis=1, keepdims=True) @ v[kv]
    middle = linear("wo", mixed.reshape(n, s.query)) + x
    normed = norm("norm2", middle)
    gate = linear("gate", normed)
    return linear("down", linear("up", normed) * gate / (1 + np.exp(-gate))) + middle
