"""qemu-system-riscv64: a machine in a process of its own, with vectors; its memory is a file that both sides use.

A few instructions at the end of the code region start it: they turn floating point and vectors on, call the functions of a
table one after the other and write down the instructions that each retired (`minstret`, exact with `-icount shift=0`). For a
program of fleet's these are its operations, in the order in which its entry calls them; what the entry itself would retire is
known without running it, since it is a straight line of calls. Memory is not protected against writes.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np

from fleet.engines.riscv_emulators.base import EmulationError, Execution, Watch
from fleet.engines.riscv_emulators.boot import BOOT, NOTHING, STATUS, TABLE
from fleet.engines.riscv_emulators.counting import SHARED, instruction_starts
from fleet.errors import FleetError, SetupError
from fleet.targets.riscv.elf import PF_X, Image
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.plan import CODE_BASE, CODE_SPACE

COMMAND = "qemu-system-riscv64"
_ENTRY = "fleet_main"
_BOOT = CODE_BASE + CODE_SPACE - 0x10_0000
_STATUS, _TABLE = _BOOT + STATUS, _BOOT + TABLE
_FREE = 0x0800_0000
"""Memory behind the program, where the machine leaves its device tree."""
_SLOWEST = 10e6
"""Instructions a second below which a run is taken for hung."""
_CAUSES = {
    0: "misaligned instruction", 1: "jump to unmapped memory", 2: "illegal instruction", 3: "breakpoint",
    4: "misaligned read", 5: "read of unmapped memory", 6: "misaligned write", 7: "write to unmapped memory",
    11: "environment call",
}  # fmt: skip


def missing() -> str | None:
    """None when it is installed, else what to do."""
    return None if shutil.which(COMMAND) else f"{COMMAND} is not installed; install the package qemu-system-misc"


def make(isa: Isa) -> QemuEmulator:
    """A fresh machine."""
    return QemuEmulator(isa)


class QemuEmulator:
    """See `base.Emulator`."""

    name = "qemu"

    def __init__(self, isa: Isa) -> None:
        if reason := missing():
            raise SetupError(reason, where="riscv emulator qemu")
        self._isa = isa
        self.version = _version()
        shared = Path("/dev/shm")
        roomy = shared.is_dir() and os.access(shared, os.W_OK) and shutil.disk_usage(shared).free > 1 << 30
        self._folder = tempfile.mkdtemp(prefix="fleet-qemu-", dir=shared if roomy else None)
        self._memory = os.open(Path(self._folder) / "memory", os.O_RDWR | os.O_CREAT, 0o600)
        self._ranges: list[tuple[int, int]] = []
        self._image: Image | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def load(self, image: Image) -> None:
        """See `base.Emulator`."""
        self._image = image
        for segment in image.segments:
            self.map(segment.address // 4096 * 4096, segment.size + 4096, writable=True)
            self.write(segment.address, segment.data)

    def map(self, address: int, size: int, *, writable: bool) -> None:
        """See `base.Emulator`; everything is writable."""
        if address < CODE_BASE or (address + size > _BOOT and address < _BOOT + 0x10_0000):
            raise EmulationError(f"cannot map {size} bytes at {address:#x}", where="qemu")
        self._ranges.append((address, size))
        os.ftruncate(self._memory, max(os.fstat(self._memory).st_size, address + size - CODE_BASE))

    def write(self, address: int, data: bytes | memoryview) -> None:
        """See `base.Emulator`."""
        self._find(address, len(data))
        view, done = memoryview(data).cast("B"), 0
        while done < len(view):
            try:
                done += os.pwrite(self._memory, view[done : done + (1 << 28)], address - CODE_BASE + done)
            except OSError as error:
                raise EmulationError(f"cannot fill memory ({error.strerror})", where="qemu", hint="free space") from error

    def read(self, address: int, size: int) -> bytes:
        """See `base.Emulator`."""
        self._find(address, size)
        return os.pread(self._memory, size, address - CODE_BASE)

    def run(self, entry: int, stack: int, *, limit: int, watch: Watch | None = None) -> Execution:
        """See `base.Emulator`; the limit is one of time."""
        if self._image is None:
            raise FleetError("no image is loaded", where="qemu")
        names, own = self._calls(entry)
        places = {s.name: s.address for s in self._image.symbols if s.function}
        os.pwrite(self._memory, BOOT, _BOOT - CODE_BASE)
        table = [_BOOT + NOTHING, *(entry if n is None else places[n] for n in names)]
        os.pwrite(
            self._memory, bytes(64) + b"".join(struct.pack("<QQQ", a, stack, 0) for a in table) + bytes(8), _STATUS - CODE_BASE
        )
        size = -(-(os.fstat(self._memory).st_size + _FREE) >> 20)
        os.ftruncate(self._memory, size << 20)
        deadline = time.monotonic() + 20 + limit / _SLOWEST
        self._start(size, _BOOT)
        assert self._process is not None
        try:
            while self._process.poll() is None:
                if time.monotonic() > deadline:
                    raise EmulationError(f"no end after {20 + limit / _SLOWEST:.0f} s", where="qemu", symbol=self._at(names))
                if watch is not None:
                    watch(self._counts(names))
                try:
                    self._process.wait(0.3)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            self._stop()
        status, cause, pc, value, _ = struct.unpack("<5Q", os.pread(self._memory, 40, _STATUS - CODE_BASE))
        if status != 1:
            self._raise(status, cause, pc, value, names)
        counts = self._counts(names)
        if own:
            counts = {_ENTRY: own, **counts}
        return Execution(sum(counts.values()), counts)

    def close(self) -> None:
        """See `base.Emulator`."""
        self._stop()
        if self._memory >= 0:
            os.close(self._memory)
            self._memory = -1
            shutil.rmtree(self._folder, ignore_errors=True)

    def _calls(self, entry: int) -> tuple[list[str | None], int]:
        """The functions to call (None: the entry itself) and the instructions of an entry that only calls them."""
        assert self._image is not None
        functions = sorted((s for s in self._image.symbols if s.function), key=lambda s: s.address)
        main = next((s for s in functions if s.address == entry and s.name == _ENTRY), None)
        if main is None:
            return [None], 0
        segment = next(s for s in self._image.segments if s.flags & PF_X)
        code = segment.data[main.address - segment.address : main.address - segment.address + main.size]
        names: list[str | None] = [s.name for s in functions if s is not main and not s.name.startswith(SHARED)]
        return names, int(instruction_starts(code).sum())

    def _counts(self, names: list[str | None]) -> Mapping[str, int]:
        raw = os.pread(self._memory, 24 * (len(names) + 1), _TABLE - CODE_BASE)
        measured = np.frombuffer(raw, "<u8").reshape(-1, 3)[:, 2].astype(np.int64)
        around = int(measured[0]) - 1  # the first function only returns
        return {n or "entry": max(0, int(c) - around) for n, c in zip(names, measured[1:], strict=True)}

    def _start(self, size: int, entry: int) -> None:
        cpu = "rv64" + (f",v=true,vlen={self._isa.vlen},vext_spec=v1.0" if self._isa.vlen else "")
        command = [
            COMMAND, "-M", "virt,memory-backend=m", "-object",
            f"memory-backend-file,id=m,size={size}M,mem-path={self._folder}/memory,share=on", "-m", f"{size}M",
            "-bios", "none", "-device", f"loader,addr={entry:#x},cpu-num=0", "-nographic", "-monitor", "none", "-serial", "none",
            "-cpu", cpu, "-icount", "shift=0",
        ]  # fmt: skip
        with (Path(self._folder) / "log").open("wb") as log:
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def _stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _at(self, names: list[str | None]) -> str:
        """The function that the table stood at."""
        counts = self._counts(names)
        return next((n or "entry" for n in names if not counts[n or "entry"]), "?")

    def _raise(self, status: int, cause: int, pc: int, value: int, names: list[str | None]) -> None:
        if status != 2:
            lines = (Path(self._folder) / "log").read_text(errors="replace").strip().splitlines()
            raise EmulationError(f"{COMMAND} stopped: {lines[-1] if lines else 'without a word'}", where="qemu")
        what = _CAUSES.get(cause, f"trap {cause}")
        address = value if cause in (5, 7) else None
        if address is not None:
            what += f" at {address:#x}"
        functions = self._image.symbols if self._image else ()
        symbol = next((s.name for s in functions if s.function and s.address <= pc < s.address + s.size), "no function")
        if symbol.startswith(SHARED):
            symbol = self._at(names)
        raise EmulationError(
            f"{what}, at pc {pc:#x} in {symbol}", where="qemu", pc=pc, symbol=symbol, address=address, trapped=cause in (2, 3, 11)
        )

    def _find(self, address: int, size: int) -> None:
        if not any(start <= address and address + size <= start + length for start, length in self._ranges) and size:
            raise EmulationError(f"{size} bytes at {address:#x} are not mapped", where="qemu", address=address)


@lru_cache(maxsize=1)
def _version() -> str:
    text = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=False, timeout=30).stdout
    found = re.search(r"version (\S+)", text)
    return found[1] if found else "unknown"
