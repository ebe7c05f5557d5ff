"""Calls with the state registers that they find: what an instruction does may depend on what earlier ones configured.

A call of a program names its operands. `resolved` walks the program and puts the registers that each instruction declares in `uses`
beside them, so that semantics, legality, ranges and cost get one mapping. Encoders ignore them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.memory import as_bytes
from fleet.sdk import Call, Device, Draw, Instruction, InstructionSet, Memory, Range, Write, contiguous
from fleet.sdk.hardware.state import REGISTERS


def reset_state(device: Device) -> dict[str, int]:
    """State registers as reset leaves them: name -> value."""
    return {r.name: r.reset for r in device.state.registers}


def begun_state(device: Device, blocks: Iterable[Write]) -> dict[str, int]:
    """State registers as reset leaves them, with those that the blocks of space "state" set: name -> value.

    Raises DeviceError for a block that does not consist of whole registers.
    """
    state = reset_state(device)
    names = list(state)
    for b in blocks:
        if b.space == REGISTERS:
            if b.offset % 4 or b.data.nbytes % 4 or not 0 <= b.offset <= 4 * len(names) - b.data.nbytes:
                raise DeviceError(
                    f"a block sets bytes [{b.offset:#x}, {b.offset + b.data.nbytes:#x}) of the state registers", where=device.name,
                    hint=f"expected whole registers of 4 bytes, {len(names)} are there",
                )  # fmt: skip
            words = as_bytes(b.data).view("<u4").tolist()
            state |= zip(names[b.offset // 4 :], words, strict=False)
    return state


def registers_in(device: Device, memory: Memory) -> dict[str, int]:
    """State registers as a memory holds them: name -> value."""
    registers = device.state.registers
    if not registers:
        return {}
    values = memory.view(REGISTERS, 0, 4 * len(registers)).view("<u4").tolist()
    return dict(zip((r.name for r in registers), values, strict=True))


def resolved_call(cls: type[Instruction], device: Device, call: Call, state: Mapping[str, int]) -> Call:
    """The call with the state registers that its instruction uses, and no others, among its fields."""
    if not device.state.registers:
        return call
    names = {r.name for r in device.state.registers}
    fields = {name: value for name, value in call.fields.items() if name not in names}
    return replace(call, fields=fields | {name: state[name] for name in cls.uses})


def resolved(
    instruction_set: InstructionSet, device: Device, calls: Iterable[Call], before: Mapping[str, int] | None = None
) -> tuple[Call, ...]:
    """The calls of a program in order, each resolved. A refused call configures nothing.

    before: state registers that the first call finds; None: as reset leaves them. Calls of unknown instructions stay as they are.
    """
    return _walk(instruction_set, device, calls, before)[0]


def state_after(
    instruction_set: InstructionSet, device: Device, calls: Iterable[Call], before: Mapping[str, int] | None = None
) -> dict[str, int]:
    """State registers behind the last call."""
    return _walk(instruction_set, device, calls, before)[1]


def resolved_draw(instruction_set: InstructionSet, device: Device, draw: Draw, before: Mapping[str, int] | None = None) -> Draw:
    """A draw with its calls resolved."""
    if not device.state.registers:
        return draw
    *first, last = resolved(instruction_set, device, draw.calls, before)
    return replace(draw, call=last, before=tuple(first))


def executed(cls: type[Instruction], device: Device, fields: Mapping[str, int], memory: Memory) -> list[Write]:
    """Return the writes of a resolved, legal call, as contiguous blocks; else as `effects`."""
    return contiguous(effects(cls, device, fields, memory))


def effects(cls: type[Instruction], device: Device, fields: Mapping[str, int], memory: Memory) -> list[Write]:
    """Return the writes of a resolved, legal call: memory, result registers, and the state registers that it configures.

    Raises DeviceError for a state register that the set does not have, or a value of more than 32 bits.
    """
    return [*cls.execute(device, fields, memory), *_state_writes(cls, device, fields)]


def reads_of(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> list[Range]:
    """All that a resolved, legal call reads, state registers last."""
    return [*cls.reads(device, fields), *(Range(REGISTERS, 4 * _number(cls, device, name), 4) for name in cls.uses)]


def writes_of(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> list[Range]:
    """All that a resolved, legal call writes but result registers, state registers last."""
    return [*cls.writes(device, fields), *(Range(w.space, w.offset, 4) for w in _state_writes(cls, device, fields))]


def _walk(
    instruction_set: InstructionSet, device: Device, calls: Iterable[Call], before: Mapping[str, int] | None
) -> tuple[tuple[Call, ...], dict[str, int]]:
    state = reset_state(device) if before is None else dict(before)
    if not device.state.registers:
        return tuple(calls), state
    found: list[Call] = []
    for call in calls:
        cls = instruction_set.instructions.get(call.instruction)
        if cls is None:
            found.append(call)
            continue
        found.append(resolved_call(cls, device, call, state))
        if cls.refusal(device, found[-1].fields) is None:
            state |= _configured(cls, device, found[-1].fields)
    return tuple(found), state


def _configured(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> Mapping[str, int]:
    found = cls.configures(device, fields)
    for name, value in found.items():
        _number(cls, device, name)
        if not 0 <= value < 1 << 32:
            raise DeviceError(f"configures {name} as {value}, expected 32 bits", where=f"instruction {cls.name}")
    return found


def _state_writes(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> Sequence[Write]:
    if not device.state.registers:
        return ()
    return [
        Write(REGISTERS, 4 * _number(cls, device, name), np.array([value], "<u4").view(np.uint8), dtype="<u4")
        for name, value in sorted(_configured(cls, device, fields).items())
    ]


def _number(cls: type[Instruction], device: Device, name: str) -> int:
    for n, register in enumerate(device.state.registers):
        if register.name == name:
            return n
    known = ", ".join(r.name for r in device.state.registers) or "none"
    raise DeviceError(f"no state register '{name}'", where=f"instruction {cls.name}", hint=f"the description has {known}")
