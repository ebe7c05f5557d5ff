"""One transformer block of GPT-2 (124 M) in plain NumPy, at full width and at a sixth of it for quick simulations."""

import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    """Over the channels of every token."""
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def gelu(x):
    """Its approximation by tanh, as GPT-2 was trained with."""
    return 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x**3)))


def softmax(x):
    """Over the last axis."""
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def attention(x, heads):
    """Causal attention of the queries, keys and values that stand side by side in x."""
    q, k, v = np.split(x, 3, axis=-1)
    mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    mixed = []
    parts = [np.split(part, heads, axis=-1) for part in (q, k, v)]
    for qh, kh, vh in zip(*parts, strict=True):
        scores = qh @ kh.T * qh.shape[-1] ** -0.5 + mask
        mixed.append(softmax(scores) @ vh)
    return np.hstack(mixed)


def block(x, g1, b1, wqkv, bqkv, wo, bo, g2, b2, wup, bup, wdown, bdown, heads):
    """x + attention, then x + feed-forward, each behind a layer norm."""
    mixed = attention(layer_norm(x, g1, b1) @ wqkv + bqkv, heads)
    x = x + (mixed @ wo + bo)
    up = gelu(layer_norm(x, g2, b2) @ wup + bup)
    return x + (up @ wdown + bdown)


def forward(
    x: "float32[N, 768]",
    g1: "float32[768]",
    b1: "float32[768]",
    wqkv: "float32[768, 2304]",
    bqkv: "float32[2304]",
    wo: "float32[768, 768]",
    bo: "float32[768]",
    g2: "float32[768]",
    b2: "float32[768]",
    wup: "float32[768, 3072]",
    bup: "float32[3072]",
    wdown: "float32[3072, 768]",
    bdown: "float32[768]",
):
    """Tokens (N, 768) -> (N, 768), 12 heads of 64."""
    return block(x, g1, b1, wqkv, bqkv, wo, bo, g2, b2, wup, bup, wdown, bdown, 12)


def narrow(
    x: "float32[N, 128]",
    g1: "float32[128]",
    b1: "float32[128]",
    wqkv: "float32[128, 384]",
    bqkv: "float32[384]",
    wo: "float32[128, 128]",
    bo: "float32[128]",
    g2: "float32[128]",
    b2: "float32[128]",
    wup: "float32[128, 512]",
    bup: "float32[512]",
    wdown: "float32[512, 128]",
    bdown: "float32[128]",
):
    """Tokens (N, 128) -> (N, 128), 2 heads of 64."""
    return block(x, g1, b1, wqkv, bqkv, wo, bo, g2, b2, wup, bup, wdown, bdown, 2)
