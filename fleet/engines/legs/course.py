"""Runs the functional model ahead of the legs, to obtain the state in which each leg starts and ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fleet.engines.execute import execute_calls
from fleet.engines.legs.pages import Pages, Stray, WrittenPages, strays
from fleet.engines.legs.write_log import WriteLog
from fleet.engines.rtl_sim.expected import ExpectedCommit
from fleet.isa.memory import MappedMemory
from fleet.isa.resolved import registers_in, resolved, writes_of
from fleet.sdk import Call, Device, InstructionSet, Memory, Write
from fleet.sdk.hardware.state import REGISTERS

_YOUNGER = 64
"""Instructions after the last one of a leg that may have written when it ends."""


@dataclass(frozen=True)
class CourseState:
    """The declared state before instruction `seq`. images: over those that all legs share; inside: space -> bytes."""

    seq: int
    images: Pages
    inside: dict[str, np.ndarray]


def put(state: CourseState, memory: MappedMemory) -> None:
    """Bring memory, which has the images that all legs share, into a state."""
    state.images.put(memory)
    for space, data in state.inside.items():
        memory.view(space, 0, data.size)[:] = data


class ModelMemory(Memory):
    """The functional model's memory, which is ahead of the hardware's; the host writes here what the next run starts from.

    base: images that all legs share, and that must not change meanwhile. touched: pages that differ from it, or may.
    """

    def __init__(self, base: MappedMemory) -> None:
        """Start with the current `base`."""
        self.base, self.memory = base, base.apart()
        self.touched, self._hosted = WrittenPages(self.memory), WrittenPages(self.memory)

    def view(self, space: str, offset: int, size: int, bank: int = 0) -> np.ndarray:
        """Return a writable view, whose pages count as written. Raises DeviceError when the range leaves the space."""
        found = self.memory.view(space, offset, size, bank)
        self._hosted.mark_range(space, bank, offset, size)
        return found

    def hosted(self) -> Pages:
        """Return the pages that the host has written, or read, since the last call."""
        found, self._hosted = self._hosted.contents(), WrittenPages(self.memory)
        self.touched.mark_pages(found)
        return found

    def close(self) -> None:
        """Drop the mappings."""
        self.memory.close()


class Course:
    """The model's memory at one instruction after the other.

    expected: commits of the instructions so far.
    """

    def __init__(
        self, instruction_set: InstructionSet, device: Device, ahead: ModelMemory, calls: Sequence[Call], *, refusals: bool,
        written: WriteLog | None = None, first_seq: int = 0,
    ) -> None:  # fmt: skip
        """Start before the first call, on the current memory of the model.

        refusals: an illegal call commits with its cause; else it raises DeviceError. written: calls that the model has executed,
        numbered from `first_seq` on; the others are executed here. A wrong state cannot agree by it: each leg's commits and end
        are compared with the model's.
        """
        self._set, self._device, self._calls, self._refusals = instruction_set, device, calls, refusals
        self._written, self._first_seq = written, first_seq
        self._base, self.memory, self._touched = ahead.base, ahead.memory, ahead.touched
        self.expected: list[ExpectedCommit] = []

    @property
    def registers(self) -> dict[str, int]:
        """Current state registers."""
        return registers_in(self._device, self.memory)

    def to(self, seq: int) -> None:
        """Execute the calls up to `seq`. Raises what the functional model raises."""
        for call in self._calls[len(self.expected) : seq]:
            self._step(self.memory, call, len(self.expected), self._touched, self.expected)

    def state(self) -> CourseState:
        """Return a copy of the current state."""
        inside = {space: self._inside(self.memory, space).copy() for space in self._spaces()}
        return CourseState(len(self.expected), self._touched.contents(), inside)

    def wrong(self, start: CourseState, end: CourseState, found: Pages, inside: MappedMemory | None, younger: int) -> list[Stray]:
        """Return what differs between a leg's end and the model's state there.

        Args:
            start, end: of the leg. found: pages that it wrote. inside: holds the state inside the hardware; None: not known.
            younger: number of calls after `end` in progress: their writes are compared in the next leg, not here.
        """
        wrong = strays(self._base, start.images, self._touched, end.images, found)
        if inside is not None:
            for space in self._spaces():
                got, wanted = self._inside(inside, space), end.inside[space]
                wrong += (Stray(space, 0, int(i), int(wanted[i]), int(got[i])) for i in np.flatnonzero(got != wanted))
        return self._later(wrong, end, younger) if wrong and younger else wrong

    def _later(self, wrong: list[Stray], end: CourseState, younger: int) -> list[Stray]:
        """Skip the bytes that younger calls write: they may be half written."""
        registers = end.inside[REGISTERS].view("<u4").tolist() if REGISTERS in end.inside else []
        before = dict(zip((r.name for r in self._device.state.registers), registers, strict=True))
        calls = self._calls[end.seq : end.seq + min(younger, _YOUNGER)]
        for call in resolved(self._set, self._device, calls, before):
            cls = self._set.instructions[call.instruction]
            if cls.legal(self._device, call.fields):
                continue
            ranges = writes_of(cls, self._device, call.fields)
            wrong = [
                s for s in wrong
                if not any((r.space, r.bank) == (s.space, s.bank) and r.offset <= s.offset < r.offset + r.size for r in ranges)
            ]  # fmt: skip
            if not wrong:
                break
        return wrong

    def _spaces(self) -> list[str]:
        return [*self._device.arrays, *([REGISTERS] if self._device.state.registers else [])]

    def _inside(self, memory: MappedMemory, space: str) -> np.ndarray:
        size = 4 * len(self._device.state.registers) if space == REGISTERS else self._device.arrays[space].size
        return memory.view(space, 0, size)

    def _step(self, memory: MappedMemory, call: Call, seq: int, touched: WrittenPages, commits: list[ExpectedCommit]) -> None:
        def watch(_seq: int, _call: Call, writes: Sequence[Write]) -> None:
            touched.mark(writes)

        logged = None if self._written is None else self._written.take(self._first_seq + seq, call)
        if logged is not None:
            c = logged.commit
            for w in logged.writes:
                w.put(memory)
            touched.mark(logged.writes)
        else:
            (c,) = execute_calls(
                self._set, self._device, memory, [call], seq, commit_refused=self._refusals, watch=watch
            )  # fmt: skip
        commits.append(ExpectedCommit(c.digest, c.bytes_written, c.result, c.error))
