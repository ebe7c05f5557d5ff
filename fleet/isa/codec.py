"""Instructions as register writes and back, and as text for people; all of it driven by the description.

A call's `fields` has every operand register of its unit and the start register, under the description's names: the
instruction's own for the operands where it has a view, else the unit's. The binary form of the same calls is
`fleet.isa.codec_binary`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fleet.errors import FleetError
from fleet.isa.description import Description, Field, InstructionWord, Register, Unit
from fleet.isa.reading.cache import load
from fleet.sdk import Call, InstructionSet

_CHECKED = 1 << 14
"""Values of a register that are remembered as allowed."""


class CodecError(FleetError):
    """A call or a stream does not follow the description; `where` names the instruction or the place in the stream."""


class Interrupt(NamedTuple):
    """Registers of the interrupt: byte addresses, masks of the two causes, cause register or None."""

    enable_address: int
    status_address: int
    done: int
    error: int
    cause_address: int | None


def description_of(source: InstructionSet | Description) -> Description:
    """The description of an instruction set (or the description itself)."""
    return source if isinstance(source, Description) else load(source.description)


def interrupt(instruction_set: InstructionSet | Description) -> Interrupt:
    """Interrupt registers, from the description's roles. Raises CodecError where the set has none."""
    d = description_of(instruction_set)
    enable, status = d.with_role("irq_enable"), d.with_role("irq_status")
    if not enable or not status:
        raise CodecError("the description has no interrupt registers (roles irq_enable and irq_status)", where=str(d.path))
    masks = {f.name: f.mask for f in status[0].fields}
    cause = d.with_role("error_cause")
    return Interrupt(enable[0].address, status[0].address, masks["done"], masks["error"], cause[0].address if cause else None)


def register_writes(instruction_set: InstructionSet | Description, call: Call, *, strict: bool = True) -> list[tuple[int, int]]:
    """(byte address, value) of every operand in write order, the start register last.

    strict: also holds the description's allowed values and alignments; False lets a test write what hardware has to refuse.
    Raises CodecError for an unknown instruction, an unknown or missing field, a value that does not fit, a start value
    that is not the instruction's.
    """
    d = description_of(instruction_set)
    values = words_of(d, call, strict=strict)
    return [(r.address, v) for r, v in zip(d.words(call.instruction), values, strict=True)]


def words_of(description: Description, call: Call, *, strict: bool = True) -> list[int]:
    """Values of the unit's registers in write order; see `register_writes`."""
    word, unit = _lookup(description, call.instruction)
    registers = description.words(word.name)
    fields = call.fields
    if len(fields) != len(registers) or any(r.name not in fields for r in registers):
        _check_names(description, word, unit, call)
    values = [fields[r.name] for r in registers]
    for r, value in zip(registers, values, strict=True):
        if type(value) is not int or value not in r.checked:
            _check_value(call.instruction, r, value, strict)
    start = call.fields[unit.start.name]
    if not word.accepts(start):
        optional = f" (bits {word.start_optional:#x} may be added)" if word.start_optional else ""
        raise CodecError(f"{unit.start.name} is {start:#x}, expected {word.start:#x}{optional}", where=call.instruction)
    return values


def _check_names(d: Description, word: InstructionWord, unit: Unit, call: Call) -> None:
    names = [r.name for r in d.words(word.name)]
    missing = [n for n in names if n not in call.fields]
    known = {*names, *(r.name for r in d.state_registers)}
    unknown = [n for n in call.fields if n not in known]
    if missing or unknown:
        parts = [f"missing {', '.join(missing)}"] if missing else []
        parts += [f"unknown {', '.join(unknown)}"] if unknown else []
        owner = f"unit '{unit.name}'" if word.view is None else f"instruction '{word.name}'"
        raise CodecError(f"fields: {'; '.join(parts)}", where=call.instruction, hint=f"{owner} has {', '.join(names)}")


def decode_writes(instruction_set: InstructionSet | Description, writes: Sequence[tuple[int, int]]) -> Call:
    """The call that `register_writes` made these writes of. Operands may come in any order, the start register last.

    Raises CodecError if an address is not an operand of the unit, if a register is written twice or not at all, or if no
    instruction has the start value.
    """
    d = description_of(instruction_set)
    if not writes:
        raise CodecError("no register writes", where=d.name)
    starts = {u.start.address: u for u in d.units.values()}
    last = writes[-1][0]
    if last not in starts:
        names = ", ".join(f"{u.start.address:#x} ({u.start.name})" for u in d.units.values())
        raise CodecError(f"the last write goes to {last:#x}, expected a start register: {names}", where=d.name)
    unit = starts[last]
    word = next((w for w in d.instructions.values() if w.unit == unit.name and w.accepts(writes[-1][1])), None)
    if word is None:
        known = ", ".join(f"{w.start:#x} ({w.name})" for w in d.instructions.values() if w.unit == unit.name)
        what = f"{unit.start.name} = {writes[-1][1]:#x} is no instruction"
        raise CodecError(what, where=d.name, hint=f"known are {known}" if known else "the unit has none")
    registers = d.words(word.name)
    by_address = {r.address: r for r in registers}
    fields: dict[str, int] = {}
    for n, (address, value) in enumerate(writes):
        register = by_address.get(address)
        if register is None:
            raise CodecError(f"address {address:#x} is not an operand of unit '{unit.name}'", where=f"{d.name} write {n}")
        if register.name in fields:
            raise CodecError(f"{register.name} is written twice", where=f"{d.name} write {n}")
        fields[register.name] = value
    call = Call(word.name, {r.name: fields[r.name] for r in registers if r.name in fields})
    words_of(d, call)
    return call


