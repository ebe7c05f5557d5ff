"""Rounding that makes up for itself, where an input has never been seen."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.transforms.quantise import QuantiseOptions
from fleet.transforms.quantise_compensated import quantise_compensated

OPTIONS = QuantiseOptions("absmax")


@pytest.mark.parametrize("silent", [0, 2, 5])
def test_a_silent_input_changes_nothing_for_the_others(silent: int) -> None:
    """Its weights have no effect: the others are rounded as if it were not there, also without any damping."""
    rng = np.random.default_rng(silent)
    x = rng.standard_normal((40, 6))
    x[:, silent] = 0
    w = rng.standard_normal((6, 3)).astype(np.float32)
    made = quantise_compensated(w, x.T @ x, group=1, levels=7, options=OPTIONS, damping=0.0)
    others = [i for i in range(6) if i != silent]
    alone = quantise_compensated(w[others], x[:, others].T @ x[:, others], group=1, levels=7, options=OPTIONS, damping=0.0)
    np.testing.assert_array_equal(made.codes[others], alone.codes)
    np.testing.assert_array_equal(made.scales[others], alone.scales)
