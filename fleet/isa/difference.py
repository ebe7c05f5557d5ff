"""Difference of two descriptions: encodings that moved, and what is gone or new."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fleet.isa.description import Description, Field, InstructionWord, MemoryWord, Register
from fleet.sdk.hardware.state import ARRAY_0

_Described = Register | Field | InstructionWord | MemoryWord


@dataclass(frozen=True)
class DescriptionChange:
    """One difference.

    kind: "moved", "changed" (of what is in both), "gone" or "new"; what: in words, with both values; where: file:line in the new
    description, of what is gone in the old one.
    """

    kind: str
    what: str
    where: str

    def __str__(self) -> str:
        return f"{self.kind:<8} {self.what}  ({self.where})"


def changes(old: Description, new: Description) -> list[DescriptionChange]:
    """All differences that change what a program means: registers with their fields, state, instructions. Prose does not count."""
    return [
        *_registers("register", old.registers, new.registers),
        *_memories(old, new),
        *_registers("state register", old.state_registers, new.state_registers),
        *_instructions(old, new),
    ]


def _registers(what: str, old: Sequence[Register], new: Sequence[Register]) -> Iterator[DescriptionChange]:
    before, after = ({r.name: r for r in registers} for registers in (old, new))
    yield from _presence(what, before, after)
    for name, a in before.items():
        if name in after:
            yield from _register(a, after[name], what)


def _memories(old: Description, new: Description) -> Iterator[DescriptionChange]:
    before, after = ({m.memory.name: m for m in d.memories} for d in (old, new))
    yield from _presence("memory", before, after)
    numbers = [{name: n for n, name in enumerate(memories, ARRAY_0)} for memories in (before, after)]
    for name, a in before.items():
        if (b := after.get(name)) is None:
            continue
        if numbers[0][name] != numbers[1][name]:
            yield DescriptionChange("moved", f"memory {name}: space {numbers[0][name]} -> {numbers[1][name]}", b.where)
        for prop in ("dtype", "columns", "banks", "undefined"):
            if getattr(a.memory, prop) != getattr(b.memory, prop):
                yield DescriptionChange(
                    "changed", f"memory {name}: {prop} {getattr(a.memory, prop)} -> {getattr(b.memory, prop)}", b.where
                )


def _register(a: Register, b: Register, what: str = "register") -> Iterator[DescriptionChange]:
    if a.address != b.address:
        yield DescriptionChange("moved", f"{what} {a.name}: number {a.number} -> {b.number}", b.where)
    for prop in ("role", "unit", "order", "fetch_word"):
        # Without fleet_order the place in the write order is the number, whose move was told.
        default = prop == "order" and (a.order, b.order) == (a.number, b.number)
        if getattr(a, prop) != getattr(b, prop) and not default:
            yield DescriptionChange("changed", f"{what} {a.name}: {prop} {getattr(a, prop)} -> {getattr(b, prop)}", b.where)
    yield from _fields(a, b)


def _fields(a: Register, b: Register) -> Iterator[DescriptionChange]:
    before, after = ({f.name: f for f in r.fields} for r in (a, b))
    yield from _presence(f"field {a.name}.", before, after)
    for name, f in before.items():
        if name in after:
            yield from _field(f"field {a.name}.{name}", f, after[name])


def _field(what: str, f: Field, g: Field) -> Iterator[DescriptionChange]:
    if (f.high, f.low) != (g.high, g.low):
        yield DescriptionChange("moved", f"{what}: bits {f.high}:{f.low} -> {g.high}:{g.low}", g.where)
    for prop in ("kind", "space", "align", "allowed", "reset", "signed", "scale", "operand", "operand_low", "derived"):
        if getattr(f, prop) != getattr(g, prop):
            yield DescriptionChange("changed", f"{what}: {prop} {getattr(f, prop)} -> {getattr(g, prop)}", g.where)
    named = [{e.name: e.value for e in x.encode} for x in (f, g)]
    if named[0] != named[1]:
        both = named[0].keys() | named[1].keys()
        parts = [f"{n} {named[0].get(n)} -> {named[1].get(n)}" for n in sorted(both) if named[0].get(n) != named[1].get(n)]
        yield DescriptionChange("changed", f"{what}: named values {', '.join(parts)}", g.where)


def _instructions(old: Description, new: Description) -> Iterator[DescriptionChange]:
    yield from _presence("instruction", old.instructions, new.instructions)
    for name, a in old.instructions.items():
        b = new.instructions.get(name)
        if b is None:
            continue
        for prop, kind in (("opcode", "moved"), ("start", "moved"), ("start_optional", "changed"), ("beats", "changed")):
            if getattr(a, prop) != getattr(b, prop):
                yield DescriptionChange(kind, f"instruction {name}: {prop} {getattr(a, prop):#x} -> {getattr(b, prop):#x}", b.where)
        if a.unit != b.unit:
            yield DescriptionChange("changed", f"instruction {name}: unit {a.unit} -> {b.unit}", b.where)
        views = [{r.name: r for r in x.view or ()} for x in (a, b)]
        yield from _presence(f"operand of {name}", views[0], views[1])
        for register, r in views[0].items():
            if register in views[1]:
                yield from _register(r, views[1][register])


def _presence(what: str, before: Mapping[str, _Described], after: Mapping[str, _Described]) -> Iterator[DescriptionChange]:
    gap = "" if what.endswith(".") else " "
    yield from (DescriptionChange("gone", f"{what}{gap}{n}", before[n].where) for n in before if n not in after)
    yield from (DescriptionChange("new", f"{what}{gap}{n}", after[n].where) for n in after if n not in before)
