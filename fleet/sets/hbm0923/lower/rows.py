"""Tensors of more than two axes on the device: all axes except the last are tokens, in the order of NumPy's reshape."""

from __future__ import annotations

from math import prod


def merged(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return [..., tokens, channels] as [tokens, channels]; shapes of fewer than three axes stay."""
    return shape if len(shape) <= 2 else (prod(shape[:-1]), shape[-1])
