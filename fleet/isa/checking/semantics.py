"""Checks of semantics: no write beside the destination, no undeclared dependence, one result for one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from fleet.isa.checking.asking import ask_ranges
from fleet.isa.checking.finding import Finding, method_place
from fleet.isa.checking.scratch import ScratchMemory
from fleet.isa.codec import description_of
from fleet.isa.description import parameter_values
from fleet.isa.resolved import executed
from fleet.sdk import Device, Draw, Instruction, InstructionSet, Range, Write, contiguous


def prepared(instruction_set: InstructionSet, device: Device, draw: Draw) -> ScratchMemory:
    """Memory as the call finds it: the draw's blocks and parameters, and what the calls before it write."""
    memory = ScratchMemory(device, draw.blocks)
    memory.set_registers({**parameter_values(description_of(instruction_set)), **draw.parameters})
    for call in draw.before:
        for write in executed(instruction_set.instructions[call.instruction], device, call.fields, memory):
            memory.put(write)
    return memory


def check_execution(instruction_set: InstructionSet, device: Device, draw: Draw) -> Iterator[Finding]:
    """Findings of one legal call, one a kind. The class may do anything: what it raises is a finding."""
    cls, fields = instruction_set.instructions[draw.call.instruction], draw.call.fields
    name = draw.call.instruction
    at = method_place(cls, "execute")
    reads, writes = ask_ranges(cls, "reads", device, fields), ask_ranges(cls, "writes", device, fields)
    try:
        memory = prepared(instruction_set, device, draw)
        known = memory.copies(reads)
        memory.written()
        first = results(cls.execute(device, fields, memory))
        touched = memory.written()
        again = results(cls.execute(device, fields, memory))
    except (Exception, SystemExit) as error:  # whatever the author's code raises
        yield _fails(cls, error)
        return
    if touched is not None:
        yield Finding(at, f"{name}: writes into memory itself ({touched[0]} {touched[1]:#x}), expected only what it returns")
    if sorted(map(_place, writes)) != sorted(map(_place, contiguous(ask_ranges(cls, "destination", device, fields)))):
        yield Finding(method_place(cls, "destination"), f"{name}: `destination` names other ranges than `writes`")
        return
    if first != again:
        yield Finding(at, f"{name}: is not deterministic: the same call on the same memory gives another result")
        return
    yield from _destinations(instruction_set, cls, first, writes)
    registers = {**parameter_values(description_of(instruction_set)), **draw.parameters}
    for seed in (1, 2):
        garbage = ScratchMemory(device, known, garbage=seed)
        garbage.set_registers(registers)
        try:
            other = results(cls.execute(device, fields, garbage))
        except (Exception, SystemExit) as error:  # as above
            yield Finding(at, f"{name}: fails where memory outside `reads` holds something else: {type(error).__name__}: {error}")
            return
        if other != first:
            if results(cls.execute(device, fields, memory)) != first:
                yield Finding(at, f"{name}: is not deterministic: a call gives another result after other calls")
                return
            place = _first_difference(first, other)
            yield Finding(at, f"{name}: depends on memory that `reads` does not declare: {place} differs with other bytes there")
            return


def check_effects(instruction_set: InstructionSet, device: Device, draw: Draw) -> Iterator[Finding]:
    """One legal call, once: it executes, and writes nothing that `writes` does not declare."""
    cls, fields = instruction_set.instructions[draw.call.instruction], draw.call.fields
    writes = ask_ranges(cls, "writes", device, fields)
    try:
        found = results(cls.execute(device, fields, prepared(instruction_set, device, draw)))
    except (Exception, SystemExit) as error:  # whatever the author's code raises
        yield _fails(cls, error)
        return
    yield from _destinations(instruction_set, cls, found, writes)


def _fails(cls: type[Instruction], error: BaseException) -> Finding:
    return Finding(method_place(cls, "execute"), f"{cls.name}: a legal call fails: {type(error).__name__}: {error}")


def _place(r: Range) -> tuple[str, int, int, int]:
    return r.space, r.bank, r.offset, r.size


Result = tuple[tuple[str, int, int, bytes], ...]
"""(space, bank, offset, bytes) of every write."""


def results(writes: Sequence[Write]) -> Result:
    """Writes as values that can be compared, one a contiguous block."""
    return tuple((w.space, w.bank, w.offset, np.ascontiguousarray(w.data).tobytes()) for w in contiguous(writes))


def _destinations(
    instruction_set: InstructionSet, cls: type[Instruction], found: Result, declared: Sequence[Range]
) -> Iterator[Finding]:
    at, name = method_place(cls, "execute"), cls.name
    d = description_of(instruction_set)
    result = d.units[d.instructions[name].unit].result
    covered: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for space, bank, offset, data in found:
        end = offset + len(data)
        if space == "reg":
            if result is None or (offset, end) != (result.address, result.address + 4):
                expected = f"expected {result.name} at {result.address:#x}" if result else "its unit has no result register"
                yield Finding(at, f"{name}: writes register {offset:#x}, {expected}")
            continue
        inside = [r for r in declared if (r.space, r.bank) == (space, bank) and r.offset < end and offset < r.offset + r.size]
        left = _uncovered(offset, end, [(r.offset, r.offset + r.size) for r in inside])
        if left:
            yield Finding(at, f"{name}: writes bytes [{left[0]:#x}, {left[1]:#x}) of {space}, which `writes` does not declare")
            return
        if any(a < end and offset < b for a, b in covered.setdefault((space, bank), [])):
            yield Finding(at, f"{name}: writes bytes in [{offset:#x}, {end:#x}) of {space} twice; a commit counts every byte once")
            return
        covered[space, bank].append((offset, end))


def _uncovered(start: int, end: int, ranges: Sequence[tuple[int, int]]) -> tuple[int, int] | None:
    """The first part of [start, end) that is in none of the ranges."""
    at = start
    for a, b in sorted(ranges):
        if a > at:
            return at, min(a, end)
        at = max(at, b)
        if at >= end:
            return None
    return (at, end) if at < end else None


def _first_difference(one: Result, other: Result) -> str:
    for (space, _, offset, a), (_, _, _, b) in zip(one, other, strict=False):
        if a != b:
            i = next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
            return f"{space} {offset + i:#x}"
    return "what it writes"
