"""What fills the scratchpads of random programs that look for coverage."""

from __future__ import annotations

import numpy as np

from fleet.isa.registry import find_device
from fleet.sdk import Place
from fleet.sets.vgemm import coverage

EXTREMES = np.array([0, 1, -1, 2**31 - 1, -(2**31)], "<i4")


def test_at_times_inputs_are_zero_and_then_accumulators_hold_extremes() -> None:
    _, chip = find_device("vgemm_small")
    still = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        calls, blocks = coverage._fill(chip, rng, Place(chip, rng))
        assert [c.instruction for c in calls] == ["finish", "load", "load", "load", "load", "finish"]
        uop, inp, wgt, acc = (b.data for b in blocks)
        assert min(len(np.unique(uop)), len(np.unique(wgt))) > 200, "any bits"
        zeros = not inp.any()
        still += zeros
        assert bool(np.isin(acc.view("<i4"), EXTREMES).all()) == zeros
    assert 4 <= still <= 20, "three times in ten"
