"""`accumulate` takes a short route when every x is finite: both routes give the same bits, in blocks of any size."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.sets.hbm0923.numerics import mvm as arithmetic
from fleet.sets.hbm0923.numerics.mvm import MvmWeights, accumulate, is_finite

ALL = np.arange(1 << 16, dtype=np.uint16)


def test_every_fp16_is_finite_or_not() -> None:
    said = np.array([is_finite(ALL[i : i + 1].view(np.float16)) for i in range(ALL.size)])
    assert np.array_equal(said, np.isfinite(ALL.view(np.float16)))
    finite = ALL[said]
    assert is_finite(finite.view(np.float16).reshape(2, -1))
    for odd in (0x7C00, 0xFC00, 0x7C01, 0xFFFF):
        block = np.zeros((3, 50), np.uint16)
        block[2, 49] = odd
        assert not is_finite(block.view(np.float16))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.integers(1, 9),
    st.integers(1, 5),
    st.integers(1, 9),
    st.sampled_from([32, 64, 128]),
    st.sampled_from(["any", "finite", "subnormal", "largest"]),
    st.sampled_from([1, 600, 1 << 20]),
    st.integers(0, 1 << 32),
)
def test_routes_and_blocks_agree(
    monkeypatch: pytest.MonkeyPatch, groups: int, tokens: int, channels: int, tblk: int, kind: str, block: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    patterns = {
        "any": ALL,
        "finite": ALL[np.isfinite(ALL.view(np.float16))],
        "subnormal": np.array([0, 1, 0x3FF, 0x8000, 0x8001, 0x83FF], np.uint16),
        "largest": np.array([0x7BFF, 0xFBFF, 1, 0x8001], np.uint16),
    }[kind]
    half = rng.choice(patterns, (groups, tblk, tokens)).view(np.float16)
    codes = rng.integers(-7, 8, (groups, channels, tblk)).astype(np.float64)
    if kind == "largest":
        codes = np.copysign(7.0, codes)
    scales = rng.choice(ALL, (groups, channels, 1)).view(np.float16).astype(np.float64)
    x, weights = half.astype(np.float64), MvmWeights(codes, scales)
    expected = accumulate(x, weights, finite=False)
    with monkeypatch.context() as patch:
        patch.setattr(arithmetic, "_BLOCK_BYTES", block)
        got = accumulate(x, weights, finite=is_finite(half))
    nan = np.isnan(expected)
    assert np.array_equal(np.isnan(got), nan)
    assert np.array_equal(got.view(np.uint32)[~nan], expected.view(np.uint32)[~nan])
