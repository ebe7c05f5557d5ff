"""Norms of tensors of more than two dimensions, whose gamma and beta are numbers: they have the size of the last axis."""

from __future__ import annotations

import pytest
from same_results import assert_close, passed
from spelled import kinds, trace

EPS = 1e-5
SHAPES = [(8,), (4, 8), (3, 4, 8), (2, 3, 4, 8)]
NORMS = {
    "rms_norm": lambda m, x: x / m.sqrt((x * x).mean(-1, keepdims=True) + EPS) * 3.0,
    "layer_norm": lambda m, x: (x - x.mean(-1, keepdims=True)) / m.sqrt(x.var(-1, keepdims=True) + EPS) * 3.0 + 0.5,
}


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", NORMS)
def test_a_norm_of_any_rank_with_numbers_for_parameters(name: str, shape: tuple[int, ...]) -> None:
    before = trace(NORMS[name], x=shape)
    after = passed(before)
    assert kinds(after) == [name]
    assert_close(before, after, NORMS[name], factor=512.0)
