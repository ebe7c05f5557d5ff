"""Two blocks of a Llama: RMS norm, rotary embedding, grouped attention with a causal mask, SwiGLU."""

import numpy as np

HEADS, KV_HEADS, SIZE = 4, 2, 8


def rms_norm(x, weight):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + np.float32(1e-5)) * weight


def rotate(x, cos, sin):
    half = SIZE // 2
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, a * sin + b * cos], axis=-1)


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def attention(x, wq, wk, wv, wo, cos, sin):
    n = x.shape[0]
    q = rotate((x @ wq).reshape(n, HEADS, SIZE).transpose(1, 0, 2), cos, sin)
    k = rotate((x @ wk).reshape(n, KV_HEADS, SIZE).transpose(1, 0, 2), cos, sin)
    v = (x @ wv).reshape(n, KV_HEADS, SIZE).transpose(1, 0, 2)
    k, v = np.repeat(k, HEADS // KV_HEADS, axis=0), np.repeat(v, HEADS // KV_HEADS, axis=0)
    scores = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(SIZE))
    mask = np.triu(np.full((n, n), -np.inf, dtype=np.float32), k=1)
    out = softmax(scores + mask) @ v
    return out.transpose(1, 0, 2).reshape(n, HEADS * SIZE) @ wo


def block(x, n1, n2, wq, wk, wv, wo, w1, w2, w3, cos, sin):
    h = x + attention(rms_norm(x, n1), wq, wk, wv, wo, cos, sin)
    y = rms_norm(h, n2)
    gate = y @ w1
    return h + (gate / (1 + np.exp(-gate)) * (y @ w3)) @ w2


def tables(n):
    angle = np.arange(n)[:, None] / 10000 ** (np.arange(0, SIZE, 2) / SIZE)
    return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)


def two_blocks(
    x: "float32[10, 32]",
    n1: "float32[2, 32]",
    n2: "float32[2, 32]",
    wq: "float32[2, 32, 32]",
    wk: "float32[2, 32, 16]",
    wv: "float32[2, 32, 16]",
    wo: "float32[2, 32, 32]",
    w1: "float32[2, 32, 48]",
    w2: "float32[2, 48, 32]",
    w3: "float32[2, 32, 48]",
    head: "float32[32, 40]",
):
    cos, sin = tables(x.shape[0])
    for i in range(2):
        x = block(x, n1[i], n2[i], wq[i], wk[i], wv[i], wo[i], w1[i], w2[i], w3[i], cos, sin)
    logits = rms_norm(x, n2[1]) @ head
    return logits, np.argmax(logits, axis=-1)


def two_blocks_top_tokens(
    x: "float32[10, 32]",
    n1: "float32[2, 32]",
    n2: "float32[2, 32]",
    wq: "float32[2, 32, 32]",
    wk: "float32[2, 32, 16]",
    wv: "float32[2, 32, 16]",
    wo: "float32[2, 32, 32]",
    w1: "float32[2, 32, 48]",
    w2: "float32[2, 48, 32]",
    w3: "float32[2, 32, 48]",
    head: "float32[32, 40]",
):
    logits, _ = two_blocks(x, n1, n2, wq, wk, wv, wo, w1, w2, w3, head)
    p = softmax(logits)
    top = np.argsort(-p, axis=-1)[:, :5]
    chosen = np.take_along_axis(p, top, axis=-1)
    return top, chosen / chosen.sum(axis=-1, keepdims=True), np.cumsum(np.sort(p, axis=-1)[:, ::-1], axis=-1)
