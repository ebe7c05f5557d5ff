"""Describe how two commits differ, which bytes are outside a destination, and the operands that an element depends on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fleet.compare.diverged import ElementDifference
from fleet.compare.divergence import spelling
from fleet.engines.rtl_sim.expected import ANY_CAUSE, ExpectedCommit
from fleet.errors import FleetError
from fleet.isa.resolved import executed
from fleet.sdk import Call, Device, InstructionSet, Memory, Write
from fleet.streams.case import StreamCommit
from fleet.streams.images import ByteDifference
from fleet.streams.model_side import UNKNOWN_CAUSE

_SHOWN = 16
_BEATS, _SECONDS = 2048, 4.0  # most reads that are tried one by one, and most seconds
_SPACES = {"hbm": 32}


def disagreement(expected: StreamCommit, found: StreamCommit) -> str:
    """Return what differs, in one clause; empty if nothing does."""
    if expected.cause == UNKNOWN_CAUSE and found.cause:
        expected = replace(expected, cause=found.cause)
    if expected.architectural == found.architectural:
        return ""
    if expected.cause != found.cause:
        words = [f"cause {c}" if c else "execution" for c in (expected.cause, found.cause)]
        return f"expected {'refusal with any cause' if expected.cause == UNKNOWN_CAUSE else words[0]}, found {words[1]}"
    parts: list[str] = []
    for label, a, b in (
        ("bytes written", expected.bytes_written, found.bytes_written),
        ("digest", f"{expected.digest:016x}", f"{found.digest:016x}"),
        ("result register", expected.result, found.result),
    ):
        if a != b:
            parts.append(f"{label} expected {a}, found {b}")
    return ", ".join(parts)


def expected_of(commits: Sequence[StreamCommit]) -> tuple[ExpectedCommit, ...]:
    """Return the commits in the form that the bench compares the hardware with."""
    return tuple(
        ExpectedCommit(c.digest, c.bytes_written, c.result, ANY_CAUSE if c.cause == UNKNOWN_CAUSE else c.cause) for c in commits
    )


def outside(
    instruction_set: InstructionSet, device: Device, call: Call, bytes_: Sequence[ByteDifference], *, refused: bool
) -> list[ElementDifference]:
    """Return those of the differing bytes that the instruction should not have written."""
    ranges = () if refused else instruction_set.instructions[call.instruction].writes(device, call.fields)
    found: list[ElementDifference] = []
    for b in bytes_:
        if not any(r.space == b.space and r.bank == b.bank and r.offset <= b.address < r.offset + r.size for r in ranges):
            values = f"{b.expected:#04x}", f"{b.found:#04x} (outside its destination)"
            place = None if b.space in device.memory else device.place(b.space, b.bank, b.address)
            found.append(ElementDifference(b.space, b.bank, b.address, None, *values, place=place))
    return found


def depends_on(
    instruction_set: InstructionSet, device: Device, call: Call, memory: Memory, place: ElementDifference, seconds: float = _SECONDS
) -> tuple[str, ...]:
    """Return the beats of its operands that the element at `place` depends on, with their contents; a line each.

    Found by experiment: overwrite a beat, execute the instruction, look at the element. This works for every instruction, but
    misses a beat without visible effect (a factor of zero, a sum that is NaN anyway).
    """
    unit = instruction_set.instructions[call.instruction]

    def element(writes: Sequence[Write]) -> bytes | None:
        for w in writes:
            if w.space == place.space and w.bank == place.bank and w.offset <= place.address < w.offset + w.data.size:
                size = np.dtype(w.dtype or "<f2").itemsize
                return w.data.reshape(-1)[place.address - w.offset :][:size].tobytes()
        return None

    lines: list[str] = []
    until = time.monotonic() + seconds
    try:
        right = element(executed(unit, device, call.fields, memory))
        if right is None:
            return ()
        for tried, (space, bank, offset, size) in enumerate(_beats(instruction_set, device, call)):
            if tried >= _BEATS or time.monotonic() > until or len(lines) == _SHOWN:
                lines.append("... and what was not tried any more")
                break
            view = memory.view(space, offset, size, bank)
            kept = view.copy()
            try:
                if _shows(view, kept, right, lambda: element(executed(unit, device, call.fields, memory))):
                    lines.append(f"depends on {device.place(space, bank, offset)}: {_words(kept)}")
            finally:
                view[:] = kept
    except (FleetError, ValueError, KeyError):
        return tuple(lines)
    return tuple(lines)


def _shows(view: np.ndarray, kept: np.ndarray, right: bytes, element: Callable[[], bytes | None]) -> bool:
    """Return whether the element changes if all bytes of the beat are changed, in one of a few ways."""
    for other in (0x3C, 0xC0, 0x01):
        view[:] = kept ^ np.uint8(other)
        if element() != right:
            return True
    return False


def _beats(instruction_set: InstructionSet, device: Device, call: Call) -> Iterator[tuple[str, int, int, int]]:
    seen: set[tuple[str, int, int]] = set()
    for r in instruction_set.instructions[call.instruction].reads(device, call.fields):
        step = _SPACES.get(r.space, 64)
        for offset in range(r.offset, r.offset + r.size, step):
            if (r.space, r.bank, offset) not in seen:
                seen.add((r.space, r.bank, offset))
                yield r.space, r.bank, offset, min(step, r.offset + r.size - offset)


def _words(data: np.ndarray) -> str:
    """Return a beat's contents as 16-bit words; a run of one value as its count."""
    if data.size % 2:
        return data.tobytes().hex()
    words = data.view("<f2")
    if np.unique(words.view("<u2")).size == 1:
        return f"{words.size} x {spelling(words[:1])}"
    return " ".join(f"{int(w):04x}" for w in words.view("<u2"))
