"""The compiler's quantiser with sparse weights: by magnitude, or compensated where data were seen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fleet.targets.quantised import quantiser
from fleet.transforms.prune import pruned
from fleet.transforms.quantise import QuantiseOptions, quantise
from fleet.transforms.quantise_compensated import quantise_compensated

OPTIONS = QuantiseOptions()
RNG = np.random.default_rng(11)
WEIGHT = RNG.standard_normal((256, 40)).astype(np.float32)
INPUTS = RNG.standard_normal((400, 64)).astype(np.float32) @ RNG.standard_normal((64, 256)).astype(np.float32)
MOMENTS = INPUTS.T @ INPUTS


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path))


@pytest.mark.parametrize("kept", [4, 2, 1])
def test_the_largest_stay_where_no_data_were_seen(kept: int) -> None:
    codes, scales = quantiser(OPTIONS, "w")(WEIGHT, 128, 7, kept)
    wanted = quantise(pruned(WEIGHT, kept), group=128, levels=7, options=OPTIONS)
    np.testing.assert_array_equal(codes, wanted.codes)
    np.testing.assert_array_equal(scales, wanted.scales)


@pytest.mark.parametrize("kept", [4, 2, 1])
def test_data_compensate(kept: int) -> None:
    codes, scales = quantiser(OPTIONS, "w", MOMENTS)(WEIGHT, 128, 7, kept)
    wanted = quantise_compensated(WEIGHT, MOMENTS, group=128, levels=7, options=OPTIONS, kept=kept)
    np.testing.assert_array_equal(codes, wanted.codes)
    np.testing.assert_array_equal(scales, wanted.scales)
    assert int((codes.reshape(-1, 8, 40) != 0).sum(axis=1).max()) == kept


def test_what_is_kept_is_of_one_number_of_weights() -> None:
    """The cache's entry of dense weights is not that of sparse ones."""
    made = [quantiser(OPTIONS, "w", MOMENTS)(WEIGHT, 128, 7, kept)[0] for kept in (0, 4, 2, 1)]
    again = [quantiser(OPTIONS, "w", MOMENTS)(WEIGHT, 128, 7, kept)[0] for kept in (1, 2, 4, 0)]
    for first, second in zip(made, reversed(again), strict=True):
        np.testing.assert_array_equal(first, second)
    assert [int((codes.reshape(-1, 8, 40) != 0).sum(axis=1).max()) for codes in made] == [8, 4, 2, 1]


def test_weights_on_the_grid_that_are_sparse_stay_as_they_are() -> None:
    on_grid = quantise(pruned(WEIGHT, 2), group=128, levels=7, options=OPTIONS)
    codes, scales = quantiser(QuantiseOptions("exact"), "w")(on_grid.values(np.float32), 128, 7, 2)
    values = codes * np.repeat(scales.astype(np.float64), 128, axis=0)
    np.testing.assert_array_equal(values, on_grid.values(np.float64))
