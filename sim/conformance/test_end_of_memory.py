"""Every operand in turn ends with the last byte of its memory, where a limit that is off by one refuses what is legal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from chosen import devices

from fleet.isa.reading.cache import load
from fleet.isa.registry import find_device
from fleet.streams.case import StreamCase
from fleet.streams.run import StreamRunner
from fleet.verify.conformance.suite import make_case, names


def at_the_end(name: str) -> Iterator[StreamCase]:
    """Variants of a case, of its last call: one operand's range is moved to the end, where the call stays legal."""
    case = make_case(name)
    instruction_set, device = find_device(case.device)
    call = case.calls[-1]
    unit = instruction_set.instructions[call.instruction]
    ranges = [*unit.reads(device, call.fields), *unit.writes(device, call.fields)]
    for register in load(instruction_set.description).words(call.instruction):
        (field, *_) = register.fields or (None,)
        if field is None or field.kind != "address" or field.space not in device.memory:
            continue
        now = call.fields[register.name]
        ends = [r.offset + r.size for r in ranges if r.space == field.space and r.offset <= now < r.offset + r.size]
        if not ends:
            continue
        moved = device.memory[field.space] - (max(ends) - now)
        fields = {**call.fields, register.name: moved}
        if moved % max(1, field.align) == 0 and not unit.legal(device, fields):
            yield replace(
                case, name=f"{name} {register.name} at the end", calls=(*case.calls[:-1], replace(call, fields=fields)), causes=None
            )


@pytest.mark.parametrize("device", devices())
def test_operands_that_end_with_the_memory_are_legal(device: str, runners: Callable[[str], StreamRunner]) -> None:
    tried = 0
    for name in (n for n in names(device) if n.endswith("/directed/0")):
        for case in at_the_end(name):
            (outcome,) = runners(device).run(case)
            tried += 1
            assert outcome.passed, (case.name, outcome.reasons)
            assert not outcome.found[-1].cause, case.name
    assert tried
