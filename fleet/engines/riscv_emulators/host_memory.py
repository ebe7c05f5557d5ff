"""Memory kept in this process and passed to a simulator as one executable file; shared by Spike and rvsim."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.engines.riscv_emulators.base import EmulationError
from fleet.engines.riscv_emulators.boot import Calls
from fleet.errors import FleetError
from fleet.targets.riscv.elf import PF_R, PF_W, PF_X, ElfImage, LoadSegment, Symbol, write_image
from fleet.targets.riscv.plan import CODE_BASE, CODE_SPACE

BOOT_PLACE = CODE_BASE + CODE_SPACE - 0x10_0000
"""Address of the start code (`boot`), at the end of the code region."""


class HostMemory:
    """The part of `base.Emulator` about memory; everything is writable."""

    name: str

    def __init__(self) -> None:
        self._parts: dict[int, bytearray] = {}
        self._image: ElfImage | None = None

    def load(self, image: ElfImage) -> None:
        """Map and fill the image's segments, and take its symbols for counting."""
        self._image = image
        for segment in image.segments:
            self.map(segment.address, segment.size, writable=True)
            self.write(segment.address, segment.data)

    def map(self, address: int, size: int, *, writable: bool) -> None:
        """Map zeroed memory."""
        self._parts[address] = bytearray(size)

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Write memory from outside."""
        if len(data):
            start = self._find(address, len(data))
            self._parts[start][address - start : address - start + len(data)] = data

    def read(self, address: int, size: int) -> bytes:
        """Read memory from outside."""
        if not size:
            return b""
        start = self._find(address, size)
        return bytes(self._parts[start][address - start : address - start + size])

    def close(self) -> None:
        """Free the machine; may be called twice."""
        self._parts.clear()

    def _begin(self, entry: int, stack: int) -> Calls:
        """Write the start code and its table to memory."""
        if self._image is None:
            raise FleetError("no image is loaded", where=self.name)
        calls = Calls(self._image, entry)
        self._parts[BOOT_PLACE] = bytearray(calls.memory(BOOT_PLACE, stack))
        return calls

    def _end(self) -> int:
        """The address after the last byte."""
        return max(start + len(part) for start, part in self._parts.items())

    def _executable(self, symbols: Mapping[str, int]) -> bytes:
        """Return all memory as an ELF executable that starts at the start code, with these symbols."""
        segments = tuple(
            LoadSegment(".part", start, bytes(part), len(part), PF_R | PF_W | PF_X)
            for start, part in sorted(self._parts.items())
            if part
        )
        named = tuple(Symbol(name, place, 8, function=False) for name, place in symbols.items())
        return write_image(ElfImage(BOOT_PLACE, segments, named))

    def _find(self, address: int, size: int) -> int:
        for start, part in self._parts.items():
            if start <= address and address + size <= start + len(part):
                return start
        raise EmulationError(f"{size} bytes at {address:#x} are not mapped", where=self.name, address=address)
