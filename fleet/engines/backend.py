"""What executes accelerator instructions: the one difference between `iss` and `rtl`.

Everything else (compiling, placing inputs in memory, host operations between device segments, reading results, making
the trace) is shared in `fleet.engines.accel`, so the two engines cannot drift apart in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from fleet.engines.base import RunOptions
from fleet.engines.trace import Commit
from fleet.isa.contract import Call, Device, InstructionSet
from fleet.isa.memory import MappedMemory


class Backend(Protocol):
    """One run's executor; `open` once, `execute` once a device segment, `close` always."""

    name: str

    def open(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory, options: RunOptions) -> None:
        """Gets ready (builds and starts the simulation). The images already hold all constants."""
        ...

    def execute(self, calls: Sequence[Call], first_seq: int) -> Sequence[Commit]:
        """Runs the calls in order on the memory and returns one commit a call, seq counting from `first_seq`."""
        ...

    def counters(self) -> Mapping[str, float]:
        """Counters of the run so far, under the names that `Trace.counters` documents."""
        ...

    def close(self) -> None:
        """Ends it; may be called twice."""
        ...
