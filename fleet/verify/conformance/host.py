"""What a host sees and streams do not: status registers, a start while its unit runs, and memory that answers with errors.

Each check runs one directed case of every instruction and returns a line for everything that is wrong, with its instruction.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fleet.engines.rtl_sim.job import JobScript, read_results
from fleet.engines.rtl_sim.process import SimulationError
from fleet.engines.rtl_sim.records import read_records
from fleet.isa.codec import description_of, interrupt
from fleet.isa.description import Field, Register
from fleet.sdk import Call, NoRoomError, Range
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case

_SLOW = Setting("fixed:200")  # a read of a register is quicker than any instruction that meets memory
_LIMIT = 1_000_000
_READS = 500
"""Register reads by which a refused start has been told."""
_BEAT, _REACH = 64, 1 << 16
"""Bytes of an access; how far from the end of memory an operand may begin."""


def _cases(runner: StreamRunner) -> Iterator[StreamCase]:
    """Yield a case of every instruction whose last call meets memory: what does not is over in a few cycles."""
    for name in runner.set.conformance:
        try:
            case = make_case(f"{runner.device.name}/{name}/directed/0")
        except NoRoomError:
            continue
        if _ranges(runner, case.calls[-1]):
            yield case


def _ranges(runner: StreamRunner, call: Call) -> list[Range]:
    unit = runner.set.instructions[call.instruction]
    ranges = (*unit.reads(runner.device, call.fields), *unit.writes(runner.device, call.fields))
    return [r for r in ranges if r.space in runner.device.memory and r.size]


def _play(runner: StreamRunner, case: StreamCase, script: JobScript) -> tuple[Sequence[int], list[int]]:
    """Run a script on the case's memory; return what it read, and the causes of the commits."""
    runner.found.fill(case.blocks)
    _, job = runner.play(script, _SLOW)
    return read_results(job.results), [r.error for r in read_records(job.trace)]


class _Script:
    """Writes instructions as a host does, with both interrupts enabled."""

    def __init__(self, runner: StreamRunner, case: StreamCase) -> None:
        self.script, self._description, self._irq = JobScript(), description_of(runner.set), interrupt(runner.set)
        self.script.write(self._irq.enable_address, self._irq.done | self._irq.error)
        for address, value in case.parameters.items():
            self.script.write(address, value)

    def start(self, call: Call) -> tuple[int, int]:
        """Write the registers of a call; return address and value of its start."""
        words = self._description.words(call.instruction)
        for r in words:
            self.script.write(r.address, call.fields[r.name], start=r is words[-1])
        return words[-1].address, call.fields[words[-1].name]

    def end(self) -> None:
        """Wait for the interrupt and clear it."""
        self.script.wait_irq(_LIMIT)
        self.script.write(self._irq.status_address, self._irq.done | self._irq.error)

    def run(self, calls: Sequence[Call]) -> None:
        """Run calls one after the other, each waited for."""
        for call in calls:
            self.start(call)
            self.end()

    def status(self, call: Call) -> Register | None:
        """The status register of the call's unit."""
        return self._description.units[self._description.instructions[call.instruction].unit].status


def wrong_for_hosts(runner: StreamRunner) -> list[str]:
    """Return the lines of all checks here. Raises FleetError where the hardware cannot be run at all."""
    return [*wrong_status(runner), *wrong_when_busy(runner), *wrong_bus_errors(runner)]


def wrong_status(runner: StreamRunner) -> list[str]:
    """Poll the unit's status register: 0 behind a start, 1 at the end. An instruction runs twice: it is 1 from the time before."""
    wrong: list[str] = []
    for case in _cases(runner):
        host, call = _Script(runner, case), case.calls[-1]
        if (status := host.status(call)) is None:
            continue
        host.run(case.calls)
        host.start(call)
        during = host.script.read(status.address)
        host.end()
        after = host.script.read(status.address)
        try:
            values, _ = _play(runner, case, host.script)
        except SimulationError as error:
            wrong.append(f"{call.instruction}, started twice ({case.name}): {error}")
            continue
        if values[during] & status.mask:
            wrong.append(f"{call.instruction}: {status.name} reads {values[during]:#x} while it runs, expected 0 ({status.where})")
        if not values[after] & status.mask:
            wrong.append(f"{call.instruction}: {status.name} reads 0 at its end, expected 1 ({status.where})")
    return wrong


