"""Bytes of DDR and HBM that instructions read before the stream's blocks or an earlier instruction have written them."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence

import numpy as np

from fleet.isa.memory import MappedMemory
from fleet.isa.resolved import begun_state, resolved
from fleet.sdk import Call, Device, InstructionSet, Range, Write
from fleet.streams.case import StreamCase
from fleet.streams.model_side import refusal


class Spans:
    """A set of bytes of one space and bank, as disjoint ranges that do not touch, ascending."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Add the bytes [start, end)."""
        i, j = bisect_left(self.ends, start), bisect_right(self.starts, end)
        if i < j:
            start, end = min(start, self.starts[i]), max(end, self.ends[j - 1])
        self.starts[i:j], self.ends[i:j] = [start], [end]

    def missing(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of [start, end) that are not in the set."""
        i = bisect_right(self.ends, start)
        if i < len(self.starts) and self.starts[i] <= start and end <= self.ends[i]:
            return []
        found: list[tuple[int, int]] = []
        while start < end:
            if i == len(self.starts) or self.starts[i] >= end:
                found.append((start, end))
                break
            if start < self.starts[i]:
                found.append((start, self.starts[i]))
            start = self.ends[i]
            i += 1
        return found


def unwritten_reads(
    instruction_set: InstructionSet, device: Device, calls: Sequence[Call], blocks: Iterable[Write], *, until: int | None = None
) -> list[Range]:
    """Return the ranges of DDR and HBM that calls state to read before anything has written them, without repetition.

    blocks: of the stream. until: count only the reads of this call; None: of all calls.
    """
    known: dict[tuple[str, int], Spans] = {}
    found: list[Range] = []
    blocks = tuple(blocks)
    for b in blocks:
        if b.space in device.memory and b.data.nbytes:
            known.setdefault((b.space, b.bank), Spans()).add(b.offset, b.offset + b.data.nbytes)
    for n, call in enumerate(resolved(instruction_set, device, calls, begun_state(device, blocks))):
        cls = instruction_set.instructions[call.instruction]
        if refusal(cls, device, call.fields):
            continue
        for r in cls.reads(device, call.fields) if until in {None, n} else ():
            if r.size and r.space in device.memory:
                spans = known.setdefault((r.space, r.bank), Spans())
                for start, end in spans.missing(r.offset, r.offset + r.size):
                    found.append(Range(r.space, start, end - start, r.bank))
                    if until is None:
                        spans.add(start, end)
        if n == until:
            break
        for w in cls.writes(device, call.fields):
            if w.size and w.space in device.memory:
                known.setdefault((w.space, w.bank), Spans()).add(w.offset, w.offset + w.size)
    return found


def fill_unwritten(memory: MappedMemory, ranges: Iterable[Range], seed: int | None = 0) -> None:
    """Fill the ranges with arbitrary bytes that the seed determines; None: zeros."""
    for r in ranges:
        view = memory.view(r.space, r.offset, r.size, r.bank)
        if seed is None:
            view[:] = 0
        else:
            name = zlib.crc32(f"{r.space} {r.bank}".encode())
            view[:] = np.random.default_rng([seed, name, r.offset]).integers(0, 256, r.size, dtype=np.uint8)


def still_unwritten(ranges: Iterable[Range], writes: Iterable[Write]) -> list[Range]:
    """Return the parts of the ranges that the writes leave."""
    known: dict[tuple[str, int], Spans] = {}
    for w in writes:
        known.setdefault((w.space, w.bank), Spans()).add(w.offset, w.offset + w.data.nbytes)
    return [
        Range(r.space, start, end - start, r.bank)
        for r in ranges
        for start, end in known.get((r.space, r.bank), Spans()).missing(r.offset, r.offset + r.size)
    ]


def undefined_of(case: StreamCase, instruction_set: InstructionSet, device: Device) -> list[Range]:
    """Return the undefined DDR and HBM that the calls of a case read; empty if unwritten memory is zero."""
    if case.unwritten == "zeros":
        return []
    return unwritten_reads(instruction_set, device, case.calls, case.blocks)


def zeros_for(ranges: Iterable[Range]) -> tuple[Write, ...]:
    """Return blocks of zeros for the ranges."""
    return tuple(Write(r.space, r.offset, np.zeros(r.size, np.uint8), r.bank) for r in ranges)
