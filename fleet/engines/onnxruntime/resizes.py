"""Roundings of onnxruntime's Resize: where an element lies between its neighbours it computes in float32.

The definition's weights are known to float64. A place that is off by d takes d times a difference of neighbours more, or less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fleet.frontend.onnx.graph import OnnxNode

_ROUNDINGS = 6
"""Roundings of a place, each relative to the axis: of the factor, the half that is added, the quotient or the product and quotient,
the half that is taken off, the distance."""
_CUBIC = 5
"""How much steeper than a line through two neighbours the cubic through four is at most, for coefficients from -1 to 0."""


@dataclass(frozen=True)
class Resizing:
    """A Resize that weighs neighbours: names of what it takes and of what it gives."""

    taken: str
    given: str
    cubic: bool

    def rounding(self, values: Mapping[str, np.ndarray]) -> float:
        """The largest absolute error of its places over all elements; 0 where a value is missing."""
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
    """A node as such a Resize; None for every other node."""
    mode = node.attributes.get("mode", "nearest")
    if node.domain or node.op != "Resize" or mode not in ("linear", "cubic"):
        return None
    return Resizing(node.inputs[0], node.outputs[0], mode == "cubic")
