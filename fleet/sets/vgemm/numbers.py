"""Real numbers on the device: weights as INT8 with a power of two; activations in fixed point, and as INT8 for products."""

from __future__ import annotations

import math

import numpy as np

from fleet.sets.vgemm.layout import FRACTION

ACTIVATION_BITS = 4
"""Fraction bits of an activation in a product if its range is unknown: steps of 1 / 16."""

_FEWEST_BITS, _MOST_ACTIVATION_BITS = -7, 8
"""Limits for the fraction bits of an activation of known range: the first fits all values of DDR, the last leaves 8 to weights."""

LOW, HIGH = -128, 127
"""The range of INT8. With 4 fraction bits, activations of -8 to 7.9375."""

_WEIGHT_TOP = 127
_MOST_BITS = FRACTION - ACTIVATION_BITS
"""Maximum fraction bits of a weight; more would have to be shifted away."""


def scale_bits(weight: np.ndarray) -> int:
    """Return the fraction bits of a weight: as many as keep its largest value within 127, at most 12, so that sums shift left."""
    top = float(np.max(np.abs(weight), initial=0.0))
    return _MOST_BITS if top == 0 else min(_MOST_BITS, math.floor(math.log2(_WEIGHT_TOP / top)))


def narrow_weight(weight: np.ndarray) -> tuple[np.ndarray, int]:
    """Return (INT8 codes, fraction bits); to nearest, ties to even."""
    bits = scale_bits(weight)
    codes = np.clip(np.rint(weight.astype(np.float64) * 2.0**bits), -_WEIGHT_TOP, _WEIGHT_TOP)
    return codes.astype(np.int8), bits


def activation_bits(top: float) -> int:
    """Return the fraction bits of INT8 activations whose magnitude is at most `top`."""
    if not top > 0:
        return ACTIVATION_BITS
    return max(_FEWEST_BITS, min(_MOST_ACTIVATION_BITS, math.floor(math.log2(HIGH / top))))


def narrow_channels(weight: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (INT8 codes, fraction bits of every column) of a weight for activations with `bits` fraction bits.

    As many bits as keep the column's largest value within 127, and at most as many as let sums shift to the left to 16 bits.
    """
    tops = np.abs(weight.astype(np.float64)).max(axis=0, initial=0.0)
    fits = np.floor(np.log2(_WEIGHT_TOP / np.where(tops == 0, 1.0, tops)))
    each = np.clip(np.where(tops == 0, 0, fits), -15, FRACTION - bits).astype(np.int64)
    codes = np.clip(np.rint(weight.astype(np.float64) * 2.0**each), -_WEIGHT_TOP, _WEIGHT_TOP)
    return codes.astype(np.int8), each


def fixed(values: np.ndarray) -> np.ndarray:
    """Convert real numbers to int32 with 16 fraction bits; to nearest, ties to even."""
    return np.clip(np.rint(values.astype(np.float64) * 2.0**FRACTION), -(2.0**31), 2.0**31 - 1).astype(np.int32)


def weight_limit(weight: np.ndarray, bias: np.ndarray | None, bits: int = ACTIVATION_BITS) -> float:
    """Return the largest magnitude that a sum can reach with any activations of `bits` fraction bits."""
    sums = np.abs(weight.astype(np.float64)).sum(axis=0) * (-LOW / 2.0**bits)
    return float(np.max(sums + (0 if bias is None else np.abs(bias.astype(np.float64)))))
