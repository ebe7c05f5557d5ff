"""The interface between the server and a device, for every engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fleet.engines.trace import Commit


@dataclass
class Summary:
    """The result of a program's use of the device.

    Attributes:
        engine: "iss" or "rtl".
        commits: one an instruction, in program order.
        cycles: of the whole program on the device's clock, register port included; None without a clock.
        compared: commits that were compared with the functional model; None when that was not asked for.
        notes: lines that a reader of the results should know.
    """

    engine: str
    commits: Sequence[Commit]
    cycles: int | None = None
    compared: int | None = None
    notes: list[str] = field(default_factory=list[str])


class DevicePort(Protocol):
    """A device that a host program uses. Every method raises HostError for what the program does wrong."""

    def set_deadline(self, moment: float | None) -> None:
        """Moment (time.monotonic) after which waiting is given up, by an error; None: never."""
        ...

    def write(self, number: int, value: int) -> None:
        """Writes a register, by its number; of a start register it starts the unit."""
        ...

    def read(self, number: int) -> int:
        """Reads a register. That of a unit under way that says when it is over is read when it is."""
        ...

    def sync(self) -> None:
        """Everything written so far has reached the registers."""
        ...

    def wrote(self, space: str, bank: int, offset: int, size: int) -> None:
        """The host wrote these bytes of the mapped memory. Raises HostError if the range is not in the memory."""
        ...

    def settle(self) -> None:
        """Waits for all that is under way."""
        ...

    def finish(self) -> Summary:
        """Settles and ends; nothing may be called after it but `close`."""
        ...

    def close(self) -> None:
        """Lets go of everything, whatever the state; may be called twice."""
        ...
