"""Written pages of device memory: of a model that runs ahead, and of a simulation on shared images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd
from pathlib import Path

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.digest import space_named, space_number
from fleet.isa.memory import MappedMemory
from fleet.sdk import Write

_PAGE = 4096
_HEADER = np.dtype([("space", "<u8"), ("offset", "<u8"), ("size", "<u8")])

Key = tuple[str, int]
"""Space and bank."""


def _pages(memory: MappedMemory, key: Key) -> np.ndarray:
    """Return a view of an image as an array of pages. If the image's size is not a multiple of a page, pages are smaller."""
    whole = memory.view(key[0], 0, memory.device.memory[key[0]], key[1])
    return whole.reshape(-1, gcd(_PAGE, whole.size))


@dataclass(frozen=True)
class Pages:
    """Contents of some pages. parts: (space, bank) -> their numbers (int64, ascending) and bytes (uint8 [pages, page])."""

    parts: Mapping[Key, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict[Key, tuple[np.ndarray, np.ndarray]])

    def put(self, memory: MappedMemory) -> None:
        """Write them into memory."""
        for key, (numbers, data) in self.parts.items():
            _pages(memory, key)[numbers] = data

    def over(self, memory: MappedMemory, key: Key, numbers: np.ndarray) -> np.ndarray:
        """Return a copy of the pages of these numbers, as stored here, else from memory."""
        found = _pages(memory, key)[numbers]
        mine, data = self.parts.get(key, (np.zeros(0, np.int64), found[:0]))
        _, here, there = np.intersect1d(numbers, mine, assume_unique=True, return_indices=True)
        found[here] = data[there]
        return found


class WrittenPages:
    """Marks the written pages of a memory's images."""

    def __init__(self, memory: MappedMemory) -> None:
        """memory: read by `contents`."""
        self._memory = memory
        self._marks = {key: np.zeros(len(_pages(memory, key)), np.bool_) for key in memory.paths}

    def mark(self, writes: Sequence[Write]) -> None:
        """Mark written pages; spaces without images are ignored."""
        for w in writes:
            if not w.strides:
                self.mark_range(w.space, w.bank, w.offset, w.data.size)
                continue
            marks = self._marks.get((w.space, w.bank))
            if marks is not None and w.data.size:
                page = self._memory.device.memory[w.space] // len(marks)
                starts, size = w.starts(), w.data.shape[-1]
                for at in (*range(0, size, page), size - 1):  # one byte per page of a block, and its last
                    marks[(starts + at) // page] = True

    def mark_range(self, space: str, bank: int, offset: int, size: int) -> None:
        """Mark the pages of a range; spaces without images are ignored."""
        marks = self._marks.get((space, bank))
        if marks is not None and size:
            page = self._memory.device.memory[space] // len(marks)
            marks[offset // page : (offset + size - 1) // page + 1] = True

    def mark_pages(self, pages: Pages) -> None:
        """Mark these pages."""
        for key, (numbers, _) in pages.parts.items():
            self._marks[key][numbers] = True

    def numbers(self, key: Key) -> np.ndarray:
        """Return the marked pages of an image, ascending."""
        return np.flatnonzero(self._marks[key])

    def contents(self) -> Pages:
        """Return the contents of the marked pages."""
        found: dict[Key, tuple[np.ndarray, np.ndarray]] = {}
        for key in self._marks:
            numbers = self.numbers(key)
            if numbers.size:
                found[key] = numbers, _pages(self._memory, key)[numbers]
        return Pages(found)


def save_overlay(path: Path, memory: MappedMemory, pages: Pages) -> None:
    """Write pages in the bench's format (rtl_models/README.md): each run of pages after a header of space, offset and size."""
    with path.open("wb") as f:
        for (space, bank), (numbers, data) in pages.parts.items():
            runs = np.split(np.arange(numbers.size), np.flatnonzero(np.diff(numbers) != 1) + 1)
            for run in runs:
                offset, size = int(numbers[run[0]]) * data.shape[1], run.size * data.shape[1]
                f.write(np.array([(space_number(memory.device, space, bank), offset, size)], _HEADER).tobytes())
                f.write(data[run[0] : run[-1] + 1].tobytes())


def load_overlay(path: Path, memory: MappedMemory) -> Pages:
    """Read the pages that a simulation wrote. Raises DeviceError if the file is incomplete."""
    raw = np.fromfile(path, np.uint8) if path.is_file() else None
    found: dict[Key, list[tuple[int, np.ndarray]]] = {}
    at = 0
    while raw is not None and at < raw.size:
        header = raw[at : at + _HEADER.itemsize]
        if header.size != _HEADER.itemsize:
            raw = None
            break
        number, offset, size = (int(n) for n in header.view(_HEADER)[0])
        at += _HEADER.itemsize
        key, data = space_named(memory.device, number), raw[at : at + size]
        at += size
        page = _pages(memory, key).shape[1]
        if data.size != size or offset % page or size % page:
            raw = None
            break
        found.setdefault(key, []).append((offset // page, data.reshape(-1, page)))
    if raw is None:
        raise DeviceError("the simulation left no whole pages of its memory", where=str(path))
    return Pages(
        {
            key: (
                np.concatenate([np.arange(first, first + len(data)) for first, data in runs]),
                np.concatenate([data for _, data in runs]),
            )
            for key, runs in found.items()
        }
    )


@dataclass(frozen=True)
class Stray:
    """One byte that differs from the functional model's."""

    space: str
    bank: int
    offset: int
    expected: int
    found: int


def strays(base: MappedMemory, start: Pages, written: WrittenPages, end: Pages, found: Pages) -> list[Stray]:
    """Return all bytes in which a simulation's memory differs from the model's, in every page that one of them wrote.

    Args:
        base: images shared by both. start: initial changes of the simulation to them. found: the pages that it wrote.
        written: pages that the model wrote so far. end: their contents in the model.
    """
    result: list[Stray] = []
    for key in base.paths:
        mine = found.parts.get(key, (np.zeros(0, np.int64), None))[0]
        numbers = np.union1d(written.numbers(key), mine).astype(np.int64)
        if not numbers.size:
            continue
        wanted, got = end.over(base, key, numbers), start.over(base, key, numbers)
        _, here, there = np.intersect1d(numbers, mine, assume_unique=True, return_indices=True)
        if there.size:
            got[here] = found.parts[key][1][there]
        if np.array_equal(wanted, got):
            continue
        rows, columns = np.nonzero(wanted != got)
        offsets = numbers[rows] * wanted.shape[1] + columns
        result += (
            Stray(*key, int(o), int(a), int(b)) for o, a, b in zip(offsets, wanted[rows, columns], got[rows, columns], strict=True)
        )
    return result
