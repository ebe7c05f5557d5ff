"""Random programs: up to a few dozen instructions that meet in memory in every way that they may, refused ones among them.

What a call of an instruction looks like says its `Source`; where its operands stand says the `ProgramPlace` of this module, for
any set: on what one of the last eight calls read or wrote (the same range, part of it, across its end), at the end of memory,
behind and across 4 KiB, where bursts have to be cut. Program n is a function of n and of the device alone.
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

__all__ = ["PAGE", "REACH", "Mark", "ProgramPlace", "StreamProgram", "draw_program"]

PAGE = 4096
"""Bytes: no burst of AXI crosses a multiple of it."""
REACH = 8
"""Instructions: a dependence is drawn on one of so many calls before."""
_LENGTHS = ((3, 9), (9, 24), (24, 36))
"""Draws of a program, from and below; a draw may bring calls that go before it."""
_MOST = 64
"""Calls after which no draw follows."""
_TRIES = 8
_FREE_PAGES = 1024
"""Pages that are crossed lie among the first so many: memory further up stays free but for its end."""
_ILLEGAL_EVERY = 4
"""Programs of which one has refused calls among the others."""
_REFUSED = 0.3


@dataclass(frozen=True)
class Mark:
    """How much a place has handed out, by space. next: end of the last range; own, shared: number of ranges."""

    next: Mapping[str, int]
    own: Mapping[str, int]
    shared: Mapping[str, int]


class ProgramPlace(Place):
    """Where the operands of a program's calls stand. What was handed out for a draw that is thrown away does no harm.

    Memory that nobody filled holds zeros; what one call finds where another one's data stood is defined too. Only ranges that a
    draw takes for itself (`take`: their content has a meaning, as that of micro-operations) are met by no other call's writes.
    """

    program: ClassVar[bool] = True

    def __init__(self, device: Device, rng: np.random.Generator, share: float) -> None:
        """share: how often (0 to 1) an operand stands where one of an earlier call does."""
        super().__init__(device, rng, dependent=share)
        self._own: dict[str, list[tuple[int, int]]] = {}
        self._shared: dict[str, list[tuple[int, int]]] = {}
        self._touched: list[tuple[Range, ...]] = []
        self._filled: dict[str, list[tuple[int, int]]] = {}

    def take(self, space: str, size: int, align: int = 64) -> int:
        """See `Place`; at times across 4 KiB or at the end of memory."""
        at = self._fresh(space, size, align, own=True)
        self._own.setdefault(space, []).append((at, at + size))
        return at

    def source(self, space: str, size: int, align: int = 64) -> tuple[int, bool]:
        """See `Place`."""
        return self._somewhere(space, size, align, ())

    def target(self, space: str, size: int, avoid: Sequence[tuple[int, int]], align: int = 64) -> tuple[int, bool]:
        """See `Place`."""
        return self._somewhere(space, size, align, (*avoid, *self._own.get(space, [])))

    def written(self, space: str, size: int, align: int = 64) -> int | None:
        """See `Place`."""
        if self._rng.random() >= self._dependent:
            return None
        found = [(start, (end - size) // align * align) for start, end in self._filled.get(space, []) if end - size >= start]
        fitting = [(-(-start // align) * align, last) for start, last in found if -(-start // align) * align <= last]
        if not fitting:
            return None
        start, last = fitting[int(self._rng.integers(len(fitting)))]
        return start + align * int(self._rng.integers(0, (last - start) // align + 1))

    def done(self, reads: Sequence[Range], writes: Sequence[Range]) -> None:
        """A call of the program reads and writes this."""
        self._touched.append((*writes, *reads))
        for w in writes:
            if w.space not in self._device.memory:
                self._fill(w.space, w.offset, w.offset + w.size)

    def mark(self) -> Mark:
        """What has been handed out so far, for `back`."""
        return Mark(dict(self._next), *({k: len(v) for k, v in ranges.items()} for ranges in (self._own, self._shared)))

    def back(self, mark: Mark) -> None:
        """Takes back what was handed out since: of a draw that found no room."""
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
                    self._shared.setdefault(space, []).append((at, at + size))  # it may reach beyond what it meets
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
        """Offsets that meet what one of the last calls touched, the near ones more often first."""
        room = self._device.memory[space] - size
        reach = min(REACH, len(self._touched))
        for distance in np.argsort(self._rng.random(reach) * np.arange(1, reach + 1) ** 0.7)[:4]:
            known = [r for r in self._touched[-1 - int(distance)] if r.space == space and r.size]
            if not known:
                continue
            r = known[int(self._rng.integers(len(known)))]
            # The same place, any that meets it, or one that begins in its last or ends in its first unit.
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
    """calls, and the cause of each (0: it is executed); blocks: what memory holds; parameters: byte address -> value."""

    calls: tuple[Call, ...]
    causes: tuple[int, ...]
    blocks: tuple[Write, ...] = field(repr=False)
    parameters: Mapping[int, int]
    classes: Mapping[str, str]


def draw_program(
    instruction_set: InstructionSet, device: Device, known: Mapping[str, Source], number: int, rng: np.random.Generator
) -> StreamProgram:
    """The program of a number; known: the set's sources. All its calls are legal but for those whose cause is not 0.

    It has fewer calls where memory is full. Raises DeviceError where the sources draw nothing that is legal, NoRoomError where
    that is for want of memory.
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
    """What a program is made of: everything, or a few instructions, which then follow themselves and each other often."""
    if rng.random() < 0.7 or len(known) < 3:
        return list(known)
    return [known[int(i)] for i in rng.permutation(len(known))[: int(rng.integers(2, 4))]]


def _legal_draw(
    instruction_set: InstructionSet, device: Device, source: Source, place: ProgramPlace, rng: np.random.Generator
) -> Draw | None:
    """The next draw; None where none of several fits (operands of one call that meet where they must not).

    Raises NoRoomError where the last of several found no room in memory.
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
    """The calls with illegal variants of some of them before or behind them, and all causes."""
    found: list[tuple[Call, int]] = []
    state = reset_state(device)
    for call in calls:
        wrong = _illegal(instruction_set, device, call, state, rng) if rng.random() < _REFUSED else []
        state = state_after(instruction_set, device, [call], state)
        first = rng.random() < 0.5 or bool(device.state.registers)  # behind it, what it configures may make the variant legal
        own = [(call, 0)]
        found += [*wrong, *own] if first else [*own, *wrong]
    return tuple(c for c, _ in found), tuple(cause for _, cause in found)


def _illegal(
    instruction_set: InstructionSet, device: Device, call: Call, state: Mapping[str, int], rng: np.random.Generator
) -> list[tuple[Call, int]]:
    """An illegal variant of a call with its cause, at times none."""
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
