"""Memory whose undefined bytes are chosen: blocks over a ground of zeros or of garbage that a seed names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.memory import REGISTER_BYTES, as_bytes
from fleet.sdk import Device, Memory, Range, Write
from fleet.sdk.hardware.state import REGISTERS


class ScratchMemory(Memory):
    """Views are copies that nobody keeps, so an instruction that writes into one is found and changes nothing.

    Bytes in no block are 0, or garbage: a hash of space, bank, address and seed, the same at every look.
    """

    def __init__(self, device: Device, blocks: Iterable[Write] = (), *, garbage: int | None = None) -> None:
        """Args:
        device: whose spaces there are; blocks: later ones lie over earlier ones; garbage: seed, None for zeros.
        """
        self._device, self._garbage = device, garbage
        self._blocks: dict[tuple[str, int], list[tuple[int, np.ndarray]]] = {}
        self._lent: list[tuple[str, int, np.ndarray, np.ndarray]] = []
        for n, register in enumerate(device.state.registers):
            self.put(Write(REGISTERS, 4 * n, np.array([register.reset], "<u4").view(np.uint8)))
        for block in blocks:
            self.put(block)

    def put(self, block: Write) -> None:
        """Lays a block over what is there."""
        data = as_bytes(block.data)
        self._blocks.setdefault((block.space, block.bank), []).append((block.offset, data))

    def set_registers(self, values: Mapping[int, int]) -> None:
        """Byte address -> value of registers, in space "reg"."""
        for address, value in values.items():
            self.put(Write("reg", address, np.array([value], "<u4").view(np.uint8)))

    def view(self, space: str, offset: int, size: int, bank: int = 0) -> np.ndarray:
        """A copy of the range. Raises DeviceError when it leaves the space."""
        whole = self._size(space, bank)
        if whole is None:
            raise DeviceError(f"no memory '{space}' bank {bank} on this device", where=self._device.name)
        if offset < 0 or size < 0 or offset + size > whole:
            raise DeviceError(
                f"bytes [{offset:#x}, {offset + size:#x}) leave '{space}' of {whole:#x} bytes", where=self._device.name
            )
        data = self._ground(space, bank, offset, size)
        for start, block in self._blocks.get((space, bank), ()):
            first, last = max(start, offset), min(start + block.size, offset + size)
            if first < last:
                data[first - offset : last - offset] = block[first - start : last - start]
        self._lent.append((space, offset, data, data.copy()))
        return data

    def copies(self, ranges: Sequence[Range]) -> list[Write]:
        """Return the present content of the ranges as blocks."""
        return [Write(r.space, r.offset, self.view(r.space, r.offset, r.size, r.bank).copy(), r.bank) for r in ranges]

    def written(self) -> tuple[str, int] | None:
        """(space, offset) of a lent view that was written into, or None; forgets all views."""
        found = next(((space, offset) for space, offset, now, before in self._lent if not np.array_equal(now, before)), None)
        self._lent.clear()
        return found

    def _size(self, space: str, bank: int) -> int | None:
        if space == "reg":
            return REGISTER_BYTES if bank == 0 else None
        if space == REGISTERS and bank == 0:
            return 4 * len(self._device.state.registers) or None
        if space in self._device.arrays:
            return self._device.arrays[space].size if bank == 0 else None
        banks = self._device.parameters["HbmPorts"] if space == "hbm" else 1
        return self._device.memory.get(space) if 0 <= bank < banks else None

    def _ground(self, space: str, bank: int, offset: int, size: int) -> np.ndarray:
        if self._garbage is None or space in ("reg", REGISTERS):
            return np.zeros(size, np.uint8)
        key = (sum(space.encode()) << 8) + bank + (self._garbage << 20)
        x = np.arange(offset, offset + size, dtype=np.uint64) + np.uint64((key * 0x9E3779B97F4A7C15) % (1 << 64))
        x *= np.uint64(0xD6E8FEB86659FD93)
        x ^= x >> np.uint64(32)
        x *= np.uint64(0xD6E8FEB86659FD93)
        return (x >> np.uint64(40)).astype(np.uint8)
