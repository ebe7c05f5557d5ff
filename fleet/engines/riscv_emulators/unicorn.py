"""Unicorn 2: QEMU's RV64GC in this process.

Three facts of Unicorn 2.1.4 matter here: floating point is off until mstatus.FS is set; after a trap the program counter
stands 4 bytes after the instruction; and it retires nothing that it could tell, so blocks are counted (`counting`).
"""

from __future__ import annotations

import bisect
import ctypes
import importlib
import mmap
import threading
from importlib import metadata
from typing import Any

from fleet.engines.riscv_emulators.base import EmulationError, Execution, Watch
from fleet.engines.riscv_emulators.counting import SHARED, BlockCounter
from fleet.errors import DeviceError, FleetError, SetupError
from fleet.targets.riscv.elf import PF_W, PF_X, ElfImage
from fleet.targets.riscv.isa import Isa

_PAGE = 0x1000
_STOP = 0x7000_0000
"""Where the entry function returns to: a page of its own, which holds no valid instruction."""
_MSTATUS_FS_DIRTY = 0x6600
_TRAPS = {
    0: "misaligned instruction",
    1: "instruction access fault",
    2: "illegal instruction",
    3: "breakpoint",
    8: "environment call",
    11: "environment call",
}


def missing() -> str | None:
    """None when Unicorn can be imported, else what to do."""
    try:
        version = metadata.version("unicorn")
        importlib.import_module("unicorn.riscv_const")
    except (ImportError, OSError) as error:
        return f"the Python package `unicorn` cannot be imported ({error}); install fleet with its extra `riscv`"
    return None if version.startswith("2.") else f"unicorn {version} is installed; expected 2.1"


