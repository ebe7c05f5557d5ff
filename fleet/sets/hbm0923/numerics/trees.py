"""Dot products of FP16 rows in the fixed order of the reduction trees: 32 lanes per beat, neighbours first.

docs/arithmetic.md: acc = +0; for each beat of 32 lanes, ascending: acc = rne32(acc + tree(beat)). The tree adds lanes 2i and 2i +
1, then the sums of neighbours, and so on, every addition rounded to binary32. A product of two FP16 is exact in binary32.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fleet.sdk.native import target
from fleet.sets.hbm0923.kernel import address, library
from fleet.sets.hbm0923.kernel._sizes import CHANNELS, UNIT
from fleet.sets.hbm0923.mvm_operands import ceil_div
from fleet.sets.hbm0923.numerics.float32 import dot_products


def dot_trees(a: npt.NDArray[np.float16], b: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    """Return the dot product of every row of a with every row of b.

    Args:
        a: float16 [n, L], L a multiple of 32: absent lanes hold +0.
        b: float16 [m, L]; the rows may have any stride.

    Returns:
        float32 [n, m], the bits of `float32.dot_products`; a NaN may have any sign and payload.

    Raises:
        ValueError: the shapes do not fit.
    """
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or a.shape[1] % UNIT:
        raise ValueError(f"rows of one length, a multiple of {UNIT}, expected; found {a.shape} and {b.shape}")
    if not a.size or not b.size:
        return np.zeros((a.shape[0], b.shape[0]), np.float32)
    for_target = target()
    if for_target is None:
        return dot_products(a.astype(np.float32), b.astype(np.float32))
    wide = a.astype(np.float32, order="C")
    if b.strides[1] != b.itemsize or b.strides[0] < 0:
        b = np.ascontiguousarray(b)
    out = np.zeros((a.shape[0], ceil_div(b.shape[0], CHANNELS) * CHANNELS), np.float32)
    library(for_target)["trees"](
        address(wide), a.shape[0], b.__array_interface__["data"][0], b.strides[0], b.shape[0], a.shape[1] // UNIT,
        address(out), out.strides[0],
    )  # fmt: skip
    return out[:, : b.shape[0]]
