"""Layouts: every element at the place that its arrangement says, all else zero, and back without a loss."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fleet.errors import DeviceError
from fleet.isa.registry import find_device
from fleet.sdk import Arrangement, Layout


class Blocks(Layout):
    """Rows and blocks of any distance."""

    def __init__(self, lanes: int, planar: bool, gap: int, number: str, fraction: int | None = None) -> None:
        self.lanes, self.planar, self.gap, self.number, self.fraction = lanes, planar, gap, np.dtype(number), fraction

    def arrangement(self, shape: tuple[int, ...], dtype: np.dtype) -> Arrangement:
        rows, channels = int(np.prod(shape[:-1], dtype=np.int64)), shape[-1]
        blocks = -(-channels // self.lanes)
        inner = self.lanes + self.gap
        steps = (inner, inner * rows) if self.planar else (inner * blocks, inner)
        return Arrangement(rows, channels, self.lanes, *steps, rows * blocks * inner, self.number, self.fraction)


@pytest.mark.parametrize("seed", range(120))
def test_every_element_has_its_place(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(0, 3)))
    channels, lanes, gap = (int(rng.integers(*ends)) for ends in ((1, 41), (1, 34), (0, 4)))
    planar, number = bool(rng.integers(2)), ("<f2", "<i4", "<u4", "i1", "<f4", ">f4", "<f8")[seed % 7]
    layout = Blocks(lanes, planar, gap, number)
    kind = np.float32 if "f" in number else np.int64
    array = np.arange(1, 1 + int(np.prod(shape, dtype=np.int64)) * channels).reshape(*shape, channels).astype(kind)
    if number == "i1":
        array = array % 128
    packed = layout.pack(array)
    a = layout.arrangement(array.shape, array.dtype)
    assert packed.size == layout.size(array.shape, array.dtype) == a.size
    memory, expected = packed.view(number), np.zeros(a.count, number)
    for row, values in enumerate(array.reshape(-1, channels)):
        for channel, value in enumerate(values):
            expected[row * a.row_step + channel // lanes * a.block_step + channel % lanes] = value
    assert np.array_equal(memory, expected)
    assert np.array_equal(layout.unpack(packed, array.shape, array.dtype), array)


def test_real_numbers_in_fixed_point_end_where_their_range_does() -> None:
    layout = Blocks(4, False, 0, "<i4", 16)
    values = np.array([0.5, -(2.0**-17), 3 * 2.0**-17, 40000.0, -40000.0, np.inf, np.nan])
    stored = layout.pack(values).view("<i4")[:7]
    assert stored.tolist() == [1 << 15, 0, 2, (1 << 31) - 1, -(1 << 31), (1 << 31) - 1, 0]
    assert layout.unpack(layout.pack(values), (7,), np.dtype(np.float64))[:3].tolist() == [0.5, 0.0, 2.0**-15]


def test_what_cannot_be_stored_is_refused() -> None:
    layout = Blocks(4, False, 0, "<u4")
    for values in ([-1], [1 << 32]):
        with pytest.raises(DeviceError, match="an index tensor holds values outside uint32"):
            layout.pack(np.array(values))
    with pytest.raises(DeviceError, match="15 bytes for a tensor"):
        layout.unpack(np.zeros(15, np.uint8), (4,), np.dtype(np.uint32))
    with pytest.raises(DeviceError, match="Layout does not say where the elements of a tensor stand"):
        Layout().pack(np.zeros(3))


@pytest.mark.parametrize(
    "numbers",
    [
        {"count": 7},  # the last element is number 7
        {"row_step": 5},
        {"block_step": 3},
        {"row_step": -4},
        {"lanes": 0},
    ],
)
def test_places_outside_the_memory_are_refused(numbers: dict[str, int]) -> None:
    right = Arrangement(2, 4, 2, 4, 2, 8, np.dtype(np.int8))
    with pytest.raises(DeviceError, match=r"leaves the|has a negative number, or no lanes"):
        replace(right, **numbers)


def test_fp16_has_one_nan() -> None:
    layout = find_device("hbm_small")[0].layout
    values = np.array([np.nan, -np.nan, 1.0], np.float32)
    assert [f"{v:04x}" for v in layout.pack(values).view("<u2")[:3]] == ["7e00", "7e00", "3c00"]


@pytest.mark.parametrize(("number", "nan"), [("<f4", "7fc00000"), (">f4", "7fc00000"), ("<f8", "7ff8000000000000")])
def test_wider_floats_keep_every_bit_and_have_one_nan(number: str, nan: str) -> None:
    layout, size = Blocks(4, False, 0, number), np.dtype(number).itemsize
    bits = np.array([0xFFC12345, 0x7F800001, 0x3F800001, 0x80000000, 0x00000001, 0xFF800000], "<u4")
    with np.errstate(invalid="ignore"):  # a signalling NaN
        values = bits.view("<f4").astype(np.dtype(number).newbyteorder("="))
    stored = layout.pack(values).view(f"{number[0]}u{size}")[: values.size]
    assert [f"{v:0{2 * size}x}" for v in stored[:2]] == [nan, nan]
    assert np.array_equal(stored[2:].astype(f"u{size}"), values[2:].view(f"u{size}"))
    assert np.array_equal(layout.unpack(layout.pack(values), (6,), values.dtype), values, equal_nan=True)


@pytest.mark.parametrize("number", ["?", "<c8", "V2"])
def test_elements_of_another_kind_are_refused(number: str) -> None:
    with pytest.raises(DeviceError, match=r"elements in memory are .*, expected float16, float32, float64 or an integer"):
        Arrangement.flat(4, np.dtype(number))
