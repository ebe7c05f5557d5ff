"""Sampling: against the definition written out token by token."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.errors import FleetError
from fleet.llm.sampling import Sampler, Sampling, probabilities

LOGITS = st.lists(st.integers(-40, 40).map(lambda n: n / 4), min_size=1, max_size=12).map(lambda v: np.array(v, np.float32))


def by_hand(logits: list[float], temperature: float, top_k: int, top_p: float) -> list[float]:
    """The candidates one by one, likeliest first."""
    ranked = sorted(range(len(logits)), key=lambda t: (-logits[t], t))
    ranked = ranked[:top_k] if top_k else ranked
    weights = [math.exp((logits[t] - logits[ranked[0]]) / temperature) for t in ranked]
    kept: list[int] = []
    before = 0.0
    for n, _ in enumerate(ranked):
        if n and before >= top_p:
            break
        kept.append(n)
        before += weights[n] / sum(weights)
    total = sum(weights[n] for n in kept)
    result = [0.0] * len(logits)
    for n in kept:
        result[ranked[n]] = weights[n] / total
    return result


@given(LOGITS, st.sampled_from([0.25, 1.0, 3.0]), st.integers(0, 5), st.sampled_from([0.05, 0.3, 0.77, 1.0]))
def test_probabilities_are_the_definition(logits: np.ndarray, temperature: float, top_k: int, top_p: float) -> None:
    found = probabilities(logits, Sampling(temperature, top_k, top_p))
    expected = by_hand([float(x) for x in logits], temperature, top_k, top_p)
    assert found.sum() == pytest.approx(1)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def test_greedy_takes_the_lowest_of_equals() -> None:
    assert Sampler(Sampling())(np.array([0.0, 3.0, 3.0, 1.0], np.float32)) == 1


def test_the_same_seed_draws_the_same_tokens_and_another_others() -> None:
    logits = np.zeros(50, np.float32)
    draws = [[Sampler(Sampling(1.0, seed=seed))(logits) for _ in range(1)] for seed in (1, 1, 2)]
    assert draws[0] == draws[1]
    one, other = ([s(logits) for _ in range(20)] for s in (Sampler(Sampling(1.0, seed=1)), Sampler(Sampling(1.0, seed=2))))
    assert one != other


def test_frequencies_follow_the_probabilities() -> None:
    logits = np.log(np.array([0.5, 0.3, 0.2], np.float32))
    sampler = Sampler(Sampling(1.0, seed=3))
    counts = np.bincount([sampler(logits) for _ in range(4000)], minlength=3)
    np.testing.assert_allclose(counts / 4000, [0.5, 0.3, 0.2], atol=0.03)


def test_nothing_finite_is_an_error() -> None:
    with pytest.raises(FleetError, match="no finite logit"):
        Sampler(Sampling(1.0))(np.full(4, np.nan, np.float32))


@pytest.mark.parametrize("wrong", [{"temperature": -1.0}, {"top_k": -1}, {"top_p": 0.0}, {"top_p": 1.5}])
def test_numbers_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(FleetError, match="expected"):
        Sampling(**wrong)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_nan_is_never_chosen(temperature: float) -> None:
    sampler = Sampler(Sampling(temperature, top_k=1))
    assert sampler(np.array([1.0, math.nan, 3.0, 2.0], np.float32)) == 2
    for broken in ([math.nan] * 3, [1.0, math.inf], [-math.inf, math.nan]):
        with pytest.raises(FleetError, match="no finite logit"):
            sampler(np.array(broken, np.float32))


@pytest.mark.parametrize("drawn", [0.0, 0.5, 1 - 2**-53])
def test_a_token_without_probability_is_never_drawn(drawn: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by the ends of the generator's interval."""
    sampler = Sampler(Sampling(1.0))
    monkeypatch.setattr(sampler, "_random", SimpleNamespace(random=lambda: drawn))
    assert sampler(np.array([-math.inf, 1.0, -math.inf, 1.0, -math.inf], np.float32)) == (1 if drawn < 0.5 else 3)
