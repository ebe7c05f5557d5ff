"""qemu-system-riscv64: a machine in its own process, with vectors; its memory is a file that both sides use.

A few instructions at the end of the code region start it (`boot`) and record the instructions that every operation retired
(`minstret`, exact with `-icount shift=0`). Memory is not protected against writes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from functools import lru_cache
from pathlib import Path

from fleet.core.processes import Child, start
from fleet.core.scratch import Scratch
from fleet.engines.riscv_emulators.base import EmulationError, Execution, HostHandler, Watch
from fleet.engines.riscv_emulators.boot import STATUS, Calls
from fleet.errors import DeviceError, FleetError, SetupError
from fleet.targets.riscv.elf import ElfImage
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.plan import CODE_BASE, CODE_SPACE

COMMAND = "qemu-system-riscv64"
_BOOT = CODE_BASE + CODE_SPACE - 0x10_0000
_FREE = 0x0800_0000
"""Memory after the program, where the machine puts its device tree."""
_SLOWEST = 10e6
"""Instructions per second below which a run counts as hung."""


def missing() -> str | None:
    """Return None if it is installed, else what to do."""
    return None if shutil.which(COMMAND) else f"{COMMAND} is not installed; install the package qemu-system-misc"


def make(isa: Isa) -> QemuEmulator:
    """A fresh machine."""
    return QemuEmulator(isa)


class QemuEmulator:
    """qemu-system as an `Emulator`."""

    name = "qemu"

    def __init__(self, isa: Isa) -> None:
        if reason := missing():
            raise SetupError(reason, where="engine riscv: emulator qemu")
        self._isa = isa
        self.version = _version()
        shared = Path("/dev/shm")
        roomy = shared.is_dir() and os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > 1 << 30
        self._scratch = Scratch("qemu", shared if roomy else None)
        self._folder = self._scratch.path
        self._memory = os.open(self._folder / "memory", os.O_RDWR | os.O_CREAT, 0o600)
        self._ranges: list[tuple[int, int]] = []
        self._image: ElfImage | None = None
        self._process: Child | None = None

    def load(self, image: ElfImage) -> None:
        """Map and fill the image's segments, and take its symbols for counting."""
        self._image = image
        for segment in image.segments:
            self.map(segment.address // 4096 * 4096, segment.size + 4096, writable=True)
            self.write(segment.address, segment.data)

    def map(self, address: int, size: int, *, writable: bool) -> None:
        """Map zeroed memory. Everything is writable."""
        if address < CODE_BASE or (address + size > _BOOT and address < _BOOT + 0x10_0000):
            raise DeviceError(f"cannot map {size} bytes at {address:#x}", where="qemu")
        self._ranges.append((address, size))
        os.ftruncate(self._memory, max(os.fstat(self._memory).st_size, address + size - CODE_BASE))

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Write memory from outside."""
        self._find(address, len(data))
        view, done = memoryview(data).cast("B"), 0
        while done < len(view):
            try:
                done += os.pwrite(self._memory, view[done : done + (1 << 28)], address - CODE_BASE + done)
            except OSError as error:
                raise DeviceError(f"cannot fill memory ({error.strerror})", where="qemu", hint="free space") from error

    def read(self, address: int, size: int) -> bytes:
        """Read memory from outside."""
        self._find(address, size)
        return os.pread(self._memory, size, address - CODE_BASE)

    def run(self, entry: int, stack: int, *, limit: int, watch: Watch | None = None, host: HostHandler | None = None) -> Execution:
        """Call the function at `entry`; raises EmulationError as the protocol says. The limit is one of time."""
        assert host is None, "refused before"
        if self._image is None:
            raise FleetError("no image is loaded", where="qemu")
        calls = Calls(self._image, entry)
        os.pwrite(self._memory, calls.memory(_BOOT, stack), _BOOT - CODE_BASE)
        size = -(-(os.fstat(self._memory).st_size + _FREE) >> 20)
        os.ftruncate(self._memory, size << 20)
        deadline = time.monotonic() + 20 + limit / _SLOWEST
        self._start(size, _BOOT)
        assert self._process is not None
        try:
            while self._process.poll() is None:
                if time.monotonic() > deadline:
                    raise EmulationError(
                        f"no end after {20 + limit / _SLOWEST:.0f} s", where="qemu", symbol=calls.at(self._status(calls))
                    )
                if watch is not None:
                    watch(calls.counts(self._status(calls)))
                try:
                    self._process.wait(0.3)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            self._stop()
        status = self._status(calls)
        lines = (self._folder / "log").read_text(errors="replace").strip().splitlines()
        calls.check(status, "qemu", f"{COMMAND} stopped: {lines[-1] if lines else 'without a word'}")
        counts = calls.counts(status, whole=True)
        return Execution(sum(counts.values()), counts)

    def close(self) -> None:
        """Free the machine; may be called twice."""
        self._stop()
        if self._memory >= 0:
            os.close(self._memory)
            self._memory = -1
            self._scratch.close()

    def _status(self, calls: Calls) -> bytes:
        return os.pread(self._memory, calls.size, _BOOT + STATUS - CODE_BASE)

    def _start(self, size: int, entry: int) -> None:
        cpu = "rv64" + (f",v=true,vlen={self._isa.vlen},vext_spec=v1.0" if self._isa.vlen else "")
        command = [
            COMMAND, "-M", "virt,memory-backend=m", "-object",
            f"memory-backend-file,id=m,size={size}M,mem-path={self._folder}/memory,share=on", "-m", f"{size}M",
            "-bios", "none", "-device", f"loader,addr={entry:#x},cpu-num=0", "-nographic", "-monitor", "none", "-serial", "none",
            "-cpu", cpu, "-icount", "shift=0",
        ]  # fmt: skip
        with (self._folder / "log").open("wb") as log:
            self._process = start(command, stdout=log, stderr=log)

    def _stop(self) -> None:
        if self._process is not None:
            self._process.end()

    def _find(self, address: int, size: int) -> None:
        if not any(start <= address and address + size <= start + length for start, length in self._ranges) and size:
            raise EmulationError(f"{size} bytes at {address:#x} are not mapped", where="qemu", address=address)


@lru_cache(maxsize=1)
def _version() -> str:
    text = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=False, timeout=30).stdout
    found = re.search(r"version (\S+)", text)
    return found[1] if found else "unknown"
