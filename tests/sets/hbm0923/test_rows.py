"""Tensors of more than two axes in the device's memory: the axes before the last are rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.sets.hbm0923.layout import FeatureLayout
from fleet.sets.hbm0923.lower.rows import merged


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.integers(1, 70))
def test_leading_axes_are_rows(lead: list[int], channels: int) -> None:
    shape = (*lead, channels)
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 2048
    rows = array.reshape(-1, channels)
    layout = FeatureLayout()
    assert layout.size(shape, array.dtype) == FeatureLayout().size(rows.shape, array.dtype)
    packed = layout.pack(array)
    np.testing.assert_array_equal(packed, FeatureLayout().pack(rows))
    np.testing.assert_array_equal(layout.unpack(packed, shape, array.dtype), array)


@pytest.mark.parametrize("shape", [(5,), (3, 5)])
def test_one_and_two_axes_stay(shape: tuple[int, ...]) -> None:
    assert merged(shape) == shape
