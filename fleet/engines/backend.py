"""The backend, which executes accelerator instructions: the only difference between `iss` and `rtl`.

Everything else (compiling, placing inputs in memory, host operations between device segments, reading results, building
the trace) is shared in `fleet.engines.accel`, so the two engines cannot diverge there.
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
    """`size` bytes of DDR from `offset` on after instruction `seq`; a later value may reuse their memory.

    data: uint8, filled in by the backend; None if the run ended earlier.
    """

    seq: int
    offset: int
    size: int
    data: np.ndarray | None = None

    def take(self, memory: Memory) -> None:
        """Copy the bytes from the current memory."""
        self.data = memory.view("ddr", self.offset, self.size).copy()


class Backend(Protocol):
    """One run's executor: call `open` once, `execute` once per device segment, `close` always."""

    name: str

    def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
        """Prepare (build and start the simulation). The images already hold all constants.

        Sets the parameter registers (space "reg" of the memory) to their reset values; other values may be written there later.
        """
        ...

    def execute(
        self, calls: Sequence[Call], first_seq: int, binaries: Sequence[Binary] = (), snapshots: Sequence[Snapshot] = ()
    ) -> Sequence[Commit]:
        """Run the calls in order on the memory and return one commit per call, with seq counting from `first_seq`.

        binaries: calls that are fetched in their binary form from memory; the others are issued by register writes.
        snapshots: bytes to read at commits of these calls, in their order.
        """
        ...

    def counters(self) -> Mapping[str, float]:
        """Return counters of the run so far, under the names documented in `Trace.counters`."""
        ...

    def evidence(self) -> Evidence:
        """Return evidence that this backend executed the run so far."""
        ...

    def close(self) -> None:
        """End it; may be called twice."""
        ...
