"""The reference against exact rationals, rounded by their own code."""

from __future__ import annotations

from fractions import Fraction

import att_reference
import numpy as np
import pytest


@pytest.mark.parametrize("length", [1, 31, 32, 33, 64, 100])
def test_reference_equals_exact_rationals(length: int) -> None:
    rng = np.random.default_rng(length)
    for trial in range(20):
        bits = rng.integers(0, 65536, (2, length)).astype(np.uint16)
        spread = np.uint16(0x3FFF if trial % 2 else 0x07FF)  # below 2, or subnormal and just above
        x, w = ((bits & (np.uint16(0x8000) | spread)).view(np.float16) for bits in bits)
        scale = float(rng.choice([1.0, 0.0884, -(2.0**-14), 3.25]))
        scale = float(np.float16(scale))
        exact = att_reference.exact_dot(x, w, scale)
        got = att_reference.attention(x[None, None, :], w[None, None, :], np.float32(scale))[0, 0, 0]
        assert Fraction(float(got.reshape(1).view(np.float16)[0])) == exact


def test_absent_lanes_and_signs() -> None:
    minus = np.array([0x8000] * 3, np.uint16).view(np.float16)
    one = np.ones(3, np.float16)
    result = att_reference.attention(minus[None, None, :], one[None, None, :], np.float32(1))
    assert result[0, 0, 0] == 0  # a sum of zeros is +0
    result = att_reference.attention(minus[None, None, :], one[None, None, :], np.float32(-1))
    assert result[0, 0, 0] == 0x8000


def test_not_finite_lanes() -> None:
    one, zero, infinite, nan = 1.0, 0.0, np.inf, np.nan
    cases = [
        ([infinite, one], [one, one], 0x7C00), ([infinite, one], [-one, -infinite], 0xFC00),
        ([infinite, one], [one, -infinite], 0x7E00), ([one, infinite], [one, zero], 0x7E00),
        ([zero, one], [-infinite, one], 0x7E00), ([zero, one], [nan, one], 0x7E00),
        ([-infinite, infinite], [-infinite, infinite], 0x7C00),
    ]  # fmt: skip
    for x, w, bits in cases:
        left, right = (np.array([[v]], np.float16) for v in (x, w))
        assert att_reference.attention(left, right, np.float32(1))[0, 0, 0] == bits
