"""The compiler's quantiser: sparse weights by magnitude, or compensated where data were seen; what its cache goes by."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from fleet.targets import quantised
from fleet.targets.quantised import quantiser
from fleet.transforms.prune import pruned
from fleet.transforms.quantise import Quantised, QuantiseOptions, quantise
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


def test_every_option_is_in_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each field some other value, after the default was kept: nothing of the default's comes back."""
    made: list[QuantiseOptions] = []

    def rounded(weight: np.ndarray, *, group: int, levels: int, options: QuantiseOptions, name: str) -> Quantised:
        made.append(options)
        return quantise(weight, group=group, levels=levels, options=options, name=name)

    monkeypatch.setattr(quantised, "quantise", rounded)
    others = {"clip": "absmax", "rounding": "up"}
    assert {f.name for f in fields(QuantiseOptions)} == set(others)
    whole = np.tile(WEIGHT, (1, 3))  # large enough for the disk
    for options in (OPTIONS, *(replace(OPTIONS, **{name: value}) for name, value in others.items())):
        quantiser(options, "w")(whole, 128, 7)
        assert made[-1] == options


def test_an_edited_quantiser_makes_weights_again(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = np.tile(WEIGHT, (1, 3))
    first = quantiser(OPTIONS, "w")(whole, 128, 7)[0]
    monkeypatch.setattr(quantised, "code_digest", lambda *_: "another text")
    monkeypatch.setattr(
        quantised, "quantise", lambda w, *_, **__: Quantised(np.zeros(w.shape, np.int8), np.ones((2, 120), "<f2"), 128)
    )
    assert first.any()
    assert not quantiser(OPTIONS, "w")(whole, 128, 7)[0].any()
