"""Checks of calls: legality, refusals, ranges, cost, and the way to words and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice

import numpy as np

from fleet.errors import FleetError
from fleet.isa.checking.asking import ask_cycles, ask_legal, ask_macs, ask_ranges, ask_refusal
from fleet.isa.checking.finding import Finding, method_place
from fleet.isa.checking.semantics import check_effects
from fleet.isa.checking.state import check_configured
from fleet.isa.codec import decode_writes, description_of, disassemble, register_writes
from fleet.isa.codec_binary import decode_binary, encode_binary
from fleet.isa.conformance import mutations
from fleet.isa.resolved import resolved_call, state_after
from fleet.sdk import Call, Device, Draw, Instruction, InstructionSet

_VARIANTS = 400
_EXECUTED = 12
"""Legal variants of a call that are executed,"""
_LONGER = 4
"""if they cost so many times the call at most."""


def check_drawn(instruction_set: InstructionSet, device: Device, draw: Draw) -> Iterator[Finding]:
    """A drawn call is legal, and its ranges lie inside the device."""
    cls = instruction_set.instructions[draw.call.instruction]
    wrong = ask_legal(cls, device, draw.call.fields)
    if wrong:
        yield Finding(method_place(cls, "legal"), f"{cls.name}: what its conformance source draws is not legal: {wrong[0]}")
    else:
        yield from _ranges(cls, device, draw.call.fields)
        yield from check_configured(instruction_set, device, draw.call)


def check_cost(instruction_set: InstructionSet, device: Device, draw: Draw) -> Iterator[Finding]:
    """Cost and every estimate are cycles above 0, and in those of `cost` the device's limits allow what the call does."""
    cls = instruction_set.instructions[draw.call.instruction]
    cycles = ask_cycles(cls, "cost", device, draw.call.fields)
    for memory in ("ideal", *(("timed",) if device.timing else ())):
        ask_cycles(cls, "expected_cycles", device, draw.call.fields, memory)
    _, issued = ask_macs(cls, device, draw.call.fields)
    moved: dict[str, int] = {}
    for method in ("reads", "writes"):  # each has a channel of its own
        sizes: dict[str, int] = {}
        for r in ask_ranges(cls, method, device, draw.call.fields):
            sizes[r.space] = sizes.get(r.space, 0) + r.size
        moved |= {space: max(size, moved.get(space, 0)) for space, size in sizes.items()}
    work = {"macs_per_cycle": (issued, "multiply-accumulates", "macs")}
    work |= {f"{space}_bytes_per_cycle": (size, f"bytes of {space}", "cost") for space, size in moved.items()}
    for limit, (count, unit, method) in work.items():
        most = device.limits.get(limit, 0)
        if most and count > most * cycles:
            what = f"{cls.name}: {count} {unit} in the {cycles} cycles of `cost`; {device.name} states {limit} = {most:g}"
            yield Finding(method_place(cls, method), f"{what} ({_short(draw.call)})")
            return


def check_codec(instruction_set: InstructionSet, draw: Draw) -> Iterator[Finding]:
    """A call survives being written as register values, as a binary, and can be shown."""
    d = description_of(instruction_set)
    word = d.instructions[draw.call.instruction]
    operands = {r.name for r in d.words(word.name)}
    bare = replace(draw.call, ops=(), fields={k: v for k, v in draw.call.fields.items() if k in operands})
    try:
        if decode_writes(d, register_writes(d, bare)) != Call(bare.instruction, dict(bare.fields)):
            yield Finding(word.where, f"{word.name}: register writes do not decode to the call that they were made of")
        if word.beats and [c.fields for c in decode_binary(d, encode_binary(d, [bare]))] != [dict(bare.fields)]:
            yield Finding(word.where, f"{word.name}: its binary does not decode to the call that it was made of")
        disassemble(d, bare, detailed=True)
    except FleetError as error:
        yield Finding(word.where, f"{word.name}: a legal call cannot be encoded: {error}")


def check_variants(
    instruction_set: InstructionSet, device: Device, draw: Draw, rng: np.random.Generator, *, execute: bool = True
) -> Iterator[Finding]:
    """Variants of the call and random words: legality answers for all of them, and agrees with refusals and the description.

    execute: some of the legal ones too, unless they take much longer: a limit that `legal` lacks shows there.
    """
    d = description_of(instruction_set)
    causes = {e.value for r in d.with_role("error_cause") for f in r.fields for e in f.encode}
    words = d.words(draw.call.instruction)
    variants = [call for _, call in islice(mutations(instruction_set, device, draw.call, rng), _VARIANTS)]
    for _ in range(20):
        fields = {r.name: int(rng.integers(1 << 32)) & r.mask for r in words}
        variants.append(replace(draw.call, fields=fields))
    state = state_after(instruction_set, device, draw.before)
    most = _LONGER * ask_cycles(instruction_set.instructions[draw.call.instruction], "cost", device, draw.call.fields)
    legal: list[Call] = []
    for variant in variants:
        cls = instruction_set.instructions[variant.instruction]
        call = resolved_call(cls, device, variant, state)
        wrong, refused = ask_legal(cls, device, call.fields), ask_refusal(cls, device, call.fields)
        if bool(wrong) != (refused is not None):
            what = f"legal says {wrong[0] if wrong else 'yes'!r}, refusal {refused!r}"
            yield Finding(method_place(cls, "refusal"), f"{cls.name}: {what} of {_short(call)}")
            return
        if refused is not None and causes and refused[0] not in causes:
            yield Finding(
                method_place(cls, "refusal"), f"{cls.name}: refuses with cause {refused[0]}, which the description does not have"
            )
            return
        if not wrong:
            own = variant.instruction == draw.call.instruction
            found = [*_encodable(instruction_set, call), *_ranges(cls, device, call.fields)]
            found += check_configured(instruction_set, device, call) if own else ()
            if found:
                yield found[0]
                return
            if execute and own and ask_cycles(cls, "cost", device, call.fields) <= most:
                legal.append(call)
    chosen = np.random.default_rng([len(legal), *draw.call.fields.values()])  # what is drawn does not depend on it
    for n in chosen.permutation(len(legal))[:_EXECUTED]:
        for finding in check_effects(instruction_set, device, replace(draw, call=legal[n])):
            yield replace(finding, what=f"{finding.what} ({_short(legal[n])})")
            return


def _encodable(instruction_set: InstructionSet, call: Call) -> Iterator[Finding]:
    # Not strict: hardware may take what the description keeps authors from, an odd address of an operand that is not read.
    try:
        register_writes(instruction_set, call, strict=False)
    except FleetError as error:
        cls = instruction_set.instructions[call.instruction]
        yield Finding(
            method_place(cls, "legal"), f"{cls.name}: legal by its class, not by the description: {error} ({_short(call)})"
        )


def _ranges(cls: type[Instruction], device: Device, fields: Mapping[str, int]) -> Iterator[Finding]:
    for method in ("reads", "writes"):
        for r in ask_ranges(cls, method, device, fields):
            banks = device.parameters["HbmPorts"] if r.space == "hbm" else 1
            room = device.arrays[r.space].size if r.space in device.arrays else device.memory.get(r.space)
            if room is not None and (r.offset < 0 or r.offset + r.size > room or not 0 <= r.bank < banks):
                place = f"[{r.offset:#x}, {r.offset + r.size:#x}) of {r.space}"
                yield Finding(method_place(cls, "legal"), f"{cls.name}: a legal call {method} {place}, which has {room:#x} bytes")
                return


def _short(call: Call) -> str:
    return " ".join(f"{k}={v:#x}" for k, v in call.fields.items())