def wrong_when_busy(runner: StreamRunner) -> list[str]:
    """Start a unit again while it runs: a second commit, executed (from a queue) or refused, and the refusal told to the host."""
    wrong: list[str] = []
    irq = interrupt(runner.set)
    for case in _cases(runner):
        host, call = _Script(runner, case), case.calls[-1]
        host.run(case.calls[:-1])
        host.script.write(*host.start(call), start=True)
        host.script.wait_irq(_LIMIT)
        for _ in range(_READS):
            host.script.read(irq.status_address)
        told = host.script.read(irq.status_address)
        try:
            values, causes = _play(runner, case, host.script)
        except SimulationError as error:
            wrong.append(f"{call.instruction}, started while it runs ({case.name}): {error}")
            continue
        refused = values[told] & irq.error
        if len(causes) <= len(case.calls) and not refused:
            wrong.append(
                f"{call.instruction}: a start while its unit runs ({case.name}) is dropped: no second commit, and no error "
                "interrupt; expected a refusal, or that it waits for its turn"
            )
        elif any(causes[len(case.calls) :]) and not refused:
            wrong.append(f"{call.instruction}: a start while its unit runs is refused without an error interrupt ({case.name})")
    return wrong


def wrong_bus_errors(runner: StreamRunner) -> list[str]:
    """Move an operand of each case to the end of memory, whose last bytes answer with errors: the call ends with a cause."""
    wrong: list[str] = []
    for case in _cases(runner):
        call = case.calls[-1]
        for r in description_of(runner.set).words(call.instruction):
            f = r.fields[0] if r.fields else None
            if f is not None and f.kind == "address" and f.space in runner.device.memory:
                wrong += _cut_off(runner, case, r, f)
    return wrong


def _cut_off(runner: StreamRunner, case: StreamCase, register: Register, f: Field) -> Iterator[str]:
    call, space = case.calls[-1], f.space or ""
    size, step = runner.device.memory[space], max(f.align, 1)
    unit = runner.set.instructions[call.instruction]
    places = ({**call.fields, register.name: at} for at in range(size - size % step, max(size - _REACH, -1), -step))
    fields = next((p for p in places if not unit.legal(runner.device, p)), None)
    if fields is None:
        return
    moved = replace(call, fields=fields)
    before = _ranges(runner, call)
    ranges = [r for r in _ranges(runner, moved) if r.space == space and r not in before]
    if not ranges:
        return
    last = max(ranges, key=lambda r: r.offset + r.size)
    missing = size - (last.offset + last.size // 2) // _BEAT * _BEAT
    where = f"{case.name} with {register.name} = {fields[register.name]:#x}, the last {missing} bytes of {space} missing"
    try:
        causes = _short(runner, replace(case, calls=(*case.calls[:-1], moved), causes=None), space, missing)
    except SimulationError as error:
        yield f"{call.instruction}: memory answers with an error ({where}): {error}"
        return
    if not causes[-1]:
        yield f"{call.instruction}: memory answers with an error, and it commits without one; expected a bus error ({where})"


def _short(runner: StreamRunner, case: StreamCase, space: str, missing: int) -> list[int]:
    """Causes of the case's commits on memory whose files end so many bytes early."""
    host = _Script(runner, case)
    host.run(case.calls)
    runner.found.fill(case.blocks)
    paths = [path for (name, _), path in runner.found.memory.paths.items() if name == space]
    size = runner.device.memory[space]
    try:
        for path in paths:
            os.truncate(path, size - missing)
        _, job = runner.play(host.script, Setting())
        return [r.error for r in read_records(job.trace)]
    finally:
        for path in paths:
            os.truncate(path, size)
        runner.found.clear()
