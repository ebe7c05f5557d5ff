"""The functional model of a design that was adopted: what each command writes, without a clock.

from fleet.sdk.functional import Command, FunctionalModel, JobContext

class Doubler(FunctionalModel):
    address = 0

    def command(self, command: Command, context: JobContext) -> None:
        if command.register == "address":
            self.address = command.data
        elif command.register == "value":
            context.job("done")
            context.write("mem", self.address, (2 * command.data).to_bytes(4, "little"))
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

__all__ = ["INCLUDE", "Command", "CommandKind", "FunctionalModel", "JobContext"]

INCLUDE = Path(__file__).parent
"""Folder of fleet_functional.h, by which a shared library is a model too."""

CommandKind = Literal["write", "read", "send", "set"]
"""write, read: of an address; send: a word of a stream, a FIFO or a port of custom instructions; set: an input that is tied."""


@dataclass(frozen=True)
class Command:
    """One access of a test to a port; commands come in the order of the test.

    Attributes:
        kind: what was done.
        port: of the design; of `set` the input.
        register: its name, "" where the address has none.
        address: bytes, of write and read.
        data: what was written, read or set; of `send` the whole word.
        fields: of `send`: signal -> value.
        where: file:line of the step.
    """

    kind: CommandKind
    port: str
    register: str = ""
    address: int = 0
    data: int = 0
    fields: Mapping[str, int] = field(default_factory=dict[str, int])
    where: str = ""


class JobContext(Protocol):
    """Services for a model that runs a command. Memories go by the name of a port, or of a `[[state]]` inside the design."""

    def job(self, commit: str = "", *, tag: int | None = None, events: int = 1, queue: str = "", after: Sequence[int] = ()) -> int:
        """Begin a job: what is read, written and given from here on belongs to it. Returns its number.

        Args:
            commit: the `[[commit]]` that ends it; "": the only one that is declared.
            tag: of its commit, where that has tags.
            events: how many events of that commit the job takes: responses of writes, words of a stream.
            queue: jobs of one queue commit in the order in which they began; "": any order that the commit allows.
            after: numbers of jobs that commit before it.

        Raises ModelError if there is no such commit, if it has tags and the job has none, or the other way round.
        """
        ...

    def read(self, memory: str, address: int, size: int) -> bytes:
        """Bytes as the model left them; a byte that nobody wrote is 0. Raises ModelError if there is no such memory."""
        ...

    def write(self, memory: str, address: int, data: bytes) -> None:
        """Write bytes. Outside of a job, what is written holds at once. Raises ModelError if there is no such memory."""
        ...

    def give(self, port: str, value: int | None = None, **fields: int) -> None:
        """A word that leaves through a port: its value, or the signals that count. Raises ModelError if the port gives none."""
        ...

    def expect(self, value: int, mask: int = -1) -> None:
        """State the value that the command, a read, must have read. Raises ModelError if the command is not a read."""
        ...


class FunctionalModel(ABC):
    """A design without its clock; one object a test.

    parameters: of the top module, as adopt.toml gives them.
    """

    def __init__(self, parameters: Mapping[str, str]) -> None:
        self.parameters = parameters

    @abstractmethod
    def command(self, command: Command, context: JobContext) -> None:
        """One command. What it raises is a mistake of the model."""
