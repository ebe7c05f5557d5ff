"""Device memory as mapped files: the functional model and the simulation open the same kind of files."""

from __future__ import annotations

import mmap
import shutil
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fleet.errors import DeviceError, FleetError
from fleet.sdk import Device, Memory
from fleet.sdk.hardware.state import REGISTERS

REGISTER_BYTES = 1 << 16
"""Registers lie below 64 KiB."""


def as_bytes(array: np.ndarray) -> np.ndarray:
    """The bytes of an array in C order, as flat uint8; shares memory with an array that is contiguous."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


@lru_cache(maxsize=64)
def _garbage(name: str, size: int, seed: int) -> np.ndarray:
    return np.random.default_rng([seed, *name.encode()]).integers(0, 256, size, dtype=np.uint8)


class MemoryImage(NamedTuple):
    """Bytes that stand in memory before the first instruction. data: uint8."""

    space: str
    bank: int
    offset: int
    data: np.ndarray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemoryImage) and self[:3] == other[:3] and np.array_equal(self.data, other.data)

    def __hash__(self) -> int:
        return hash(self[:3])


_SPARE = 1 << 20
"""Bytes of the disk that images leave free."""


class MappedMemory(Memory):
    """One sparse file a space under `folder`: `ddr.bin`, and `hbm_<p>.bin` for every HBM port.

    The simulation maps the same files shared, so nothing is copied. What the simulation has in the hardware are plain arrays here:
    "reg" (parameter registers), "state" (state registers, as reset leaves them), and every on-chip memory of the device, which
    begins with arbitrary bytes where reset leaves it undefined.
    """

    def __init__(self, device: Device, folder: Path, *, apart: bool = False) -> None:
        """Creates (or opens) the files; untouched bytes read as 0 and take no room on disk.

        apart: the files stay as they are, and are those of another memory; what is written is seen here alone.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.device, self.folder = device, folder
        self.paths: dict[tuple[str, int], Path] = {("ddr", 0): folder / "ddr.bin"}
        for port in range(device.parameters["HbmPorts"] if "hbm" in device.memory else 0):
            self.paths["hbm", port] = folder / f"hbm_{port}.bin"
        self._maps: dict[tuple[str, int], np.ndarray] = {}
        self._files: list[mmap.mmap] = []
        for (space, bank), path in self.paths.items():
            if not path.exists() or path.stat().st_size != device.memory[space]:
                with path.open("wb") as f:
                    f.truncate(device.memory[space])
            # No np.memmap: a slice of one runs Python code of NumPy's, seven times as slow.
            with path.open("rb" if apart else "r+b") as f:
                mapped = mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY if apart else mmap.ACCESS_WRITE)
            self._maps[space, bank] = np.frombuffer(mapped, np.uint8)
            if not apart:
                self._files.append(mapped)
        self._maps["reg", 0] = np.zeros(REGISTER_BYTES, np.uint8)
        for array in device.arrays.values():
            self._maps[array.name, 0] = np.zeros(array.size, np.uint8)
        if device.state.registers:
            self._maps[REGISTERS, 0] = np.zeros(4 * len(device.state.registers), np.uint8)
        self.known: tuple[tuple[str, int, int], ...] = ()
        """(space, offset, size) of what an image holds in the form that it has inside the hardware."""
        self.fill_undefined()
        self.reset_state()

    @classmethod
    def fresh(cls, device: Device, folder: Path, images: Iterable[MemoryImage], registers: Mapping[int, int]) -> MappedMemory:
        """Zeroed files with images and parameter registers in them; what stood in the folder is gone.

        Raises FleetError when the disk has no room: a mapped file that cannot grow kills the process.
        """
        try:
            if folder.exists():
                shutil.rmtree(folder)
            memory = cls(device, folder)
            memory.set_registers(registers)
            free = shutil.disk_usage(folder).free
            for space, bank, offset, data in images:
                free -= data.size
                if free < _SPARE:
                    raise FleetError("no room for memory images", where=str(folder), hint="make room")
                memory.view(space, offset, data.size, bank)[:] = data
        except OSError as error:
            raise FleetError(f"cannot make the memory images ({error.strerror})", where=str(folder)) from error
        return memory

    def apart(self) -> MappedMemory:
        """This memory as it stands, for a model of its own: writes are not seen here. Images must not change while it is used."""
        other = MappedMemory(self.device, self.folder, apart=True)
        other.copy_inside(self)
        return other

    def release(self) -> None:
        """Give back the room that pages of the files take in this process; they are mapped again when they are read."""
        for mapped in self._files:
            mapped.madvise(mmap.MADV_DONTNEED)

    def copy_inside(self, source: MappedMemory) -> None:
        """Take from another memory all that is no file: registers and on-chip memories."""
        for key, whole in self._maps.items():
            if key not in self.paths:
                whole[:] = source._maps[key]

    def view(self, space: str, offset: int, size: int, bank: int = 0) -> np.ndarray:
        """Writable view; DeviceError when the range leaves the space."""
        whole = self._maps.get((space, bank))
        if whole is None:
            raise DeviceError(f"no memory '{space}' bank {bank} on this device", where=self.device.name)
        if offset < 0 or size < 0 or offset + size > whole.size:
            raise DeviceError(
                f"bytes [{offset:#x}, {offset + size:#x}) leave '{space}' of {whole.size:#x} bytes", where=self.device.name
            )
        return whole[offset : offset + size]

    def set_registers(self, values: Mapping[int, int]) -> None:
        """Puts values into registers of space "reg" (`fleet.isa.description.parameter_values`): byte address -> value."""
        for address, value in values.items():
            self.view("reg", address, 4).view("<u4")[0] = value

    def clear_arrays(self, seed: int | None = 0) -> None:
        """Power-on of the spaces that are no files: registers as after reset, what is undefined after it as `fill_undefined`."""
        self.known = ()
        for key, whole in self._maps.items():
            if key not in self.paths:
                whole.fill(0)
        self.fill_undefined(seed)
        self.reset_state()

    def fill_undefined(self, seed: int | None = 0) -> None:
        """Fill memories that reset leaves undefined with bytes that the seed names: None: zeros.

        Nothing may depend on what stands there, zeros least of all.
        """
        self._seed = seed
        for array in self.device.arrays.values():
            if array.undefined:
                self._maps[array.name, 0][:] = 0 if seed is None else _garbage(array.name, array.size, seed)

    def untouched(self, space: str) -> np.ndarray:
        """Return a mask of the bytes of a memory that still hold what `fill_undefined` put there."""
        array, whole = self.device.arrays[space], self._maps[space, 0]
        if not array.undefined:
            return np.zeros(array.size, np.bool_)
        return whole == (np.uint8(0) if self._seed is None else _garbage(array.name, array.size, self._seed))

    def reset_state(self) -> None:
        """State registers as reset leaves them; memories keep what they hold."""
        for n, register in enumerate(self.device.state.registers):
            self.view(REGISTERS, 4 * n, 4).view("<u4")[0] = register.reset

    def close(self) -> None:
        """Drops the mappings; the files stay."""
        self._maps.clear()
        self._files.clear()
