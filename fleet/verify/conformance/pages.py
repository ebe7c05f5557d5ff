"""Calls whose operands begin at a page of memory, and the same across it: bursts end there, and cost must know it.

The page is where the highest bit of an address changes: a carry that is lost on the way is seen as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fleet.isa.codec import description_of
from fleet.isa.registry import find_device
from fleet.sdk import Call, Device, InstructionSet, Write
from fleet.streams.case import StreamCase

PAGE = 4096
"""No AXI4 burst crosses a multiple of this number of bytes."""


def at_pages(case: StreamCase) -> Iterator[tuple[StreamCase, StreamCase]]:
    """Pairs of variants of a case, of its last call: one operand begins at a page; it has the page in its middle.

    For each operand in a memory outside the chip that is larger than its alignment, where both calls are legal. What they read
    there is drawn.
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
        page = 1 << ((device.memory[space] - 1).bit_length() - 1)
        moved: list[Call] = [replace(call, fields={**call.fields, register.name: at}) for at in (page, page - half)]
        if half and page % PAGE == 0 and page % align == 0 and not any(unit.legal(device, c.fields) for c in moved):
            one, other = (
                _with(case, instruction_set, device, c, f"{register.name} {where} a page")
                for c, where in zip(moved, ("at", "across"), strict=True)
            )
            yield one, other


def _with(case: StreamCase, instruction_set: InstructionSet, device: Device, last: Call, what: str) -> StreamCase:
    rng = np.random.default_rng(case.seed)
    read = instruction_set.instructions[last.instruction].reads(device, last.fields)
    drawn = (Write(r.space, r.offset, rng.integers(0, 256, r.size, dtype=np.uint8)) for r in read if r.space in device.memory)
    return replace(case, name=f"{case.name}, {what}", calls=(*case.calls[:-1], last), blocks=(*drawn, *case.blocks), causes=None)
