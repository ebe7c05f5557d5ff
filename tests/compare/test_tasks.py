import math

import numpy as np
import pytest

from fleet.compare.tasks import paired_difference, wilson


def test_wilson_against_published_values():
    # Newcombe (1998), Statistics in Medicine 17:857, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29; method 3
    for k, n, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)):
        assert wilson(k, n) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert wilson(0, 0) == (0.0, 1.0)


def test_wilson_inverts_the_score_test():
    low, high = wilson(350, 360)
    for p in (low, high):
        assert abs(350 / 360 - p) == pytest.approx(1.959963984540054 * math.sqrt(p * (1 - p) / 360), rel=1e-9)


def test_paired_difference_covers():
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(2000):
        first, second = rng.random(200) < 0.95, rng.random(200) < 0.93
        low, high = paired_difference(int((first & ~second).sum()), int((~first & second).sum()), 200)
        inside += low <= 0.02 <= high
    assert 0.93 < inside / 2000 < 0.99
    assert paired_difference(0, 0, 10)[0] < 0 < paired_difference(0, 0, 10)[1]
