"""Register accesses that every host program needs, for any instruction set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.errors import DeviceError
from fleet.isa.codec import register_writes
from fleet.isa.description import Description
from fleet.sdk import Call
from fleet.symbols.expr import Number
from fleet.targets.driver import statements as st

__all__ = ["DEVICE", "FOLDER", "MEMORY", "fetch_binary", "issue_call", "parameter_writes", "status_of", "wait_for"]

DEVICE, MEMORY, FOLDER = st.Parameter("device", "device"), st.Parameter("h2cx", "memory"), st.Parameter("prefix", "folder")
"""What the functions of every driver take: the device, its transfers, the folder of the parameters."""


def status_of(description: Description, unit: str) -> int:
    """Return the number of a unit's status register. Raises DeviceError if it has none."""
    status = description.units[unit].status
    if status is None:
        raise DeviceError("it has no status register", where=f"unit '{unit}'")
    return status.number


def wait_for(description: Description, instruction: str) -> st.WaitFor:
    """Wait until the unit of an instruction is done. Raises DeviceError as `status_of` does."""
    return st.WaitFor(status_of(description, description.instructions[instruction].unit), 1)


def issue_call(description: Description, call: Call, written: dict[int, int]) -> Iterator[st.Node]:
    """Writes a call's registers but for those that hold the value already, starts it, and waits until it is done.

    written: register's address -> what it holds, for the calls before it and after it. Raises DeviceError as `status_of`.
    """
    *operands, (start, value) = register_writes(description, call)
    yield from (st.CsbWrite(a // 4, v) for a, v in operands if written.get(a) != v)
    written |= dict(operands)
    yield st.CsbWrite(start // 4, value)
    yield wait_for(description, call.instruction)


def parameter_writes(description: Description, values: Mapping[str, int]) -> Iterator[st.CsbWrite]:
    """Write parameter registers: name -> value."""
    registers = {r.name: r for r in description.registers}
    for name, value in values.items():
        yield st.CsbWrite(registers[name].number, value, registers[name].title)


def fetch_binary(description: Description, offset: Number, beats: Number, tasks: Number) -> Iterator[st.Node]:
    """Let the device fetch and run a binary at an offset of its memory, and wait. Raises DeviceError as `status_of` does."""
    fetch = description.fetch
    assert fetch is not None
    yield st.CsbWrite(fetch.address.number, offset, fetch.address.title)
    yield st.CsbWrite(fetch.beats.number, beats, fetch.beats.title)
    yield st.CsbWrite(fetch.tasks.number, tasks, fetch.tasks.title)
    yield st.CsbWrite(fetch.unit.start.number, fetch.word.start)
    yield st.WaitFor(status_of(description, fetch.unit.name), 1)
