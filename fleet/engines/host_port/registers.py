"""Interprets a host program's register accesses, from the description alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.engines.host_port.protocol import HostError
from fleet.errors import FleetError
from fleet.isa.codec import decode_writes
from fleet.isa.codec_binary import BEAT, decode_binary
from fleet.isa.description import Fetch, Register, Unit
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.resolved import reset_state, resolved, state_after
from fleet.sdk import Call, Device, InstructionSet


@dataclass(frozen=True)
class StartWrite:
    """The instruction or binary that the write of a start register started.

    calls: the instruction, or every task of the fetched binary; fetched: whether it is a binary.
    where: for messages, "CSB_Write(33, 0x11f) (mvm_start)".
    """

    unit: Unit
    calls: tuple[Call, ...]
    fetched: bool
    where: str


class RegisterFile:
    """The registers that software writes, and the calls that a start makes from them.

    `values` holds the last written value of each register (by byte address), initially its reset value.
    """

    def __init__(self, instruction_set: InstructionSet, device: Device) -> None:
        self._set, self._device = instruction_set, device
        self._state = reset_state(device)
        self._description = d = load(instruction_set.description)
        self._by_number = {r.number: r for r in d.registers}
        self._starts = {u.start.address: u for u in d.units.values()}
        self.values: dict[int, int] = {r.address: r.reset for r in d.registers if _writable(r)}

    def find(self, number: int) -> Register:
        """Return the register of a number. Raises HostError if the description has none."""
        register = self._by_number.get(number)
        if register is None:
            numbers = sorted(self._by_number)
            near = min(numbers, key=lambda n: abs(n - number))
            hint = f"the nearest is {near} ({self._by_number[near].name})"
            raise HostError(f"{self._device.name} has no such register", where=f"register {number}", hint=hint)
        return register

    def write(self, number: int, value: int) -> tuple[Register, Unit | None]:
        """Store the value; return the register, and the unit that the write starts. Raises HostError if it cannot be written."""
        register = self.find(number)
        if not _writable(register):
            raise HostError(f"{register.name} ({register.role}) can only be read", where=f"register {number}")
        self.values[register.address] = value
        return register, self._starts.get(register.address)

    def start(self, unit: Unit, memory: MappedMemory) -> StartWrite:
        """Return what the unit starts with the current registers; operands keep their last value.

        memory: holds the binary, if one is fetched.
        Raises HostError if it is not an instruction, or one that the device refuses.
        """
        value = self.values[unit.start.address]
        where = f"CSB_Write({unit.start.number}, {value:#x}) ({unit.start.name})"
        try:
            call = decode_writes(self._description, [(r.address, self.values[r.address]) for r in unit.words])
        except FleetError as error:
            raise HostError(str(error), where=where) from error
        fetch = self._description.fetch
        if fetch is None or call.instruction != fetch.word.name:
            return StartWrite(unit, self._checked([call], where), False, where)
        return StartWrite(unit, self._checked(self._fetched(fetch, memory, where), where), True, where)

    def _fetched(self, fetch: Fetch, memory: MappedMemory, where: str) -> Sequence[Call]:
        address, beats, tasks = (self.values[r.address] for r in (fetch.address, fetch.beats, fetch.tasks))
        space = fetch.address.fields[0].space or ""
        try:
            calls = decode_binary(self._description, memory.view(space, address, beats * BEAT).tobytes())
        except FleetError as error:
            raise HostError(f"the binary at {space} {address:#x}: {error}", where=where) from error
        if not calls or len(calls) != tasks:
            what = f"the binary at {space} {address:#x} has {len(calls)} tasks, {fetch.tasks.name} says {tasks}"
            raise HostError(what, where=where)
        return calls

    def _checked(self, calls: Sequence[Call], where: str) -> tuple[Call, ...]:
        calls = resolved(self._set, self._device, calls, self._state)
        self._state = state_after(self._set, self._device, calls, self._state)
        for n, call in enumerate(calls):
            refusal = self._set.instructions[call.instruction].refusal(self._device, call.fields)
            if refusal is not None:
                task = f"task {n}, " if len(calls) > 1 else ""
                raise HostError(f"{task}{call.instruction}: the device refuses it (cause {refusal[0]}): {refusal[1]}", where=where)
        return calls


def _writable(register: Register) -> bool:
    return any("w" in f.software for f in register.fields)
