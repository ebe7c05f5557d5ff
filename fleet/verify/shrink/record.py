"""Records the memory before every instruction of a stream, so that any part of it can run alone.

A kept instruction may read data that a removed one wrote. These bytes come from the functional model's memory at the time of the
read and are added to the stream's blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from fleet.engines.execute import execute_calls
from fleet.isa.resolved import reads_of, writes_of
from fleet.sdk import Device, InstructionSet, Range, Write
from fleet.streams.case import StreamCase
from fleet.streams.images import Images
from fleet.streams.model_side import refusal
from fleet.verify.shrink.sparse import Sparse


@dataclass(frozen=True)
class StreamStep:
    """One instruction. reads, writes: its ranges, empty if it is refused; read: the data of each read range; written: data written
    into memory that blocks can fill.
    """

    reads: tuple[Range, ...]
    writes: tuple[Range, ...]
    read: tuple[np.ndarray, ...]
    written: tuple[Write, ...]


@dataclass(frozen=True)
class RecordedStream:
    """A stream as the functional model executed it. spaces: those that blocks can fill; only instructions write the others."""

    case: StreamCase
    steps: tuple[StreamStep, ...]
    spaces: frozenset[str]

    def part(self, kept: Sequence[int], *, wide: bool) -> StreamCase:
        """Return the instructions with those numbers, ascending, and the memory that they need.

        wide: add all other memory content before the first of them; else only what they declare to read.
        """
        case = self.case
        blocks = self._wide(kept) if wide else self._narrow(kept)
        causes = None if case.causes is None else tuple(case.causes[i] for i in kept)
        inside = tuple(b for b in case.blocks if b.space not in self.spaces)  # bytes without a block are not 0 in these spaces
        return replace(case, calls=tuple(case.calls[i] for i in kept), blocks=(*inside, *blocks.blocks()), causes=causes)

    def needed(self, last: int) -> list[int]:
        """Return `last` and the instructions that it depends on, directly or indirectly; ascending."""
        wanted = list(self.steps[last].reads)
        kept = [last]
        for i in range(last - 1, -1, -1):
            if any(_meet(w, r) for w in self.steps[i].writes for r in wanted):
                kept.append(i)
                wanted += self.steps[i].reads
        return kept[::-1]

    def _narrow(self, kept: Sequence[int]) -> Sparse:
        initial, decided = Sparse(), Sparse()
        for i in kept:
            step = self.steps[i]
            for r, data in zip(step.reads, step.read, strict=True):
                if r.space in self.spaces:
                    missing = ~decided.knows(r.space, r.bank, r.offset, r.size)
                    initial.put_where(r.space, r.bank, r.offset, data, missing)
                    decided.put_where(r.space, r.bank, r.offset, data, missing)
            for w in step.written:
                decided.put(w.space, w.bank, w.offset, w.data)
        return initial

    def _wide(self, kept: Sequence[int]) -> Sparse:
        initial = Sparse()
        for b in self.case.blocks:
            if b.space in self.spaces:
                initial.put(b.space, b.bank, b.offset, b.data)
        for step in self.steps[: kept[0]]:
            for w in step.written:
                if w.space in self.spaces:
                    initial.put(w.space, w.bank, w.offset, w.data)
        narrow = self._narrow(kept)
        for b in narrow.blocks(zeros=True):
            initial.put(b.space, b.bank, b.offset, b.data)
        return initial


def record(instruction_set: InstructionSet, device: Device, case: StreamCase, images: Images) -> RecordedStream:
    """Execute the stream once on `images`. Raises DeviceError if the functional model cannot run it."""
    images.fill(case.blocks, case.parameters)
    memory, steps = images.memory, list[StreamStep]()
    for seq, call in enumerate(case.calls):
        unit = instruction_set.instructions[call.instruction]
        if refusal(unit, device, call.fields):
            steps.append(StreamStep((), (), (), ()))
            continue
        reads, writes = tuple(reads_of(unit, device, call.fields)), tuple(writes_of(unit, device, call.fields))
        read = tuple(memory.view(r.space, r.offset, r.size, r.bank).copy() for r in reads)
        list(execute_calls(instruction_set, device, memory, [call], seq))  # the generator executes while its commits are consumed
        # Ranges may be wider than the written bytes; the present content of memory is right for both.
        outside = [w for w in writes if w.space in device.memory]
        written = tuple(Write(w.space, w.offset, memory.view(w.space, w.offset, w.size, w.bank).copy(), w.bank) for w in outside)
        steps.append(StreamStep(reads, writes, read, written))
    return RecordedStream(case, tuple(steps), frozenset(device.memory))


def _meet(a: Range, b: Range) -> bool:
    return a.space == b.space and a.bank == b.bank and a.offset < b.offset + b.size and b.offset < a.offset + a.size
