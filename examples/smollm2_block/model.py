"""One transformer block of SmolLM2-135M's shape in plain NumPy.

576 channels, 9 heads of 64 channels with 3 key/value heads, a gated feed-forward of 1,536 channels.
"""

import numpy as np


def rms_norm(x, gamma, eps=1e-5):
    """Over the channels of every token."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * gamma


def silu(x):
    """x times its sigmoid."""
    return x / (1 + np.exp(-x))


def softmax(x):
    """Over the last axis."""
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def rotate(x, cos, sin):
    """Rotary embedding of one head (N, 64): neighbouring channels are the parts of 32 complex numbers, as the device pairs them."""
    a, b = x[:, 0::2], x[:, 1::2]
    return np.stack([a * cos - b * sin, a * sin + b * cos], axis=-1).reshape(x.shape)


def attention(q, k, v, heads, kv_heads):
    """Causal attention with rotary embedding; query heads share key/value heads in groups."""
    n = q.shape[0]
    angles = np.arange(n, dtype=np.float32)[:, None] * (1.0 / 10000.0 ** (np.arange(32, dtype=np.float32) / 32))
    cos, sin = np.cos(angles), np.sin(angles)
    mask = (1 - np.tri(n, dtype=q.dtype)) * -1e10
    keys = [rotate(part, cos, sin) for part in np.split(k, kv_heads, axis=-1)]
    values = np.split(v, kv_heads, axis=-1)
    mixed = []
    for h, part in enumerate(np.split(q, heads, axis=-1)):
        scores = rotate(part, cos, sin) @ keys[h * kv_heads // heads].T * 64**-0.5 + mask
        mixed.append(softmax(scores) @ values[h * kv_heads // heads])
    return np.hstack(mixed)


def forward(
    x: "float32[N, 576]",
    g1: "float32[576]",
    wq: "float32[576, 576]",
    wk: "float32[576, 192]",
    wv: "float32[576, 192]",
    wo: "float32[576, 576]",
    g2: "float32[576]",
    wgate: "float32[576, 1536]",
    wup: "float32[576, 1536]",
    wdown: "float32[1536, 576]",
):
    """Tokens (N, 576) -> (N, 576): x + attention, then x + feed-forward, each behind an RMS norm."""
    normed = rms_norm(x, g1)
    x = x + attention(normed @ wq, normed @ wk, normed @ wv, 9, 3) @ wo
    normed = rms_norm(x, g2)
    return x + (silu(normed @ wgate) * (normed @ wup)) @ wdown
