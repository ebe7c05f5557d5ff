"""rvsim: a cycle model of an out-of-order core (its default configuration), in this process: an oracle with estimated cycles.

Memory is given to it as one executable file and read back after the run; it is started as `boot` says. It runs well under a
million instructions a second.
"""

from __future__ import annotations

import importlib
from importlib import metadata
from typing import Any

from fleet.engines.riscv_emulators.base import EmulationError, Execution, Watch
from fleet.engines.riscv_emulators.boot import STATUS, Calls
from fleet.errors import FleetError, SetupError
from fleet.targets.riscv.elf import PF_R, PF_W, PF_X, Image, Segment, write_image
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.plan import CODE_BASE, CODE_SPACE

_BOOT = CODE_BASE + CODE_SPACE - 0x10_0000
_CYCLES_AN_INSTRUCTION = 40
"""More than any of fleet's kernels takes; a run is stopped after so many cycles for the instructions that are expected at most."""
_CHUNK = 200_000


def missing() -> str | None:
    """None when it can be imported, else what to do."""
    try:
        importlib.import_module("rvsim")
    except (ImportError, OSError) as error:
        return f"the Python package `rvsim` cannot be imported ({error}); install fleet with its extra `riscv-cycles`"
    return None


def make(isa: Isa) -> RvsimEmulator:
    """A fresh machine."""
    return RvsimEmulator(isa)


class RvsimEmulator:
    """See `base.Emulator`."""

    name = "rvsim"

    def __init__(self, isa: Isa) -> None:
        if reason := missing():
            raise SetupError(reason, where="engine riscv: emulator rvsim")
        self._library: Any = importlib.import_module("rvsim")
        self.version = metadata.version("rvsim")
        self._isa = isa
        self._parts: dict[int, bytearray] = {}
        self._image: Image | None = None
        self._machine: Any = None

    def load(self, image: Image) -> None:
        """See `base.Emulator`."""
        self._image = image
        for segment in image.segments:
            self.map(segment.address, segment.size, writable=True)
            self.write(segment.address, segment.data)

    def map(self, address: int, size: int, *, writable: bool) -> None:
        """See `base.Emulator`; everything is writable."""
        self._parts[address] = bytearray(size)

    def write(self, address: int, data: bytes | memoryview) -> None:
        """See `base.Emulator`."""
        if len(data):
            start = self._find(address, len(data))
            self._parts[start][address - start : address - start + len(data)] = data

    def read(self, address: int, size: int) -> bytes:
        """See `base.Emulator`."""
        if not size:
            return b""
        start = self._find(address, size)
        if self._machine is not None:
            return bytes(self._machine.read_phys_bytes(address, size))
        return bytes(self._parts[start][address - start : address - start + size])

    def run(self, entry: int, stack: int, *, limit: int, watch: Watch | None = None) -> Execution:
        """See `base.Emulator`; the limit is one of cycles."""
        if self._image is None:
            raise FleetError("no image is loaded", where="rvsim")
        calls = Calls(self._image, entry)
        self._parts[_BOOT] = bytearray(calls.memory(_BOOT, stack))
        end = max(start + len(part) for start, part in self._parts.items())
        segments = tuple(
            Segment(".part", start, bytes(part), len(part), PF_R | PF_W | PF_X)
            for start, part in sorted(self._parts.items())
            if part
        )
        config = self._library.Config(
            ram_size=-(-(end - CODE_BASE + 0x400_0000) // 0x10_0000) * 0x10_0000, ram_base=CODE_BASE, disk_base=0x1000_1000,
            uart_quiet=True, vlen=self._isa.vlen or 128,
        )  # fmt: skip
        self._machine = self._library.Simulator(config, elf_data=write_image(Image(_BOOT, segments, ())))
        self._machine.pc = _BOOT
        most = limit * _CYCLES_AN_INSTRUCTION
        status = self.read(_BOOT + STATUS, calls.size)
        while not status[0] and self._machine.cycle < most:
            self._machine.run(limit=_CHUNK)
            status = self.read(_BOOT + STATUS, calls.size)
            if watch is not None:
                watch(calls.counts(status))
        calls.check(status, "rvsim", f"no end after {int(self._machine.cycle)} cycles")
        counts = calls.counts(status, whole=True)
        return Execution(sum(counts.values()), counts, cycles=int(self._machine.stats.cycles))

    def close(self) -> None:
        """See `base.Emulator`."""
        self._machine = None
        self._parts.clear()

    def _find(self, address: int, size: int) -> int:
        for start, part in self._parts.items():
            if start <= address and address + size <= start + len(part):
                return start
        raise EmulationError(f"{size} bytes at {address:#x} are not mapped", where="rvsim", address=address)
