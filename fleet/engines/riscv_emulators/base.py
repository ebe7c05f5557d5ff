"""The interface of a RISC-V emulator. Unicorn implements it in process; others run in their own process."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fleet.errors import ExitCode, FleetError
from fleet.targets.riscv.elf import ElfImage


class EmulationError(FleetError):
    """The program did not reach its end, although the golden did.

    `symbol` is the function in which it stopped, `pc` the address of the instruction.
    `address` is the data address of a bad access, or None; `trapped` marks an illegal instruction or a
    breakpoint (which generated code uses to stop itself).
    """

    exit_code = ExitCode.DIFFERS

    def __init__(
        self,
        what: str,
        *,
        where: str | None = None,
        hint: str | None = None,
        pc: int = 0,
        symbol: str = "?",
        address: int | None = None,
        trapped: bool = False,
    ) -> None:
        super().__init__(what, where=where, hint=hint)
        self.pc, self.symbol, self.address, self.trapped = pc, symbol, address, trapped


@dataclass(frozen=True)
class Execution:
    """Counts of a finished run: instructions retired, in total and by function (without callees).

    profile: (function that called, function) -> how often each of its instructions ran (see `counting.BlockCounter.profile`);
    None if the emulator does not report it. cycles: an estimate for a core, None without one.
    """

    instructions: int
    by_symbol: Mapping[str, int]
    profile: Callable[[str, str], np.ndarray] | None = None
    cycles: int | None = None


HostHandler = Callable[[int, int], None]
"""Called at an `ebreak` of the program with the numbers in a0 and a1; an exception ends the run."""
Watch = Callable[[Mapping[str, int]], None]
"""Called a few times a second while the program runs, with the counts by function so far; may raise to stop the run."""


class Emulator(Protocol):
    """One machine: RV64GC, one hart, machine mode, floating point on, rounding to nearest even.

    Use: `load`, `map` and `write`, then `run`, `read`, `close`. Any method raises EmulationError for
    unmapped addresses.
    """

    name: str
    version: str

    def load(self, image: ElfImage) -> None:
        """Map and fill the image's segments (with their access rights) and use its symbols for counting."""
        ...

    def map(self, address: int, size: int, *, writable: bool) -> None:
        """Map zeroed memory; address and size are multiples of 4,096 bytes. The program may not execute it."""
        ...

    def write(self, address: int, data: bytes | memoryview) -> None:
        """Write memory from outside the program, including read-only memory."""
        ...

    def read(self, address: int, size: int) -> bytes:
        """Read memory from outside the program."""
        ...

    def run(self, entry: int, stack: int, *, limit: int, watch: Watch | None = None, host: HostHandler | None = None) -> Execution:
        """Call the function at `entry` with the stack pointer `stack` and return when it returns.

        host: serves the program's calls; only for emulators with `EmulatorInfo.host_calls`.

        Counts are exact and the same on every run. More than `limit` instructions (counted by basic block) are an error.

        Raises:
            EmulationError: bad access, illegal instruction, or the limit.
        """
        ...

    def close(self) -> None:
        """Free the machine; may be called twice."""
        ...
