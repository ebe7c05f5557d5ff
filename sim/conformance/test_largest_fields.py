"""Every operand field alone at the largest value that is legal there, where a register that is too narrow for it is seen.

The other fields are those of a directed case, and once more as small as they may be, so that a count can be large. Addresses have
their own test (`test_end_of_memory.py`). What a call would read has random bytes wherever it lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np
import pytest
from chosen import devices

from fleet.isa.description import Field, Register
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.sdk import Device, Instruction, Write
from fleet.streams.case import StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names

KINDS = {"size", "count", "stride", "value"}
LIMIT = 40_000  # cycles that an instruction may be estimated to take
ROOM = 4 << 20  # bytes that it may read
BASES = 6  # directed cases of an instruction that are tried

Fields = Mapping[str, int]


def _with(fields: Fields, register: Register, field: Field, value: int) -> Fields:
    return {**fields, register.name: (fields[register.name] & ~field.mask) | (value << field.low & field.mask)}


def _fits(unit: type[Instruction], device: Device, fields: Fields) -> bool:
    """Return whether the call is legal, is estimated at `LIMIT` cycles at most, and reads `ROOM` bytes at most."""
    if unit.legal(device, fields) or unit.cost(device, fields) > LIMIT:
        return False
    return sum(r.size for r in unit.reads(device, fields)) <= ROOM


def _largest(unit: type[Instruction], device: Device, fields: Fields, register: Register, field: Field) -> int:
    """The largest value found by halving, among those that have the field's alignment."""
    align = max(1, field.align)
    low, high = field.get(fields[register.name]) // align, ((1 << field.width) - 1) // align
    if _fits(unit, device, _with(fields, register, field, high * align)):
        return high * align
    while high - low > 1:
        middle = (low + high) // 2
        if _fits(unit, device, _with(fields, register, field, middle * align)):
            low = middle
        else:
            high = middle
    return low * align


def _tells(unit: type[Instruction], device: Device, before: Fields, after: Fields) -> tuple[bool, int]:
    """How much of a field is seen in a call: whether other bytes are met, or more cycles; and the cycles."""
    met = [(list(unit.reads(device, f)), list(unit.writes(device, f)), unit.cost(device, f)) for f in (before, after)]
    return met[0] != met[1], met[1][2]


def _smallest(unit: type[Instruction], device: Device, fields: Fields, swept: list[tuple[Register, Field]]) -> Fields:
    """The fields as small as they may be, one after the other."""
    for register, field in swept:
        for value in (0, max(1, field.align)):
            changed = _with(fields, register, field, value)
            if value < field.get(fields[register.name]) and _fits(unit, device, changed):
                fields = changed
                break
    return fields


def _filled(case: StreamCase, device: Device, unit: type[Instruction], fields: Fields) -> StreamCase:
    """The case with these fields of its last call and bytes wherever the call reads."""
    rng = np.random.default_rng(case.seed)
    inside = {a.name for a in device.arrays.values()}
    read = [r for r in unit.reads(device, fields) if r.space in device.memory or r.space in inside]
    below = tuple(Write(r.space, r.offset, rng.integers(0, 256, r.size, dtype=np.uint8)) for r in read)
    calls = (*case.calls[:-1], replace(case.calls[-1], fields=fields))
    return replace(case, calls=calls, blocks=(*below, *case.blocks), causes=None)


def _swept(device_name: str, instruction: str) -> list[tuple[Register, Field]]:
    words = load(find_device(device_name)[0].description).words(instruction)
    return [(r, f) for r in words for f in r.fields if f.kind in KINDS and f.width > 3 and f.allowed is None and not f.derived]


def largest(device_name: str, instruction: str) -> Iterator[tuple[str, StreamCase]]:
    """ "register.field = value" and the case, for every field that can be larger than any directed case has it."""
    instruction_set, device = find_device(device_name)
    unit = instruction_set.instructions[instruction]
    every = [n for n in names(device_name) if n.startswith(f"{device_name}/{instruction}/directed/")]
    step = max(1, len(every) // BASES)
    cases = [make_case(n) for n in every[::step]]
    swept = _swept(device_name, instruction)
    bases = [[(c, fields) for c in cases if _fits(unit, device, fields := c.calls[-1].fields)]]
    bases.append([(c, _smallest(unit, device, fields, swept)) for c, fields in bases[0]])
    for register, field in swept:
        for base in bases:
            found: list[tuple[tuple[bool, int, int], int]] = []
            for i, (_, fields) in enumerate(base):
                value = _largest(unit, device, fields, register, field)
                seen, cycles = _tells(unit, device, fields, _with(fields, register, field, value))
                found += [((seen, value, cycles), i)] if value > field.get(fields[register.name]) else []
            if not found:
                continue
            (_, value, _), i = max(found)
            case, fields = base[i]
            half = 1 << (field.width - 1)
            for one in (value, half, half - 1) if field.signed else (value,):
                changed = _with(fields, register, field, one)
                if _fits(unit, device, changed):
                    yield f"{register.name}.{field.name} = {one} in {case.name}", _filled(case, device, unit, changed)


def _instructions() -> list[tuple[str, str]]:
    return [(d, i) for d in devices() for i in find_device(d)[0].conformance if i in find_device(d)[0].instructions]


@pytest.mark.parametrize(("device", "instruction"), _instructions())
def test_every_field_at_its_largest(device: str, instruction: str, runners: Callable[[str], StreamRunner]) -> None:
    failed: list[str] = []
    tried = 0
    for what, case in largest(device, instruction):
        tried += 1
        (outcome,) = runners(device).run(replace(case, name=what))
        failed += [f"{what}: {reason}" for reason in outcome.reasons]
        failed += [f"{what}: refused"] if outcome.found and outcome.found[-1].cause else []
    assert tried or not _swept(device, instruction)
    assert not failed, "\n".join(failed[:10])
