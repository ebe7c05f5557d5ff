"""Register accesses that every host program needs, for any instruction set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fleet.errors import DeviceError
from fleet.isa.codec import words_of
from fleet.isa.description import Description
from fleet.isa.issue import Binary
from fleet.sdk import Call
from fleet.symbols.expr import Number
from fleet.targets.driver import statements as st

DEVICE, MEMORY, FOLDER = st.Parameter("device", "device"), st.Parameter("h2cx", "memory"), st.Parameter("prefix", "folder")
"""Parameters of the functions of every driver: the device, its transfers, the folder of the parameters."""


def status_of(description: Description, unit: str) -> int:
    """Return the number of a unit's status register. Raises DeviceError if it has none."""
    status = description.units[unit].status
    if status is None:
        raise DeviceError("it has no status register", where=f"unit '{unit}'")
    return status.number


def issue(
    description: Description, instruction: str, fields: Mapping[str, Number], written: dict[int, Number] | None = None
) -> Iterator[st.Node]:
    """Writes an instruction's registers, the last of which starts it, and waits until it is done.

    written: register's number -> what it holds, before and behind it: what holds its value already is not written again. None:
        everything is written. Raises DeviceError as `status_of`.
    """
    *operands, start = description.words(instruction)
    held = {} if written is None else written
    for register in operands:
        value = fields[register.name]
        if written is None or register.number not in held or held[register.number] != value:
            yield st.CsbWrite(register.number, value)
        held[register.number] = value
    yield st.CsbWrite(start.number, fields[start.name])
    yield st.WaitFor(status_of(description, description.instructions[instruction].unit), 1)


def issue_calls(
    description: Description, calls: Sequence[Call], binaries: Sequence[Binary] = (), written: dict[int, Number] | None = None,
    *, annotate: bool = False,
) -> Iterator[st.Node]:  # fmt: skip
    """Issues calls as a stream says: those of a binary by one fetch, the others one by one.

    written: as for `issue`; None: nothing is known before. annotate: a comment says what each is for. Raises CodecError for a call
    that no register takes, DeviceError as `status_of`.
    """
    held, starts, at = {} if written is None else written, {binary.first: binary for binary in binaries}, 0
    while at < len(calls):
        if binary := starts.get(at):
            yield from fetch_binary(description, binary.offset, binary.beats, binary.count)
            at += binary.count
            held.clear()
            continue
        call = calls[at]
        words_of(description, call)
        if annotate:
            yield st.Annotation(f"{call.instruction}: {', '.join(call.ops)}")
        yield from issue(description, call.instruction, call.fields, held)
        at += 1


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
