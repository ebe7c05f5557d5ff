"""Dot products in the trees' order: compiled, in NumPy and with exact rationals rounded at every step."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.sdk import native
from fleet.sets.hbm0923.numerics.float32 import dot_products
from fleet.sets.hbm0923.numerics.trees import dot_trees

ALL = np.arange(1 << 16, dtype=np.uint16)
FINITE = ALL[np.isfinite(ALL.view(np.float16))]


@pytest.fixture(params=[*native.VARIANTS, "numpy"])
def variant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "numpy" and request.param not in native.variants():
        pytest.skip(f"this machine does not run {request.param}")
    monkeypatch.setenv(native.VARIABLE, request.param)
    return request.param


def rne32(v: Fraction) -> Fraction:
    """The binary32 next to v, ties to even; v is zero or has a normal's magnitude."""
    if v == 0:
        return v
    exponent = 0
    while abs(v) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(v) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (exponent - 23)
    return round(v / unit) * unit  # Fraction's round is to even


def exact(a: np.ndarray, b: np.ndarray) -> Fraction:
    acc = Fraction(0)
    for at in range(0, a.size, 32):
        terms = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[at : at + 32], b[at : at + 32], strict=True)]
        while len(terms) > 1:
            terms = [rne32(terms[i] + terms[i + 1]) for i in range(0, len(terms), 2)]
        acc = rne32(acc + terms[0])
    return acc


@pytest.mark.parametrize("wide", [False, True])
def test_exact_rationals(variant: str, wide: bool) -> None:
    rng = np.random.default_rng(wide)
    draw = (lambda *s: rng.choice(FINITE, s).view(np.float16)) if wide else (lambda *s: rng.normal(0, 1, s).astype(np.float16))
    a, b = draw(2, 96), draw(19, 96)
    got = dot_trees(a, b)
    assert got.dtype == np.float32
    assert [[Fraction(float(v)) for v in row] for row in got] == [[exact(x, y) for y in b] for x in a]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(1, 5), st.integers(1, 70), st.integers(1, 9), st.booleans(), st.integers(0, 3), st.integers(0, 1 << 32))
def test_equals_numpy(variant: str, n: int, m: int, beats: int, odd: bool, gap: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    patterns = ALL if odd else FINITE
    a = rng.choice(patterns, (n, 32 * beats)).view(np.float16)
    b = rng.choice(patterns, (m, 32 * beats + gap)).view(np.float16)[:, : 32 * beats]
    got, want = dot_trees(a, b), dot_products(a.astype(np.float32), b.astype(np.float32))
    assert got.shape == (n, m)
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(got), nan)
    assert np.array_equal(got.view(np.uint32)[~nan], want.view(np.uint32)[~nan])


def test_the_order_is_seen(variant: str) -> None:
    """Lanes 0, 1 cancel before the small one of lane 2 comes; lanes 0 and 2 would not in another order."""
    a = np.zeros((1, 64), np.float16)
    a[0, [0, 1, 2, 32]] = [32768, -32768, 2**-14, 2**-14]
    b = np.full((3, 64), 1024, np.float16)
    assert dot_trees(a, b).tolist() == [[2**-3, 2**-3, 2**-3]]
    a[0, [1, 2]] = a[0, [2, 1]]
    assert dot_trees(a, b).tolist() == [[2**-4, 2**-4, 2**-4]]


def test_transposed_and_empty(variant: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, (2, 32)).astype(np.float16), rng.normal(0, 1, (32, 5)).astype(np.float16)
    assert np.array_equal(dot_trees(a, b.T), dot_trees(a, np.ascontiguousarray(b.T)))
    assert dot_trees(a, b.T[:0]).shape == (2, 0)
    with pytest.raises(ValueError, match="multiple of 32"):
        dot_trees(a[:, :31], b.T[:, :31])
