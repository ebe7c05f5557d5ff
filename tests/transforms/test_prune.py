"""Pruning of weights in blocks of 8 inputs: which stay, and that compensation leaves less error in the outputs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.transforms.prune import largest_of_blocks, pruned
from fleet.transforms.quantise import QuantiseOptions, quantise
from fleet.transforms.quantise_compensated import quantise_compensated

OPTIONS = QuantiseOptions()


def most_in_a_block(codes: np.ndarray) -> int:
    padded = np.zeros((-(-len(codes) // 8) * 8, codes.shape[1]), bool)
    padded[: len(codes)] = codes != 0
    return int(padded.reshape(-1, 8, codes.shape[1]).sum(axis=1).max())


def layer(seed: int, inputs: int = 256, outputs: int = 24) -> tuple[np.ndarray, np.ndarray]:
    """A matrix, and inputs that are correlated, as those of a layer are."""
    rng = np.random.default_rng(seed)
    mixed = rng.standard_normal((inputs // 4, inputs)) * rng.uniform(0.1, 3, inputs)
    x = rng.standard_normal((900, inputs // 4)) @ mixed + 0.2 * rng.standard_normal((900, inputs))
    return rng.standard_normal((inputs, outputs)).astype(np.float32), x.astype(np.float32)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 70), st.integers(1, 4), st.sampled_from([4, 2, 1]), st.integers(0, 1 << 32))
def test_the_largest_stay_and_of_equal_ones_the_first(inputs: int, outputs: int, kept: int, seed: int) -> None:
    weight = np.random.default_rng(seed).integers(-9, 10, (inputs, outputs)).astype(np.float32)
    found = pruned(weight, kept)
    for column, made in zip(weight.T.tolist(), found.T.tolist(), strict=True):
        for first in range(0, inputs, 8):
            block = column[first : first + 8]
            order = sorted(range(len(block)), key=lambda i: (-abs(block[i]), i))[:kept]
            assert made[first : first + 8] == [w if i in order else 0 for i, w in enumerate(block)]
    assert largest_of_blocks(np.abs(weight), 0).all()


def test_a_weight_counts_by_what_its_product_contributes() -> None:
    weight = np.array([[3], [1], [2], [0.5], [0.4], [0.3], [0.2], [0.1]], np.float32)
    importance = np.array([0, 100, 1, 1, 1, 1, 1, 1], np.float32)
    assert pruned(weight, 1)[:, 0].tolist() == [3, 0, 0, 0, 0, 0, 0, 0]
    assert pruned(weight, 1, importance)[:, 0].tolist() == [0, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("kept", [4, 2, 1])
@pytest.mark.parametrize("inputs", [256, 300])
def test_no_block_keeps_more(kept: int, inputs: int) -> None:
    weight, x = layer(1, inputs)
    made = quantise_compensated(weight, x.T @ x, group=128, levels=7, options=OPTIONS, kept=kept)
    assert most_in_a_block(made.codes) == kept
    assert made.codes.shape == weight.shape


@pytest.mark.parametrize("kept", [4, 2, 1])
def test_each_way_of_pruning_leaves_less_error_than_the_one_before(kept: int) -> None:
    """Measured on the outputs: magnitudes, contributions, compensated."""
    for seed in range(3):
        weight, x = layer(seed)
        moments = x.T @ x
        counts = np.diag(moments)
        ways = [
            quantise(pruned(weight, kept), group=128, levels=7, options=OPTIONS),
            quantise(pruned(weight, kept, counts), group=128, levels=7, options=OPTIONS, importance=counts),
            quantise_compensated(weight, moments, group=128, levels=7, options=OPTIONS, kept=kept),
        ]
        errors = [float(np.square(x @ (q.values(np.float32) - weight)).sum()) for q in ways]
        assert errors[0] > errors[1] > errors[2]


def test_dense_weights_are_rounded_as_before() -> None:
    weight, x = layer(4)
    dense = quantise_compensated(weight, x.T @ x, group=128, levels=7, options=OPTIONS)
    kept = quantise_compensated(weight, x.T @ x, group=128, levels=7, options=OPTIONS, kept=8)
    np.testing.assert_array_equal(dense.codes, kept.codes)
    np.testing.assert_array_equal(dense.scales, kept.scales)
