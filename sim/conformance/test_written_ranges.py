"""From a binary, behind an instruction that writes several ranges: a reader of each of them, by each of its operands, must wait.

On slow memory the reader has long asked for its operands when the writer's last beat is written; what was there before is not what
it must find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest
from chosen import devices

from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.sdk import Call, Range, Write
from fleet.streams.case import Setting, StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.settings import ways_of_issue
from fleet.verify.conformance.suite import make_case, names

SLOW = Setting("fixed:200", "aux")
DEVICES = [d for d in devices() if "aux" in ways_of_issue(find_device(d)[0]) and find_device(d)[0].issue.joined is None]
"""Devices that order their instructions themselves; where the calls carry flags for it, a program needs others."""


def _writers(device_name: str) -> Iterator[tuple[StreamCase, list[Range]]]:
    """A case of every instruction that can write what several of its operands point to, and the first range of each."""
    instruction_set, device = find_device(device_name)
    known = load(instruction_set.description).instructions
    seen = set[str]()
    for name in names(device_name):
        instruction = name.split("/")[1]
        if instruction in seen or not known[instruction].beats:
            continue
        case = make_case(name)
        unit = instruction_set.instructions[instruction]
        fields = case.calls[-1].fields
        places = {(f.space, fields[r.name]) for r in load(instruction_set.description).words(instruction) for f in r.fields}
        written = [r for r in unit.writes(device, fields) if r.space in device.memory and (r.space, r.offset) in places]
        written = list({(r.space, r.offset): r for r in written}.values())
        if len(written) > 1 and all(known[c.instruction].beats for c in case.calls):
            seen.add(instruction)
            yield case, written


def _readers(device_name: str, written: Range) -> Iterator[tuple[str, StreamCase]]:
    """A case of every instruction and operand that reads, with the operand in the range; the name of its register."""
    instruction_set, device = find_device(device_name)
    known = load(instruction_set.description).instructions
    for name in (n for n in names(device_name) if n.endswith("/directed/0") and known[n.split("/")[1]].beats):
        case = make_case(name)
        call = case.calls[-1]
        unit = instruction_set.instructions[call.instruction]
        for register in load(instruction_set.description).words(call.instruction):
            (field, *_) = register.fields or (None,)
            if field is None or field.kind != "address" or field.space != written.space:
                continue
            fields = {**call.fields, register.name: written.offset}
            if unit.legal(device, fields):
                continue
            reads = [r for r in unit.reads(device, fields) if r.space == written.space]
            if any(r.offset < written.offset + written.size and written.offset < r.offset + r.size for r in reads):
                yield register.name, replace(case, calls=(*case.calls[:-1], Call(call.instruction, fields)))


@pytest.mark.parametrize("device", DEVICES)
def test_a_reader_of_every_written_range_waits(device: str, runners: Callable[[str], StreamRunner]) -> None:
    rng = np.random.default_rng(3)
    tried, failed = 0, list[str]()
    for first, ranges in _writers(device):
        for number, written in enumerate(ranges):
            before = Write(written.space, written.offset, rng.integers(1, 256, written.size, dtype=np.uint8))
            for register, second in _readers(device, written):
                what = f"{first.name}, range {number}, then {second.calls[-1].instruction} with {register} there"
                case = replace(
                    first, name=what, calls=(*second.calls[:-1], *first.calls, second.calls[-1]), causes=None,
                    blocks=(*second.blocks, *first.blocks, before), parameters={**second.parameters, **first.parameters},
                )  # fmt: skip
                (outcome,) = runners(device).run(case, [SLOW])
                tried += 1
                failed += [f"{what}: {reason}" for reason in outcome.reasons]
    if not tried:
        pytest.skip("no instruction of the set writes several ranges that others read")
    assert not failed, "\n".join(failed[:10])
