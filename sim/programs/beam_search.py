"""One step of a beam search: log probabilities of all continuations, the best of them, their histories."""

import numpy as np


def step(hidden: "float32[4, 32]", head: "float32[32, 50]", scores: "float32[4]", history: "int64[4, 6]"):
    logits = hidden @ head
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    logp = shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
    total = (scores[:, None] + logp).reshape(-1)
    best = np.argsort(-total)[:4]
    beam, token = best // 50, best % 50
    return np.concatenate([history[beam], token[:, None]], axis=1), total[best], beam


def with_length_penalty(hidden: "float32[4, 32]", head: "float32[32, 50]", scores: "float32[4]", history: "int64[4, 6]"):
    logits = hidden @ head
    p = np.exp(logits - np.max(logits, axis=-1, keepdims=True))
    p = p / p.sum(axis=-1, keepdims=True)
    total = (scores[:, None] + np.log(p + np.float32(1e-9))) / np.float32(((5 + 7) / 6) ** 0.6)
    flat = total.reshape(-1)
    order = np.argsort(flat)[::-1]
    best = order[:8]
    return flat[best], best // 50, best % 50, np.argmax(total, axis=-1)
