"""Which element of a tensor a wrong byte belongs to, in every number format and arrangement."""

from __future__ import annotations

import numpy as np
import pytest

from fleet.compare.compiled_stream import _element_at  # pyright: ignore[reportPrivateUsage]
from fleet.sdk import Arrangement, Layout


class _Planes(Layout):
    """Blocks of channels, each with all rows, and a hole between two rows."""

    def __init__(self, number: str, lanes: int, fraction: int | None = None) -> None:
        self.number, self.lanes, self.fraction = np.dtype(number), lanes, fraction

    def arrangement(self, shape: tuple[int, ...], dtype: np.dtype) -> Arrangement:
        rows, channels = int(np.prod(shape[:-1], dtype=np.int64)), shape[-1]
        blocks, step = -(-channels // self.lanes), self.lanes + 1
        return Arrangement(rows, channels, self.lanes, step, rows * step, rows * blocks * step, self.number, self.fraction)


@pytest.mark.parametrize(
    ("number", "fraction", "dtype"),
    [("<f2", None, "float32"), ("<f4", None, "float32"), ("i1", None, "int8"), ("<i4", None, "int32"), ("<i4", 16, "float32")],
)
def test_every_byte_of_an_element_is_the_elements(number: str, fraction: int | None, dtype: str) -> None:
    layout, shape = _Planes(number, 4, fraction), (2, 3, 10)
    size = np.dtype(number).itemsize
    filled = np.zeros(layout.size(shape, np.dtype(dtype)), bool)
    for element in range(60):
        one = np.zeros(60, dtype)
        one[element] = 1
        (found,) = set(np.flatnonzero(layout.pack(one.reshape(shape))) // size)
        for byte in range(size * int(found), size * int(found) + size):
            assert _element_at(layout, shape, np.dtype(dtype), byte) == element
            filled[byte] = True
    assert not filled.all()
    for byte in np.flatnonzero(~filled):
        assert _element_at(layout, shape, np.dtype(dtype), int(byte)) is None