def call_from_words(description: Description, instruction: str, words: Sequence[int]) -> Call:
    """The call of an instruction from its register values in write order (start last); the same checks as `words_of`."""
    word, _ = _lookup(description, instruction)
    registers = description.words(word.name)
    if len(words) != len(registers):
        raise CodecError(f"{len(words)} words, expected {len(registers)}", where=word.name)
    call = Call(word.name, {r.name: v for r, v in zip(registers, words, strict=True)})
    words_of(description, call)
    return call


def disassemble(instruction_set: InstructionSet | Description, call: Call, *, detailed: bool = False) -> str:
    """One line (`mvm_bn win=1 in_addr=0x0 ... start=mvm+bn`), registers with one allowed value left out.

    detailed: one line a register instead: number, name, value, fields and their meaning.
    """
    d = description_of(instruction_set)
    word, _ = _lookup(d, call.instruction)
    words_of(d, call, strict=False)
    registers = d.words(word.name)
    if detailed:
        head = f"{word.name}  opcode {word.opcode:#04x}  {word.title}"
        if call.ops:
            head += f"  [{', '.join(call.ops)}]"
        registers = (*registers, *(r for r in d.state_registers if r.name in call.fields))
        return "\n".join([head, *(line for r in registers for line in _explain(r, call.fields[r.name]))])
    shown = [f"{r.local_name}={_short(r, call.fields[r.name])}" for r in registers if not _fixed(r, call.fields[r.name])]
    return " ".join([word.name, *shown])


def _lookup(d: Description, name: str) -> tuple[InstructionWord, Unit]:
    word = d.instructions.get(name)
    if word is None:
        raise CodecError(f"no instruction '{name}'", where=d.name, hint=f"instructions are {', '.join(d.instructions)}")
    return word, d.units[word.unit]


def _check_value(instruction: str, r: Register, value: int, strict: bool) -> None:
    where = f"{instruction}.{r.name}"
    if not isinstance(value, int | np.integer):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise CodecError(f"is {value!r}, expected an integer", where=where)
    if not 0 <= value < 1 << 32:
        raise CodecError(f"{value} does not fit in 32 bits", where=where)
    if value & ~r.mask:
        raise CodecError(f"{value:#x} sets bits that no field has (fields cover {r.mask:#x})", where=where)
    if not strict:
        return
    for f in r.fields:
        v = f.get(value)
        place = where if len(r.fields) == 1 else f"{where}.{f.name}"
        if f.allowed is not None and v not in f.allowed:
            raise CodecError(f"{v} is not allowed, expected {' or '.join(map(str, f.allowed))}", where=place)
        if v % f.align:
            raise CodecError(f"{v} is not a multiple of {f.align}", where=place)
    if len(r.checked) < _CHECKED:
        r.checked.add(int(value))


def _fixed(r: Register, value: int) -> bool:
    return all(f.allowed is not None and f.allowed == (f.get(value),) for f in r.fields)


def _number(f: Field, value: int) -> str:
    named = next((e.name for e in f.encode if e.value == value), None)
    text = f"{value:#x}" if f.kind == "address" else str(value)
    return f"{named}({text})" if named else text


def _short(r: Register, value: int) -> str:
    if len(r.fields) == 1:
        return _number(r.fields[0], value)
    if all(f.width == 1 or f.kind == "constant" for f in r.fields):
        # Flags: the names of those that are set.
        return "+".join(f.name for f in r.fields if f.get(value)) or "0"
    return f"{value:#x}"


def _explain(r: Register, value: int) -> list[str]:
    single = len(r.fields) == 1
    place = "state  " if r.role == "state" else f"reg {r.number:3d}"
    lines = [f"  {place}  {r.name:<18} = {value:#010x} {value:>10}  {r.title}"]
    if single:
        f = r.fields[0]
        lines[0] += f" ({f.kind}{f' in {f.space}' if f.space else ''})"
        if any(e.value == value for e in f.encode):
            lines[0] += f": {_number(f, value)}"
        return lines
    for f in r.fields:
        bits = str(f.low) if f.width == 1 else f"{f.high}:{f.low}"
        lines.append(f"           [{bits:>5}] {f.name:<10} = {_number(f, f.get(value))}" + (f"  {f.desc}" if f.desc else ""))
    return lines
