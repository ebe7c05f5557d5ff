"""Unicorn 2: QEMU's RV64GC in this process, and its AArch64.

Three facts of Unicorn 2.1.4 matter here: floating point is off until mstatus.FS (CPACR.FPEN) is set; after a trap of RISC-V the
program counter is 4 bytes after the instruction; and it does not report retired instructions, so blocks are counted (`counting`).
"""

from __future__ import annotations

import bisect
import ctypes
import importlib
import mmap
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from fleet.engines.riscv_emulators.base import EmulationError, Execution, HostHandler, Watch
from fleet.engines.riscv_emulators.counting import SHARED, BlockCounter
from fleet.errors import DeviceError, FleetError, SetupError
from fleet.targets.riscv.elf import PF_W, PF_X, ElfImage
from fleet.targets.riscv.isa import Isa
from fleet.targets.riscv.plan import HOST_SYMBOL

_PAGE = 0x1000
_STOP = 0x7000_0000
"""Return address of the entry function: a separate page without a valid instruction."""
_MSTATUS_FS_DIRTY = 0x6600
_CPACR_FPEN = 0x30_0000
_TRAPS = {
    0: "misaligned instruction",
    1: "instruction access fault",
    2: "illegal instruction",
    3: "breakpoint",
    8: "environment call",
    11: "environment call",
}


@dataclass(frozen=True)
class Processor:
    """A processor in Unicorn's terms, with its registers by role.

    engine: the engine that runs code for it. arch, mode, constants: Unicorn's names. start: registers -> values before a run.
    behind: bytes by which the program counter is past an instruction that trapped. size: of every instruction, None if they
    differ. host_call: the instruction that calls the host, if Unicorn reports it like any trap; else it reports an error.
    """

    engine: str
    arch: str
    mode: str
    constants: str
    pc: str
    stack: str
    link: str
    arguments: tuple[str, str]
    start: Mapping[str, int]
    behind: int
    size: int | None = None
    host_call: bytes | None = None


RISCV64 = Processor(
    "riscv", "UC_ARCH_RISCV", "UC_MODE_RISCV64", "unicorn.riscv_const", "UC_RISCV_REG_PC", "UC_RISCV_REG_SP", "UC_RISCV_REG_RA",
    ("UC_RISCV_REG_A0", "UC_RISCV_REG_A1"), {"UC_RISCV_REG_MSTATUS": _MSTATUS_FS_DIRTY, "UC_RISCV_REG_FCSR": 0}, 4,
)  # fmt: skip
AARCH64 = Processor(
    "aarch64", "UC_ARCH_ARM64", "UC_MODE_ARM", "unicorn.arm64_const", "UC_ARM64_REG_PC", "UC_ARM64_REG_SP", "UC_ARM64_REG_X30",
    ("UC_ARM64_REG_X0", "UC_ARM64_REG_X1"), {"UC_ARM64_REG_CPACR_EL1": _CPACR_FPEN, "UC_ARM64_REG_FPCR": 0}, 0, 4,
    bytes.fromhex("00003ed4"),
)  # fmt: skip


def missing() -> str | None:
    """Return None if Unicorn can be imported, else what to do."""
    try:
        version = metadata.version("unicorn")
        importlib.import_module("unicorn.riscv_const")
    except (ImportError, OSError) as error:
        return f"the Python package `unicorn` cannot be imported ({error}); install fleet with its extra `riscv`"
    return None if version.startswith("2.") else f"unicorn {version} is installed; expected 2.1"


