"""Tensors of more than two axes in memory: all axes but the last are tokens, as NumPy's reshape puts them in a row."""

from __future__ import annotations

from math import prod

import numpy as np

from fleet.sets.hbm0923.layout import FeatureLayout

__all__ = ["RowsLayout", "merged"]


def merged(shape: tuple[int, ...]) -> tuple[int, ...]:
    """[..., tokens, channels] as [tokens, channels]; shapes of one and two axes, and of none, as they are."""
    return shape if len(shape) <= 2 else (prod(shape[:-1]), shape[-1])


class RowsLayout(FeatureLayout):
    """The feature layout, for floating-point tensors of any rank from 1 on."""

    def size(self, shape: tuple[int, ...], dtype: np.dtype) -> int:
        """Bytes; see `fleet.sdk.lowering.Layout`."""
        return super().size(merged(shape) if dtype.kind == "f" else shape, dtype)

    def pack(self, array: np.ndarray) -> np.ndarray:
        """As the tensor of two axes."""
        return super().pack(array.reshape(merged(array.shape)) if array.dtype.kind == "f" else array)

    def unpack(self, data: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """As the tensor of two axes, in its own shape."""
        return super().unpack(data, merged(shape) if dtype.kind == "f" else shape, dtype).reshape(shape)
