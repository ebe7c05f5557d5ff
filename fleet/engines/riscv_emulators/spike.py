"""Spike, the reference simulator of RISC-V, in its own process: an oracle for small models.

Memory is loaded from one executable file and returned as Spike's signature, hexadecimal text of everything from the status of the
start code to the end of the program's memory. `boot` starts it.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from functools import lru_cache
from pathlib import Path

from fleet.core.processes import run
from fleet.core.scratch import Scratch
from fleet.engines.riscv_emulators.base import EmulationError, Execution, HostHandler, Watch
from fleet.engines.riscv_emulators.boot import STATUS, TOHOST
from fleet.engines.riscv_emulators.host_memory import BOOT_PLACE, HostMemory
from fleet.errors import DeviceError, SetupError
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.plan import CODE_BASE

_SLOWEST = 2e6
"""Instructions per second below which a run counts as hung."""
_MOST = 256 << 20
"""Bytes of memory that are read back as text."""


def missing() -> str | None:
    """Return None if it and the device tree compiler that it calls are installed, else what to do."""
    if _command() is None:
        return "spike is not installed; install the Python package `spike` (209 MB) or the program"
    return None if shutil.which("dtc") else "dtc, which spike calls, is not installed; install the package device-tree-compiler"


def make(isa: Isa) -> SpikeEmulator:
    """A fresh machine."""
    return SpikeEmulator(isa)


class SpikeEmulator(HostMemory):
    """Spike as an `Emulator`."""

    name = "spike"

    def __init__(self, isa: Isa) -> None:
        super().__init__()
        if reason := missing():
            raise SetupError(reason, where="engine riscv: emulator spike")
        self.version = _version()
        self._isa = isa

    def map(self, address: int, size: int, *, writable: bool) -> None:
        """Map zeroed memory."""
        super().map(address, size, writable=writable)
        if sum(map(len, self._parts.values())) > _MOST:
            raise DeviceError(f"more than {_MOST >> 20} MiB of memory", where="spike", hint="use unicorn or qemu")

    def run(self, entry: int, stack: int, *, limit: int, watch: Watch | None = None, host: HostHandler | None = None) -> Execution:
        """Call the function at `entry`; raises EmulationError as the protocol says.

        The limit is one of time, and there is no progress report while it runs.
        """
        assert host is None, "refused before"
        calls = self._begin(entry, stack)
        end = -(-self._end() // 4096) * 4096
        places = {
            "tohost": BOOT_PLACE + TOHOST,
            "fromhost": BOOT_PLACE + TOHOST + 8,
            "begin_signature": BOOT_PLACE + STATUS,
            "end_signature": end,
        }
        seconds = 20 + limit / _SLOWEST
        with Scratch("spike") as folder:
            program, signature = folder / "program.elf", folder / "signature"
            program.write_bytes(self._executable(places))
            command = [
                str(_command()), f"--isa={self._isa.name if self._isa.vlen != 256 else 'rv64gcv_zvl256b'}",
                f"-m{CODE_BASE:#x}:{end - CODE_BASE:#x}", f"+signature={signature}", "+signature-granularity=16", str(program),
            ]  # fmt: skip
            try:
                done = run(command, timeout=seconds)
            except subprocess.TimeoutExpired:
                raise EmulationError(f"no end after {seconds:.0f} s", where="spike") from None
            if not signature.exists():
                words = (done.stderr.strip().splitlines() or ["without a word"])[-1]
                raise EmulationError(f"spike stopped: {words}", where="spike")
            lines = signature.read_text().split()
        memory = b"".join(bytes.fromhex(line)[::-1] for line in lines)
        for start, part in self._parts.items():
            offset = start - (BOOT_PLACE + STATUS)
            if offset >= 0:
                part[:] = memory[offset : offset + len(part)]
        status = memory[: calls.size]
        calls.check(status, "spike", "spike stopped without a word")
        counts = calls.counts(status, whole=True)
        return Execution(sum(counts.values()), counts)


def _command() -> str | None:
    spec = importlib.util.find_spec("riscv")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        packaged = Path(folder) / "data" / "bin" / "spike"
        if packaged.is_file():
            return str(packaged)
    return shutil.which("spike")


@lru_cache(maxsize=1)
def _version() -> str:
    done = subprocess.run([str(_command()), "--help"], capture_output=True, text=True, check=False, timeout=60)
    found = re.search(r"Spike RISC-V ISA Simulator (\S+)", done.stdout + done.stderr)
    return found[1] if found else "unknown"
