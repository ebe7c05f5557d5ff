"""What the directed tests are for: one device of every installed set, or those that the variable FLEET_DEVICES names
(comma-separated); and which of a set's calls meet its memory."""

from __future__ import annotations

import os

from fleet.sdk import Call, Device, InstructionSet
from fleet.verify.conformance.suite import suite_devices


def devices() -> list[str]:
    named = os.environ.get("FLEET_DEVICES")
    return named.split(",") if named else suite_devices(all_devices=False)


def meets_memory(instruction_set: InstructionSet, device: Device, call: Call) -> bool:
    """Whether the call reads or writes memory outside the chip: what does not is over in a few cycles, and has no bus errors."""
    unit = instruction_set.instructions[call.instruction]
    return any(r.space in device.memory for r in (*unit.reads(device, call.fields), *unit.writes(device, call.fields)))
