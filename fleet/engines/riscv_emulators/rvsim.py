"""rvsim: a cycle model of an out-of-order core (its default configuration), in this process: an oracle with estimated cycles.

It loads memory from one executable file, which is read back after the run; `boot` starts it. It runs well under a
million instructions per second.
"""

from __future__ import annotations

import importlib
from importlib import metadata
from typing import Any

from fleet.engines.riscv_emulators.base import Execution, HostHandler, Watch
from fleet.engines.riscv_emulators.boot import STATUS
from fleet.engines.riscv_emulators.host_memory import BOOT_PLACE, HostMemory
from fleet.errors import SetupError
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.plan import CODE_BASE

_CYCLES_AN_INSTRUCTION = 40
"""More cycles per instruction than any of fleet's kernels takes; a run is stopped after this many times the expected maximum of
instructions."""
_CHUNK = 200_000


def missing() -> str | None:
    """Return None if it can be imported, else what to do."""
    try:
        importlib.import_module("rvsim")
    except (ImportError, OSError) as error:
        return f"the Python package `rvsim` cannot be imported ({error}); install fleet with its extra `riscv-cycles`"
    return None


def make(isa: Isa) -> RvsimEmulator:
    """A fresh machine."""
    return RvsimEmulator(isa)


class RvsimEmulator(HostMemory):
    """rvsim as an `Emulator`."""

    name = "rvsim"

    def __init__(self, isa: Isa) -> None:
        super().__init__()
        if reason := missing():
            raise SetupError(reason, where="engine riscv: emulator rvsim")
        self._library: Any = importlib.import_module("rvsim")
        self.version = metadata.version("rvsim")
        self._isa = isa
        self._machine: Any = None

    def read(self, address: int, size: int) -> bytes:
        """Read memory from outside."""
        if self._machine is None or not size:
            return super().read(address, size)
        self._find(address, size)
        return bytes(self._machine.read_phys_bytes(address, size))

    def run(self, entry: int, stack: int, *, limit: int, watch: Watch | None = None, host: HostHandler | None = None) -> Execution:
        """Call the function at `entry`; raises EmulationError as the protocol says. The limit is one of cycles."""
        assert host is None, "refused before"
        calls = self._begin(entry, stack)
        end = self._end()
        config = self._library.Config(
            ram_size=-(-(end - CODE_BASE + 0x400_0000) // 0x10_0000) * 0x10_0000, ram_base=CODE_BASE, disk_base=0x1000_1000,
            uart_quiet=True, vlen=self._isa.vlen or 128,
        )  # fmt: skip
        self._machine = self._library.Simulator(config, elf_data=self._executable({}))
        self._machine.pc = BOOT_PLACE
        most = limit * _CYCLES_AN_INSTRUCTION
        status = self.read(BOOT_PLACE + STATUS, calls.size)
        while not status[0] and self._machine.cycle < most:
            self._machine.run(limit=_CHUNK)
            status = self.read(BOOT_PLACE + STATUS, calls.size)
            if watch is not None:
                watch(calls.counts(status))
        calls.check(status, "rvsim", f"no end after {int(self._machine.cycle)} cycles")
        counts = calls.counts(status, whole=True)
        return Execution(sum(counts.values()), counts, cycles=int(self._machine.stats.cycles))

    def close(self) -> None:
        """Free the machine; may be called twice."""
        self._machine = None
        super().close()
