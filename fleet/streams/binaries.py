"""Plans of issuing a stream: binaries in memory that no instruction uses, or groups that run together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.codec import CodecError, description_of, words_of
from fleet.isa.codec_binary import encode_binary
from fleet.isa.description import Description
from fleet.isa.issue import Binary, runs
from fleet.sdk import Call, Device, InstructionSet, Write
from fleet.streams.case import Issue, StreamCase
from fleet.streams.model_side import refusal

_SPACE = "ddr"
_STEP = 1 << 16


@dataclass(frozen=True)
class BinaryPlan:
    """A plan of issuing a stream.

    binaries, together: as `Segment` takes them. blocks: the binaries' bytes.
    """

    binaries: tuple[Binary, ...] = ()
    blocks: tuple[Write, ...] = ()
    together: Mapping[int, int] = field(default_factory=dict[int, int])


def binaries(instruction_set: InstructionSet, device: Device, case: StreamCase, issue: Issue) -> BinaryPlan:
    """Return the plan for a way of issue. Raises DeviceError if memory has no room for a binary.

    Some calls are written to the registers in any case: refused ones, because an illegal task would end its binary, and legal ones
    with a value that no assembler writes in an unused register.
    """
    if issue == "ahead":
        return BinaryPlan(together=_together(instruction_set, device, case.calls))
    if issue != "aux":
        return BinaryPlan()
    description = description_of(instruction_set)
    legal = [not refusal(instruction_set.instructions[c.instruction], device, c.fields) for c in case.calls]
    taken = _taken(instruction_set, device, case, legal)
    fetchable = [ok and _encodes(description, c) for ok, c in zip(legal, case.calls, strict=True)]
    found: list[Binary] = []
    blocks: list[Write] = []
    for begin, end in _stretches(fetchable):
        for first, count, has_form in runs(description, case.calls[begin:end]):
            if has_form:
                data = np.frombuffer(encode_binary(instruction_set, case.calls[begin + first : begin + first + count]), np.uint8)
                offset = _free(device, taken, data.size)
                taken.append((offset, offset + data.size))
                found.append(Binary(begin + first, count, _SPACE, offset, data.size))
                blocks.append(Write(_SPACE, offset, data))
    return BinaryPlan(tuple(found), tuple(blocks))


def _together(instruction_set: InstructionSet, device: Device, calls: Sequence[Call]) -> dict[int, int]:
    """Return first call -> number of calls of each group, each as large as the set allows."""
    ahead = instruction_set.issue.ahead
    found: dict[int, int] = {}
    first = 0
    while ahead is not None and first < len(calls):
        count = 1
        while first + count < len(calls) and ahead(device, calls[first : first + count], calls[first + count]):
            count += 1
        found[first] = count
        first += count
    return found


def _encodes(description: Description, call: Call) -> bool:
    try:
        words_of(description, call)
    except CodecError:
        return False
    return True


def _stretches(fetchable: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the ranges [first, after last) of consecutive calls that can be fetched."""
    cuts = [-1, *(i for i, ok in enumerate(fetchable) if not ok), len(fetchable)]
    return [(a + 1, b) for a, b in pairwise(cuts) if b > a + 1]


def _taken(instruction_set: InstructionSet, device: Device, case: StreamCase, legal: Sequence[bool]) -> list[tuple[int, int]]:
    taken = [(b.offset, b.offset + b.data.size) for b in case.blocks if b.space == _SPACE]
    for call in (c for c, ok in zip(case.calls, legal, strict=True) if ok):
        unit = instruction_set.instructions[call.instruction]
        ranges = (*unit.reads(device, call.fields), *unit.writes(device, call.fields))
        taken += [(r.offset, r.offset + r.size) for r in ranges if r.space == _SPACE]
    return taken


def _free(device: Device, taken: list[tuple[int, int]], size: int) -> int:
    for offset in range(0, device.memory[_SPACE] - size, _STEP):
        if not any(start < offset + size and offset < end for start, end in taken):
            return offset
    raise DeviceError(f"no room for a binary of {size} bytes", where=device.name)
