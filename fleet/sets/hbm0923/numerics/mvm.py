"""The MVM's arithmetic on arrays (docs/arithmetic.md), vectorised over tokens and channels.

Group sums are exact in float64 in any order: every partial sum is an integer of less than 2^50 units of 2^-24, and integers below
2^53 are exact (docs/arithmetic.md has the proof). So BLAS may be used. The sum over the groups is exact too and rounded once. It
is computed in float64, in any order: where that may have lost a bit which the rounding to binary32 depends on, `exact_sums`
computes it again from integers. All later steps are elementwise float32, one NumPy operation per rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fleet.sets.hbm0923.numerics.sum_bounds import EXACT_UNITS, LARGEST_CODE, sum_error

F32, F64, Indices = npt.NDArray[np.float32], npt.NDArray[np.float64], npt.NDArray[np.intp]

NAN16 = np.uint16(0x7E00)
_INFINITY16 = 0x7C00
_BLOCK_BYTES = 1 << 20
"""Bytes of group sums held at a time: they fit into the second cache."""
_PAIRS = 64
"""Sums that are computed exactly at a time: 64 MiB of their products with 131,072 inputs."""
_LOW = 50
"""Bits of the lower word of an exact sum."""


@dataclass(frozen=True)
class MvmWeights:
    """One weight matrix in the form that the array computes with.

    codes: float64 [groups, channels, Tblk], integers -7 ... 7; lanes at or beyond CHin hold any finite number.
    scales: float64 [groups, channels, 1], FP16 values.

    Channels come before tokens throughout: BLAS is a third faster that way, and only results are transposed.
    """

    codes: F64
    scales: F64

    @cached_property
    def extremes(self) -> tuple[F64, F64]:
        """The largest of each channel's finite scales, and the largest power of two that they are multiples of; [channels, 1]."""
        finite = np.where(np.isfinite(self.scales), np.abs(self.scales), 0)
        return finite.max(axis=0), _common_unit(finite, (0,))


def is_finite(x: np.ndarray) -> bool:
    """Return whether no FP16 of x is infinite or NaN; takes a third of the time of `isfinite` on float64."""
    return bool((x.view(np.uint16) & np.uint16(0x7FFF)).max() < _INFINITY16)


def _odd_sums(x: F64, weights: MvmWeights, first: int, last: int) -> F64:
    """Return the group sums, for any x: infinities and NaN where docs/arithmetic.md has them.

    Args:
        x: [groups, Tblk, tokens], FP16 values; lanes at or beyond CHin must be +0.
        weights: the matrix.
        first, last: range of groups.

    Returns:
        [last - first, channels, tokens].
    """
    xs, codes = x[first:last], weights.codes[first:last]
    sums = np.matmul(codes, np.where(np.isfinite(xs), xs, 0.0))
    infinite = np.where(np.isinf(xs), np.sign(np.where(np.isnan(xs), 0.0, xs)), 0.0)
    count = np.abs(infinite).sum(axis=1, keepdims=True)
    hits = np.matmul((codes != 0).astype(np.float64), np.abs(infinite))
    balance = np.matmul(np.sign(codes), infinite)
    some = np.broadcast_to(count > 0, sums.shape)
    sums[some] = (np.inf * np.sign(balance))[some]
    sums[(hits != count) | (np.abs(balance) != hits)] = np.nan
    sums[np.broadcast_to(np.isnan(xs).any(axis=1, keepdims=True), sums.shape)] = np.nan
    return sums


