"""Registers right after reset: compares bus reads with the description, and runs an instruction that relies on reset values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fleet.engines.rtl_sim.job import JobScript, read_results
from fleet.isa.codec import description_of
from fleet.isa.description import Description, Register
from fleet.isa.registry import description_hash
from fleet.sdk import Call
from fleet.streams.case import Setting, StreamCase
from fleet.streams.locate import disagreement
from fleet.streams.run import StreamRunner

_NOTHING_YET = frozenset({"error_cause", "error_instruction", "irq_enable", "irq_status"})
"""Roles of registers that report, whoever drives them, that nothing has happened."""


def reset_values(description: Description) -> dict[Register, tuple[int, int]]:
    """Return register -> (mask of the bits that a host reads, their reset values), of all fields that keep what software wrote.

    Fields that the hardware drives (a status, a counter) have no reset value in the description. They count if their role says that
    nothing has happened yet.
    """
    found: dict[Register, tuple[int, int]] = {}
    for r in description.registers:
        kept = [f for f in r.fields if "r" in f.software and ("w" in f.software or "w" not in f.hardware or r.role in _NOTHING_YET)]
        mask = sum(f.mask for f in kept)
        if mask:
            found[r] = mask, r.reset & mask
    return found


def wrong_after_reset(runner: StreamRunner) -> list[str]:
    """Read all registers before anything is written. Return one line for each that differs. Raises SimulationError."""
    description = description_of(runner.set)
    expected = reset_values(description)
    for r in description.with_role("description_hash"):
        expected[r] = r.mask, int(description_hash(runner.set, runner.device)[:8], 16)
    script = JobScript()
    places = {r: script.read(r.address) for r in expected}
    values = read_results(runner.play(script, Setting())[1].results)
    wrong: list[str] = []
    for r, (mask, value) in expected.items():
        read = int(values[places[r]]) & mask
        if read != value:
            wrong.append(f"{r.name} ({r.address:#x}) reads {read:#x} after reset, expected {value:#x} ({r.where})")
    return wrong


def left_at_reset(runner: StreamRunner, call: Call) -> tuple[Call, list[str]]:
    """Set as many operands of a call to their reset values as legality allows. Return the call and the names of these operands."""
    description = description_of(runner.set)
    resets = {r.address: r.reset for r in description.registers}
    unit = runner.set.instructions[call.instruction]
    words = [r for r in description.words(call.instruction) if r.role != "start"]
    for r in words:
        changed = replace(call, fields={**call.fields, r.name: resets[r.address]})
        if not unit.legal(runner.device, changed.fields):
            call = changed
    return call, [r.name for r in words if call.fields[r.name] == resets[r.address]]


def wrong_with_defaults(runner: StreamRunner, case: StreamCase) -> tuple[list[str], list[str]]:
    """Run a case right after reset, without writes that would not change a register, parameter registers included.

    In a case of one instruction, operands take their reset values as far as the call stays legal. Returns the differences from the
    functional model, and the registers of the first instruction that keep their reset values.

    Raises SimulationError.
    """
    description = description_of(runner.set)
    first, left = left_at_reset(runner, case.calls[0])
    if len(case.calls) > 1:  # the other calls need its effect
        first = case.calls[0]
        left = [r.name for r in description.words(first.instruction) if first.fields[r.name] == r.reset and r.role != "start"]
    parameters = {r.address: r.reset for r in description.with_role("parameter")}
    left += [r.name for r in description.with_role("parameter")]
    changed = replace(case, calls=(first, *case.calls[1:]), causes=None, parameters=parameters)
    expected = runner.model(changed)
    found, _ = runner.hardware(replace(changed, parameters={}), Setting(), held=_held(description))
    for call, a, b in zip(changed.calls, expected, found, strict=True):
        if why := disagreement(a, b):
            return [f"{case.name}: {call.instruction}, with {', '.join(left)} as the reset left them: {why}"], left
    return [], left


def _held(description: Description) -> Mapping[int, int]:
    return {r.address: r.reset for r in reset_values(description)}
