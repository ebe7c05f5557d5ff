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
        commits: one per instruction, in program order.
        cycles: of the whole program on the device's clock, register port included; None without a clock.
        compared: commits that were compared with the functional model; None if that was not requested.
        notes: lines for a reader of the results.
    """

    engine: str
    commits: Sequence[Commit]
    cycles: int | None = None
    compared: int | None = None
    notes: list[str] = field(default_factory=list[str])


class DevicePort(Protocol):
    """A device that a host program uses. Every method raises HostError if the program makes an error."""

    def set_deadline(self, moment: float | None) -> None:
        """Time (time.monotonic) after which waiting ends with an error; None: never."""
        ...

    def write(self, number: int, value: int) -> None:
        """Write a register, by its number; a start register starts the unit."""
        ...

    def read(self, number: int) -> int:
        """Read a register. The status of a running unit is read when the unit has finished."""
        ...

    def sync(self) -> None:
        """Return when everything written so far has reached the registers."""
        ...

    def wrote(self, space: str, bank: int, offset: int, size: int) -> None:
        """Record bytes of the mapped memory that the host wrote. Raises HostError if the range is not in the memory."""
        ...

    def settle(self) -> None:
        """Wait for everything in progress."""
        ...

    def finish(self) -> Summary:
        """Settle and end; afterwards only `close` may be called."""
        ...

    def close(self) -> None:
        """Release everything, in any state; may be called twice."""
        ...
