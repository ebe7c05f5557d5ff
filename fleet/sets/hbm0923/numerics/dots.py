"""Exact dot products of FP16 rows, rounded once to binary32 (docs/arithmetic.md, "Attention").

Compiled code sums in binary64, and says where this may have lost a bit that the rounding to binary32 depends on: hardly ever. What
is left, and all where no code can be compiled, is summed in NumPy: every value is split into two integers of 20 bits, so that
each of the four sums of products is exact in any order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from fleet.sdk.native import target
from fleet.sets.hbm0923.kernel import address, library, rows_of
from fleet.sets.hbm0923.kernel._sizes import CHANNELS, MOST_WIDTH, UNDECIDED, UNIT
from fleet.sets.hbm0923.mvm_operands import ceil_div
from fleet.sets.hbm0923.numerics.mvm import in_blocks, odd_sum

F16, F32, F64 = npt.NDArray[np.float16], npt.NDArray[np.float32], npt.NDArray[np.float64]

MAX_LENGTH = 1 << 13
"""Longest rows: every sum of products of two 20-bit halves stays below 2^53."""
_HALF = 20
"""Bits of the lower half of an FP16 as an integer in units of 2^-24."""
_MANY = 16
"""A pair that is computed alone costs at least as much as so many in a product of matrices (`benchmarks/dots.py`)."""


def exact_dots(a: F16, b: F16) -> F32:
    """Return the dot product of every row of a with every row of b.

    Args:
        a: float16 [n, L], L a multiple of 32 and at most `MAX_LENGTH`: absent lanes hold +0.
        b: float16 [m, L]; the rows may have any stride.

    Returns:
        float32 [n, m]; a NaN may have any sign and payload.

    Raises:
        ValueError: the shapes do not fit.
    """
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[1] or a.shape[1] % UNIT or a.shape[1] > MAX_LENGTH:
        expected = f"rows of one length, a multiple of {UNIT} and at most {MAX_LENGTH}, expected"
        raise ValueError(f"{expected}; found {a.shape} and {b.shape}")
    if not a.size or not b.size:
        return np.zeros((a.shape[0], b.shape[0]), np.float32)
    for_target = target()
    if for_target is None:
        return split_dots(a, b)
    if b.strides[1] != b.itemsize or b.strides[0] < 0:
        b = np.ascontiguousarray(b)
    if not (a.flags.c_contiguous and a.flags.writeable):
        a = a.copy()
    n, m = a.shape[0], b.shape[0]
    out = np.empty((n, ceil_div(m, CHANNELS) * CHANNELS), np.float32)
    wide, sums, of_rows = np.empty(a.shape, np.float64), np.empty((n, MOST_WIDTH), np.float64), np.empty((2, n), np.float64)
    undecided = library(for_target)["dots"](
        address(a), n, b.__array_interface__["data"][0], b.strides[0], m, a.shape[1] // UNIT, address(wide), address(sums),
        *rows_of(of_rows), address(out), out.strides[0],
    )  # fmt: skip
    out = out[:, :m]
    if undecided:
        _decide(a, b, out)
    return out


def _decide(a: F16, b: F16, sums: F32) -> None:
    """Compute what is `UNDECIDED` in sums, [n, m]: pair by pair, or where there are many all of their rows with each other."""
    left = np.nonzero(sums.view(np.uint32) == UNDECIDED)
    rows, columns = np.unique(left[0]), np.unique(left[1])
    if left[0].size * _MANY > rows.size * columns.size:
        sums[np.ix_(rows, columns)] = split_dots(a[rows], b[columns])
        return
    for i, j in in_blocks(*left):
        sums[i, j] = _split_sum(a[i], b[j], _of_pairs)


def split_dots(a: F16, b: F16) -> F32:
    """Return what `exact_dots` returns, of any finite or not finite rows, in NumPy alone."""
    zero = np.float16(0)
    result = _split_sum(np.where(np.isfinite(a), a, zero), np.where(np.isfinite(b), b, zero), _of_all)
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        _put_odd(result, a.astype(np.float64), b.astype(np.float64))
    return result


def _halves(v: F16) -> tuple[F64, F64]:
    """Return finite FP16 as the upper and the lower of two integers, in units of 2^-4 and 2^-24."""
    whole = v.astype(np.float64) * 2.0**24
    high = np.rint(whole * 2.0**-_HALF)
    return high, whole - high * 2.0**_HALF


def _of_pairs(x: F64, y: F64) -> F64:
    return (x * y).sum(axis=1)


def _of_all(x: F64, y: F64) -> F64:
    return np.matmul(x, y.T)


def _split_sum(a: F16, b: F16, dot: Callable[[F64, F64], F64]) -> F32:
    """Return the sums of products of finite rows, rounded once. dot: which products add up to one sum; of halves it is exact."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return _rounded(dot(a_high, b_high), dot(a_high, b_low) + dot(a_low, b_high), dot(a_low, b_low))


def _rounded(high: F64, middle: F64, low: F64) -> F32:
    """Return (high * 2^40 + middle * 2^20 + low) * 2^-48 in binary32, rounded once; all are integers below 2^53."""
    mask = (1 << _HALF) - 1
    below = low.astype(np.int64)
    between = middle.astype(np.int64) + (below >> _HALF)
    above = ((high.astype(np.int64) + (between >> _HALF)).astype(np.float64)) * 2.0 ** (2 * _HALF)
    rest = ((between & mask) << _HALF | below & mask).astype(np.float64)
    return odd_sum(above, rest, 2.0**-48)


def _put_odd(result: F32, a: F64, b: F64) -> None:
    """Put NaN and infinities where lanes are not finite."""
    nan = np.logical_or.outer(np.isnan(a).any(axis=1), np.isnan(b).any(axis=1))
    signs = [np.sign(np.where(np.isnan(v), 0.0, v)) for v in (a, b)]
    infinite = [np.where(np.isinf(v), s, 0.0) for v, s in zip((a, b), signs, strict=True)]

    def either(left: list[F64], right: list[F64]) -> F64:
        """Sum over lanes in which a, b or both are infinite."""
        return _of_all(left[0], right[1]) + _of_all(right[0], left[1]) - _of_all(left[0], left[1])

    sizes, marks = [np.abs(v) for v in signs], [np.abs(v) for v in infinite]
    count = either(marks, [np.ones_like(v) for v in marks])
    hits, balance = either(marks, sizes), either(infinite, signs)
    some = count > 0
    result[some] = np.copysign(np.float32(np.inf), balance[some])
    result[nan | (hits != count) | (np.abs(balance) != hits)] = np.nan
