"""Structured sparsity: of each block of 8 inputs of an output so many weights are kept, the others become 0."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

BLOCK = 8
"""Inputs of a block."""


def largest_of_blocks(saliency: npt.NDArray[np.number], kept: int) -> npt.NDArray[np.bool_]:
    """Return which weights to keep: those of the largest saliency of each block of 8 inputs, of equal ones the first.

    Args:
        saliency: [inputs, outputs], what a weight counts, not negative: its magnitude, say.
        kept: weights of a block; 0: all.

    Returns:
        [inputs, outputs]; the last block may be short, all of it is then kept if it has no more than `kept` weights.
    """
    inputs, outputs = saliency.shape
    if not kept:
        return np.ones((inputs, outputs), bool)
    blocks = -(-inputs // BLOCK)
    padded = np.full((blocks * BLOCK, outputs), -1.0)
    padded[:inputs] = saliency
    order = np.argsort(-padded.reshape(blocks, BLOCK, outputs), axis=1, kind="stable")[:, :kept]
    mask = np.zeros((blocks, BLOCK, outputs), bool)
    np.put_along_axis(mask, order, True, axis=1)
    return mask.reshape(-1, outputs)[:inputs]


def pruned(weight: np.ndarray, kept: int, importance: np.ndarray | None = None) -> np.ndarray:
    """Return the matrix [inputs, outputs] with all but the `kept` weights of each block of 8 inputs set to 0.

    importance: [inputs], mean square of each input; a weight then counts by what its product contributes (known as Wanda, Sun et
    al., 2023), not by its magnitude alone.
    """
    saliency = np.square(weight.astype(np.float64))
    if importance is not None:
        saliency *= importance.astype(np.float64)[:, None]
    return np.where(largest_of_blocks(saliency, kept), weight, weight.dtype.type(0))
