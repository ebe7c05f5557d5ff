"""Quantises weights to small symmetric integers with one FP16 scale per group: round to nearest, with a search for the clip.

For each output column and group of `group` inputs: scale = FP16(factor * absmax / levels), codes = w / scale, rounded half to even
and clipped to -levels ... levels. The factor with the least squared error is taken (including the rounding of the scale to FP16);
clipping a few large weights often costs less than it gains for the others. Clip "exact" recovers weights that are already on such a
grid without error. `quantise_compensated` rounds better, because it knows the inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fleet.errors import ModelError

_FACTORS: Mapping[str, tuple[float, ...]] = {
    "absmax": (1.0,),
    "mse": (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6),
}
"""Factors of absmax."""
_EXACT = "exact"

_COLUMNS = 64
"""Columns processed at a time: bounds the memory, and blocks fit into the caches."""


@dataclass(frozen=True)
class QuantiseOptions:
    """Options of quantising weights.

    Attributes:
        clip: "mse" (search, the default), "absmax" (weights are clipped only by the scale's rounding) or "exact" (the weights are
            codes times scales of a group of this size or a multiple; anything else is an error).
        rounding: of the scale to FP16: "nearest" or "up" (then absmax / scale never exceeds the levels).
    """

    clip: str = "mse"
    rounding: str = "nearest"

    @classmethod
    def of(cls, options: Mapping[str, object]) -> QuantiseOptions:
        """Read a compile's options ("clip", "rounding"). Raises ModelError for an unknown value."""
        made = cls(str(options.get("clip", "mse")), str(options.get("rounding", "nearest")))
        if made.clip not in {*_FACTORS, _EXACT}:
            raise ModelError(f"clip is '{made.clip}', expected {', '.join(_FACTORS)} or {_EXACT}", where="quantisation")
        if made.rounding not in {"nearest", "up"}:
            raise ModelError(f"rounding is '{made.rounding}', expected nearest or up", where="quantisation")
        return made


@dataclass(frozen=True)
class Quantised:
    """codes: int8 [inputs, outputs]; scales: float16 [ceil(inputs / group), outputs]; group: inputs that share a scale."""

    codes: npt.NDArray[np.int8]
    scales: npt.NDArray[np.float16]
    group: int

    @classmethod
    def beside(cls, parts: Sequence[Quantised]) -> Quantised:
        """Return matrices with the same inputs and groups as one, their outputs side by side."""
        codes, scales = np.concatenate([p.codes for p in parts], axis=1), np.concatenate([p.scales for p in parts], axis=1)
        return cls(codes, scales, parts[0].group)

    def values(self, dtype: npt.DTypeLike) -> np.ndarray:
        """Return code * scale; exact in float32 and float64."""
        inputs, outputs = self.codes.shape
        found = np.empty((inputs, outputs), np.float32)  # 8 bits of a code and 11 of a scale: exact
        whole = inputs // self.group * self.group
        for first, end, group in ((0, whole, self.group), (whole, inputs, inputs - whole)):
            if first < end:
                scales = self.scales[first // self.group : -(-end // self.group), None].astype(np.float32)
                shape = (-1, group, outputs)
                np.multiply(self.codes[first:end].reshape(shape), scales, out=found[first:end].reshape(shape))
        found += 0.0  # a zero code times a negative scale would be -0.
        return found.astype(dtype, copy=False)


def quantise(
    weight: np.ndarray,
    *,
    group: int,
    levels: int,
    options: QuantiseOptions,
    importance: np.ndarray | None = None,
    name: str = "weight",
) -> Quantised:
    """Quantise a matrix.

    Args:
        weight: [inputs, outputs], floating point.
        group: inputs that share a scale; the last group may be smaller.
        levels: largest magnitude of a code (7 for sign-magnitude INT4).
        options: how to quantise.
        importance: [inputs], weight of each input's squared error (the inputs' second moments); None: all equal.
        name: for messages.

    Raises:
        ModelError: NaN, infinity, a group whose scale is beyond FP16, or clip "exact" for weights that are not on a grid.
    """
    if not np.isfinite(weight).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(weight))[0])
        raise ModelError(f"{weight[at]} at {list(at)}, expected finite numbers", where=f"weight '{name}'")
    inputs, outputs = weight.shape
    largest = float(np.abs(weight).max(initial=0))
    if largest / levels > 65504:
        raise ModelError(
            f"a weight of magnitude {largest:g} needs a scale beyond FP16 (65504)",
            where=f"weight '{name}'",
            hint="rescale the model's weights",
        )
    codes = np.zeros((inputs, outputs), np.int8)
    scales = np.zeros((-(-inputs // group), outputs), np.float16)
    for first in range(0, outputs, _COLUMNS):
        block = slice(first, min(first + _COLUMNS, outputs))
        codes[:, block], scales[:, block] = _quantise_columns(weight[:, block], group, levels, options, importance)
    made = Quantised(codes, scales, group)
    if options.clip == _EXACT and not np.array_equal(made.values(np.float64), weight):
        raise ModelError(
            f"its numbers are not codes up to {levels} times one FP16 scale per {group} inputs", where=f"weight '{name}'"
        )
    return made


def _quantise_columns(
    weight: np.ndarray, group: int, levels: int, options: QuantiseOptions, importance: np.ndarray | None
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float16]]:
    inputs, outputs = weight.shape
    groups = -(-inputs // group)
    w = np.zeros((groups, group, outputs), np.float64)
    w.reshape(groups * group, outputs)[:inputs] = weight
    counts = np.ones(groups * group)
    if importance is not None:
        counts[:inputs] = importance
    counts = counts.reshape(groups, group, 1)
    absmax = np.abs(w).max(axis=1, keepdims=True)
    best_error = np.full((groups, 1, outputs), np.inf)
    best_scale = np.zeros((groups, 1, outputs), np.float16)
    best_codes = np.zeros(w.shape, np.int8)
    for factor in _factors(options.clip, levels):
        scale = _fp16(absmax * (factor / levels), options.rounding)
        wide = scale.astype(np.float64)
        codes = np.clip(np.rint(w / np.where(wide == 0, 1, wide)), -levels, levels)
        codes *= wide != 0
        error = (np.square(codes * wide - w) * counts).sum(axis=1, keepdims=True)
        better = error < best_error
        best_error = np.where(better, error, best_error)
        best_scale = np.where(better, scale, best_scale)
        np.copyto(best_codes, codes.astype(np.int8), where=better)
    return best_codes.reshape(groups * group, outputs)[:inputs], best_scale[:, 0]


def _factors(clip: str, levels: int) -> tuple[float, ...]:
    """Return factors of absmax / levels. The largest code of a group on a grid is 1 to `levels`: one factor recovers its scale."""
    return tuple(levels / code for code in range(levels, 0, -1)) if clip == _EXACT else _FACTORS[clip]


def _fp16(v: npt.NDArray[np.float64], rounding: str) -> npt.NDArray[np.float16]:
    half = v.astype(np.float16)
    if rounding == "up":
        with np.errstate(over="ignore"):
            half = np.where(half < v, np.nextafter(half, np.float16(np.inf)), half)
    return np.minimum(half, np.float16(65504))
