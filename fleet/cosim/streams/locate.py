"""From a commit that differs to the first element that does: address, values, and the operands that it depends on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fleet.cosim.divergence import Evidence, explain, spelling
from fleet.cosim.result import Divergence, ElementDifference
from fleet.cosim.streams.case import StreamCommit
from fleet.cosim.streams.images import ByteDifference, Images, differences
from fleet.cosim.streams.model_side import UNKNOWN_CAUSE
from fleet.engines.trace import Commit, Trace
from fleet.errors import FleetError
from fleet.isa.contract import Call, Device, InstructionSet, Memory, Write

__all__ = ["depends_on", "disagreement", "locate"]

_SHOWN = 16
_BEATS, _SECONDS = 2048, 10.0  # of reads that are tried one by one, and how long
_SPACES = {"hbm": 32}


def disagreement(expected: StreamCommit, found: StreamCommit) -> str:
    """What differs in one clause, empty when nothing does."""
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


def locate(
    name: str, instruction_set: InstructionSet, device: Device, calls: Sequence[Call], seq: int,
    expected: StreamCommit, found: StreamCommit, before: Images, after: Images,
) -> Divergence:  # fmt: skip
    """The divergence at instruction `seq`.

    before: memory as it was before that instruction (the functional model's; it is executed there in the course of this).
    after: the hardware's memory right after it.
    """
    call = calls[seq]
    what = disagreement(expected, found) or "memory outside its destination changed"
    divergence = Divergence(name, seq, call.instruction, call.ops, what)
    evidence = Evidence(instruction_set, device, calls, memory=after.memory, before=before.memory)
    divergence = explain(divergence, _trace("iss", seq, expected), _trace("rtl", seq, found), evidence)
    if divergence.differences:
        first = divergence.differences[0]
        lines = depends_on(instruction_set, device, call, before.memory, first)
        divergence = replace(divergence, inputs=(*lines, *divergence.inputs))
    try:
        if expected.cause == 0:
            for w in instruction_set.instructions[call.instruction].execute(device, call.fields, before.memory):
                if w.space != "reg":
                    before.memory.view(w.space, w.offset, w.data.size, w.bank)[:] = w.data
        stray = _outside(instruction_set, device, call, differences(before, after)[0], refused=expected.cause != 0)
    except FleetError:
        return divergence
    room = max(1, _SHOWN - len(divergence.differences))
    if stray:
        divergence = replace(
            divergence,
            what=f"{divergence.what}; {len(stray):,} bytes outside its destination differ",
            differences=(*divergence.differences, *stray[:room]),
            total_differences=(divergence.total_differences or 0) + len(stray),
        )
    return divergence


def _trace(engine: str, seq: int, commit: StreamCommit) -> Trace:
    """As `explain` takes it: one commit."""
    return Trace(engine, "", commits=[Commit(seq, commit.instruction, (), commit.digest, commit.bytes_written, commit.result)])


def _outside(
    instruction_set: InstructionSet, device: Device, call: Call, bytes_: Sequence[ByteDifference], *, refused: bool
) -> list[ElementDifference]:
    ranges = () if refused else instruction_set.instructions[call.instruction].writes(device, call.fields)
    return [
        ElementDifference(b.space, b.bank, b.address, None, f"{b.expected:#04x}", f"{b.found:#04x} (outside its destination)")
        for b in bytes_
        if not any(r.space == b.space and r.bank == b.bank and r.offset <= b.address < r.offset + r.size for r in ranges)
    ]


def depends_on(
    instruction_set: InstructionSet, device: Device, call: Call, memory: Memory, place: ElementDifference
) -> tuple[str, ...]:
    """The beats of its operands that the element at `place` depends on, with what they hold; a line each.

    Found out by experiment: a beat is overwritten, the instruction executed, and the element looked at. So it holds for
    every instruction, but a beat that cannot show (a factor of zero, a sum that is NaN anyway) is not in the list.
    """
    unit = instruction_set.instructions[call.instruction]

    def element(writes: Sequence[Write]) -> bytes | None:
        for w in writes:
            if w.space == place.space and w.bank == place.bank and w.offset <= place.address < w.offset + w.data.size:
                size = np.dtype(w.dtype or "<f2").itemsize
                return w.data.reshape(-1)[place.address - w.offset :][:size].tobytes()
        return None

    lines: list[str] = []
    until = time.monotonic() + _SECONDS
    try:
        right = element(unit.execute(device, call.fields, memory))
        if right is None:
            return ()
        for tried, (space, bank, offset, size) in enumerate(_beats(instruction_set, device, call)):
            if tried >= _BEATS or time.monotonic() > until or len(lines) == _SHOWN:
                lines.append("... and what was not tried any more")
                break
            view = memory.view(space, offset, size, bank)
            kept = view.copy()
            try:
                if _shows(view, kept, right, lambda: element(unit.execute(device, call.fields, memory))):
                    port = f" port {bank}" if space == "hbm" else ""
                    lines.append(f"depends on {space}{port} {offset:#x}: {_words(kept)}")
            finally:
                view[:] = kept
    except (FleetError, ValueError, KeyError):
        return tuple(lines)
    return tuple(lines)


def _shows(view: np.ndarray, kept: np.ndarray, right: bytes, element: Callable[[], bytes | None]) -> bool:
    """Whether the element changes when every byte of the beat does, in one of a few ways."""
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
    """What a beat holds as 16-bit words; runs of one value are told once."""
    if data.size % 2:
        return data.tobytes().hex()
    words = data.view("<f2")
    if np.unique(words.view("<u2")).size == 1:
        return f"{words.size} x {spelling(words[:1])}"
    return " ".join(f"{int(w):04x}" for w in words.view("<u2"))