class UnicornEmulator:
    """Unicorn as an `Emulator`. Memory is allocated here and shared with Unicorn, so reads and writes copy once."""

    name = "unicorn"

    def __init__(self, processor: Processor = RISCV64) -> None:
        if reason := missing():
            raise SetupError(reason, where=f"engine {processor.engine}")
        self._processor = processor
        self._u: Any = importlib.import_module("unicorn")
        self._r: Any = importlib.import_module(processor.constants)
        self.version = metadata.version("unicorn")
        self._machine: Any = self._u.Uc(getattr(self._u, processor.arch), getattr(self._u, processor.mode))
        self._memory: list[tuple[int, mmap.mmap]] = []
        self._image: ElfImage | None = None
        self._host_call: int | None = None
        self._counter: BlockCounter | None = None
        self._fault: tuple[str, int, int | None, bool] | None = None
        self._calling = False

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
        self._host_call = next((s.address for s in image.symbols if s.name == HOST_SYMBOL), None)
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

    def run(self, entry: int, stack: int, *, limit: int, watch: Watch | None = None, host: HostHandler | None = None) -> Execution:
        """Call the function at `entry`; raises EmulationError as the protocol says, and what `host` raises.

        Runs in a thread, so that Ctrl-C and `watch` work while it does.
        """
        counter = self._counter
        if counter is None:
            raise FleetError("no image is loaded", where="unicorn")
        counter.reset(limit)
        self._fault = None
        processor = self._processor
        for register, value in {**processor.start, processor.stack: stack, processor.link: _STOP}.items():
            self._machine.reg_write(getattr(self._r, register), value)
        errors: list[BaseException] = []

        def work() -> None:
            begin = entry
            while begin != _STOP:
                try:
                    self._calling = False
                    self._machine.emu_start(begin, _STOP)
                    if not self._calling:
                        return
                    begin = self._called(host, None, errors)
                except self._u.UcError as error:
                    begin = self._called(host, error, errors)

        thread = threading.Thread(target=work, name=processor.engine, daemon=True)
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
        if errors and not isinstance(errors[0], self._u.UcError):
            raise errors[0]
        self._raise(errors[0] if errors else None, counter)
        return Execution(counter.total, counter.by_symbol(), counter.profile)

    def _called(self, host: HostHandler | None, error: BaseException | None, errors: list[BaseException]) -> int:
        """Serve a host call; return the address at which to continue. On an error: `_STOP`, and the error in `errors`."""
        pc = self._pc()
        if host is None or pc != self._host_call:
            errors.append(error or EmulationError("a call that nobody answers", where="unicorn", pc=pc, trapped=True))
            return _STOP
        try:
            host(*(int(self._machine.reg_read(getattr(self._r, r))) for r in self._processor.arguments))
        except BaseException as raised:  # raised again by the caller of the run
            errors.append(raised)
            return _STOP
        return pc + (self._processor.size or (4 if self.read(pc, 1)[0] & 3 == 3 else 2))

    def _pc(self) -> int:
        return int(self._machine.reg_read(getattr(self._r, self._processor.pc)))

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
        counter = BlockCounter(image, ctypes.cast(library.uc_emu_stop, ctypes.c_void_p).value or 0, self._processor.size)
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
        handle = self._machine._uch  # there is no public name for it
        status = add(
            handle, ctypes.addressof(hook), self._u.UC_HOOK_BLOCK, counter.hook, counter.user, counter.begin, counter.end - 1
        )
        if status:
            raise SetupError(f"unicorn refuses a block hook (status {status})", where=f"engine {self._processor.engine}")
        return counter

    def _on_bad_access(self, machine: Any, access: int, address: int, size: int, value: int, data: object) -> bool:
        kinds = {
            self._u.UC_MEM_READ_UNMAPPED: "read of unmapped memory", self._u.UC_MEM_WRITE_UNMAPPED: "write to unmapped memory",
            self._u.UC_MEM_FETCH_UNMAPPED: "jump to unmapped memory", self._u.UC_MEM_READ_PROT: "read of protected memory",
            self._u.UC_MEM_WRITE_PROT: "write to read-only memory", self._u.UC_MEM_FETCH_PROT: "jump into data",
        }  # fmt: skip
        pc = self._pc()
        self._fault = (f"{kinds.get(access, 'bad access')}, {size} bytes at {address:#x}", pc, address, False)
        return False

    def _on_trap(self, machine: Any, number: int, data: object) -> None:
        pc = self._pc() - self._processor.behind
        if self._processor.host_call is not None and self.read(pc, len(self._processor.host_call)) == self._processor.host_call:
            self._calling = True
        else:
            self._fault = (_TRAPS.get(number, f"trap {number}"), pc, None, True)
        machine.emu_stop()

    def _raise(self, error: BaseException | None, counter: BlockCounter) -> None:
        """Raises if the run did not end by returning from its entry."""
        pc = self._pc()
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
