"""Checks of state registers: what `configures` answers, and that each register is written and read by an instruction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

import numpy as np

from fleet.isa.checking.asking import ask_configures
from fleet.isa.checking.finding import Finding, method_place
from fleet.isa.codec import description_of
from fleet.sdk import Call, Device, InstructionSet


def check_configured(instruction_set: InstructionSet, device: Device, call: Call) -> Iterator[Finding]:
    """What a legal call configures: state registers that there are, with bits that they have."""
    cls = instruction_set.instructions[call.instruction]
    registers = {r.name: r for r in description_of(instruction_set).state_registers}
    for name, value in configured(instruction_set, device, call).items():
        what = ""
        if name not in registers:
            what = f"names '{name}', which is no state register; expected one of {', '.join(registers) or 'none'}"
        elif isinstance(value, bool) or not isinstance(cast("object", value), int | np.integer):
            what = f"answers {value!r} for {name}, expected an integer"
        elif value & ~registers[name].mask:
            what = f"answers {value:#x} for {name}, whose fields cover {registers[name].mask:#x} ({registers[name].where})"
        if what:
            words = " ".join(f"{k}={v:#x}" for k, v in call.fields.items())
            yield Finding(method_place(cls, "configures"), f"{cls.name}: `configures` {what} ({words})")
            return


def configured(instruction_set: InstructionSet, device: Device, call: Call) -> Mapping[str, int]:
    """State registers that a legal call changes. Raises NoAnswer."""
    return ask_configures(instruction_set.instructions[call.instruction], device, call.fields)


def check_idle(instruction_set: InstructionSet, written: set[str]) -> Iterator[Finding]:
    """State registers that nothing writes or reads. written: those that a call configured."""
    used = {name for cls in instruction_set.instructions.values() for name in cls.uses}
    for r in description_of(instruction_set).state_registers:
        missing = ["no drawn call of any instruction `configures` it"] if r.name not in written else []
        missing += ["no instruction names it in `uses`"] if r.name not in used else []
        if missing:
            yield Finding(r.where, f"state register {r.name}: {', and '.join(missing)}")
