"""Rounding that is improved after it was made: its error falls with every step, and what it gives can be stored."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.errors import ModelError
from fleet.transforms.prune import BLOCK
from fleet.transforms.quantise import Quantised, QuantiseOptions, quantise
from fleet.transforms.quantise_compensated import damped_moments, quantise_compensated
from fleet.transforms.quantise_refined import quantise_refined

OPTIONS = QuantiseOptions()
DAMPING = 0.01


def problem(seed: int, inputs: int = 200, outputs: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and second moments of correlated inputs, a few of them large, as layers of language models meet them."""
    rng = np.random.default_rng(seed)
    weight = rng.standard_t(4, (inputs, outputs)).astype(np.float32)
    sizes = rng.lognormal(0, 1, inputs)
    x = rng.standard_normal((600, inputs // 4)) @ rng.standard_normal((inputs // 4, inputs)) * sizes
    x += rng.standard_normal(x.shape) * sizes
    return weight, x.T @ x


def loss(made: Quantised, weight: np.ndarray, moments: np.ndarray) -> float:
    error = made.values(np.float64) - weight
    return float((error * (damped_moments(moments, DAMPING) @ error)).sum())


@pytest.mark.parametrize("group", [32, 64, 128])
@pytest.mark.parametrize("seed", range(3))
def test_every_sweep_brings_the_outputs_closer(seed: int, group: int) -> None:
    weight, moments = problem(seed)
    found = [
        loss(quantise_refined(weight, moments, group=group, levels=7, options=OPTIONS, sweeps=n), weight, moments)
        for n in (0, 1, 2, 4)
    ]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 0.98 * found[0]
    compensated = quantise_compensated(weight, moments, group=group, levels=7, options=OPTIONS)
    assert found[0] < 0.95 * loss(compensated, weight, moments)


@pytest.mark.parametrize("kept", [4, 2, 1])
def test_pruned_weights_stay_pruned(kept: int) -> None:
    weight, moments = problem(5, inputs=256)
    made = quantise_refined(weight, moments, group=128, levels=7, options=OPTIONS, kept=kept)
    start = quantise_compensated(weight, moments, group=128, levels=7, options=OPTIONS, kept=kept)
    assert (made.codes.reshape(-1, BLOCK, 30) != 0).sum(axis=1).max() == kept
    assert not made.codes[start.codes == 0].any()
    assert loss(made, weight, moments) < 0.95 * loss(start, weight, moments)


@pytest.mark.parametrize("group", [32, 64, 128])
def test_the_result_can_be_stored_and_found_again(group: int) -> None:
    weight, moments = problem(6, inputs=150)
    weight[:64, 3] = 0  # a group without weights
    moments[70], moments[:, 70] = 0, 0  # an input that is never seen
    made = quantise_refined(weight, moments, group=group, levels=7, options=OPTIONS)
    assert np.abs(made.codes).max() == 7
    assert (made.scales >= 0).all()
    assert np.isfinite(made.scales).all()
    values = made.values(np.float32)
    again = quantise(values, group=group, levels=7, options=QuantiseOptions("exact"))
    np.testing.assert_array_equal(again.values(np.float32), values)


def test_without_sweeps_and_correlation_it_is_the_search() -> None:
    weight, _ = problem(7)
    made = quantise_refined(weight, np.eye(200), group=64, levels=7, options=OPTIONS, sweeps=0)
    np.testing.assert_array_equal(made.codes, quantise(weight, group=64, levels=7, options=OPTIONS).codes)


def test_one_code_at_a_time_there_is_no_better_one() -> None:
    """After many sweeps any other code, or scale, of any weight is worse: checked for each, one by one."""
    weight, moments = problem(8, inputs=40, outputs=2)
    made = quantise_refined(weight, moments, group=32, levels=7, options=OPTIONS, sweeps=50)
    best = loss(made, weight, moments)
    for i, c in np.ndindex(weight.shape):
        for step in (-1, 1):
            codes = made.codes.copy()
            codes[i, c] += step
            if abs(codes[i, c]) <= 7:
                assert loss(Quantised(codes, made.scales, 32), weight, moments) >= best * (1 - 1e-5)
    for g, c in np.ndindex(made.scales.shape):
        for end in (np.inf, 0):
            scales = made.scales.copy()
            scales[g, c] = np.nextafter(scales[g, c], np.float16(end))
            assert loss(Quantised(made.codes, scales, 32), weight, moments) >= best * (1 - 1e-5)


def test_equal_problems_have_equal_answers() -> None:
    weight, moments = problem(9, outputs=1500)
    one, other = (quantise_refined(weight, moments, group=64, levels=7, options=OPTIONS) for _ in range(2))
    np.testing.assert_array_equal(one.codes, other.codes)
    np.testing.assert_array_equal(one.scales, other.scales)


def test_wrong_numbers_are_refused() -> None:
    weight, moments = problem(10)
    with pytest.raises(ModelError, match="second moments"):
        quantise_refined(weight, -moments, group=64, levels=7, options=OPTIONS, name="w")
    weight[3, 4] = np.nan
    with pytest.raises(ModelError, match="expected finite numbers"):
        quantise_refined(weight, moments, group=64, levels=7, options=OPTIONS, name="w")
