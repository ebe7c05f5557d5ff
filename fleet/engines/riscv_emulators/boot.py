"""The start code of a bare machine: calls the functions of a table and counts the instructions that each retires.

The caller chooses its address. 0x8000 bytes after it are eight words of status (1 at the end or 2 after a trap; mcause; mepc;
mtval; a free one; one that a host may watch), then the table: function, stack pointer, and space for the number of instructions
retired from after the first reading of `minstret` to the second. A function of 0 ends it. LLVM's library as packaged has no
assembler for this machine, so the words are given here beside their text; a test compares them with `ASSEMBLY` if an assembler is
installed.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import numpy as np

from fleet.engines.riscv_emulators.base import EmulationError
from fleet.engines.riscv_emulators.counting import SHARED, instruction_starts
from fleet.targets.riscv.elf import PF_X, ElfImage

STATUS = 0x8000
TOHOST = STATUS + 40
TABLE = STATUS + 64
ASSEMBLY = """
    li   t0, 0x6600       # floating point and vectors on
    csrs mstatus, t0
    csrw fcsr, zero
    la   t0, trap
    csrw mtvec, t0
    auipc s0, 8
    addi s0, s0, 36
next:
    ld   s1, 0(s0)
    beqz s1, end
    ld   sp, 8(s0)
    csrr s2, minstret
    jalr s1
    csrr s3, minstret
    sub  s3, s3, s2
    sd   s3, 16(s0)
    addi s0, s0, 24
    j    next
    nop
trap:
    auipc t2, 8
    addi t2, t2, -80
    ld   t1, 0(t2)
    bnez t1, wait         # a machine without that switch
    csrr t1, mcause
    sd   t1, 8(t2)
    csrr t1, mepc
    sd   t1, 16(t2)
    csrr t1, mtval
    sd   t1, 24(t2)
    li   t1, 2
    j    leave
end:
    auipc t2, 8
    addi t2, t2, -128
    li   t1, 1
leave:
    sd   t1, 0(t2)
    li   t1, 1
    sd   t1, 40(t2)       # the word that a host watches
    li   t0, 0x100000     # the machine's switch
    lui  t1, 5
    addi t1, t1, 0x555
    sw   t1, 0(t0)
wait:
    j    wait
nothing:
    ret
"""
"""For rv64g, without linker relaxation."""
_WORDS = """
    000062b7 60028293 3002a073 00301073 00000297 04028293 30529073 00008417 02440413 00043483 04048c63 00843103 b0202973 000480e7
    b02029f3 412989b3 01343823 01840413 fddff06f 00000013 00008397 fb038393 0003b303 04031663 34202373 0063b423 34102373 0063b823
    34302373 0063bc23 00200313 0100006f 00008397 f8038393 00100313 0063b023 00100313 0263b423 001002b7 00005337 55530313 0062a023
    0000006f 00008067
"""
BOOT = b"".join(struct.pack("<I", int(word, 16)) for word in _WORDS.split())
NOTHING = len(BOOT) - 4
"""Offset of a function that only returns."""
_MAIN = "fleet_main"
_CAUSES = {
    0: "misaligned instruction", 1: "jump to unmapped memory", 2: "illegal instruction", 3: "breakpoint",
    4: "misaligned read", 5: "read of unmapped memory", 6: "misaligned write", 7: "write to unmapped memory",
    11: "environment call",
}  # fmt: skip


class Calls:
    """The functions that a bare machine calls for an image, and the instructions that they retired.

    For a program of fleet these are its operations, in the order in which its entry calls them; the instructions of the entry
    itself are known without running it, because it is a straight line of calls. For any other image it is the entry.
    """

    def __init__(self, image: ElfImage, entry: int) -> None:
        self.image = image
        functions = sorted((s for s in image.symbols if s.function), key=lambda s: s.address)
        main = next((s for s in functions if s.address == entry and s.name == _MAIN), None)
        if main is None:
            self._own, self.names, self._places = 0, ["entry"], [entry]
            return
        segment = next(s for s in image.segments if s.flags & PF_X)
        begin = main.address - segment.address
        self._own = int(instruction_starts(segment.data[begin : begin + main.size]).sum())
        called = [s for s in functions if s is not main and not s.name.startswith(SHARED)]
        self.names, self._places = [s.name for s in called], [s.address for s in called]

    def memory(self, base: int, stack: int) -> bytes:
        """Return the bytes at `base`: code, status and table."""
        rows = [struct.pack("<QQQ", place, stack, 0) for place in (base + NOTHING, *self._places)]
        return BOOT.ljust(STATUS, b"\0") + bytes(64) + b"".join(rows) + bytes(8)

    def counts(self, status: bytes, *, whole: bool = False) -> Mapping[str, int]:
        """Return instructions by function from status and table; `whole` adds the entry's own."""
        table = status[64 : 64 + 24 * (len(self.names) + 1)]
        measured = np.frombuffer(table, "<u8").reshape(-1, 3)[:, 2].astype(np.int64)
        around = int(measured[0]) - 1  # the first function only returns
        found = {name: max(0, int(c) - around) for name, c in zip(self.names, measured[1:], strict=True)}
        return {_MAIN: self._own, **found} if whole and self._own else found

    @property
    def size(self) -> int:
        """Bytes of status and table."""
        return 64 + 24 * (len(self.names) + 1)

    def at(self, status: bytes) -> str:
        """Return the function that has not returned."""
        counts = self.counts(status)
        return next((name for name in self.names if not counts[name]), "?")

    def check(self, status: bytes, where: str, otherwise: str) -> None:
        """Raises EmulationError if the run did not reach its end; `otherwise` is the reason if the status does not give one."""
        done, cause, pc, value = struct.unpack_from("<4Q", status)
        if done == 1:
            return
        if done != 2:
            raise EmulationError(otherwise, where=where, symbol=self.at(status))
        what, address = _CAUSES.get(cause, f"trap {cause}"), value if cause in (5, 7) else None
        if address is not None:
            what += f" at {address:#x}"
        inside = (s.name for s in self.image.symbols if s.function and s.address <= pc < s.address + s.size)
        symbol = next(inside, "no function")
        if symbol.startswith(SHARED):
            symbol = self.at(status)
        text = f"{what}, at pc {pc:#x} in {symbol}"
        raise EmulationError(text, where=where, pc=pc, symbol=symbol, address=address, trapped=cause in (2, 3, 11))
