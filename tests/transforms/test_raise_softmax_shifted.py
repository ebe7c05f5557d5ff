"""What is taken off before the exponential changes nothing where it is the same along the axis, and much where it is not."""

from __future__ import annotations

import pytest
from same_results import assert_close, passed
from spelled import kinds, trace

SHIFTS = {
    "its maximum": lambda m, x: x - m.max(x, axis=-1, keepdims=True),
    "half of its maximum": lambda m, x: x - 0.5 * m.max(x, axis=-1, keepdims=True),
    "half of it, its maximum": lambda m, x: 0.5 * x - m.max(x, axis=-1, keepdims=True),
    "twice, its maximum": lambda m, x: 2.0 * x - m.max(x, axis=-1, keepdims=True),
    "the maximum along the other axis": lambda m, x: x - m.max(x, axis=0, keepdims=True),
    "turned round": lambda m, x: m.max(x, axis=-1, keepdims=True) - x,
}


@pytest.mark.parametrize("name", SHIFTS)
def test_softmax_of_what_is_shifted_and_scaled(name: str) -> None:
    def model(m, x):
        e = m.exp(SHIFTS[name](m, x))
        return e / m.sum(e, axis=-1, keepdims=True)

    before = trace(model, x=(4, 8))
    after = passed(before)
    assert "softmax" in kinds(after)
    assert_close(before, after, model)
