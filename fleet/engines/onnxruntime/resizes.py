"""Roundings of onnxruntime's Resize: it computes the position of an element between its neighbours in float32.

The definition's weights are known to float64. A position that is off by d changes the result by d times a difference of neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fleet.frontend.onnx.graph import OnnxNode

_ROUNDINGS = 6
"""Roundings of a position, each relative to the axis: of the factor, the added half, the quotient or the product and quotient,
the subtracted half, the distance."""
_CUBIC = 5
"""Largest slope of the cubic through four neighbours relative to the line through two, for coefficients from -1 to 0."""


@dataclass(frozen=True)
class Resizing:
    """A Resize that interpolates between neighbours: names of its inputs and its output."""

    taken: str
    given: str
    cubic: bool

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the values that the rounding is computed from."""
        return (self.taken, self.given)

    def rounding(self, values: Mapping[str, np.ndarray]) -> float:
        """Return the largest absolute error due to positions over all elements; 0 if a value is missing."""
        x, y = values.get(self.taken), values.get(self.given)
        if x is None or y is None or x.dtype.kind != "f" or x.ndim != y.ndim:
            return 0.0
        exact = x.astype(np.float64)
        steps = [
            (before + 1) * float(np.abs(np.diff(exact, axis=axis)).max(initial=0.0))
            for axis, (before, after) in enumerate(zip(x.shape, y.shape, strict=True))
            if before != after
        ]
        return _ROUNDINGS * float(np.finfo(np.float32).eps) / 2 * (_CUBIC if self.cubic else 1) * sum(steps)


def resizing_of(node: OnnxNode) -> Resizing | None:
    """Return a node as such a Resize; None for other nodes."""
    mode = node.attributes.get("mode", "nearest")
    if node.domain or node.op != "Resize" or mode not in ("linear", "cubic"):
        return None
    return Resizing(node.inputs[0], node.outputs[0], mode == "cubic")
