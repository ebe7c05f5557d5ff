"""erf against mpmath: the stated error, the ends, signs and dtypes."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from fleet.sdk import native
from fleet.targets.bytecode import erf as erf_module
from fleet.targets.bytecode.erf import ULP, erf


def arguments() -> np.ndarray:
    """Everywhere, densely where the value is small against its terms, and on and between the table's places."""
    rng = np.random.default_rng(11)
    places = np.arange(-100, 101) / 16
    parts = (
        rng.uniform(-6.2, 6.2, 1500),
        rng.uniform(-0.25, 0.25, 1500),
        np.exp(rng.uniform(-700, 1.8, 300)),
        places,
        places + 1 / 32,
    )
    return np.concatenate(parts)


def ulps(found: np.ndarray, x: np.ndarray) -> float:
    worst = 0.0
    with mpmath.workprec(160):
        for y, v in zip(found, x, strict=True):
            exact = mpmath.erf(mpmath.mpf(float(v)))
            spacing = float(np.spacing(np.abs(found.dtype.type(float(exact)))))
            worst = max(worst, float(abs(mpmath.mpf(float(y)) - exact) / mpmath.mpf(spacing)))
    return worst


@pytest.mark.parametrize(("dtype", "limit"), [("float64", ULP), ("float32", 0.501), ("float16", 0.501)])
def test_error_is_as_stated(dtype: str, limit: float) -> None:
    x = arguments().astype(dtype)
    found = erf(x)
    assert found.dtype == dtype
    assert ulps(found, x) <= limit


def test_ends_and_signs() -> None:
    found = erf(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 7.0, -6.0]))
    np.testing.assert_array_equal(found, [0.0, -0.0, 1.0, -1.0, np.nan, 1.0, -1.0])
    assert np.signbit(found[1])
    assert not np.signbit(found[0])


def test_it_is_odd_and_rises() -> None:
    x = np.sort(np.random.default_rng(0).uniform(0, 6.1, 20001))
    np.testing.assert_array_equal(erf(-x), -erf(x))
    assert (np.diff(erf(x)) >= -2e-16).all()


def test_shapes_and_dtypes() -> None:
    x = np.linspace(-3, 3, 24).reshape(2, 3, 4)
    assert erf(x).shape == (2, 3, 4)
    np.testing.assert_array_equal(erf(x.transpose(2, 0, 1)), erf(x).transpose(2, 0, 1))
    assert erf(np.zeros((0, 3), np.float32)).shape == (0, 3)
    assert erf(np.arange(3)).dtype == np.float64
    assert isinstance(erf(1), np.float64)
    assert isinstance(erf(np.float32(1)), np.float32)


def test_narrow_types_are_float64_rounded_once_but_for_ties() -> None:
    """Their own table against the one of float64, on a million numbers of every size."""
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.standard_normal(700_000) * 2, np.exp(rng.uniform(-100, 2, 300_000)), np.arange(-1100, 1101) / 256])
    x = x.astype(np.float32)
    exact = erf(x.astype(np.float64))
    found = erf(x)
    different = found != exact.astype(np.float32)
    assert different.mean() < 1e-4
    tie = np.abs(exact - (found.astype(np.float64) + exact.astype(np.float32)) / 2) / np.spacing(np.abs(found))
    assert tie[different].max(initial=0.0) < 1e-3


@pytest.mark.parametrize("variant", native.variants())
def test_compiled_code_has_numpys_bits(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit patterns from all of float32, and what stands at the table's places and ends."""
    rng = np.random.default_rng(5)
    places = (np.arange(-2100, 2101) / 512).astype(np.float32)
    edges = np.concatenate([places, np.nextafter(places, np.float32(9)), np.nextafter(places, np.float32(-9))])
    patterns = rng.integers(0, 1 << 32, 1 << 16, dtype=np.uint32).view(np.float32)
    special = np.array([0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 4.0, -4.0], np.float32)
    numbers = np.concatenate([patterns[~np.isnan(patterns)], edges, special])
    calls: list[int] = []
    original = erf_module._compiled  # pyright: ignore[reportPrivateUsage]

    def counted(x: np.ndarray, out: np.ndarray) -> bool:
        calls.append(original(x, out))
        return bool(calls[-1])

    monkeypatch.setattr(erf_module, "_compiled", counted)
    for x in (numbers, numbers[:2047], numbers[5:3016], rng.permutation(numbers)[: 3 * 700].reshape(3, 700).T, patterns):
        monkeypatch.setenv(native.VARIABLE, variant)
        found = erf(x)
        monkeypatch.setenv(native.VARIABLE, "numpy")
        assert found.tobytes() == erf(x).tobytes()
    assert calls == [1, 0] * 4 + [0, 0], "NaN is NumPy's, all else is compiled"
