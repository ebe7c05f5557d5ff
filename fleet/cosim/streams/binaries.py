"""A stream as binaries that the hardware fetches: their bytes, put where no instruction reads or writes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fleet.cosim.streams.case import Issue, StreamCase
from fleet.cosim.streams.model_side import refusal
from fleet.errors import DeviceError
from fleet.isa.codec import description_of, encode_binary
from fleet.isa.contract import Device, InstructionSet, Write
from fleet.isa.issue import Binary, runs

__all__ = ["Plan", "binaries"]

_SPACE = "ddr"
_STEP = 1 << 16


@dataclass(frozen=True)
class Plan:
    """binaries: as `Segment` takes them, none where every call is written to the registers; blocks: their bytes."""

    binaries: tuple[Binary, ...] = ()
    blocks: tuple[Write, ...] = ()


def binaries(instruction_set: InstructionSet, device: Device, case: StreamCase, issue: Issue) -> Plan:
    """The plan of a way of issue. A stream with refusals has none: what an illegal task holds is no binary.

    Raises DeviceError where memory has no room.
    """
    legal = all(not refusal(instruction_set.instructions[c.instruction], device, c.fields) for c in case.calls)
    if issue != "aux" or not legal:
        return Plan()
    description = description_of(instruction_set)
    taken = _taken(instruction_set, device, case)
    found: list[Binary] = []
    blocks: list[Write] = []
    for first, count, has_form in runs(description, case.calls):
        if has_form:
            data = np.frombuffer(encode_binary(instruction_set, case.calls[first : first + count]), np.uint8)
            offset = _free(device, taken, data.size)
            taken.append((offset, offset + data.size))
            found.append(Binary(first, count, _SPACE, offset, data.size))
            blocks.append(Write(_SPACE, offset, data))
    return Plan(tuple(found), tuple(blocks))


def _taken(instruction_set: InstructionSet, device: Device, case: StreamCase) -> list[tuple[int, int]]:
    taken = [(b.offset, b.offset + b.data.size) for b in case.blocks if b.space == _SPACE]
    for call in case.calls:
        unit = instruction_set.instructions[call.instruction]
        ranges = (*unit.reads(device, call.fields), *unit.writes(device, call.fields))
        taken += [(r.offset, r.offset + r.size) for r in ranges if r.space == _SPACE]
    return taken


def _free(device: Device, taken: list[tuple[int, int]], size: int) -> int:
    for offset in range(0, device.memory[_SPACE] - size, _STEP):
        if not any(start < offset + size and offset < end for start, end in taken):
            return offset
    raise DeviceError(f"no room for a binary of {size} bytes", where=device.name)