class UnicornEmulator:
    """Unicorn as an `Emulator`. Memory is allocated here and shared with Unicorn, so reads and writes copy once."""

    name = "unicorn"

    def __init__(self) -> None:
        if reason := missing():
            raise SetupError(reason, where="engine riscv")
        self._u: Any = importlib.import_module("unicorn")
        self._r: Any = importlib.import_module("unicorn.riscv_const")
        self.version = metadata.version("unicorn")
        self._machine: Any = self._u.Uc(self._u.UC_ARCH_RISCV, self._u.UC_MODE_RISCV64)
        self._memory: list[tuple[int, mmap.mmap]] = []
        self._image: ElfImage | None = None
        self._counter: BlockCounter | None = None
        self._fault: tuple[str, int, int | None, bool] | None = None

    def load(self, image: ElfImage) -> None:
        """Map and fill the image's segments, and take its symbols for counting."""
        for segment in image.segments:
            start = segment.address // _PAGE * _PAGE
            size = -(-(segment.address + segment.size) // _PAGE) * _PAGE - start
            rights = self._u.UC_PROT_READ
            rights |= self._u.UC_PROT_WRITE if segment.flags & PF_W else 0
            rights |= self._u.UC_PROT_EXEC if segment.flags & PF_X else 0
            self._map(start, size, rights)
            self.write(segment.address, segment.data)
        self._map(_STOP, _PAGE, self._u.UC_PROT_EXEC)
        self._image = image
        self._counter = self._count_blocks(image)
        self._machine.hook_add(self._u.UC_HOOK_MEM_INVALID, self._on_bad_access)
        self._machine.hook_add(self._u.UC_HOOK_INTR, self._on_trap)

    def map(self, address: int, size: int, *, writable: bool) -> None:
        """Map zeroed memory."""
        self._map(address, size, self._u.UC_PROT_READ | (self._u.UC_PROT_WRITE if writable else 0))

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Write memory from outside."""
        if len(data):
            memory, offset = self._find(address, len(data))
            memory[offset : offset + len(data)] = data

    def read(self, address: int, size: int) -> bytes:
        """Read memory from outside."""
        if not size:
            return b""
        memory, offset = self._find(address, size)
        return memory[offset : offset + size]

    def run(self, entry: int, stack: int, *, limit: int, watch: Watch | None = None) -> Execution:
        """Call the function at `entry`; raises EmulationError as the protocol says.

        Runs in a thread, so that Ctrl-C and `watch` work while it does.
        """
        counter = self._counter
        if counter is None:
            raise FleetError("no image is loaded", where="unicorn")
        counter.reset(limit)
        self._fault = None
        for register, value in (
            (self._r.UC_RISCV_REG_MSTATUS, _MSTATUS_FS_DIRTY),
            (self._r.UC_RISCV_REG_FCSR, 0),
            (self._r.UC_RISCV_REG_SP, stack),
            (self._r.UC_RISCV_REG_RA, _STOP),
        ):
            self._machine.reg_write(register, value)
        errors: list[BaseException] = []

        def work() -> None:
            try:
                self._machine.emu_start(entry, _STOP)
            except self._u.UcError as error:
                errors.append(error)

        thread = threading.Thread(target=work, name="riscv", daemon=True)
        thread.start()
        try:
            thread.join(0.2)
            while thread.is_alive():
                if watch is not None:
                    watch(counter.by_symbol())
                thread.join(0.3)
        except BaseException:
            self._machine.emu_stop()
            thread.join()
            raise
        self._raise(errors[0] if errors else None, counter)
        return Execution(counter.total, counter.by_symbol(), counter.profile)

    def close(self) -> None:
        """Free the machine; may be called twice."""
        self._machine = None
        self._memory.clear()

    def _map(self, address: int, size: int, rights: int) -> None:
        try:
            memory = mmap.mmap(-1, size)
        except OSError as error:
            raise DeviceError(
                f"cannot allocate {size >> 20} MiB ({error.strerror})", where="unicorn", hint="use a smaller batch"
            ) from error
        pointer = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.from_buffer(memory)))
        try:
            self._machine.mem_map_ptr(address, size, rights, pointer)
        except self._u.UcError as error:
            raise DeviceError(f"cannot map {size} bytes at {address:#x} ({error})", where="unicorn") from error
        bisect.insort(self._memory, (address, memory), key=lambda entry: entry[0])

    def _find(self, address: int, size: int) -> tuple[mmap.mmap, int]:
        i = bisect.bisect_right(self._memory, address, key=lambda entry: entry[0]) - 1
        if i >= 0:
            start, memory = self._memory[i]
            if address + size <= start + len(memory):
                return memory, address - start
        raise EmulationError(f"{size} bytes at {address:#x} are not mapped", where="unicorn", address=address)

    def _count_blocks(self, image: ElfImage) -> BlockCounter:
        library: Any = importlib.import_module("unicorn.unicorn_py3.unicorn").uclib
        counter = BlockCounter(image, ctypes.cast(library.uc_emu_stop, ctypes.c_void_p).value or 0)
        hook = ctypes.c_size_t()
        add = ctypes.CFUNCTYPE(
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_int,
            ctypes.c_void_p,
            ctypes.c_void_p,
            ctypes.c_uint64,
            ctypes.c_uint64,
        )(ctypes.cast(library.uc_hook_add, ctypes.c_void_p).value or 0)
        handle = self._machine._uch  # no public name gives it
        status = add(
            handle, ctypes.addressof(hook), self._u.UC_HOOK_BLOCK, counter.hook, counter.user, counter.begin, counter.end - 1
        )
        if status:
            raise SetupError(f"unicorn refuses a block hook (status {status})", where="engine riscv")
        return counter

    def _on_bad_access(self, machine: Any, access: int, address: int, size: int, value: int, data: object) -> bool:
        kinds = {
            self._u.UC_MEM_READ_UNMAPPED: "read of unmapped memory", self._u.UC_MEM_WRITE_UNMAPPED: "write to unmapped memory",
            self._u.UC_MEM_FETCH_UNMAPPED: "jump to unmapped memory", self._u.UC_MEM_READ_PROT: "read of protected memory",
            self._u.UC_MEM_WRITE_PROT: "write to read-only memory", self._u.UC_MEM_FETCH_PROT: "jump into data",
        }  # fmt: skip
        pc = int(machine.reg_read(self._r.UC_RISCV_REG_PC))
        self._fault = (f"{kinds.get(access, 'bad access')}, {size} bytes at {address:#x}", pc, address, False)
        return False

    def _on_trap(self, machine: Any, number: int, data: object) -> None:
        pc = int(machine.reg_read(self._r.UC_RISCV_REG_PC)) - 4
        self._fault = (_TRAPS.get(number, f"trap {number}"), pc, None, True)
        machine.emu_stop()

    def _raise(self, error: BaseException | None, counter: BlockCounter) -> None:
        """Raises where the run did not end by returning from its entry."""
        pc = int(self._machine.reg_read(self._r.UC_RISCV_REG_PC))
        if self._fault is not None:
            what, pc, address, trapped = self._fault
        elif error is not None:
            what, address, trapped = str(error), None, True
        elif counter.exceeded:
            what, address, trapped = f"no end after {counter.total} instructions", None, False
        elif counter.strays:
            what, address, trapped = "code outside all functions was executed", None, False
        elif pc != _STOP:
            what, address, trapped = "stopped", None, False
        else:
            return
        symbol = self._symbol(pc)
        if symbol.startswith(SHARED):
            symbol = counter.current or symbol
        raise EmulationError(
            f"{what}, at pc {pc:#x} in {symbol}", where="unicorn", pc=pc, symbol=symbol, address=address, trapped=trapped
        )

    def _symbol(self, pc: int) -> str:
        symbols = self._image.symbols if self._image else ()
        return next((s.name for s in symbols if s.function and s.address <= pc < s.address + s.size), "no function")


def make(isa: Isa) -> UnicornEmulator:
    """A fresh machine."""
    assert not isa.vlen, "refused before"
    return UnicornEmulator()
