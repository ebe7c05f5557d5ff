"""Calls whose operands begin at a page of memory, and the same across the next page: bursts end there, and cost must know it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fleet.isa.codec import description_of
from fleet.isa.registry import find_device
from fleet.sdk import Call
from fleet.streams.case import StreamCase

PAGE = 4096
"""No AXI4 burst crosses a multiple of this number of bytes."""


def at_pages(case: StreamCase) -> Iterator[tuple[StreamCase, StreamCase]]:
    """Pairs of variants of a case, of its last call: one operand begins at a page; it has a page's end in its middle.

    For each operand in a memory outside the chip that is larger than its alignment, where both calls are legal.
    """
    instruction_set, device = find_device(case.device)
    call = case.calls[-1]
    unit = instruction_set.instructions[call.instruction]
    ranges = [*unit.reads(device, call.fields), *unit.writes(device, call.fields)]
    for register in description_of(instruction_set).words(call.instruction):
        (field, *_) = register.fields or (None,)
        space = "" if field is None else field.space or ""
        if field is None or field.kind != "address" or space not in device.memory:
            continue
        now = call.fields[register.name]
        ends = [r.offset + r.size for r in ranges if r.space == space and r.offset <= now < r.offset + r.size]
        align = max(1, field.align)
        half = (max(ends, default=now) - now) // 2 // align * align
        page = device.memory[space] // 2 // PAGE * PAGE
        moved: list[Call] = [replace(call, fields={**call.fields, register.name: at}) for at in (page, page + PAGE - half)]
        if half and PAGE % align == 0 and not any(unit.legal(device, c.fields) for c in moved):
            one, other = (
                _with(case, c, f"{register.name} {where} a page") for c, where in zip(moved, ("at", "across"), strict=True)
            )
            yield one, other


def _with(case: StreamCase, last: Call, what: str) -> StreamCase:
    return replace(case, name=f"{case.name}, {what}", calls=(*case.calls[:-1], last), causes=None)
