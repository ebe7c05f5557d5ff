# ruff: noqa: F821
"""Layers that are larger than the scratchpads of the small device: each goes through them in tiles."""

import numpy as np


def same(x: "int8[2, 30, 26, 16]", w: "int8[144, 20]", b: "int32[20]"):
    """Image rows in bands."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [padded[:, i : i + 30, j : j + 26, :] for i in range(3) for j in range(3)]
    sums = np.concatenate(taps, axis=-1).astype(np.int32) @ w.astype(np.int32) + b
    return np.clip((sums + 64) // 128, 0, 127).astype(np.int8)


def strided(x: "int8[1, 9, 130, 16]", w: "int8[144, 36]", b: "int32[36]"):
    """Rows that are too long: columns in parts, which end in the middle of a row."""
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    taps = [padded[:, i : i + 9 : 2, j : j + 130 : 2, :] for i in range(3) for j in range(3)]
    sums = np.concatenate(taps, axis=-1).astype(np.int32) @ w.astype(np.int32) + b
    return np.clip((sums + 64) // 128, 0, 127).astype(np.int8)


def deep(x: "int8[1, 8, 8, 64]", w: "int8[1600, 12]", b: "int32[12]"):
    """More terms than micro-operations: sums in parts."""
    taps = [x[:, i : i + 4, j : j + 4, :] for i in range(5) for j in range(5)]
    sums = np.concatenate(taps, axis=-1).astype(np.int32) @ w.astype(np.int32) + b
    return np.clip(sums // 1024, -128, 127).astype(np.int8)


def dense(x: "int8[20, 1500]", w: "int8[1500, 200]", b: "int32[200]"):
    """A matrix that no scratchpad holds."""
    return x.astype(np.int32) @ w.astype(np.int32) + b
