"""The backend, which executes accelerator instructions: the only difference between `iss` and `rtl`.

Everything else (compiling, placing inputs in memory, host operations between device segments, reading results, making
the trace) is shared in `fleet.engines.accel`, so the two engines cannot drift apart in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fleet.engines.base import RunOptions
from fleet.engines.evidence import Evidence
from fleet.engines.trace import Commit
from fleet.isa.issue import Binary
from fleet.isa.memory import MappedMemory
from fleet.sdk import Call, Device, InstructionSet, Memory


@dataclass
class Snapshot:
    """`size` bytes of DDR from `offset` on as instruction `seq` leaves them: what shares their memory may come behind it.

    data: uint8, filled in by the backend; None where the run ended before.
    """

    seq: int
    offset: int
    size: int
    data: np.ndarray | None = None

    def take(self, memory: Memory) -> None:
        """Copies the bytes out of memory as it stands."""
        self.data = memory.view("ddr", self.offset, self.size).copy()


class Backend(Protocol):
    """One run's executor; `open` once, `execute` once a device segment, `close` always."""

    name: str

    def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
        """Gets ready (builds and starts the simulation). The images already hold all constants.

        Sets the parameter registers (space "reg" of the memory) to their values after reset; others may be written there later.
        """
        ...

    def execute(
        self, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary] = (), snapshots: Sequence[Snapshot] = ()
    ) -> Sequence[Commit]:
        """Runs the calls in order on the memory and returns one commit a call, seq counting from `first_seq`.

        binaries: calls that are taken from their binary form in memory; the others are issued by register writes.
        snapshots: what to read at commits of these calls, in their order.
        """
        ...

    def counters(self) -> Mapping[str, float]:
        """Counters of the run so far, under the names that `Trace.counters` documents."""
        ...

    def evidence(self) -> Evidence:
        """Evidence that this backend executed the run so far."""
        ...

    def close(self) -> None:
        """Ends it; may be called twice."""
        ...
