"""Handwritten digits in integers: two 3 x 3 convolutions and a linear layer, INT8 with INT32 sums, in plain NumPy.

Every number is an integer with a fixed number of fraction bits; `train_conv_int8.py` chooses the weights for these shifts.
"""

import numpy as np


def convolution(x, w, b, *, stride, shift):
    """INT8 images (N, H, W, C) by weights (9 C, K), taps in row order -> INT8 (N, H / stride, W / stride, K), 0 at least."""
    _, height, width, _ = x.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [padded[:, i : i + height : stride, j : j + width : stride, :] for i in range(3) for j in range(3)]
    columns = np.concatenate(taps, axis=-1).astype(np.int32)
    sums = columns @ w.astype(np.int32) + b
    return np.clip((sums + (1 << (shift - 1))) // (1 << shift), 0, 127).astype(np.int8)


def forward(
    x: "int8[N, 8, 8, 1]",
    w1: "int8[9, 16]",
    b1: "int32[16]",
    w2: "int8[144, 32]",
    b2: "int32[32]",
    w3: "int8[512, 10]",
    b3: "int32[10]",
):
    """Pixels (N, 8, 8, 1) in 0..16 -> logits (N, 10) and the predicted digit (N,)."""
    h1 = convolution(x, w1, b1, stride=1, shift=5)
    h2 = convolution(h1, w2, b2, stride=2, shift=6)
    flat = h2.reshape(x.shape[0], 512)
    logits = flat.astype(np.int32) @ w3.astype(np.int32) + b3
    digit = np.argmax(logits, axis=-1)
    return logits, digit
