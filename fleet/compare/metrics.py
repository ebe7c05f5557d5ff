"""Error metrics of one array against its reference, vectorised, with their meaning for special values.

Equality: NaN equals NaN (any payload), +0 equals -0, infinities of one sign are equal. Everything else follows IEEE 754.
Absolute error: |other - reference| in float64 (of integers: the exact distance); 0 for equal elements (so NaN and NaN: 0);
    inf if only one side is NaN or infinite, or if the infinities differ in sign.
Relative error: absolute error / |reference| over elements with a finite, non-zero reference.
ULP distance: the number of representable values of the compared dtype between both, counted on the real line without the
    double zero: 0 for +0 and -0, 1 for neighbours, also across powers of two and from the largest subnormal to the smallest
    normal. inf as for absolute error. The compared dtype is the coarser of both; values are rounded to it first.
SQNR: 10 log10(sum ref^2 / sum err^2) over elements that are not both NaN or both infinite; inf when nothing differs; nan when the
    reference is no signal: zero, or not above the rounding error of a zero (`signal.Floors`).
Cosine: of both arrays as vectors, over elements finite on both sides; nan when one of them is zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fleet.compare.measured import ErrorStats, ValueCounts
from fleet.compare.rules.steps import none, some
from fleet.errors import ComparisonFailure

ULP_EDGES: tuple[int, ...] = (0, *(1 << k for k in range(25)))
"""Inclusive upper edges of the ULP histogram: 0, 1, 2, 4, ... 2^24. One more bin counts larger distances."""

_CHANNELS = 4096

Array = np.ndarray[Any, np.dtype[Any]]


def coarser_dtype(reference: np.dtype, other: np.dtype) -> np.dtype | None:
    """The float dtype with fewer mantissa bits; None unless both are floats."""
    if reference.kind != "f" or other.kind != "f":
        return None
    return reference if np.finfo(reference).nmant <= np.finfo(other).nmant else other


def equal_elements(reference: Array, other: Array) -> Array:
    """Return a boolean array: whether elements are equal as the module defines it."""
    equal = np.asarray(reference == other)
    if reference.dtype.kind in "fc" and other.dtype.kind in "fc":
        equal |= np.isnan(reference) & np.isnan(other)
    return equal


def same_numbers(a: Array, b: Array) -> bool:
    """Return whether both arrays have the same dtype, shape and elements, without NaN (+0 equals -0)."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    # Most arrays that differ do so at once.
    return (a.ndim == 0 or np.array_equal(a[:1], b[:1])) and np.array_equal(a, b)


def absolute_error(reference: Array, other: Array) -> Array:
    """Return the absolute errors, as float64; one zero for all (`none`) if both arrays have the same numbers."""
    _check(reference, other)
    if reference is other or same_numbers(reference, other):
        return none(reference.shape)
    if reference.dtype.kind in "iub" and other.dtype.kind in "iub":
        return _integer_distance(reference, other)
    wide = np.complex128 if "c" in (reference.dtype.kind, other.dtype.kind) else np.float64
    with np.errstate(invalid="ignore", over="ignore"):
        error = np.asarray(np.abs(other.astype(wide) - reference.astype(wide)))
    if error.size and np.isnan(error.max()):  # only then does anything need care: equal numbers are 0 apart already
        error[np.isnan(error)] = np.inf
        error[equal_elements(reference, other)] = 0.0
    return error


def ulp_distance(reference: Array, other: Array, dtype: np.dtype | None = None) -> Array:
    """Return the ULP distances in `dtype`, as float64 (default: the coarser of both dtypes; of integers: the distance in units)."""
    _check(reference, other)
    if "c" in (reference.dtype.kind, other.dtype.kind):
        return np.asarray(ulp_distance(_parts(reference), _parts(other), dtype).max(axis=-1))
    if dtype is None:
        dtype = coarser_dtype(reference.dtype, other.dtype)
    if dtype is None:
        return absolute_error(reference, other)
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = np.asarray(reference.astype(dtype)), np.asarray(other.astype(dtype))
    distance = _integer_distance(_ordered(a), _ordered(b))
    special = ~(np.isfinite(a) & np.isfinite(b))
    if special.any():
        distance[special] = np.inf
        distance[special & equal_elements(a, b)] = 0.0
    return distance


