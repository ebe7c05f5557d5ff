"""Rounding with error compensation, refined: the best order of the inputs, and scales and codes that are improved in turn.

As `quantise_compensated`, it minimises the error of a layer's outputs, || X (W - Q) ||^2 = tr (W - Q)' H (W - Q) with H = X'X. U is
the upper Cholesky factor of the inverse of the damped H:

1. Inputs are rounded in falling order of their second moments, so that those that count have most others left to compensate them.
   (Frantar et al. call it the activation order.) Groups stay as they are; only the order of rounding changes.
2. All scales are therefore chosen at the start, by a search. The error of input i counts 1 / U[i, i]^2: what the inputs rounded
   after it can't compensate, not its second moment, most of which they can.
3. Sweeps improve the result, and never make it worse: the least-squares scale of each group for its codes, then for each input in
   turn the code that is best for all others as they are (coordinate descent).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from fleet.transforms.quantise import Quantised, QuantiseOptions, quantise
from fleet.transforms.quantise_compensated import damped_moments, inverse_factor, quantise_compensated

_COLUMNS = 512
"""Columns rounded at a time: they and their errors fit into a cache."""
_BLOCK = 32
"""Inputs whose errors are applied to all others together, as one matrix product."""

_F32 = npt.NDArray[np.float32]


def quantise_refined(
    weight: np.ndarray,
    second_moments: np.ndarray,
    *,
    group: int,
    levels: int,
    options: QuantiseOptions,
    damping: float = 0.01,
    kept: int = 0,
    sweeps: int = 1,
    name: str = "weight",
) -> Quantised:
    """Quantise a matrix for its typical inputs.

    Args:
        weight, second_moments, group, levels, damping, name: as for `quantise_compensated`.
        options: how a group's scale is chosen at the start.
        kept: codes of each block of 8 inputs that may be other than 0; 0: all. `quantise_compensated` chooses them; the sweeps
            improve those.
        sweeps: how often scales and codes are improved.

    Raises:
        ModelError: NaN, infinity, or a group whose scale is beyond FP16.
    """
    moments = damped_moments(second_moments, damping)
    if kept:
        start = quantise_compensated(
            weight, second_moments, group=group, levels=levels, options=options, damping=damping, kept=kept, name=name
        )
    else:
        start = _in_best_order(weight, moments, group, levels, options, name)
    codes, scales, h = start.codes.copy(), start.scales.copy(), moments.astype(np.float32)

    def improve(columns: slice) -> None:
        w, c, s = (np.ascontiguousarray(a[:, columns], np.float32) for a in (weight, codes, scales))
        may = c != 0 if kept else None
        for _ in range(sweeps):
            s = _better_scales(w, h, c, s, group)
            c = _better_codes(w, h, c, s, group, levels, may)
        codes[:, columns], scales[:, columns] = c, s

    _by_columns(weight.shape[1], improve)
    return Quantised(codes, scales, group)


def _by_columns(outputs: int, work: Callable[[slice], None]) -> None:
    """Call `work` for parts of the columns. Threads take a part each; which, and how many there are, changes no bits."""
    parts = [slice(first, min(first + _COLUMNS, outputs)) for first in range(0, outputs, _COLUMNS)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        list(threads.map(work, parts))


def _in_best_order(
    weight: np.ndarray, moments: npt.NDArray[np.float64], group: int, levels: int, options: QuantiseOptions, name: str
) -> Quantised:
    """Return steps 1 and 2."""
    order = np.argsort(-np.diag(moments), kind="stable")
    factor = inverse_factor(moments[np.ix_(order, order)], name)
    counts = np.empty(len(weight))
    counts[order] = 1 / np.square(np.diag(factor).astype(np.float64))
    found = quantise(weight, group=group, levels=levels, options=options, importance=counts, name=name)
    codes = found.codes.copy()

    def compensate(columns: slice) -> None:
        w, s = (np.ascontiguousarray(a[:, columns], np.float32) for a in (weight, found.scales))
        codes[:, columns] = _compensated(w, factor, order, s, group, levels)

    _by_columns(weight.shape[1], compensate)
    return Quantised(codes, found.scales, group)


def _inverses(scales: _F32) -> _F32:
    """Return 1 / scale, 0 for a group without weights."""
    return np.divide(1, scales, out=np.zeros_like(scales), where=scales != 0)


def _compensated(w: _F32, factor: _F32, order: npt.NDArray[np.intp], scales: _F32, group: int, levels: int) -> _F32:
    """Return codes, rounded in the given order, each error compensated by the inputs after it."""
    inputs, outputs = w.shape
    left, codes, inverse = w[order], np.empty_like(w), _inverses(scales)
    errors = np.empty((_BLOCK, outputs), np.float32)
    for start in range(0, inputs, _BLOCK):
        stop = min(start + _BLOCK, inputs)
        for i in range(start, stop):
            g = order[i] // group
            now = left[i] - factor[start:i, i] @ errors[: i - start]  # this block's errors so far; older ones are in `left`
            code = np.clip(np.rint(now * inverse[g]), -levels, levels)
            codes[order[i]] = code
            errors[i - start] = (now - code * scales[g]) / factor[i, i]
        if stop < inputs:
            left[stop:] -= factor[start:stop, stop:].T @ errors[: stop - start]
    return codes


def _values(codes: _F32, scales: _F32, group: int) -> _F32:
    return codes * np.repeat(scales, group, axis=0)[: len(codes)]


def _better_scales(w: _F32, h: _F32, codes: _F32, scales: _F32, group: int) -> _F32:
    """Return FP16 scales, one group after the other the best for the codes and all other groups."""
    left, made = h @ (w - _values(codes, scales, group)), scales.copy()
    for g in range(len(scales)):
        rows = slice(g * group, min((g + 1) * group, len(w)))
        part = codes[rows]
        curve = (part * (h[rows, rows] @ part)).sum(axis=0)
        slope = (part * left[rows]).sum(axis=0)
        best = scales[g] + np.divide(slope, curve, out=np.zeros_like(slope), where=curve > 0)
        with np.errstate(over="ignore"):
            best = best.astype(np.float16).astype(np.float32)
        # The rounded one may be worse, and a scale is a positive number.
        step = np.where((best > 0) & np.isfinite(best), best - scales[g], np.float32(0))
        step = np.where(step * (2 * slope - step * curve) > 0, step, np.float32(0))
        made[g] += step
        left -= h[:, rows] @ (part * step)
    return made


def _better_codes(w: _F32, h: _F32, codes: _F32, scales: _F32, group: int, levels: int, may: npt.NDArray[np.bool_] | None) -> _F32:
    """Return codes, one input after the other the best for all others. may: those that may be other than 0; None: all."""
    left, made, inverse = h @ (w - _values(codes, scales, group)), codes.copy(), _inverses(scales)
    steps = np.empty((_BLOCK, w.shape[1]), np.float32)
    for start in range(0, len(w), _BLOCK):
        stop = min(start + _BLOCK, len(w))
        for i in range(start, stop):
            g = i // group
            slope = left[i] - h[i, start:i] @ steps[: i - start]  # this block's steps so far; older ones are in `left`
            code = np.clip(np.rint(codes[i] + slope * (inverse[g] / h[i, i])), -levels, levels)
            if may is not None:
                code *= may[i]
            steps[i - start] = (code - codes[i]) * scales[g]
            made[i] = code
        if stop < len(w):
            left[stop:] -= h[stop:, start:stop] @ steps[: stop - start]
    return made
