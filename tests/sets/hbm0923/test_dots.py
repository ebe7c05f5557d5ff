"""Exact dot products: compiled, in NumPy and with exact rationals that are rounded once."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
import unit_exact
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mvm_exact import half

from fleet.sdk import native
from fleet.sets.hbm0923.numerics import dots
from fleet.sets.hbm0923.numerics.dots import exact_dots, split_dots
from fleet.sets.hbm0923.numerics.mvm import Indices, in_blocks

ALL = np.arange(1 << 16, dtype=np.uint16)
FINITE = ALL[np.isfinite(ALL.view(np.float16))]
KINDS = {
    "finite": FINITE,
    "all": ALL,
    "normal": None,
    "subnormal": np.array([0, 1, 0x3FF, 0x8000, 0x8001, 0x83FF, 0x400], np.uint16),
    "span": np.array([0x7BFF, 0xFBFF, 1, 0x8001, 0x3C00], np.uint16),
    "zeros": np.array([0, 0x8000], np.uint16),
    "infinities": np.array([0, 0x8000, 0x3C00, 0x7C00, 0xFC00, 0xBC00], np.uint16),
    "powers": np.array([e << 10 | s << 15 for e in range(31) for s in (0, 1)], np.uint16),
}


@pytest.fixture(params=[*native.VARIANTS, "numpy"])
def variant(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param != "numpy" and request.param not in native.variants():
        pytest.skip(f"this machine does not run {request.param}")
    monkeypatch.setenv(native.VARIABLE, request.param)
    return request.param


def draw(rng: np.random.Generator, kind: str, *shape: int) -> np.ndarray:
    values = KINDS[kind]
    if values is None:
        return rng.normal(0, 1, shape).astype(np.float16)
    return rng.choice(values, shape).view(np.float16)


def value(v: np.float32) -> unit_exact.Value:
    if np.isnan(v):
        return "nan"
    if np.isinf(v):
        return "inf" if v > 0 else "-inf"
    return "-0" if v == 0 and np.signbit(v) else Fraction(float(v))


def check(a: np.ndarray, b: np.ndarray) -> None:
    got = exact_dots(a, b)
    assert got.dtype == np.float32
    want = [[unit_exact.dot(x, y) for y in b.view(np.uint16).tolist()] for x in a.view(np.uint16).tolist()]
    assert [[value(v) for v in row] for row in got] == want


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
def test_exact_rationals(variant: str, left: str, right: str) -> None:
    rng = np.random.default_rng(len(left) + 100 * len(right))
    check(draw(rng, left, 3, 64), draw(rng, right, 19, 64))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 5), st.integers(1, 70), st.integers(1, 9), st.sampled_from([*KINDS]), st.sampled_from([*KINDS]),
    st.integers(0, 3), st.integers(0, 1 << 32),
)  # fmt: skip
def test_equals_numpy(variant: str, n: int, m: int, beats: int, left: str, right: str, gap: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = draw(rng, left, n, 32 * beats), draw(rng, right, m, 32 * beats + gap)[:, : 32 * beats]
    got, want = exact_dots(a, b), split_dots(a, b)
    assert got.shape == (n, m)
    nan = np.isnan(want)
    assert np.array_equal(np.isnan(got), nan)
    assert np.array_equal(got.view(np.uint32)[~nan], want.view(np.uint32)[~nan])


def test_the_order_is_not_seen(variant: str) -> None:
    """What is small survives what cancels, wherever it stands: adders of binary32 lose it in some orders."""
    values = np.zeros(96, np.float16)
    values[:5] = [32768, -32768, 2**-14, 2**-24, -32768]
    other = np.full((3, 96), 1024, np.float16)
    other[2] = 2**-24
    rng = np.random.default_rng(0)
    for _ in range(20):
        order = rng.permutation(96)
        got = exact_dots(values[order][None], other)
        assert got[0, 0] == np.float32(-(2.0**25) + 2.0**-4 + 2.0**-14)
        assert got[0, 2] == np.float32(-(2.0**-9) + 2.0**-38 + 2.0**-48)


def test_one_rounding_at_ties(variant: str) -> None:
    """24 bits and a half, and the least that decides it, at every distance: to even only where nothing lies below."""
    rows: list[list[float]] = []
    for exponent in range(-20, 15):
        for least in (0.0, 2.0**-24, -(2.0**-24)):
            # 2^e + half a unit of it in binary32, and one unit of the whole window
            rows.append([2.0**exponent, 2.0 ** (exponent - 14), least])
    a = np.zeros((len(rows), 32), np.float16)
    a[:, :3] = rows
    b = np.zeros((1, 32), np.float16)
    b[0, :3] = [2.0**0, 2.0**-10, 2.0**-24]
    check(a, b)
    check(-a, b)


def test_longest_rows(variant: str) -> None:
    """The largest sums there are, and the same with all but one unit cancelled."""
    a = np.full((2, dots.MAX_LENGTH), 65504, np.float16)
    b = np.full((3, dots.MAX_LENGTH), 65504, np.float16)
    b[1, ::2] *= -1
    b[2] = -65504
    a[1, -1], b[1, -1] = 2**-24, 2**-24
    got = exact_dots(a, b)
    largest = Fraction(65504) ** 2
    want = [[dots.MAX_LENGTH * largest, None, -dots.MAX_LENGTH * largest], [None, -largest + Fraction(1, 1 << 48), None]]
    for i, j in ((0, 0), (0, 2), (1, 1)):
        assert Fraction(float(got[i, j])) == unit_exact.rne32(want[i][j])
    with pytest.raises(ValueError, match="at most"):
        exact_dots(np.zeros((1, 2 * dots.MAX_LENGTH), np.float16), np.zeros((1, 2 * dots.MAX_LENGTH), np.float16))


def test_sums_are_computed_again_only_where_binary64_leaves_them_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not those of ordinary rows, values far from others or probabilities; of a sum beside a tie alone its pair."""
    if not native.variants():
        pytest.skip("no code can be compiled")
    pairs: list[int] = []
    whole: list[tuple[int, int]] = []

    def noted(a: dots.F16, b: dots.F16) -> dots.F32:
        whole.append((a.shape[0], b.shape[0]))
        return split_dots(a, b)

    def counted(i: Indices, j: Indices) -> Iterator[tuple[Indices, Indices]]:
        pairs.append(i.size)
        return in_blocks(i, j)

    monkeypatch.setattr(dots, "split_dots", noted)
    monkeypatch.setattr(dots, "in_blocks", counted)
    rng = np.random.default_rng(5)
    a, b = (rng.normal(0, 1, (n, 128)).astype(np.float16) for n in (20, 300))
    exact_dots(a, b)
    wild = b.copy()
    wild[rng.random(b.shape) < 0.01] *= np.float16(40)
    wild[9, 0] = np.inf
    exact_dots(a, wild)
    p = np.exp(rng.normal(0, 4, (3, 2048)))
    exact_dots((p / p.sum(axis=1, keepdims=True)).astype(np.float16), rng.normal(0, 1, (64, 2048)).astype(np.float16))
    assert not pairs
    assert not whole
    # Row i and row i of b leave 1 + 2^-24 beside what cancels: a tie, which 2^-48 decides. Other pairs do not cancel.
    a, b = np.zeros((20, 128), np.float16), np.zeros((20, 128), np.float16)
    b[:, :80] = 65504
    for i in range(20):
        a[i, 2 * i : 2 * i + 2] = 65504
        b[i, 2 * i + 1] = -65504
    a[:, 100:103] = b[:, 100:103] = [1, 2**-12, 2**-24]
    got = exact_dots(a, b)
    assert pairs == [20]
    assert np.all(np.diag(got) == np.float32(1 + 2.0**-23))
    assert np.array_equal(got, split_dots(a, b))
    assert not whole
    # Where most are open, one product of matrices takes them all.
    got = exact_dots(np.tile(a[3], (3, 1)), np.tile(b[3], (40, 1)))
    assert whole == [(3, 40)]
    assert np.all(got == np.float32(1 + 2.0**-23))


def test_transposed_and_empty(variant: str) -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, (2, 32)).astype(np.float16), rng.normal(0, 1, (32, 5)).astype(np.float16)
    assert np.array_equal(exact_dots(a, b.T), exact_dots(a, np.ascontiguousarray(b.T)))
    assert exact_dots(a, b.T[:0]).shape == (2, 0)
    with pytest.raises(ValueError, match="multiple of 32"):
        exact_dots(a[:, :31], b.T[:, :31])


def test_halves_of_the_reference() -> None:
    assert half(0x7BFF) == 65504
    assert unit_exact.dot([0x7BFF, 1], [0x7BFF, 1]) == unit_exact.rne32(Fraction(65504) ** 2 + Fraction(1, 1 << 48))
