"""Search for the field that an address comes from, and for another value of one field that explains the hardware's result.

Both are found by experiment with the functional model, so they work for every instruction set: change a field, and see what the
instruction reads, writes or computes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from fleet.errors import FleetError
from fleet.isa.codec import description_of
from fleet.isa.description import Field, Register
from fleet.isa.digest import digest_writes
from fleet.isa.resolved import executed
from fleet.sdk import Call, Device, InstructionSet, Memory, Range

_FIXED = ("constant",)
_SECONDS = 4.0


def _fields(instruction_set: InstructionSet, call: Call) -> Iterator[tuple[Register, Field]]:
    for register in description_of(instruction_set).words(call.instruction):
        if register.role != "start":
            yield from ((register, f) for f in register.fields if f.kind not in _FIXED)


def _changed(call: Call, register: Register, field: Field, value: int) -> dict[str, int]:
    word = call.fields[register.name]
    return {**call.fields, register.name: (word & ~field.mask) | (value << field.low & field.mask)}


def _name(register: Register, field: Field) -> str:
    return register.name if len(register.fields) == 1 else f"{register.name}.{field.name}"


def _moving(
    instruction_set: InstructionSet, call: Call, ranges: Callable[[dict[str, int]], Sequence[Range]]
) -> Iterator[tuple[Register, Field, list[int]]]:
    """Yield the fields that move ranges without changing their sizes, and the numbers of the ranges that each moves."""
    fields = dict(call.fields)
    try:
        base = list(ranges(fields))
    except (FleetError, ValueError, KeyError, IndexError):
        return
    for register, field in _fields(instruction_set, call):
        value, step = field.get(call.fields[register.name]), max(1, field.align)
        for other in (value + step, value - step):
            if not 0 <= other < 1 << field.width:
                continue
            try:
                moved = list(ranges(_changed(call, register, field, other)))
            except (FleetError, ValueError, KeyError, IndexError):
                continue
            if [(r.space, r.bank, r.size) for r in moved] != [(r.space, r.bank, r.size) for r in base]:
                continue
            by = [i for i, (a, b) in enumerate(zip(base, moved, strict=True)) if a.offset != b.offset]
            if by:
                yield register, field, by
                break


def address_fields(
    instruction_set: InstructionSet, device: Device, call: Call, space: str, bank: int, address: int
) -> tuple[str, ...]:
    """Describe the fields that an address of the destination comes from, a line each: the base first, then strides."""
    cls = instruction_set.instructions[call.instruction]
    ranges = list(cls.writes(device, call.fields))
    hit = [i for i, r in enumerate(ranges) if r.space == space and r.bank == bank and r.offset <= address < r.offset + r.size]
    lines: list[tuple[int, str]] = []
    for register, field, by in _moving(instruction_set, call, lambda f: cls.writes(device, f)):
        if hit and not set(hit) & set(by):
            continue
        value = field.get(call.fields[register.name])
        words = f"{_name(register, field)} = {value:#x} ({field.kind}{f' in {field.space}' if field.space else ''})"
        base = field.kind == "address"
        if base and address >= value:
            words += f": {address:#x} is {address - value:#x} bytes behind it" if address > value else ": the range begins there"
        lines.append((0 if base else 1, words if base else f"stepped by {words}"))
    return tuple(text for _, text in sorted(lines, key=lambda pair: pair[0]))


def field_of_read(instruction_set: InstructionSet, device: Device, call: Call) -> list[str]:
    """Return, for each range that a call reads, the address field that moves it, or ""."""
    cls = instruction_set.instructions[call.instruction]
    names = [""] * len(cls.reads(device, call.fields))
    for register, field, by in _moving(instruction_set, call, lambda f: cls.reads(device, f)):
        for i in by:
            if not names[i] or field.kind == "address":
                names[i] = _name(register, field)
    return names


def supposed(
    instruction_set: InstructionSet,
    device: Device,
    calls: Sequence[Call],
    seq: int,
    memory: Memory,
    digest: int,
    size: int,
    seconds: float = _SECONDS,
) -> tuple[str, ...]:
    """Return the values of single fields with which the functional model does what the hardware did, a line each, best first.

    Tried, in this order: one step up and down, zero, the value in the previous and next instruction, the values of other fields of
    the same kind, all allowed values, each bit flipped.

    Args:
        memory: as the instruction found it. digest, size: of the hardware's commit. seconds: time limit.
    """
    call = calls[seq]
    cls = instruction_set.instructions[call.instruction]
    until = time.monotonic() + seconds
    found: list[str] = []
    seen: set[tuple[str, int, int]] = set()
    for register, field, value, why in _candidates(instruction_set, calls, seq):
        if time.monotonic() > until:
            break
        key = (register.name, field.low, value)
        if key in seen or value == field.get(call.fields[register.name]):
            continue
        seen.add(key)
        changed = _changed(call, register, field, value)
        try:
            if cls.legal(device, changed):
                continue
            if sum(r.size for r in cls.writes(device, changed)) != size:
                continue
            with np.errstate(all="ignore"):
                writes = executed(cls, device, changed, memory)
        except (FleetError, ValueError, KeyError, IndexError, OverflowError):
            continue
        if digest_writes(device, writes) == digest:
            was = field.get(call.fields[register.name])
            found.append(f"as if {_name(register, field)} were {value:#x} ({why}) instead of {was:#x}")
    return tuple(found)


def _candidates(instruction_set: InstructionSet, calls: Sequence[Call], seq: int) -> Iterator[tuple[Register, Field, int, str]]:
    call = calls[seq]
    fields = list(_fields(instruction_set, call))

    def fits(field: Field, value: int) -> bool:
        return 0 <= value < 1 << field.width

    for register, field in fields:
        value, step = field.get(call.fields[register.name]), max(1, field.align)
        for other, why in ((value + step, "one step more"), (value - step, "one step less"), (0, "zero")):
            if fits(field, other):
                yield register, field, other, why
    for near in (seq - 1, seq + 1):
        if 0 <= near < len(calls):
            for register, field in fields:
                if register.name in calls[near].fields:
                    where = "that of the instruction before" if near < seq else "that of the instruction behind"
                    yield register, field, field.get(calls[near].fields[register.name]), where
    for register, field in fields:
        for other_register, other in fields:
            if other is not field and other.kind == field.kind and other.space == field.space:
                value = other.get(call.fields[other_register.name])
                if fits(field, value):
                    yield register, field, value, f"that of {_name(other_register, other)}"
    for register, field in fields:
        for value in field.allowed or ():
            yield register, field, value, "another allowed value"
    for register, field in fields:
        for bit in range(field.width):
            yield register, field, field.get(call.fields[register.name]) ^ (1 << bit), f"bit {bit} flipped"