def spacing_of(values: Array, dtype: np.dtype) -> Array:
    """Return the distance from |value| to the next larger value of `dtype`, as float64; nan for NaN and infinities."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.spacing(np.abs(values.astype(dtype))).astype(np.float64)


def error_stats(
    reference: Array, other: Array, ulp_dtype: np.dtype | None = None, floor: float = 0.0, *, error: Array | None = None
) -> ErrorStats:
    """Return all error figures; for empty arrays, a row with `elements` 0. Raises ComparisonFailure if the shapes differ.

    floor: root mean square up to which the reference is a rounded zero and no signal (`signal.Floors`).
    error: result of `absolute_error` for both arrays, if it is known already.
    """
    _check(reference, other)
    if "c" in (reference.dtype.kind, other.dtype.kind):
        return error_stats(_parts(reference), _parts(other), ulp_dtype, floor)
    dtype = ulp_dtype or coarser_dtype(reference.dtype, other.dtype)
    error = absolute_error(reference, other) if error is None else error
    n = int(error.size)
    if n == 0:
        nothing = (0,) * (len(ULP_EDGES) + 1)
        return ErrorStats(0, 0.0, 0.0, 0.0, 0.0, "", 0.0, 0.0, 0.0, ULP_EDGES, nothing, math.inf, math.nan, 0)
    mismatches = int(np.count_nonzero(error)) if some(error) else 0
    if not mismatches:
        counts, channels = (n,) + (0,) * len(ULP_EDGES), (0.0,) * _channels(error)
        name = dtype.name if dtype else ""
        return ErrorStats(
            n, 0.0, 0.0, 0.0, 0.0, name, 0.0, 0.0, 0.0, ULP_EDGES, counts, math.inf, _own_cosine(reference), 0, channels
        )
    a, b = reference.astype(np.float64), other.astype(np.float64)
    ref = np.abs(a)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        relative = error / ref
        if not np.isfinite(relative.max()) or not np.isfinite(ref.max()):
            relative = relative[np.isfinite(ref) & (ref > 0)]
        max_rel = float(relative.max(initial=0.0))
        rms = _norm(error) / math.sqrt(n)
    ulps = ulp_distance(reference, other, dtype).reshape(-1)
    counts = np.bincount(_edges_of(ulps), minlength=len(ULP_EDGES) + 1)
    half, most = (math.ceil(q * (n - 1)) for q in (0.5, 0.99))
    ulps.partition((half, most))
    return ErrorStats(
        elements=n,
        max_abs=float(error.max()),
        mean_abs=float(error.mean()),
        rms=rms,
        max_rel=max_rel,
        ulp_dtype=dtype.name if dtype else "",
        ulp_max=float(ulps[most:].max()),
        ulp_p50=float(ulps[half]),
        ulp_p99=float(ulps[most]),
        ulp_upper=ULP_EDGES,
        ulp_counts=tuple(int(c) for c in counts),
        sqnr_db=_sqnr_db(ref, error, floor),
        cosine=_cosine(a, b),
        mismatches=mismatches,
        channel_max_abs=_by_channel(error),
    )


def _edges_of(ulps: Array) -> Array:
    """Return the index of the first of `ULP_EDGES` that a distance does not exceed, its length beyond the last one."""
    fraction, exponent = np.frexp(ulps)
    index = exponent + 1 - (fraction == 0.5)  # a power of two is an edge itself
    index = np.where(ulps > 0, np.clip(index, 1, len(ULP_EDGES)), 0)
    return np.where(np.isfinite(ulps), index, len(ULP_EDGES))


def root_mean_square(values: Array, *, integers: bool = False) -> float:
    """Return the root mean square of the finite elements; 0 if none is finite, and of integers and booleans unless asked for."""
    values = _parts(values) if values.dtype.kind == "c" else values
    if values.dtype.kind != "f" and not integers:
        return 0.0
    flat = values.reshape(-1)
    with np.errstate(over="ignore", invalid="ignore"):
        square = (
            float(np.einsum("i,i", flat, flat, dtype=np.float64, casting="same_kind")) if flat.dtype.itemsize <= 8 else math.nan
        )
    if _SAFE < square < 1 / _SAFE:  # so all are finite
        return math.sqrt(square / flat.size)
    finite = _where(flat, np.isfinite(flat)).astype(np.float64, copy=False)
    size = _norm(finite) / math.sqrt(finite.size) if finite.size else 0.0
    return size if math.isfinite(size) else float(np.finfo(np.float64).max)


def value_counts(array: Array, dtype: np.dtype | None = None) -> ValueCounts:
    """Count special values of an array by `dtype` (default: its own; float16 for float16 values held in float32)."""
    if array.dtype.kind == "c":
        return value_counts(_parts(array))
    dtype = dtype or array.dtype
    if dtype.kind != "f" or array.dtype.kind != "f":
        return ValueCounts(int(array.size), 0, 0, 0, 0, int(np.count_nonzero(array == 0)))
    info = np.finfo(dtype)
    if array.size and array.dtype.itemsize >= dtype.itemsize and -info.max < array.min() and array.max() < info.max:
        small = int(np.count_nonzero(np.abs(array) < float(info.smallest_normal)))
        zero = int(np.count_nonzero(array == 0)) if small else 0
        return ValueCounts(int(array.size), 0, small - zero, 0, 0, zero)
    magnitude = np.abs(array if array.dtype.itemsize >= dtype.itemsize else array.astype(dtype))  # limits are exact in either
    infinite = np.isinf(magnitude)
    saturated = (magnitude >= float(info.max)) & (~infinite | (dtype == np.float16))
    subnormal = (magnitude > 0) & (magnitude < float(info.smallest_normal))
    return ValueCounts(
        elements=int(array.size),
        saturated=int(np.count_nonzero(saturated)),
        subnormal=int(np.count_nonzero(subnormal)),
        nan=int(np.count_nonzero(np.isnan(magnitude))),
        inf=int(np.count_nonzero(infinite)),
        zero=int(np.count_nonzero(magnitude == 0)),
    )


def _parts(array: Array) -> Array:
    """Split complex numbers into (real, imaginary) floats along a new last axis; the imaginary parts of a real array are zeros."""
    whole = array if array.dtype.kind == "c" else array.astype(np.complex128)
    return np.stack([np.real(whole), np.imag(whole)], axis=-1)


def _check(reference: Array, other: Array) -> None:
    if reference.shape != other.shape:
        raise ComparisonFailure(f"shapes differ: reference {reference.shape}, other {other.shape}")
    for array in (reference, other):
        if array.dtype.kind not in "fiubc":
            raise ComparisonFailure(f"dtype {array.dtype} cannot be compared; expected float, integer or bool")


def _ordered(values: Array) -> Array:
    """Map floats to integers of their size in the same order, both zeros to 0."""
    size = values.dtype.itemsize
    bits = np.ascontiguousarray(values).view(f"i{size}").reshape(values.shape)
    sign = bits >> (8 * size - 1)  # all ones for a negative number, whose magnitude is subtracted from zero
    return np.asarray((bits ^ (sign & np.iinfo(bits.dtype).max)) - sign)


def _integer_distance(a: Array, b: Array) -> Array:
    """Return |a - b| of integers and booleans as float64: the exact distance, rounded once."""
    unsigned = [v.dtype.kind == "u" and v.dtype.itemsize == 8 for v in (a, b)]
    if any(unsigned) and not all(unsigned):  # no dtype of NumPy's holds both
        return np.asarray(np.abs(a.astype(object) - b.astype(object)).astype(np.float64))
    if a.dtype.itemsize <= 4 and b.dtype.itemsize <= 4:
        return np.asarray(np.abs(np.subtract(a, b, dtype=np.int64)).astype(np.float64))
    a, b = (v.astype(np.uint64 if all(unsigned) else np.int64) for v in (a, b))
    low, high = np.minimum(a, b).astype(np.uint64), np.maximum(a, b).astype(np.uint64)
    with np.errstate(over="ignore"):
        return np.asarray((high - low).astype(np.float64))


def _norm(values: Array) -> float:
    """Return the Euclidean norm without overflow."""
    flat = values.reshape(-1)
    with np.errstate(over="ignore"):
        square = float(np.einsum("i,i", flat, flat))
    if _SAFE < square < 1 / _SAFE:
        return math.sqrt(square)
    largest = float(np.max(np.abs(flat))) if flat.size else 0.0
    if largest == 0.0 or not math.isfinite(largest):
        return largest
    return largest * float(np.linalg.norm(flat / largest))


_SAFE = 1e-200
"""Squares between this and its reciprocal have lost nothing significant to underflow or overflow."""


def _sqnr_db(ref: Array, error: Array, floor: float) -> float:
    finite = np.isfinite(ref)
    counted = finite | (error > 0)
    signal, noise = _norm(_where(ref, finite & counted)), _norm(_where(error, counted))
    if noise == 0.0:
        return math.inf
    if signal <= floor * math.sqrt(ref.size):
        return math.nan
    if math.isinf(noise):
        return -math.inf
    return 20.0 * (math.log10(signal) - math.log10(noise))


def _cosine(a: Array, b: Array) -> float:
    finite = np.isfinite(a) & np.isfinite(b)
    a, b = _where(a, finite), _where(b, finite)
    na, nb = _norm(a), _norm(b)
    if na == 0.0 or nb == 0.0:
        return math.nan
    if _SAFE < na * nb < 1 / _SAFE and na < 1e150 and nb < 1e150:
        return min(1.0, max(-1.0, float(np.einsum("i,i", a.reshape(-1), b.reshape(-1))) / (na * nb)))
    return min(1.0, max(-1.0, float(np.dot(a.reshape(-1) / na, b.reshape(-1) / nb))))


def _own_cosine(a: Array) -> float:
    """Return the cosine of an array and one that equals it: 1, or NaN if it has no finite number but zero."""
    low, high = a.min(), a.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = _where(a, np.isfinite(a))
        low, high = (finite.min(), finite.max()) if finite.size else (0, 0)
    return 1.0 if low or high else math.nan


def _where(values: Array, chosen: Array) -> Array:
    """Return the chosen elements, without a copy if all are chosen."""
    return values if chosen.all() else values[chosen]


def _channels(error: Array) -> int:
    """Return the number of channels whose errors are shown: the length of the last axis, 0 if it is too long."""
    return error.shape[-1] if error.ndim and error.shape[-1] <= _CHANNELS else 0


def _by_channel(error: Array) -> tuple[float, ...]:
    return tuple(error.reshape(-1, error.shape[-1]).max(axis=0).tolist()) if _channels(error) else ()
