"""Roundings of onnxruntime's Fourier transforms that differ from those of sums of products.

It computes DFT and STFT by fast transforms, in which every result includes roundings of all elements. In a sum of products an
element whose factor is 0 contributes nothing: the derived bound of such a result is 0.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fleet.frontend.onnx.graph import OnnxNode

_A_LEVEL = 8
"""Roundings of a level: of a complex product three, of its factor four, of the sum one."""


@dataclass(frozen=True)
class FourierTransform:
    """A transform: the names of its inputs, and the axis of its elements.

    Attributes:
        short: STFT, whose inputs are signal, step, window, length; else DFT of input, length, axis.
        axis: of DFT, if no input gives it; None for the operator's default, 1 or the last but one depending on its version.
        inverse: DFT's result is divided by its length.
    """

    inputs: tuple[str, ...]
    short: bool
    axis: int | None
    inverse: bool

    def rounding(self, values: Mapping[str, np.ndarray]) -> float:
        """Return the largest absolute error of the fast transform over all results; 0 if a value is missing."""
        given = [values.get(name) if name else None for name in self.inputs]
        x = given[0]
        if x is None or x.dtype.kind != "f":
            return 0.0
        size = np.abs(x.astype(np.float64))
        size = size.sum(axis=-1) if x.ndim > 2 else size  # real and imaginary part
        whole, length = self._short(size, given) if self.short else self._whole(size, given)
        terms = _roundings(length) * np.finfo(x.dtype).eps / 2 * whole
        return float(terms / length if self.inverse else terms)

    def _whole(self, size: np.ndarray, given: list[np.ndarray | None]) -> tuple[float, int]:
        """Return the largest sum of magnitudes along the axis, and its length."""
        stated = given[2] if len(given) > 2 else None
        if stated is not None:
            axes = {int(stated.reshape(()))}
        else:
            axes = {1, -2} if self.axis is None else {self.axis}
        sums = {axis: float(size.sum(axis=axis + size.ndim + 1 if axis < 0 else axis).max(initial=0.0)) for axis in axes}
        axis = max(sums, key=lambda a: sums[a])
        length = size.shape[axis + size.ndim + 1 if axis < 0 else axis]
        if len(given) > 1 and given[1] is not None:
            length = int(given[1].reshape(()))
        return sums[axis], max(length, 1)

    def _short(self, size: np.ndarray, given: list[np.ndarray | None]) -> tuple[float, int]:
        """Return the sums and the length for a frame that may start anywhere in the signal."""
        window = given[2] if len(given) > 2 else None
        stated = given[3] if len(given) > 3 else None
        if window is None and stated is None:
            return 0.0, 1
        factors = np.ones(int(np.asarray(stated).reshape(()))) if window is None else np.abs(window.astype(np.float64)).reshape(-1)
        frames = np.lib.stride_tricks.sliding_window_view(size.reshape(size.shape[0], -1), factors.size, axis=1)
        return float((frames @ factors).max(initial=0.0)), factors.size


def _roundings(length: int) -> float:
    """Roundings of a result, relative to the sum of the magnitudes of all elements.

    A power of two has log2(length) levels. Another length is a convolution with a chirp by three transforms of a power of two; its
    error is relative to the product of both Euclidean norms, and that of the chirp is at most sqrt(2 * length).
    """
    if length & (length - 1) == 0:
        return _A_LEVEL * (math.log2(length) + 1)
    levels = math.ceil(math.log2(2 * length)) + 1
    return 3 * _A_LEVEL * levels * math.sqrt(2 * length)


def transform_of(node: OnnxNode) -> FourierTransform | None:
    """Return a node as such a transform; None for other nodes."""
    if node.domain or node.op not in ("DFT", "STFT"):
        return None
    axis: Any = node.attributes.get("axis")
    return FourierTransform(node.inputs, node.op == "STFT", axis, bool(node.attributes.get("inverse", 0)))
