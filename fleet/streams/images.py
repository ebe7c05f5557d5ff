"""Device memory that thousands of streams reuse: fill, compare and clear it in time proportional to what they use."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from fleet.errors import FleetError
from fleet.isa.memory import MappedMemory, as_bytes
from fleet.sdk import Device, Write

MOST = 4096
"""Largest number of differing bytes whose places are kept."""
_CHUNK = 1 << 24
_IN_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class ByteDifference:
    """One byte at which two images differ."""

    space: str
    bank: int
    address: int
    expected: int
    found: int


def images_home(device: Device) -> Path | None:
    """Return the folder of temporary images: a file system in memory with room for both engines; None: the default temporary
    folder.

    On a disk, giving pages back for each stream takes several times as long as everything else. A TMPDIR of the user takes
    precedence.
    """
    ports = device.parameters.get("HbmPorts", 1)
    whole = 2 * sum(size * (ports if space == "hbm" else 1) for space, size in device.memory.items())
    try:
        if "TMPDIR" not in os.environ and os.access(_IN_MEMORY, os.W_OK) and shutil.disk_usage(_IN_MEMORY).free >= 2 * whole:
            return _IN_MEMORY
    except OSError:
        pass
    return None


class ImageHolder(Protocol):
    """An object with device memory."""

    @property
    def memory(self) -> MappedMemory:
        """The device memory."""
        ...


class Images:
    """The files of one engine's memory. `memory` stays mapped from the first to the last stream."""

    def __init__(self, device: Device, folder: Path) -> None:
        """folder: is created if it does not exist."""
        self.memory = MappedMemory(device, folder)

    def fill(self, blocks: Sequence[Write], parameters: Mapping[int, int] | None = None, seed: int | None = 0) -> None:
        """Clear memory and write blocks and parameter registers. Raises DeviceError if a block is outside its space.

        seed: determines the bytes that reset leaves undefined; None: zeros.
        """
        self.clear(seed)
        for address, value in (parameters or {}).items():
            self.memory.view("reg", address, 4).view("<u4")[0] = value
        for b in blocks:
            self.memory.view(b.space, b.offset, b.data.size, b.bank)[:] = as_bytes(b.data)

    def clear(self, seed: int | None = 0) -> None:
        """Set all bytes to 0 without taking room; on-chip memory and state registers are as after reset."""
        for path in self.memory.paths.values():
            size = path.stat().st_size
            os.truncate(path, 0)  # releases the pages, also those of mappings, which stay valid
            os.truncate(path, size)
        self.memory.clear_arrays(seed)

    def blocks(self) -> tuple[Write, ...]:
        """Return all contents of memory, so that a stream may begin there.

        Images are included where they hold data; on-chip memory and state registers where they are the hardware's
        (`MappedMemory.known`).
        """
        memory = self.memory
        found: list[Write] = []
        for (space, bank), path in memory.paths.items():
            for start, end in _extents(path, path.stat().st_size):
                found.append(Write(space, start, memory.view(space, start, end - start, bank).copy(), bank))
        found += (Write(space, offset, memory.view(space, offset, size).copy()) for space, offset, size in memory.known)
        return tuple(found)

    def close(self) -> None:
        """Drop the mappings; the files stay."""
        self.memory.close()


def differences(expected: ImageHolder, found: ImageHolder, most: int = MOST) -> tuple[list[ByteDifference], int]:
    """Return the first bytes that differ, ascending by space, bank and address, and the number of bytes compared.

    Bytes that neither side ever touched are not counted: in images both are 0, inside the hardware they have their initial values.
    Inside the hardware, only what `found` knows is compared (`MappedMemory.known`).
    """
    differing: list[ByteDifference] = []
    compared = 0
    for (space, bank), path in expected.memory.paths.items():
        other = found.memory.paths[space, bank]
        size = path.stat().st_size
        if other.stat().st_size != size:
            raise FleetError(f"two images of {space} have different sizes", where=str(other))
        for start, end in touched(path, other, size):
            compared += end - start
            for at in range(start, end, _CHUNK):
                n = min(_CHUNK, end - at)
                a, b = (i.memory.view(space, at, n, bank) for i in (expected, found))
                if len(differing) < most and not np.array_equal(a, b):
                    where = np.flatnonzero(a != b)[: most - len(differing)]
                    differing += (ByteDifference(space, bank, at + int(i), int(a[i]), int(b[i])) for i in where)
    for space, offset, size in found.memory.known:
        a, b = (i.memory.view(space, offset, size) for i in (expected, found))
        left = np.zeros(size, np.bool_)
        if space in expected.memory.device.arrays:
            left = expected.memory.untouched(space) & found.memory.untouched(space)
        compared += size - int(np.count_nonzero(left))
        where = np.flatnonzero((a != b) & ~left)[: most - len(differing)] + offset
        differing += (ByteDifference(space, 0, int(i), int(a[i - offset]), int(b[i - offset])) for i in where)
    return differing, compared


def touched(one: Path, other: Path, size: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges that may hold data in either file, merged and ascending."""
    ranges = sorted([*_extents(one, size), *_extents(other, size)])
    merged: list[tuple[int, int]] = []
    for start, end in ranges:
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    yield from merged


def _extents(path: Path, size: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a sparse file that are not holes; the whole file if the file system cannot tell."""
    with path.open("rb") as f:
        at = 0
        while at < size:
            try:
                start = os.lseek(f.fileno(), at, os.SEEK_DATA)
            except OSError as error:
                if error.errno == errno.ENXIO:  # only a hole follows
                    return
                yield at, size
                return
            at = os.lseek(f.fileno(), start, os.SEEK_HOLE)
            yield start, at
