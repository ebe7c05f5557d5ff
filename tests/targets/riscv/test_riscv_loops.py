"""How neighbours are done in lanes: every element, and only those that there are."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fleet.targets.riscv.kernels.loops import pieces


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, 300), st.sampled_from([1, 2, 4, 8, 16, 64]), st.booleans())
def test_every_element_is_done(count: int, lanes: int, overlap: bool) -> None:
    done = [0] * count
    for first, width, times in pieces(count, lanes, overlap=overlap):
        assert 1 <= width <= lanes
        for step in range(times):
            assert first + step * width >= 0
            for i in range(first + step * width, first + (step + 1) * width):
                done[i] += 1  # IndexError behind the last element
    assert min(done, default=1) == 1
    assert overlap or max(done, default=1) == 1
