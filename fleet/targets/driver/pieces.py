"""Register accesses that every host program needs, for any instruction set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fleet.errors import DeviceError
from fleet.isa.description import Description
from fleet.symbols.expr import Number
from fleet.targets.driver import statements as st

__all__ = ["fetch_binary", "parameter_writes", "status_of", "wait_for"]


def status_of(description: Description, unit: str) -> int:
    """Return the number of a unit's status register. Raises DeviceError if it has none."""
    status = description.units[unit].status
    if status is None:
        raise DeviceError("it has no status register", where=f"unit '{unit}'")
    return status.number


def wait_for(description: Description, instruction: str) -> st.WaitFor:
    """Wait until the unit of an instruction is done. Raises DeviceError as `status_of` does."""
    return st.WaitFor(status_of(description, description.instructions[instruction].unit), 1)


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
