"""Which rows of an image a tile of a convolution loads, against the image with its border written out."""

from __future__ import annotations

from itertools import product

import pytest

from fleet.sets.vgemm.lower.windows import _range

NOTHING = -1


@pytest.mark.parametrize("taps", [1, 2, 3, 5])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_a_tile_loads_what_its_taps_meet(taps: int, stride: int) -> None:
    """All tiles of all images of up to 6 rows with borders of up to 3: every tap finds the row of the image or a zero."""
    tried = 0
    for size, before, behind in product(range(1, 7), range(4), range(4)):
        outputs = (size + before + behind - taps) // stride + 1
        whole = [NOTHING] * before + list(range(size)) + [NOTHING] * behind
        for first in range(outputs):
            for count in range(1, outputs - first + 1):
                found = _range(first, count, taps, stride, before, size)
                assert found.count >= 1, "a load has a row"
                assert 0 <= found.first <= found.first + found.count <= size
                loaded = (
                    [NOTHING] * found.zeros[0] + list(range(found.first, found.first + found.count)) + [NOTHING] * found.zeros[1]
                )
                assert len(loaded) == found.size
                for i, tap in product(range(count), range(taps)):
                    at = i * stride + tap
                    place = found.at + at
                    assert 0 <= place < len(loaded), (size, before, first, count)
                    assert loaded[place] == whole[first * stride + at], (size, before, first, count, found)
                tried += 1
    assert tried > 100
