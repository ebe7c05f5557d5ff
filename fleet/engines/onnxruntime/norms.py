"""What onnxruntime's normalisations round otherwise than the textbook.

BatchNormalization and InstanceNormalization are x * s + (b - mean * s) with s = scale / sqrt(variance + epsilon), not
(x - mean) * s + b: where x is near the mean, the two large terms cancel. Each term is rounded a few times relative to its own size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet.frontend.onnx.graph import Node

__all__ = ["FoldedNorm", "norm_of"]

_ROUNDINGS = 6
"""Of s three (sum, root, quotient), of a product and of each of the two sums one."""


@dataclass(frozen=True)
class FoldedNorm:
    """A normalisation: the name of what it takes, scale and shift, epsilon; mean and variance, or None where x gives them."""

    source: str
    scale: np.ndarray
    shift: np.ndarray
    epsilon: float
    moments: tuple[np.ndarray, np.ndarray] | None

    def rounding(self, x: np.ndarray) -> float:
        """The largest absolute error that this way of computing has, over all channels (dimension 1)."""
        axes = tuple(i for i in range(x.ndim) if i != 1)
        rest = x.astype(np.float64)
        if self.moments is None:
            spatial = tuple(range(2, x.ndim))
            mean, variance = rest.mean(axis=spatial), rest.var(axis=spatial)
            size = np.abs(rest).max(axis=spatial)
        else:
            mean, variance = (m.astype(np.float64) for m in self.moments)
            size = np.abs(rest).max(axis=axes)
        factor = np.abs(self.scale.astype(np.float64)) / np.sqrt(variance + self.epsilon)
        terms = (size + np.abs(mean)) * factor + np.abs(self.shift.astype(np.float64))
        u = float(np.finfo(x.dtype).eps) / 2
        return float(_ROUNDINGS * u * terms.max(initial=0.0))


def norm_of(node: Node, weights: Mapping[str, np.ndarray]) -> FoldedNorm | None:
    """A node as such a normalisation; None for every other node, and where its parameters are not in the file."""
    if node.domain or node.op not in ("BatchNormalization", "InstanceNormalization") or node.attributes.get("training_mode", 0):
        return None
    names = node.inputs[1:]
    if any(name not in weights for name in names):
        return None
    scale, shift, *moments = (weights[name] for name in names)
    epsilon: Any = node.attributes.get("epsilon", 1e-5)
    return FoldedNorm(node.inputs[0], scale, shift, float(epsilon), (moments[0], moments[1]) if moments else None)
