"""Fraction bits of calibrated activations and of every column of a weight."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fleet.sets.vgemm.layout import FRACTION
from fleet.sets.vgemm.numbers import ACTIVATION_BITS, HIGH, activation_bits, narrow_channels


@given(st.floats(1e-6, 2.0**15))
def test_a_range_gets_the_finest_step_that_holds_it(top: float) -> None:
    bits = activation_bits(top)
    assert -7 <= bits <= 8
    assert top * 2.0**bits <= HIGH or bits == -7
    assert top * 2.0 ** (bits + 1) > HIGH or bits == 8


def test_of_nothing_the_usual() -> None:
    assert activation_bits(0.0) == ACTIVATION_BITS


@given(st.integers(-7, 8), st.integers(0, 50), st.integers(-8, 6))
def test_every_column_has_a_scale_of_its_own(bits: int, seed: int, power: int) -> None:
    rng = np.random.default_rng(seed)
    weight = rng.standard_normal((20, 6)) * 2.0 ** (power + np.arange(6))
    codes, each = narrow_channels(weight, bits)
    assert codes.dtype == np.int8
    assert np.all(FRACTION - bits - each >= 0)  # sums are shifted to the left
    inside = np.abs(weight).max(axis=0) * 2.0**each <= 127
    error = np.abs(codes / 2.0**each - weight)
    assert np.all(error[:, inside] <= 2.0 ** -(each[inside] + 1.0) + 1e-12)
    assert np.all(inside)


@given(st.integers(-(2**31), 2**31 - 2**23), st.integers(16, 23))
def test_half_a_step_and_two_shifts(value: int, shift: int) -> None:
    """A shift that rounds may be done in two steps, as the device does where half a step exceeds an immediate."""
    before = shift - 15
    assert ((value >> before) + (1 << 14)) >> 15 == (value + (1 << (shift - 1))) >> shift
