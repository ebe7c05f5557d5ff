"""Functions of deep learning in NumPy, under `fleet`'s name, and the mark of an own kernel.

Arrays of any float dtype go in, and the results have that dtype. Raising takes each for one operation, which a device may have.
This file imports nothing of fleet: models that name these functions run on plain Python too.
"""

import math
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

__all__ = ["device", "gelu", "kernel", "layer_norm", "relu", "rms_norm", "sigmoid", "silu", "softmax"]


def relu(x: Any) -> Any:
    """`max(x, 0)`, of any shape."""
    return np.maximum(x, 0)


def sigmoid(x: Any) -> Any:
    """`1 / (1 + exp(-x))`, of any shape."""
    return 1 / (1 + np.exp(-x))


def silu(x: Any) -> Any:
    """`x / (1 + exp(-x))`, of any shape."""
    return x / (1 + np.exp(-x))


def gelu(x: Any) -> Any:
    """`x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))`, of any shape."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def softmax(x: Any, axis: int = -1) -> Any:
    """`exp(x) / sum(exp(x))` along an axis, of `x` less its largest."""
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def layer_norm(x: Any, weight: Any, bias: Any, eps: float = 1e-5) -> Any:
    """`(x - mean) / sqrt(variance + eps) * weight + bias` along the last axis; weight and bias: [channels]."""
    centred = x - np.mean(x, axis=-1, keepdims=True)
    return centred / np.sqrt(np.mean(centred * centred, axis=-1, keepdims=True) + eps) * weight + bias


def rms_norm(x: Any, weight: Any, eps: float = 1e-5) -> Any:
    """`x / sqrt(mean(x^2) + eps) * weight` along the last axis; weight: [channels]."""
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps) * weight


def device(name: str) -> AbstractContextManager[None]:
    """Run the statements of a `with` block on a target of `@jit` or an installed device; plain Python runs it as it is.

    An accelerator's part runs on its functional model; "hbm_small/rtl" is the simulation of its hardware.
    """
    del name
    return nullcontext()


def kernel(function: Any) -> Any:
    """Mark a function whose loops over indices are compiled as loops, never unrolled. The function itself stays as it is.

    What a loop changes must have one type and shape from before the loop on.
    """
    function.__fleet_kernel__ = True
    return function
