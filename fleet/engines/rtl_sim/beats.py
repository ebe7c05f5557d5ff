"""The write beats of a job in the order of time (key `writes` of a job, rtl_models/README.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fleet.errors import ModelError
from fleet.isa.digest import space_named
from fleet.sdk import Device

_RECORD = np.dtype(
    [("cycle", "<u8"), ("offset", "<u8"), ("strobe", "<u8"), ("space", "<u4"), ("commits", "<u4"), ("data", "u1", (64,))]
)


@dataclass(frozen=True)
class Beat:
    """One beat: `data[i]` went to byte `offset + i` of the space where `written[i]`.

    cycle: clock edge since reset at which the memory took it; of a memory on chip, at which the design told it.
    commits: how many instructions had committed; of a memory on chip the beat belongs to the next.
    """

    cycle: int
    space: str
    bank: int
    offset: int
    data: np.ndarray
    written: np.ndarray
    commits: int = 0


def read_beats(path: Path, device: Device, first: int = 0, last: int | None = None) -> Iterator[Beat]:
    """The beats of cycles `first` to `last`.

    Raises ModelError for a file that is missing or damaged, DeviceError for a space that the device does not have.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ModelError(f"no log of write beats ({error.strerror})", where=str(path)) from error
    if len(raw) % _RECORD.itemsize:
        raise ModelError(f"{len(raw)} bytes are not a whole number of {_RECORD.itemsize}-byte records", where=str(path))
    for row in np.frombuffer(raw, _RECORD):
        cycle, number = int(row["cycle"]), int(row["space"])
        if cycle < first or (last is not None and cycle > last):
            continue
        space, bank = space_named(device, number)
        written = np.unpackbits(row["strobe"].reshape(1).view(np.uint8), bitorder="little").astype(bool)
        yield Beat(cycle, space, bank, int(row["offset"]), row["data"], written, int(row["commits"]))
