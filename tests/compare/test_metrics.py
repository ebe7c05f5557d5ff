"""Metrics against slow references: one element at a time, with exact rationals and nextafter."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.compare.metrics import ULP_EDGES, absolute_error, error_stats, spacing_of, ulp_distance, value_counts
from fleet.errors import ComparisonFailure

SPECIAL16 = np.array([0.0, -0.0, 6e-8, -6e-8, 6.1e-5, 1.0, 65504.0, -65504.0, np.inf, -np.inf, np.nan], np.float16)


def walk(a: np.ndarray, b: np.ndarray) -> float:
    """ULP distance by walking from one value to the other."""
    if np.isnan(a) and np.isnan(b):
        return 0.0
    if a == b:
        return 0.0
    if not (np.isfinite(a) and np.isfinite(b)):
        return math.inf
    low, high = (a, b) if a < b else (b, a)
    steps = 0
    while low < high:
        low = np.nextafter(low, np.float16(np.inf))
        steps += 1
    return float(steps)


def test_ulp_distance_walks():
    rng = np.random.default_rng(1)
    near = rng.integers(0, 0x7C00, 40).astype(np.uint16).view(np.float16)
    pairs = [(x, np.float16(y)) for x in near for y in (x + np.spacing(x) * 3, -x)][:20]
    pairs += [
        (np.float16(6e-8), np.float16(-6e-8)),
        (np.float16(0.0), np.float16(-0.0)),
        (np.float16(1023 * 2.0**-24), np.float16(2.0**-14)),
    ]
    for a, b in pairs:
        assert ulp_distance(np.asarray(a), np.asarray(b)) == walk(a, b), (a, b)
    a, b = np.meshgrid(SPECIAL16, SPECIAL16)
    got = ulp_distance(a, b)
    for i in np.ndindex(a.shape):
        if not (np.isfinite(a[i]) and np.isfinite(b[i])):
            assert got[i] == walk(a[i], b[i])


@given(st.lists(st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)), min_size=1, max_size=30))
@settings(max_examples=60, deadline=None)
def test_ulp_distance_of_float32_by_exact_integers(pairs):
    bits = np.array(pairs, np.uint64).astype(np.uint32)
    a, b = bits[:, 0].copy().view(np.float32), bits[:, 1].copy().view(np.float32)

    def order(u: int) -> int:
        return u if u < 1 << 31 else (1 << 31) - u

    for i, (u, v) in enumerate(pairs):
        got = ulp_distance(a, b)[i]
        if np.isfinite(a[i]) and np.isfinite(b[i]):
            assert got == abs(order(u) - order(v))


def test_ulp_distance_spans_all_of_float64():
    a, b = np.array([np.finfo(np.float64).max]), np.array([-np.finfo(np.float64).max])
    assert ulp_distance(a, b)[0] == float(2 * 0x7FEFFFFFFFFFFFFF)


@given(st.lists(st.tuples(st.floats(width=32), st.floats(width=32)), min_size=1, max_size=40))
@settings(max_examples=100, deadline=None)
def test_figures_match_a_slow_reference(pairs):
    a = np.array([p[0] for p in pairs], np.float32)
    b = np.array([p[1] for p in pairs], np.float32)
    errors, rels = [], []
    for x, y in zip(a.tolist(), b.tolist(), strict=True):
        if (math.isnan(x) and math.isnan(y)) or x == y:
            e = 0.0
        elif not (math.isfinite(x) and math.isfinite(y)):
            e = math.inf
        else:
            e = float(abs(Fraction(y) - Fraction(x)))
        errors.append(e)
        if x != 0 and math.isfinite(x):
            rels.append(e / abs(x))
    stats = error_stats(a, b)
    np.testing.assert_allclose(absolute_error(a, b), errors, rtol=1e-15)
    assert stats.max_abs == pytest.approx(max(errors), rel=1e-15)
    assert stats.max_rel == pytest.approx(max(rels, default=0.0), rel=1e-14)
    assert stats.mismatches == sum(e > 0 for e in errors)
    assert sum(stats.ulp_counts) == len(pairs)
    ulps = ulp_distance(a, b)
    slow = [sum(1 for u in ulps if (ULP_EDGES[i - 1] if i else -1) < u <= edge) for i, edge in enumerate(ULP_EDGES)]
    assert list(stats.ulp_counts[:-1]) == slow


def test_sqnr_and_cosine_by_fsum():
    rng = np.random.default_rng(2)
    a = rng.standard_normal((17, 9)).astype(np.float32)
    b = (a + 1e-3 * rng.standard_normal(a.shape)).astype(np.float32)
    x, y = a.reshape(-1).astype(float).tolist(), b.reshape(-1).astype(float).tolist()
    signal, noise = math.fsum(v * v for v in x), math.fsum((v - w) ** 2 for v, w in zip(x, y, strict=True))
    dot = math.fsum(v * w for v, w in zip(x, y, strict=True)) / math.sqrt(signal * math.fsum(w * w for w in y))
    stats = error_stats(a, b)
    assert stats.sqnr_db == pytest.approx(10 * math.log10(signal / noise), rel=1e-12)
    assert stats.cosine == pytest.approx(dot, rel=1e-12)
    assert stats.rms == pytest.approx(math.sqrt(noise / a.size), rel=1e-12)
    assert stats.channel_max_abs == tuple(float(v) for v in np.abs(b.astype(float) - a).max(axis=0))
    assert error_stats(a, a).sqnr_db == math.inf
    assert error_stats(a, np.where(a > 2, np.nan, a).astype(np.float32)).sqnr_db == -math.inf
    assert math.isnan(error_stats(np.zeros(3, np.float32), np.ones(3, np.float32)).cosine)


def test_extreme_magnitudes_neither_overflow_nor_vanish():
    a = np.array([1e300, -1e300, 1e-300])
    stats = error_stats(a, a * (1 + 1e-10))
    assert stats.sqnr_db == pytest.approx(200, abs=1e-2)
    assert stats.cosine == pytest.approx(1)


def test_compared_dtype_is_the_coarser_one():
    a = np.array([1.0, 2.0], np.float32)
    b = np.array([1.0, 2.0 + 2.0**-9], np.float16)
    assert error_stats(a, b).ulp_dtype == "float16"
    assert error_stats(a, b).ulp_max == 1
    assert error_stats(a, b.astype(np.float32), np.dtype(np.float16)).ulp_max == 1
    assert error_stats(a, b.astype(np.float32)).ulp_max == 2.0**13


def test_integers_are_exact():
    a, b = np.array([2**62, -(2**63), 5]), np.array([2**62 + 1, 2**63 - 1, 5])
    assert absolute_error(a, b).tolist() == [1.0, float(2**64 - 1), 0.0]
    assert error_stats(a, b).ulp_dtype == ""
    assert error_stats(np.array([True]), np.array([False])).mismatches == 1


@pytest.mark.parametrize(
    ("a", "b"), [(2**64 - 1, 0), (2**64 - 1, -1), (2**63, -(2**63)), (2**64 - 1, 2**64 - 2), (255, -128), (1, 0)]
)
def test_integers_of_every_dtype_are_exact(a: int, b: int) -> None:
    """Of every two dtypes that hold them: a distance is that of the numbers, not of their bits."""
    for first, second in itertools.product(_holding(a), _holding(b)):
        x, y = np.array([a], first), np.array([b], second)
        assert absolute_error(x, y).tolist() == absolute_error(y, x).tolist() == [float(abs(a - b))]


def _holding(n: int) -> list[np.dtype]:
    kinds = [np.dtype(t) for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]
    return [t for t in kinds if np.iinfo(t).min <= n <= np.iinfo(t).max] + [np.dtype(bool)] * (n in (0, 1))


def test_zero_elements_and_shapes():
    assert error_stats(np.zeros((0, 3)), np.zeros((0, 3))).elements == 0
    with pytest.raises(ComparisonFailure, match="shapes differ"):
        error_stats(np.zeros(3), np.zeros((3, 1)))
    assert error_stats(np.float32(1), np.float32(1.5)).max_abs == 0.5


def test_value_counts_judge_by_the_device_dtype():
    counts = value_counts(SPECIAL16.astype(np.float32), np.dtype(np.float16))
    assert (counts.saturated, counts.subnormal, counts.nan, counts.inf, counts.zero) == (4, 3, 1, 2, 2)
    own = value_counts(SPECIAL16.astype(np.float32))
    assert (own.saturated, own.subnormal) == (0, 0)
    assert value_counts(np.array([0, 1, 2])).zero == 1


def test_spacing():
    assert spacing_of(np.array([-1.0, 0.0]), np.dtype(np.float16)).tolist() == [2.0**-10, 2.0**-24]
