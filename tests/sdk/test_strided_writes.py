"""Writes of blocks at regular distances: the bytes, the digest and the pages of the same blocks one by one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from fleet.engines.legs.pages import WrittenPages
from fleet.errors import DeviceError
from fleet.isa.digest import digest_writes, mix, space_number
from fleet.isa.memory import MappedMemory
from fleet.isa.registry import find_device
from fleet.sdk import Range, Write, contiguous, native

SHAPES = [
    ((3, 5, 2), (1000, 40)),
    ((4, 9), (9,)),
    ((2, 3, 2, 1), (4096 * 3, 777, 5)),
    ((2, 9000), (20_000,)),
    ((1, 4, 2), (0, 8)),
    ((0, 4), (8,)),
]


def strided(shape: tuple[int, ...], strides: tuple[int, ...]) -> Write:
    rng = np.random.default_rng(len(shape))
    data = rng.integers(1, 256, (*shape[:-1], 2 * shape[-1]), dtype=np.uint8)[..., ::2]  # not contiguous itself
    return Write("hbm", 4090, data, 6, strides=strides)


def by_hand(w: Write) -> dict[int, int]:
    """Offset -> byte, by Python's own loops."""
    found: dict[int, int] = {}
    for index in np.ndindex(w.data.shape):
        at = w.offset + sum(i * s for i, s in zip(index, (*w.strides, 1), strict=True))
        assert at not in found
        found[at] = int(w.data[index])
    return found


@pytest.fixture
def memory(tmp_path: Path) -> MappedMemory:
    return MappedMemory(find_device("hbm_small")[1], tmp_path)


@pytest.mark.parametrize(("shape", "strides"), SHAPES)
def test_bytes_digest_and_pages_are_those_of_the_blocks(
    memory: MappedMemory, shape: tuple[int, ...], strides: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    w, device = strided(shape, strides), memory.device
    expected = by_hand(w)
    w.put(memory)
    whole = memory.view("hbm", 0, device.memory["hbm"], 6)
    assert dict(zip(np.flatnonzero(whole).tolist(), whole[whole != 0].tolist(), strict=True)) == expected
    pieces = contiguous([w])
    assert {p.offset + i: int(v) for p in pieces for i, v in enumerate(p.data)} == expected
    assert len(pieces) == int(np.prod(shape[:-1]))
    ranges = contiguous([Range("hbm", w.offset, shape[-1], 6, shape[:-1], strides)])
    assert [(r.offset, r.size, r.bank) for r in ranges] == [(p.offset, p.data.size, p.bank) for p in pieces]
    number = space_number(device, "hbm", 6)
    total = sum(int(mix(number, np.array([at]), np.array([v], np.uint8))[0]) for at, v in expected.items()) % (1 << 64)
    for variant in ("numpy", *native.variants()):
        monkeypatch.setenv(native.VARIABLE, variant)
        assert digest_writes(device, [w]) == digest_writes(device, pieces) == total
    marks = WrittenPages(memory)
    marks.mark([w])
    assert set(marks.numbers(("hbm", 6)).tolist()) == {at // 4096 for at in expected}


def test_blocks_that_leave_the_memory_are_refused(memory: MappedMemory) -> None:
    size = memory.device.memory["hbm"]
    Write("hbm", size - 68, np.ones((2, 4), np.uint8), strides=(64,)).put(memory)
    with pytest.raises(DeviceError, match="leave 'hbm'"):
        Write("hbm", size - 67, np.ones((2, 4), np.uint8), strides=(64,)).put(memory)


@pytest.mark.parametrize(
    ("data", "strides", "has"),
    [
        (np.zeros(8, np.float16), (), "float16[8] and strides []"),
        (np.zeros((2, 8), np.uint8), (), "uint8[2, 8] and strides []"),
        (np.zeros(8, np.uint8), (64,), "uint8[8] and strides [64]"),
    ],
)
def test_data_that_are_no_bytes_or_have_other_axes_are_refused(data: np.ndarray, strides: tuple[int, ...], has: str) -> None:
    with pytest.raises(DeviceError, match="a write to ddr at 0x40 has data " + re.escape(has)):
        Write("ddr", 0x40, data, strides=strides)
