"""Random programs: up to a few dozen instructions that overlap in memory in every allowed way, some of them refused.

A `Source` draws the calls of an instruction. `ProgramPlace` of this module places the operands, for any set: on the range that one
of the last eight calls read or wrote (the same range, part of it, across its end), at the end of memory, or after and across
4 KiB, where bursts must be cut. Program n is a function of n and the device alone.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from fleet.errors import DeviceError
from fleet.isa.codec import description_of
from fleet.isa.conformance import joined, mutations
from fleet.isa.resolved import reset_state, resolved, resolved_call, resolved_draw, state_after
from fleet.sdk import Call, Device, Draw, InstructionSet, NoRoomError, Place, Range, Source, Write
from fleet.streams.model_side import refusal

PAGE = 4096
"""Bytes: no AXI burst crosses a multiple of it."""
REACH = 8
"""Instructions: dependences are drawn on the last so many calls."""
_LENGTHS = ((3, 9), (9, 24), (24, 36))
"""Numbers of draws of a program, as [low, high). A draw may add calls that prepare it."""
_MOST = 64
"""Calls after which nothing more is drawn."""
_TRIES = 8
_FREE_PAGES = 1024
"""Page crossings are placed among the first so many pages; higher memory stays free except for its end."""
_ILLEGAL_EVERY = 4
"""One program in so many contains refused calls."""
_REFUSED = 0.3


@dataclass(frozen=True)
class Mark:
    """Allocation of a place, by space. next: end of the last range; own, shared: number of ranges."""

    next: Mapping[str, int]
    own: Mapping[str, int]
    shared: Mapping[str, int]


class ProgramPlace(Place):
    """Places the operands of a program's calls. Ranges allocated for a discarded draw do no harm.

    Memory that nobody filled holds zeros, and a call may also read another call's data: all of it is defined. Other calls do not
    write into ranges that a draw reserves (`take`), because their content has a meaning, for example micro-operations.
    """

    program: ClassVar[bool] = True

    def __init__(self, device: Device, rng: np.random.Generator, share: float) -> None:
        """share: probability (0 to 1) that an operand reuses memory of an earlier call's operand."""
        super().__init__(device, rng, dependent=share)
        self._own: dict[str, list[tuple[int, int]]] = {}
        self._shared: dict[str, list[tuple[int, int]]] = {}
        self._touched: list[tuple[Range, ...]] = []
        self._filled: dict[str, list[tuple[int, int]]] = {}

    def take(self, space: str, size: int, align: int = 64) -> int:
        """Reserve a range, sometimes across 4 KiB or at the end of memory. Returns its offset."""
        at = self._fresh(space, size, align, own=True)
        self._own.setdefault(space, []).append((at, at + size))
        return at

    def source(self, space: str, size: int, align: int = 64) -> tuple[int, bool]:
        """Place an operand that is read, as `Place` does."""
        return self._somewhere(space, size, align, ())

    def target(self, space: str, size: int, avoid: Sequence[tuple[int, int]], align: int = 64) -> tuple[int, bool]:
        """Place an operand that is written, outside `avoid` and reserved ranges."""
        return self._somewhere(space, size, align, (*avoid, *self._own.get(space, [])))

    def written(self, space: str, size: int, align: int = 64) -> int | None:
        """Return a range that an earlier call wrote, or None."""
        if self._rng.random() >= self._dependent:
            return None
        found = [(start, (end - size) // align * align) for start, end in self._filled.get(space, []) if end - size >= start]
        fitting = [(-(-start // align) * align, last) for start, last in found if -(-start // align) * align <= last]
        if not fitting:
            return None
        start, last = fitting[int(self._rng.integers(len(fitting)))]
        return start + align * int(self._rng.integers(0, (last - start) // align + 1))

    def done(self, reads: Sequence[Range], writes: Sequence[Range]) -> None:
        """Register the ranges of a call that was added to the program."""
        self._touched.append((*writes, *reads))
        for w in writes:
            if w.space not in self._device.memory:
                self._fill(w.space, w.offset, w.offset + w.size)

    def mark(self) -> Mark:
        """Return the present allocation, for `back`."""
        return Mark(dict(self._next), *({k: len(v) for k, v in ranges.items()} for ranges in (self._own, self._shared)))

    def back(self, mark: Mark) -> None:
        """Undo the allocations since `mark`, those of a draw that found no room."""
        self._next = dict(mark.next)
        for ranges, count in ((self._own, mark.own), (self._shared, mark.shared)):
            for space, known in ranges.items():
                del known[count.get(space, 0) :]

    def _fill(self, space: str, start: int, end: int) -> None:
        ranges = self._filled.setdefault(space, [])
        meeting = [r for r in ranges if r[0] <= end and start <= r[1]]
        for r in meeting:
            ranges.remove(r)
        insort(ranges, (min([start, *(r[0] for r in meeting)]), max([end, *(r[1] for r in meeting)])))

    def _somewhere(self, space: str, size: int, align: int, avoid: Sequence[tuple[int, int]]) -> tuple[int, bool]:
        if self._rng.random() < self._dependent:
            for at in self._meeting(space, size, align):
                if not any(at < end and start < at + size for start, end in avoid):
                    self._shared.setdefault(space, []).append((at, at + size))  # it may extend beyond the range that it overlaps
                    return at, False
        try:
            at = self._fresh(space, size, align, own=False)
        except NoRoomError:
            found = self._anywhere(space, size, align, avoid)
            if found is None:
                raise
            self._shared.setdefault(space, []).append((found, found + size))
            return found, False
        self._shared.setdefault(space, []).append((at, at + size))
        return at, True

    def _meeting(self, space: str, size: int, align: int) -> Iterator[int]:
        """Yield offsets that overlap ranges of the last calls, recent ones more often first."""
        room = self._device.memory[space] - size
        reach = min(REACH, len(self._touched))
        for distance in np.argsort(self._rng.random(reach) * np.arange(1, reach + 1) ** 0.7)[:4]:
            known = [r for r in self._touched[-1 - int(distance)] if r.space == space and r.size]
            if not known:
                continue
            r = known[int(self._rng.integers(len(known)))]
            # The same place, any overlap, or one that begins in the range's last unit or ends in its first.
            first, last = max(0, -(-(r.offset - size + 1) // align)), min(room, r.offset + r.size - 1) // align
            kind = self._rng.random()
            unit = r.offset // align if kind < 0.4 else first if kind < 0.5 else last if kind < 0.6 else -1
            if unit < 0 and first <= last:
                unit = int(self._rng.integers(first, last + 1))
            if first <= unit <= last:
                yield unit * align

    def _fresh(self, space: str, size: int, align: int, *, own: bool) -> int:
        memory = self._device.memory[space]
        kind, page = self._rng.random(), PAGE * int(self._rng.integers(1, max(2, min(_FREE_PAGES, memory // PAGE // 4))))
        at = -1
        if kind < 0.25:  # across a page, or up to its end
            at = page - align * int(self._rng.integers(1, max(1, size // align) + 1))
        elif kind < 0.33:
            at = page
        elif kind < 0.43:
            at = (memory - size) // align * align
        met = [*self._own.get(space, []), *(self._shared.get(space, []) if own else [])]
        if at < 0 or at % align or at + size > memory or any(at < end and start < at + size for start, end in met):
            at = super().take(space, size, align)
            while blocking := [end for start, end in met if at < end and start < at + size]:
                self._next[space] = max(blocking)
                at = super().take(space, size, align)
        return at


@dataclass(frozen=True)
class StreamProgram:
    """A program. calls: with the cause of each (0: executed); blocks: content of memory; parameters: byte address -> value."""

    calls: tuple[Call, ...]
    causes: tuple[int, ...]
    blocks: tuple[Write, ...] = field(repr=False)
    parameters: Mapping[int, int]
    classes: Mapping[str, str]


def draw_program(
    instruction_set: InstructionSet, device: Device, known: Mapping[str, Source], number: int, rng: np.random.Generator
) -> StreamProgram:
    """Draw the program of a number. known: the set's sources. All calls are legal except those whose cause is not 0.

    The program is shorter if memory is full. Raises DeviceError if the sources draw nothing legal, NoRoomError if that is for lack
    of memory.
    """
    share = (0.35, 0.6, 0.85)[int(rng.integers(3))]
    place = ProgramPlace(device, rng, share)
    names = _names(list(known), rng)
    draws: list[Draw] = []
    full: NoRoomError | None = None
    steps, most = int(rng.integers(*_LENGTHS[int(rng.integers(len(_LENGTHS)))])), _MOST
    while steps > 0 and most > 0:
        steps -= 1
        try:
            draw = _legal_draw(instruction_set, device, known[names[int(rng.integers(len(names)))]], place, rng)
        except NoRoomError as error:
            full = error
            continue
        if draw is not None:
            place.state = state_after(instruction_set, device, draw.calls, place.state)
            draws.append(draw)
            most -= len(draw.calls)
    if not draws and full is not None:
        raise full
    if not draws:
        raise DeviceError(f"no source draws a legal call ({', '.join(names)})", where=device.name, hint="see fleet.isa.conformance")
    calls = resolved(instruction_set, device, joined(instruction_set, device, draws))
    causes = (0,) * len(calls)
    with_refused = number % _ILLEGAL_EVERY == 0
    if with_refused:
        calls, causes = _with_refused(instruction_set, device, calls, rng)
    parameters = {k: v for d in reversed(draws) for k, v in d.parameters.items()}
    classes = {"steps": str(len(draws)), "dependent": str(share), "refused": "some" if with_refused else "none"}
    return StreamProgram(calls, causes, tuple(b for d in draws for b in d.blocks), parameters, classes)


def _names(known: Sequence[str], rng: np.random.Generator) -> list[str]:
    """Choose the instructions of a program: all, or a few, which then often follow themselves and each other."""
    if rng.random() < 0.7 or len(known) < 3:
        return list(known)
    return [known[int(i)] for i in rng.permutation(len(known))[: int(rng.integers(2, 4))]]


def _legal_draw(
    instruction_set: InstructionSet, device: Device, source: Source, place: ProgramPlace, rng: np.random.Generator
) -> Draw | None:
    """Return the next draw; None if none of several is legal (operands of one call overlap where they must not).

    Raises NoRoomError if the last of them found no room in memory.
    """
    for left in reversed(range(_TRIES)):
        notes, mark = dict(place.notes), place.mark()
        try:
            draw = resolved_draw(instruction_set, device, source.draw(device, rng, place, small=True), place.state)
        except NoRoomError:
            place.back(mark)
            place.notes.clear()
            place.notes.update(notes)
            if not left:
                raise
            continue
        classes = [instruction_set.instructions[c.instruction] for c in draw.calls]
        if not any(cls.legal(device, c.fields) for cls, c in zip(classes, draw.calls, strict=True)):
            for cls, c in zip(classes, draw.calls, strict=True):
                place.done(cls.reads(device, c.fields), cls.writes(device, c.fields))
            return draw
        place.notes.clear()
        place.notes.update(notes)
    return None


def _with_refused(
    instruction_set: InstructionSet, device: Device, calls: Sequence[Call], rng: np.random.Generator
) -> tuple[tuple[Call, ...], tuple[int, ...]]:
    """Insert illegal variants of some calls before or after them. Return all calls and their causes."""
    found: list[tuple[Call, int]] = []
    state = reset_state(device)
    for call in calls:
        wrong = _illegal(instruction_set, device, call, state, rng) if rng.random() < _REFUSED else []
        state = state_after(instruction_set, device, [call], state)
        first = rng.random() < 0.5 or bool(device.state.registers)  # after the call, its configuration may make the variant legal
        own = [(call, 0)]
        found += [*wrong, *own] if first else [*own, *wrong]
    return tuple(c for c, _ in found), tuple(cause for _, cause in found)


def _illegal(
    instruction_set: InstructionSet, device: Device, call: Call, state: Mapping[str, int], rng: np.random.Generator
) -> list[tuple[Call, int]]:
    """Return an illegal variant of a call with its cause; sometimes none."""
    words = {r.name for r in description_of(instruction_set).words(call.instruction)}
    names = [n for n in call.fields if n in words]
    for _ in range(_TRIES):
        every = list(mutations(instruction_set, device, call, rng, names[int(rng.integers(len(names)))]))
        if not every:
            continue
        variant = every[int(rng.integers(len(every)))][1]
        variant = resolved_call(instruction_set.instructions[variant.instruction], device, variant, state)
        cause = refusal(instruction_set.instructions[variant.instruction], device, variant.fields)
        if cause:
            return [(variant, cause)]
    return []
