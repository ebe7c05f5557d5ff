"""Roundings of onnxruntime's normalisations that differ from the textbook's.

BatchNormalization and InstanceNormalization are x * s + (b - mean * s) with s = scale / sqrt(variance + epsilon), not
(x - mean) * s + b: if x is near the mean, the two large terms cancel. Each term is rounded a few times relative to its own size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet.frontend.onnx.graph import OnnxNode

_ROUNDINGS = 6
"""Roundings: three of s (sum, root, quotient), one of a product and of each of the two sums."""


@dataclass(frozen=True)
class FoldedNorm:
    """A normalisation: the names of its inputs (x, scale, shift, and mean and variance if they are not computed from x)."""

    inputs: tuple[str, ...]
    epsilon: float

    def rounding(self, values: Mapping[str, np.ndarray]) -> float:
        """Return the largest absolute error of this computation over all channels (dimension 1); 0 if a value is missing."""
        if any(name not in values for name in self.inputs):
            return 0.0
        dtype = values[self.inputs[0]].dtype
        x, scale, shift, *moments = (values[name].astype(np.float64) for name in self.inputs)
        if moments:
            mean, variance = moments
            size = np.abs(x).max(axis=tuple(i for i in range(x.ndim) if i != 1))
        else:
            spatial = tuple(range(2, x.ndim))
            mean, variance, size = x.mean(axis=spatial), x.var(axis=spatial), np.abs(x).max(axis=spatial)
        terms = (size + np.abs(mean)) * np.abs(scale) / np.sqrt(variance + self.epsilon) + np.abs(shift)
        return float(_ROUNDINGS * np.finfo(dtype).eps / 2 * terms.max(initial=0.0))


def norm_of(node: OnnxNode) -> FoldedNorm | None:
    """Return a node as such a normalisation; None for other nodes."""
    if node.domain or node.op not in ("BatchNormalization", "InstanceNormalization") or node.attributes.get("training_mode", 0):
        return None
    epsilon: Any = node.attributes.get("epsilon", 1e-5)
    return FoldedNorm(node.inputs, float(epsilon))
