"""From the first divergent commit to the place: operation, instruction, address, element, values, register writes.

Everything before the first divergent commit agreed, so its inputs were the same on both sides. What it should have written
follows from its semantics on the other engine's memory. What it did write is still in that memory, unless a later instruction
overwrote it. The digests of the commit decide: bytes whose digest differs from the trace's are not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fleet.compare.diverged import Divergence, ElementDifference
from fleet.engines.trace import Trace
from fleet.errors import FleetError
from fleet.isa.digest import digest_writes
from fleet.isa.resolved import executed
from fleet.sdk import Call, Device, InstructionSet, Memory, Write

Locate = Callable[[tuple[str, ...], str, int, int], tuple[int, ...] | None]
"""(operation ids of the commit, space, bank, byte offset) -> coordinates in the tensor that the commit leaves there, or None."""

Operands = Callable[[tuple[str, ...], tuple[int, ...]], tuple[str, ...]]
"""(operation ids of the commit, coordinates of an element) -> the values that it was computed from, as text lines."""

_SHOWN = 16


@dataclass(frozen=True)
class StreamEvidence:
    """Evidence of a stream after a run.

    calls: the instructions in commit order. memory: the other engine's memory at the end of its run.
    before: memory as the instruction in question found it; None if `memory` still holds that (nothing was overwritten since).
    locate, operands: see `Locate`, `Operands`.
    damage: constants whose bytes in that memory are not the ones that were loaded, as text lines.
    """

    instruction_set: InstructionSet
    device: Device
    calls: Sequence[Call]
    memory: Memory | None = None
    locate: Locate | None = None
    operands: Operands | None = None
    damage: tuple[str, ...] = ()
    before: Memory | None = None


def explain(divergence: Divergence, reference: Trace, other: Trace, evidence: StreamEvidence) -> Divergence:
    """Return the divergence with registers, bytes and elements, as far as the evidence goes. Missing evidence never raises."""
    if divergence.seq is None or not 0 <= divergence.seq < len(evidence.calls):
        return divergence
    call = evidence.calls[divergence.seq]
    # What an illegal call reads or writes is undefined, and asking for it may fail.
    illegal = bool(evidence.instruction_set.instructions[call.instruction].legal(evidence.device, call.fields))
    divergence = replace(
        divergence,
        registers=_registers(evidence.instruction_set, call),
        registers_named=dict(call.fields),
        inputs=() if illegal else _inputs(evidence, call),
        disassembly=_disassembly(evidence.instruction_set, call),
    )
    commits = {t.engine: next((c for c in t.commits if c.seq == divergence.seq), None) for t in (reference, other)}
    expected_commit, found_commit = commits[reference.engine], commits[other.engine]
    if illegal or evidence.memory is None or expected_commit is None or found_commit is None:
        return divergence
    unit = evidence.instruction_set.instructions[call.instruction]
    try:
        writes = [w for w in executed(unit, evidence.device, call.fields, evidence.before or evidence.memory) if w.space != "reg"]
        found = [evidence.memory.view(w.space, w.offset, int(w.data.size), w.bank).copy() for w in writes]
    except FleetError:
        return divergence
    if digest_writes(evidence.device, writes) != expected_commit.digest:
        note = "its inputs were overwritten later, so the bytes cannot be shown"
        if evidence.damage:
            note = f"memory does not hold what was loaded: {'; '.join(evidence.damage)}"
        return replace(divergence, what=f"{divergence.what}; {note}")
    if digest_writes(evidence.device, [replace(w, data=f) for w, f in zip(writes, found, strict=True)]) != found_commit.digest:
        note = "what memory holds now is not what it wrote: bytes outside the destination, or overwritten later"
        divergence = replace(divergence, what=f"{divergence.what}; {note}")
    differences, total = _differences(evidence.device, writes, found, divergence.ops, evidence.locate)
    first = next((e.element for e in differences if e.element is not None), None)
    if first is not None and evidence.operands is not None:
        divergence = replace(divergence, inputs=(*evidence.operands(divergence.ops, first), *divergence.inputs))
    return replace(divergence, differences=differences, total_differences=total)


def _registers(instruction_set: InstructionSet, call: Call) -> tuple[tuple[int, int], ...]:
    from fleet.isa.codec import register_writes

    try:
        return tuple((int(a), int(v)) for a, v in register_writes(instruction_set, call))
    except FleetError:
        return ()


def _disassembly(instruction_set: InstructionSet, call: Call) -> tuple[str, ...]:
    from fleet.isa.codec import disassemble

    try:
        bare = replace(call, ops=())  # the divergence names its operations itself
        return (disassemble(instruction_set, bare), *disassemble(instruction_set, bare, detailed=True).splitlines())
    except (FleetError, OSError):
        return ()


def _inputs(evidence: StreamEvidence, call: Call) -> tuple[str, ...]:
    """Describe the ranges that the call reads; of a memory with several banks, only the first bank's."""
    unit = evidence.instruction_set.instructions[call.instruction]
    ranges = unit.reads(evidence.device, call.fields)
    banks = {r.space: max(q.bank for q in ranges if q.space == r.space) for r in ranges}
    of_each = {space: f" of each of {last + 1} banks" for space, last in banks.items() if last}
    return tuple(
        f"read {r.size:,} bytes at {evidence.device.place(r.space, 0, r.offset)}{of_each.get(r.space, '')}"
        for r in ranges
        if not r.bank
    )


def _differences(
    device: Device, writes: Sequence[Write], found: Sequence[np.ndarray], ops: tuple[str, ...], locate: Locate | None
) -> tuple[tuple[ElementDifference, ...], int]:
    """Describe the first differing elements, in order of address, and count all of them."""
    shown: list[ElementDifference] = []
    total = 0
    for w, f in zip(writes, found, strict=True):
        kind = _kind(w)
        expected, got = (np.ascontiguousarray(a).view(kind) for a in (w.data.reshape(-1), f.reshape(-1)))
        bits = f"<u{kind.itemsize}"
        where = np.flatnonzero(expected.view(bits) != got.view(bits))
        total += int(where.size)
        for i in where[: max(0, _SHOWN - len(shown))]:
            address = w.offset + int(i) * kind.itemsize
            element = locate(ops, w.space, w.bank, address) if locate else None
            text = (spelling(v[i : i + 1]) for v in (expected, got))
            shown.append(ElementDifference(w.space, w.bank, address, element, *text, place=_inside(device, w.space, address)))
    return tuple(shown), total


def _inside(device: Device, space: str, address: int) -> str | None:
    return None if space in device.memory else device.place(space, 0, address)


def _kind(w: Write) -> np.dtype:
    """Return the dtype of a write's elements: its own or float16; bytes if offset or size is not a multiple of the element size."""
    kind = np.dtype(w.dtype or "<f2")
    return kind if w.offset % kind.itemsize == 0 and w.data.size % kind.itemsize == 0 else np.dtype("u1")


def spelling(value: np.ndarray) -> str:
    """Return one element (an array of size 1) as text: its bits, and its number if needed ("0x3c01 = 1.00097656")."""
    width = value.dtype.itemsize
    bits = int(value.view(f"<u{width}")[0])
    if value.dtype.kind == "f":
        return f"{bits:#0{2 + 2 * width}x} = {float(value[0]):.9g}"
    return f"{bits:#0{2 + 2 * width}x}" + (f" = {int(value[0])}" if width > 1 or value.dtype.kind == "i" else "")
