"""Weights of the families' reference models: by name and shape, the same on every machine."""

from __future__ import annotations

import math
import zlib

import numpy as np


def drawn(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Return a stored tensor, float32, of the size that a trained model's has."""
    noise = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape, np.float32)
    if len(shape) == 1 and name.endswith(".weight"):
        return 1 + np.float32(0.1) * noise  # a norm
    if len(shape) == 1:
        return np.float32(0.1) * noise
    if any(word in name for word in ("embed", "wte", "wpe")):
        return np.float32(0.25) * noise
    return noise * np.float32(1 / math.sqrt(min(shape)))