def accumulate(x: F64, weights: MvmWeights, *, finite: bool) -> F32:
    """Return the sum over all groups, rounded once.

    In float64 infinities and NaN come out as docs/arithmetic.md has them, in any order: no finite sum overflows. A zero is +0,
    since a sum that starts at +0 never becomes -0.

    Args:
        x: [groups, Tblk, tokens], FP16 values; lanes at or beyond CHin must be +0.
        weights: the matrix.
        finite: no x is infinite or NaN.

    Returns:
        [channels, tokens].
    """
    groups, channels, tokens = x.shape[0], weights.codes.shape[1], x.shape[2]
    total = np.zeros((channels, tokens), np.float64)
    step = min(groups, max(1, _BLOCK_BYTES // (8 * tokens * channels)))
    buffer = np.empty((step, channels, tokens), np.float64)  # reused, so that it stays in the cache
    with np.errstate(invalid="ignore", over="ignore"):
        for first in range(0, groups, step):
            last = min(first + step, groups)
            terms = buffer[: last - first]
            if finite:
                np.matmul(weights.codes[first:last], x[first:last], out=terms)
            else:
                terms[:] = _odd_sums(x, weights, first, last)
            terms *= weights.scales[first:last]
            total += terms.sum(axis=0)
        result, undecided = _rounded(total, x, weights)
    for c, t in in_blocks(*np.nonzero(undecided)):
        result[c, t] = exact_pairs(x[:, :, t], MvmWeights(weights.codes[:, c], weights.scales[:, c]))
    return result


def _rounded(total: F64, x: F64, weights: MvmWeights) -> tuple[F32, npt.NDArray[np.bool_]]:
    """Return sums from float64, [channels, tokens], in binary32, and which of them their error leaves undecided."""
    largest, unit = weights.extremes
    magnitudes = np.abs(x)
    bound = largest * (LARGEST_CODE * magnitudes.sum(axis=(0, 1)))
    exact = bound <= EXACT_UNITS * unit * _common_unit(magnitudes, (0, 1))
    error = np.where(exact, 0, bound * sum_error(x.shape[0]))
    low, high = (total - error).astype(np.float32), (total + error).astype(np.float32)
    return total.astype(np.float32), np.isfinite(total) & (low != high)


def _common_unit(magnitudes: F64, axis: tuple[int, ...]) -> F64:
    """Return the largest power of two that all FP16 values along the axes are multiples of; 0 if all are zeros."""
    bits = np.bitwise_or.reduce((magnitudes * 2.0**24).astype(np.int64), axis=axis)
    return (bits & -bits) * 2.0**-24


def in_blocks(channels: Indices, tokens: Indices) -> Iterator[tuple[Indices, Indices]]:
    """Cut pairs of channel and token into blocks that memory has room for."""
    for first in range(0, channels.size, _PAIRS):
        yield channels[first : first + _PAIRS], tokens[first : first + _PAIRS]


def exact_pairs(x: F64, weights: MvmWeights) -> F32:
    """Return the exact sum over groups, rounded once, of each token with its channel.

    Args:
        x: [groups, Tblk, n], finite; lanes at or beyond CHin must be +0.
        weights: n channels with finite scales.

    Returns:
        [n].
    """
    return exact_sums((weights.codes * x.transpose(0, 2, 1)).sum(axis=2), weights.scales[:, :, 0])


def exact_sums(sums: F64, scales: F64) -> F32:
    """Return the sum over groups of sums * scales, rounded once; computed in two words of 64 bits.

    Args:
        sums: [groups, n], finite group sums; at most 2^12 groups.
        scales: [groups, n], finite FP16 values.

    Returns:
        [n].
    """
    # A scale is an integer of 11 bits, shifted by 0 ... 29 places, in units of 2^-24. A zero stays one.
    shift = np.maximum(np.frexp(scales)[1] + 13, 0).astype(np.int64)
    product = (sums * 2.0**24).astype(np.int64) * np.ldexp(scales, 24 - shift).astype(np.int64)
    low = ((product & ((1 << _LOW) - 1) >> shift) << shift).sum(axis=0)
    high = (product >> (_LOW - shift)).sum(axis=0) + (low >> _LOW)
    return odd_sum(high * 2.0**_LOW, (low & (1 << _LOW) - 1).astype(np.float64), 2.0**-48)


def odd_sum(high: F64, low: F64, unit: float) -> F32:
    """Return (high + low) * unit in binary32, rounded once.

    high, low: exact, |high| >= |low| or high is 0; unit: a power of two.
    """
    total = high + low
    # What the addition lost makes the last bit odd, where a second rounding cannot take it for a tie.
    lost = low - (total - high)
    bits = total.view(np.int64)
    bits += np.where((lost == 0) | (bits & 1 == 1), 0, np.where((lost > 0) == (total > 0), 1, -1))
    return (total * unit).astype(np.float32)


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
