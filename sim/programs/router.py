"""Routers of a mixture of experts: the best k of all gates, their weights, what the experts make of a token."""

import numpy as np


def top_two(x: "float32[12, 16]", gate: "float32[16, 6]", experts: "float32[6, 16, 16]"):
    logits = x @ gate
    p = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    p = p / np.sum(p, axis=-1, keepdims=True)
    top = np.argsort(-p, axis=-1)[:, :2]
    weight = np.take_along_axis(p, top, axis=-1)
    weight = weight / np.sum(weight, axis=-1, keepdims=True)
    y = np.zeros_like(x)
    for k in range(2):
        chosen = experts[top[:, k]]
        y = y + weight[:, k : k + 1] * np.maximum(np.einsum("ni,nij->nj", x, chosen), 0)
    return y, top


def top_one_with_load(x: "float32[12, 16]", gate: "float32[16, 6]", experts: "float32[6, 16, 16]"):
    logits = np.tanh(x @ gate)
    top = np.argmax(logits, axis=-1)
    load = np.sum(top[:, None] == np.arange(6)[None, :], axis=0)
    y = np.einsum("ni,nij->nj", x, experts[top]) / (1 + np.exp(-np.max(logits, axis=-1, keepdims=True)))
    return y, top, load, np.sort(logits, axis=-1)[:, 4]
