from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from fleet.errors import ModelError
from fleet.transforms.quantise import Quantised, QuantiseOptions, quantise
from fleet.transforms.quantise_compensated import quantise_compensated

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


def test_weights_that_stand_on_a_grid_are_found_again_exactly() -> None:
    rng = np.random.default_rng(7)
    for group in (32, 64):
        codes = rng.integers(-7, 8, (150, 9)).astype(np.int8)
        codes[:64, 3] = np.where(np.abs(codes[:64, 3]) > 5, 5, codes[:64, 3])  # a group whose largest code is not 7
        codes[:64, 4] = 0
        scales = rng.uniform(1e-4, 0.1, (-(-150 // group), 9)).astype(np.float16)
        values = Quantised(codes, scales, group).values(np.float32)
        found = quantise(values, group=group, levels=7, options=QuantiseOptions("exact"))
        np.testing.assert_array_equal(found.values(np.float32), values)
        values[70, 2] *= 1.001
        with pytest.raises(ModelError, match="not codes up to 7 times one FP16 scale"):
            quantise(values, group=group, levels=7, options=QuantiseOptions("exact"), name="w")


def test_importance_moves_the_error_to_where_it_does_not_count() -> None:
    w = weight(3, 64, 40)
    importance = np.where(np.arange(64) % 2, 100.0, 0.01)

    def error(q: Quantised) -> float:
        return float((np.square(q.values(np.float64) - w) * importance[:, None]).sum())

    plain = quantise(w, group=64, levels=7, options=DEFAULT)
    assert error(quantise(w, group=64, levels=7, options=DEFAULT, importance=importance)) < 0.95 * error(plain)


@pytest.mark.parametrize("group", [32, 64, 128])
def test_compensation_brings_outputs_closer_and_needs_no_correlation_to_be_safe(group: int) -> None:
    rng = np.random.default_rng(4)
    w = weight(4, 150, 20)
    mixed = rng.standard_normal((400, 150)) @ rng.standard_normal((150, 150)) * rng.uniform(0.1, 3, 150)
    plain = quantise(w, group=group, levels=7, options=DEFAULT).values(np.float64)
    made = quantise_compensated(w, mixed.T @ mixed, group=group, levels=7, options=DEFAULT)
    assert np.abs(made.codes).max() <= 7
    errors = [np.square(mixed @ (v - w)).sum() for v in (made.values(np.float64), plain)]
    assert errors[0] < 0.5 * errors[1]
    # Inputs that have nothing to do with each other leave nothing to make up for: the nearest codes.
    apart = quantise_compensated(w, np.eye(150), group=group, levels=7, options=DEFAULT)
    np.testing.assert_array_equal(apart.values(np.float64), plain)


def test_compensation_of_one_input_is_the_least_squares_answer() -> None:
    """Two inputs: after the first is rounded, the second's best value has a closed form."""
    w = np.array([[0.33], [0.8]], np.float32)
    h = np.array([[2.0, 1.5], [1.5, 3.0]])
    made = quantise_compensated(w, h, group=1, levels=7, options=QuantiseOptions("absmax"), damping=0.0)
    first = float(made.values(np.float64)[0, 0])
    best = 0.8 + (0.33 - first) * 1.5 / 3.0
    assert float(made.values(np.float64)[1, 0]) == pytest.approx(best, rel=1e-3)


def test_moments_that_cannot_be_are_refused_and_silent_inputs_allowed() -> None:
    w = weight(5, 8, 3)
    with pytest.raises(ModelError, match="second moments"):
        quantise_compensated(w, -np.eye(8), group=32, levels=7, options=DEFAULT, name="w")
    silent = np.zeros((8, 8))
    np.testing.assert_array_equal(
        quantise_compensated(w, silent, group=32, levels=7, options=QuantiseOptions("absmax")).codes,
        quantise(w, group=32, levels=7, options=QuantiseOptions("absmax")).codes,
    )
