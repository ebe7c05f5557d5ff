"""The generic part of a conformance suite: illegal variants of a call, out of the description; classes of fields' values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from fleet.isa.description import Description, Field, Register
from fleet.isa.reading.cache import load
from fleet.sdk import Call, Device, Draw, InstructionSet, Source


def joined(instruction_set: InstructionSet, device: Device, draws: Sequence[Draw]) -> tuple[Call, ...]:
    """The calls of a program."""
    own = instruction_set.issue.joined
    return tuple(own(device, draws)) if own is not None else tuple(c for d in draws for c in d.calls)


def sources(instruction_set: InstructionSet) -> Mapping[str, Source]:
    """Instruction name -> source, of the set's instructions; empty for a set that brings none."""
    return {name: source for name, source in instruction_set.conformance.items() if name in instruction_set.instructions}


def value_class(f: Field, value: int) -> str:
    """The class of a field's value in the account of coverage: named and allowed values, else its place among the powers of two."""
    for e in f.encode:
        if e.value == value:
            return e.name
    top = (1 << f.width) - 1
    if f.width <= 3 or f.kind in {"constant", "mode"} or (f.allowed is not None and value in f.allowed):
        return f"{value:#x}"
    if value in (0, 1, top):
        return {0: "0", 1: "1", top: "all ones"}[value]
    if f.kind == "address":
        return "below 1 MiB" if value < 1 << 20 else "below 1 GiB" if value < 1 << 30 else "1 GiB and up"
    for block in (2048, 128, 32):
        if value > 1 and value % block in (0, 1, block - 1):
            return f"{block}n" + {0: "", 1: " + 1", block - 1: " - 1"}[value % block]
    return "other"


def mutations(
    instruction_set: InstructionSet, device: Device, call: Call, rng: np.random.Generator, register: str | None = None
) -> Iterator[tuple[str, Call]]:
    """Variants of a legal call with one register changed, "register = value" and call: most are illegal, some are not.

    register: of this one only.

    For every field what lies outside its constraints: values that are not allowed, not aligned, zero, one more and one less,
    the largest, a single other bit; for addresses also the end of memory and the places of all other operands.
    """
    d = load(instruction_set.description)
    words = d.words(call.instruction)
    addresses = [call.fields[r.name] for r in words for f in r.fields if f.kind == "address"]
    for r in words:
        if register not in {None, r.name}:
            continue
        now = call.fields[r.name]
        values: dict[int, None] = {}
        for f in r.fields:
            for v in _odd_values(f, f.get(now), device, addresses, rng):
                values[(now & ~f.mask) | ((v << f.low) & f.mask)] = None
        for v in (now ^ (1 << int(rng.integers(32))), 0xFFFFFFFF, int(rng.integers(1 << 32))):
            values[v] = None
        for v in values:
            changed = _renamed(d, replace(call, fields={**call.fields, r.name: v}), r)
            if v != now and changed.instruction in instruction_set.instructions:
                yield f"{r.name} = {v:#x}", changed


def _odd_values(f: Field, now: int, device: Device, addresses: Sequence[int], rng: np.random.Generator) -> list[int]:
    top = (1 << f.width) - 1
    values = [0, 1, now + 1, now - 1, top, now ^ (1 << int(rng.integers(f.width)))]
    if f.align > 1:
        values += [now + f.align // 2, now + f.align, now - f.align]
    if f.allowed is not None:
        values += [*f.allowed, max(f.allowed) + 1]
    if f.kind == "address":
        size = device.memory.get(f.space or "", 0) or next((a.size for a in device.arrays.values() if a.name == f.space), 0)
        values += [size, size - f.align, size - 1, top & -64, *addresses]
    if f.kind in {"size", "count"}:
        values += [2 * now, 1 << (f.width - 1), 33, 2049]
    if f.kind == "stride":
        values += [64, now * 2, top & -64]
    return [int(v) & top for v in values]


def _renamed(d: Description, call: Call, changed: Register) -> Call:
    """The call under the name of the instruction that a changed start value means; its own where it means none."""
    if changed.role != "start":
        return call
    value = call.fields[changed.name]
    unit = d.instructions[call.instruction].unit
    names = [i.name for i in d.instructions.values() if i.unit == unit and i.accepts(value)]
    if not names or call.instruction in names:
        return call
    by_address = {r.address: call.fields[r.name] for r in d.words(call.instruction)}
    return replace(call, instruction=names[0], fields={r.name: by_address[r.address] for r in d.words(names[0])})
