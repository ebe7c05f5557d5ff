"""Tensors of more than two axes on the device: all axes but the last are tokens, as NumPy's reshape puts them in a row."""

from __future__ import annotations

from math import prod

__all__ = ["merged"]


def merged(shape: tuple[int, ...]) -> tuple[int, ...]:
    """[..., tokens, channels] as [tokens, channels]; shapes of one and two axes, and of none, as they are."""
    return shape if len(shape) <= 2 else (prod(shape[:-1]), shape[-1])
