"""A register-level model of a device: registers from the description, instructions by the functional model, no clock."""

from __future__ import annotations

import time

from fleet.engines.execute import execute_calls
from fleet.engines.host_port.port import Summary
from fleet.engines.host_port.protocol import HostError
from fleet.engines.host_port.registers import RegisterFile, StartWrite
from fleet.engines.trace import Commit
from fleet.isa.codec import interrupt
from fleet.isa.description import Register, Unit, parameter_values
from fleet.isa.memory import MappedMemory
from fleet.isa.reading.cache import load
from fleet.isa.registry import description_hash
from fleet.sdk import Device, InstructionSet


class ModelPort:
    """Engine `iss` behind registers: an instruction has finished when the write that starts it returns."""

    def __init__(self, instruction_set: InstructionSet, device: Device, memory: MappedMemory) -> None:
        """memory: the images that the program maps too; its parameter registers get their values after reset."""
        self._set, self._device, self._memory = instruction_set, device, memory
        self._description = load(instruction_set.description)
        self._registers = RegisterFile(instruction_set, device)
        self._interrupt = interrupt(self._description)
        self._hash = int(description_hash(instruction_set, device)[:8], 16)
        self._pending = 0
        self._done: set[str] = set()
        self._results: dict[str, int] = {}
        self._commits: list[Commit] = []
        self._without_clock: set[str] = set()
        self._deadline: float | None = None
        memory.set_registers(parameter_values(self._description))

    def set_deadline(self, moment: float | None) -> None:
        """Give up waiting at this moment of time.monotonic; None: never."""
        self._deadline = moment

    def write(self, number: int, value: int) -> None:
        """Write a register; a start register starts its unit."""
        register, unit = self._registers.write(number, value)
        if unit is not None:
            self._start(unit)
        elif register.role == "irq_status":
            self._pending &= ~value
        elif register.role == "parameter":
            self._memory.set_registers({register.address: value})

    def read(self, number: int) -> int:
        """Read a register; that of a busy unit once the unit is over."""
        register = self._registers.find(number)
        match register.role:
            case "status":
                return int(register.unit in self._done)
            case "result":
                return self._results.get(register.unit or "", register.reset)
            case "irq_status":
                return self._pending
            case "description_hash":
                return self._hash
            case "cycles" | "cycles_class" | "counter":
                return self._uncounted(register)
            case _:  # a refusal ends the program, so the error registers never change
                return self._registers.values.get(register.address, register.reset)

    def sync(self) -> None:
        """Do nothing: writes take effect at once."""

    def wrote(self, space: str, bank: int, offset: int, size: int) -> None:
        """Record bytes of the mapped memory that the host wrote."""
        self._memory.view(space, offset, size, bank)

    def settle(self) -> None:
        """Do nothing: no instruction is ever in progress."""

    def finish(self) -> Summary:
        """Settle, end, and return the summary."""
        notes = [f"engine iss has no clock: {', '.join(sorted(self._without_clock))} read 0"] if self._without_clock else []
        return Summary("iss", self._commits, notes=notes)

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _start(self, unit: Unit) -> None:
        start = self._registers.start(unit, self._memory)
        self._done.discard(unit.name)
        for commit in execute_calls(self._set, self._device, self._memory, start.calls, len(self._commits)):
            self._commits.append(commit)
            owner = self._description.instructions[commit.instruction].unit
            self._done.add(owner)
            if commit.result is not None:
                self._results[owner] = commit.result
            self._check_time(start)
        self._done.add(unit.name)
        self._pending |= self._interrupt.done

    def _check_time(self, start: StartWrite) -> None:
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise HostError("the time is over", where=start.where)

    def _uncounted(self, register: Register) -> int:
        self._without_clock.add(f"{register.number} ({register.name})")
        return 0
