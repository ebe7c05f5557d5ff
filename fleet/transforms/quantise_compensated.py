"""Rounding with error compensation: the error of one input's weights is subtracted from the weights not yet rounded.

Known as GPTQ (Frantar et al., 2022). It minimises the error of a layer's outputs, || X (W - Q) ||^2, for typical inputs X. With
H = X'X, rounding the weights of input i to Q[i] changes the best choice for every later input j by
(W[i] - Q[i]) U[i, j] / U[i, i], where U is the upper Cholesky factor of the inverse of H. H is damped, because few inputs are seen.

With `kept`, weights are pruned on the way (SparseGPT, Frantar and Alistarh, 2023): one that goes is rounded to 0, and what it did
is compensated as any other error. The order, for inputs from the first to the last:

1. At the first input of a group its scale is chosen, for the weights that would be kept if the group were pruned now.
2. At the first input of each block of 8 the weights of the block that stay are chosen for each output: those with the largest
   (W[i] / U[i, i])^2, the error of the outputs that setting W[i] to 0 would leave after all later inputs have compensated it. W has
   the compensation of all inputs before the block.
3. The block's inputs are rounded one after the other, those that do not stay to 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fleet.errors import ModelError
from fleet.transforms.prune import BLOCK, largest_of_blocks
from fleet.transforms.quantise import Quantised, QuantiseOptions, quantise

_BLOCK = 64
"""Inputs whose errors are applied to all later ones together, as one matrix product; at least a group if groups are longer."""


def quantise_compensated(
    weight: np.ndarray,
    second_moments: np.ndarray,
    *,
    group: int,
    levels: int,
    options: QuantiseOptions,
    damping: float = 0.01,
    kept: int = 0,
    name: str = "weight",
) -> Quantised:
    """Quantise a matrix for its typical inputs.

    Args:
        weight: [inputs, outputs], floating point.
        second_moments: [inputs, inputs], X'X (or its mean) over inputs X; symmetric.
        group: inputs that share a scale; the last group may be smaller.
        levels: largest magnitude of a code.
        options: how a group's scale is chosen; a search weights errors by the inputs' second moments.
        damping: fraction of the diagonal's mean that is added to the diagonal.
        kept: codes of each block of 8 inputs that may be other than 0; 0: all. Groups are then whole blocks.
        name: for messages.

    Raises:
        ModelError: NaN, infinity, or a group whose scale is beyond FP16.
    """
    inputs, outputs = weight.shape
    importance = np.diag(second_moments).astype(np.float64)
    factor = inverse_factor(damped_moments(second_moments, damping), name)
    left = weight.astype(np.float32)
    counts = np.square(1 / np.diag(factor))[:, None]
    codes = np.empty((inputs, outputs), np.int8)
    scales = np.empty((-(-inputs // group), outputs), np.float16)
    for first in range(0, inputs, group):
        rows = slice(first, min(first + group, inputs))
        likely = left[rows]
        if kept:
            likely = np.where(largest_of_blocks(np.square(likely) * counts[rows], kept), likely, np.float32(0))
        scale = quantise(likely, group=group, levels=levels, options=options, importance=importance[rows], name=name).scales[0]
        scales[first // group] = scale
        wide = scale.astype(np.float32)
        inverse = np.divide(1, wide, out=np.zeros_like(wide), where=wide != 0)
        for start in range(rows.start, rows.stop, _BLOCK):
            stop = min(start + _BLOCK, rows.stop)
            errors = np.empty((stop - start, outputs), np.float32)
            stays = np.ones((0, outputs), bool)
            for i in range(start, stop):
                if kept and (i - start) % BLOCK == 0:
                    block = slice(i, min(i + BLOCK, stop))
                    then = left[block] - factor[start:i, block].T @ errors[: i - start]
                    stays = largest_of_blocks(np.square(then) * counts[block], kept)
                now = left[i] - factor[start:i, i] @ errors[: i - start]  # this block's errors so far; older ones are in `left`
                row = np.clip(np.rint(now * inverse), -levels, levels)
                if kept:
                    row *= stays[(i - start) % BLOCK]
                codes[i] = row
                errors[i - start] = (now - row * wide) / factor[i, i]
            if stop < inputs:
                left[stop:] -= factor[start:stop, stop:].T @ errors
    return Quantised(codes, scales, group)


def damped_moments(moments: np.ndarray, damping: float) -> npt.NDArray[np.float64]:
    """Return a copy with a fraction of the diagonal's mean added to the diagonal; an input never seen counts the mean."""
    h = moments.astype(np.float64)
    diagonal = np.diag(h)
    mean = float(diagonal.mean()) or 1.0
    h[np.diag_indices_from(h)] = np.where(diagonal == 0, mean, diagonal) + damping * mean
    return h


def inverse_factor(moments: npt.NDArray[np.float64], name: str) -> npt.NDArray[np.float32]:
    """Return the upper U with U'U = inverse(moments). Raises ModelError if they are not positive; name: of the weight."""
    try:
        # Reversed, h = L L' has L upper, so inverse(h) = inverse(L)' inverse(L) with inverse(L) upper.
        upper = np.linalg.cholesky(moments[::-1, ::-1])[::-1, ::-1]
        return _upper_inverse(upper).astype(np.float32)
    except np.linalg.LinAlgError:
        raise ModelError("the second moments of its inputs are not positive", where=f"weight '{name}'") from None


def _upper_inverse(u: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Invert an upper triangular matrix by halves: a third of the work of a general inverse, nearly all in matrix products."""
    n = len(u)
    if n <= _BLOCK:
        return np.triu(np.linalg.inv(u))
    half = n // 2
    first, last = _upper_inverse(u[:half, :half]), _upper_inverse(u[half:, half:])
    made = np.zeros_like(u)
    made[:half, :half], made[half:, half:] = first, last
    made[:half, half:] = -(first @ u[:half, half:]) @ last
    return made
