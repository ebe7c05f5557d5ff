"""What the passes look for, each once and once so that they must leave it alone: a wrong rule changes a result."""

# ruff: noqa: F821, RET504 - annotations name dtypes and dimensions, values name operations

import numpy as np


def forward(
    x: "float32[16, 32]", w: "float32[32, 32]", b: "float32[32]", g: "float32[32]", s: "float32[16, 16]", n: "int32[16, 8]"
):
    # movements of movements
    part = np.abs(x[2:14:2, :][1:6, 4:28][1:5:2, 3:21:3])
    turned = np.abs(np.transpose(np.transpose(x.reshape(8, 8, 8), (0, 2, 1)), (1, 2, 0)))
    zero = 1.0 / (np.maximum(x, 0) * -1.0 + 0.0)
    wide = (n * 16777217).astype(np.float32).astype(np.float64) * 1.5
    # equal operations but for one attribute
    down = np.sum(s, axis=0) - 2 * np.sum(s, axis=1)
    folded = x @ (w * 2.0 - np.transpose(w))
    # idioms, and what only looks like them
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    soft = e / np.sum(e, axis=-1, keepdims=True)
    half = e / (2.0 * np.sum(e, axis=-1, keepdims=True))
    mean = np.mean(x, axis=-1, keepdims=True)
    norm = (x - mean) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 0.25) * g + b
    gelu = 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))
    late = np.maximum(x @ w, 0) + b
    return part, turned, zero, wide, down, folded, soft, half, norm, gelu, late


def attention(q: "float32[8, 16]", k: "float32[8, 16]", v: "float32[8, 16]"):
    scores = q @ np.transpose(k) * 0.25
    hidden = np.where(np.tri(8, 8, -1, dtype=bool), scores, -1e10)
    e = np.exp(hidden - np.max(hidden, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True) @ v


def integers(n: "int32[16, 8]", x: "float32[16, 32]"):
    left = (n - 5) % 3
    down = (n - 7) // 2
    low = np.minimum(x, 0.25)
    spread = np.var(x, axis=-1)
    return left, down, low, spread


def indices(x: "float32[16, 32]"):
    last = x[:, -3]
    back = x[::-1, 5:1:-2]
    best = np.argmax(x, axis=0) + np.argmin(x[:, :16], axis=1)[0]
    sums = np.cumsum(x, axis=1)[-2] ** 2 - -(last[3] ** 2)
    return last, back, best, sums


def ragged(x: "float32[7, 13]", g: "float32[13]", b: "float32[13]"):
    mean = np.mean(x, axis=-1, keepdims=True)
    y = (x - mean) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 0.25) * g + b
    return y


def shortcut(x: "float32[6, 64]", a: "float32[64, 64]", b: "float32[64, 64]", c: "float32[64, 64]", d: "float32[64, 64]"):
    # what is needed again late, when others have come and gone in memory
    early = x @ a
    middle = np.maximum(np.maximum(early @ b, 0) @ c, 0)
    return middle @ d + early
