from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fleet.errors import ModelError
from fleet.transforms.quantise import QuantiseOptions, quantise

DEFAULT = QuantiseOptions()


def weight(seed: int, inputs: int, outputs: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((inputs, outputs)).astype(np.float32)


def test_codes_are_the_nearest_for_their_scale() -> None:
    w = weight(0, 70, 5)
    q = quantise(w, group=32, levels=7, options=DEFAULT)
    assert q.codes.shape == (70, 5)
    assert q.scales.shape == (3, 5)
    for i in range(70):
        for c in range(5):
            scale = Fraction(float(q.scales[i // 32, c]))
            exact = Fraction(float(w[i, c])) / scale
            assert abs(q.codes[i, c]) <= 7
            clipped = max(min(exact, Fraction(7)), Fraction(-7))
            assert abs(int(q.codes[i, c]) - clipped) <= Fraction(1, 2)
            assert Fraction(float(q.values(np.float32)[i, c])) == int(q.codes[i, c]) * scale


def test_the_search_is_never_worse_and_the_group_matters() -> None:
    w = weight(1, 256, 16)
    w[3] *= 20  # outliers: clipping pays
    errors = {
        (clip, group): np.square(quantise(w, group=group, levels=7, options=QuantiseOptions(clip)).values(np.float64) - w).sum()
        for clip in ("absmax", "mse")
        for group in (32, 128)
    }
    assert errors["mse", 128] < errors["absmax", 128]
    assert errors["mse", 32] < errors["mse", 128]


def test_absmax_with_the_scale_rounded_up_clips_nothing() -> None:
    w = weight(2, 128, 8)
    q = quantise(w, group=64, levels=7, options=QuantiseOptions("absmax", "up"))
    assert (np.abs(w.reshape(2, 64, 8)) <= 7 * q.scales[:, None].astype(np.float64)).all()
    nearest = quantise(w, group=64, levels=7, options=QuantiseOptions("absmax"))
    assert (q.scales >= nearest.scales).all()
    assert (q.scales > nearest.scales).any()


def test_zeros_and_tiny_groups() -> None:
    w = np.zeros((64, 2), np.float32)
    w[40, 1] = 1e-9  # below half of FP16's smallest subnormal: no scale can hold it
    q = quantise(w, group=32, levels=7, options=DEFAULT)
    assert not q.codes.any()
    assert not np.signbit(q.values(np.float32)).any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e6])
def test_what_cannot_be_stored_is_refused(bad: float) -> None:
    w = weight(3, 32, 2)
    w[5, 1] = bad
    with pytest.raises(ModelError, match="weight 'w1'"):
        quantise(w, group=32, levels=7, options=DEFAULT, name="w1")


@pytest.mark.parametrize("options", [{"clip": "best"}, {"rounding": "down"}])
def test_unknown_options_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(ModelError, match="quantisation"):
        QuantiseOptions.of(options)
