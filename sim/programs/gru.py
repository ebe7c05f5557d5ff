"""A gated recurrent unit over a sequence, and what is read off its states."""

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def last_state(x: "float32[5, 3, 8]", w: "float32[8, 48]", u: "float32[16, 48]", b: "float32[48]"):
    h = np.zeros((3, 16), dtype=np.float32)
    for t in range(5):
        gx, gh = x[t] @ w + b, h @ u
        z = sigmoid(gx[:, :16] + gh[:, :16])
        r = sigmoid(gx[:, 16:32] + gh[:, 16:32])
        n = np.tanh(gx[:, 32:] + r * gh[:, 32:])
        h = (1 - z) * n + z * h
    return h


def states_normalised(x: "float32[5, 3, 8]", w: "float32[8, 48]", u: "float32[16, 48]", b: "float32[48]"):
    h = np.zeros((3, 16), dtype=np.float32)
    out = np.zeros((5, 3, 16), dtype=np.float32)
    for t in range(5):
        gx, gh = x[t] @ w + b, h @ u
        z, r = sigmoid(gx[:, :16] + gh[:, :16]), sigmoid(gx[:, 16:32] + gh[:, 16:32])
        h = (1 - z) * np.tanh(gx[:, 32:] + r * gh[:, 32:]) + z * h
        out[t] = h
    mean, var = out.mean(axis=-1, keepdims=True), out.var(axis=-1, keepdims=True)
    y = (out - mean) / np.sqrt(var + np.float32(1e-5))
    return y, np.argsort(y[-1], axis=-1), np.max(np.abs(y), axis=0)
