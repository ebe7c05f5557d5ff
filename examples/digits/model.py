"""Handwritten digits: 64 -> 128 -> 128 -> 10 with ReLU and one residual connection, in plain NumPy."""

import numpy as np


def forward(
    x: "float32[N, 64]",
    w1: "float32[64, 128]",
    b1: "float32[128]",
    w2: "float32[128, 128]",
    b2: "float32[128]",
    w3: "float32[128, 10]",
    b3: "float32[10]",
):
    """Pixels (N, 64) in 0..1 -> logits (N, 10) and the predicted digit (N,)."""
    h1 = np.maximum(x @ w1 + b1, 0)
    h2 = np.maximum(h1 @ w2 + b2 + h1, 0)
    logits = h2 @ w3 + b3
    digit = np.argmax(logits, axis=-1)
    return logits, digit
