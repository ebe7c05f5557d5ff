"""Exact dot products of FP16 rows, rounded once to binary32 (docs/arithmetic.md, "Attention").

Compiled code sums in binary64 wherever that is exact for the rows at hand, which it measures: nearly always. What is left, and all
where no code can be compiled, is summed in NumPy: every value is split into two integers of 20 bits, so that each of the four
products of matrices is exact in binary64 in any order.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fleet.sdk.native import Target, target
from fleet.sets.hbm0923.kernel import address, library
from fleet.sets.hbm0923.kernel._sizes import CHANNELS, EXACT_BITS, MOST_NEED, MOST_WIDTH, NOT_FINITE, UNIT
from fleet.sets.hbm0923.mvm_operands import ceil_div

F16, F32, F64 = npt.NDArray[np.float16], npt.NDArray[np.float32], npt.NDArray[np.float64]

MAX_LENGTH = 1 << 13
"""Longest rows: every sum of products of two 20-bit halves stays below 2^53."""
_HALF = 20
"""Bits of the lower half of an FP16 as an integer in units of 2^-24."""


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
    out, needs, spans = _summed(for_target, a, b, MOST_NEED)
    if needs.max() + spans.max() > EXACT_BITS:
        columns = np.flatnonzero(spans + needs.max() > EXACT_BITS)
        out[:, columns] = _summed_again(for_target, a, b[columns], spans[columns])
    return out


def _summed_again(for_target: Target, a: F16, b: F16, spans: npt.NDArray[np.int32]) -> F32:
    """Return the dot products with rows of a split as far down as the widest finite row of b asks for."""
    widest = spans.max(where=spans < NOT_FINITE, initial=EXACT_BITS - MOST_NEED)
    out, needs, spans = _summed(for_target, a, b, EXACT_BITS - 1 - int(widest))
    inexact = needs[:, None] + spans > EXACT_BITS
    if inexact.any():
        again = np.flatnonzero(inexact.any(axis=1)), np.flatnonzero(inexact.any(axis=0))
        out[np.ix_(*again)] = split_dots(a[again[0]], b[again[1]])
    return out


def _summed(for_target: Target, a: F16, b: F16, most: int) -> tuple[F32, npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the dot products, and the bits that rows of a and rows of b need."""
    n, m = a.shape[0], b.shape[0]
    rows = ceil_div(m, CHANNELS) * CHANNELS
    # Allocate for the worst case; untouched pages take no memory.
    wide, sums = np.empty((2, *a.shape), np.float64), np.empty((2 * n, MOST_WIDTH), np.float64)
    owners, needs, spans = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(rows, np.int32)
    out = np.empty((n, rows), np.float32)
    library(for_target)["dots"](
        address(a), n, b.__array_interface__["data"][0], b.strides[0], m, a.shape[1] // UNIT, most, address(wide), address(sums),
        address(owners), address(needs), address(spans), address(out), out.strides[0],
    )  # fmt: skip
    return out[:, :m], needs, spans[:m]


def split_dots(a: F16, b: F16) -> F32:
    """Return what `exact_dots` returns, of any finite or not finite rows, in NumPy alone."""
    finite = [np.where(np.isfinite(v), v, 0).astype(np.float64) * 2.0**24 for v in (a, b)]
    high = [np.rint(v * 2.0**-_HALF) for v in finite]
    low = [v - h * 2.0**_HALF for v, h in zip(finite, high, strict=True)]
    result = _rounded(
        np.matmul(high[0], high[1].T), np.matmul(high[0], low[1].T) + np.matmul(low[0], high[1].T), np.matmul(low[0], low[1].T)
    )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        _put_odd(result, a.astype(np.float64), b.astype(np.float64))
    return result


def _rounded(high: F64, middle: F64, low: F64) -> F32:
    """Return (high * 2^40 + middle * 2^20 + low) * 2^-48 in binary32, rounded once; all are integers below 2^53."""
    mask = (1 << _HALF) - 1
    below = low.astype(np.int64)
    between = middle.astype(np.int64) + (below >> _HALF)
    above = ((high.astype(np.int64) + (between >> _HALF)).astype(np.float64)) * 2.0 ** (2 * _HALF)
    rest = ((between & mask) << _HALF | below & mask).astype(np.float64)
    total = above + rest
    # What the addition lost makes the last bit odd, where a second rounding cannot take it for a tie.
    lost = rest - (total - above)
    bits = total.view(np.int64)
    bits += np.where((lost == 0) | (bits & 1 == 1), 0, np.where((lost > 0) == (total > 0), 1, -1))
    return (total * 2.0**-48).astype(np.float32)


def _put_odd(result: F32, a: F64, b: F64) -> None:
    """Put NaN and infinities where lanes are not finite."""
    nan = np.logical_or.outer(np.isnan(a).any(axis=1), np.isnan(b).any(axis=1))
    signs = [np.sign(np.where(np.isnan(v), 0.0, v)) for v in (a, b)]
    infinite = [np.where(np.isinf(v), s, 0.0) for v, s in zip((a, b), signs, strict=True)]

    def lanes(x: F64, y: F64) -> F64:
        return np.matmul(x, y.T)

    def either(left: list[F64], right: list[F64]) -> F64:
        """Sum over lanes in which a, b or both are infinite."""
        return lanes(left[0], right[1]) + lanes(right[0], left[1]) - lanes(left[0], left[1])

    sizes, marks = [np.abs(v) for v in signs], [np.abs(v) for v in infinite]
    count = either(marks, [np.ones_like(v) for v in marks])
    hits, balance = either(marks, sizes), either(infinite, signs)
    some = count > 0
    result[some] = np.copysign(np.float32(np.inf), balance[some])
    result[nan | (hits != count) | (np.abs(balance) != hits)] = np.nan
