"""The MVM's arithmetic on arrays (docs/arithmetic.md), vectorised over tokens and channels.

Group sums are exact in float64 in any order: every partial sum is an integer of less than 2^50 units of 2^-24, and integers below
2^53 are exact (docs/arithmetic.md has the proof). So BLAS may be used. All later steps are elementwise float32, one NumPy operation
per rounding; a loop adds the groups in order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]
F64 = npt.NDArray[np.float64]

NAN16 = np.uint16(0x7E00)
_INFINITY16 = 0x7C00
_BLOCK_BYTES = 1 << 20
"""Bytes of group sums held at a time: they fit into the second cache."""


@dataclass(frozen=True)
class MvmWeights:
    """One weight matrix in the form that the array computes with.

    codes: float64 [groups, channels, Tblk], integers -7 ... 7; lanes at or beyond CHin hold any finite number.
    scales: float32 [groups, channels, 1].

    Channels come before tokens throughout: BLAS is a third faster that way, and only results are transposed.
    """

    codes: F64
    scales: F32


def is_finite(x: np.ndarray) -> bool:
    """Return whether no FP16 of x is infinite or NaN; takes a third of the time of `isfinite` on float64."""
    return bool((x.view(np.uint16) & np.uint16(0x7FFF)).max() < _INFINITY16)


def _odd_products(x: F64, weights: MvmWeights, first: int, last: int) -> F32:
    """Return p = binary32 of the group sums, for any x.

    Args:
        x: [groups, Tblk, tokens], FP16 values; lanes at or beyond CHin must be +0.
        weights: the matrix.
        first, last: range of groups.

    Returns:
        [last - first, channels, tokens].
    """
    xs, codes = x[first:last], weights.codes[first:last]
    p = np.matmul(codes, np.where(np.isfinite(xs), xs, 0.0)).astype(np.float32)
    infinite = np.where(np.isinf(xs), np.sign(np.where(np.isnan(xs), 0.0, xs)), 0.0)
    count = np.abs(infinite).sum(axis=1, keepdims=True)
    hits = np.matmul((codes != 0).astype(np.float64), np.abs(infinite))
    balance = np.matmul(np.sign(codes), infinite)
    some = np.broadcast_to(count > 0, p.shape)
    p[some] = (np.float32(np.inf) * np.sign(balance.astype(np.float32)))[some]
    p[(hits != count) | (np.abs(balance) != hits)] = np.nan
    p[np.broadcast_to(np.isnan(xs).any(axis=1, keepdims=True), p.shape)] = np.nan
    return p


def accumulate(x: F64, weights: MvmWeights, *, finite: bool) -> F32:
    """Return acc over all groups, ascending.

    p may be -0 (a sum of negative zeros) where docs/arithmetic.md has +0. That has no effect: the product with a scale is a zero or
    NaN either way, and acc, which is never -0, absorbs a zero of any sign.

    Args:
        x: [groups, Tblk, tokens], FP16 values; lanes at or beyond CHin must be +0.
        weights: the matrix.
        finite: no x is infinite or NaN.

    Returns:
        [channels, tokens].
    """
    groups, channels, tokens = x.shape[0], weights.codes.shape[1], x.shape[2]
    acc = np.zeros((channels, tokens), np.float32)
    step = min(groups, max(1, _BLOCK_BYTES // (8 * tokens * channels)))
    # Reuse these buffers, so that they stay in the cache.
    sums, products = np.empty((step, channels, tokens), np.float64), np.empty((step, channels, tokens), np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        for first in range(0, groups, step):
            last = min(first + step, groups)
            terms = products[: last - first]
            if finite:
                terms[:] = np.matmul(weights.codes[first:last], x[first:last], out=sums[: last - first])
            else:
                terms[:] = _odd_products(x, weights, first, last)
            terms *= weights.scales[first:last]
            for term in terms:
                acc += term
    return acc


def epilogue(acc: F32, bn: tuple[F32, F32] | None, residual: F32 | None, *, mul: bool, relu: bool) -> npt.NDArray[np.uint16]:
    """Apply BN, residual, ReLU and the one rounding to FP16. Returns bit patterns [channels, tokens]. `acc` is overwritten.

    bn: weight and bias, [channels, 1]; residual: [channels, tokens].
    """
    v = acc
    with np.errstate(invalid="ignore", over="ignore"):
        if bn is not None:
            v *= bn[0]
            v += bn[1]
        if residual is not None:
            if mul:
                v *= residual
            else:
                v += residual
        if relu:
            # x > 0 ? x : +0, but NaN stays; `maximum` would leave -0.
            v[v <= 0] = 0
    return to_fp16(v)


def to_fp16(v: npt.NDArray[np.floating]) -> npt.NDArray[np.uint16]:
    """Round to binary16 (nearest even, subnormals, overflow to infinity); NaN is 0x7E00. Returns bit patterns, v's shape."""
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        half = v.astype(np.float16)
    bits = half.view(np.uint16)
    bits[np.isnan(v)] = NAN16
    return bits
