"""Reads of undefined memory: on-chip memory after reset, and DDR and HBM that the stream does not fill, before any write.

They are found by experiment, because instructions may state wider ranges than they use: the functional model runs on two fills, and
the first commit that differs depends on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fleet.errors import DeviceError, FleetError
from fleet.isa.resolved import begun_state, executed, resolved, writes_of
from fleet.sdk import Call, Device, InstructionSet, MemoryArray, Range, Write
from fleet.streams.case import StreamCase, StreamCommit
from fleet.streams.images import Images
from fleet.streams.model_side import execute, refusal
from fleet.streams.unwritten import fill_unwritten, unwritten_reads

_ROWS = 4096
"""Most rows that are tried one by one."""
_LINE, _LINES = 64, 256
"""Bytes of DDR and HBM that are tried at once, and the most tries."""


class NothingDefinedError(DeviceError):
    """The first instruction of a stream depends on undefined memory: nothing is left to compare."""


@dataclass(frozen=True)
class UndefinedRead:
    """An instruction whose result depends on undefined memory. places: what it depends on, as text ("acc rows 0 to 7")."""

    seq: int
    instruction: str
    places: tuple[str, ...]

    def __str__(self) -> str:
        what = ", ".join(self.places) or "memory"
        return f"instruction {self.seq} ({self.instruction}) depends on {what}, which nothing has written since reset"


def undefined_read(
    instruction_set: InstructionSet, device: Device, case: StreamCase, images: Images, until: int
) -> UndefinedRead | None:
    """Return the first instruction up to number `until` that depends on undefined memory, or None.

    images: of the functional model; they are filled anew and changed.
    """
    calls = resolved(instruction_set, device, case.calls[: until + 1], begun_state(device, case.blocks))
    gaps = unwritten_reads(instruction_set, device, calls, case.blocks) if case.unwritten != "zeros" else []
    if not gaps and not any(True for c in calls for _ in _hidden(instruction_set, device, c)):
        return None
    seen: list[list[StreamCommit]] = []
    for seed in (None, 1):  # two arbitrary fills might both give NaN
        images.fill(case.blocks, case.parameters, seed)
        fill_unwritten(images.memory, gaps, seed)
        found: list[StreamCommit] = []
        try:
            for call in calls:
                found += execute(instruction_set, device, images.memory, [call])
        except FleetError:  # its semantics refuse the undefined bytes
            return UndefinedRead(len(found), calls[len(found)].instruction, ())
        seen.append(found)
    first = next((n for n, (a, b) in enumerate(zip(*seen, strict=True)) if a != b), None)
    if first is None:
        return None
    return UndefinedRead(first, calls[first].instruction, tuple(_places(instruction_set, device, case, calls[: first + 1], images)))


def _hidden(instruction_set: InstructionSet, device: Device, call: Call) -> Iterator[MemoryArray]:
    """Yield the undefined memories that a call reads."""
    cls = instruction_set.instructions[call.instruction]
    if not refusal(cls, device, call.fields):
        names = {r.space for r in cls.reads(device, call.fields) if r.size}
        yield from (a for a in device.arrays.values() if a.name in names and a.undefined)


def _places(
    instruction_set: InstructionSet, device: Device, case: StreamCase, calls: Sequence[Call], images: Images
) -> Iterator[str]:
    """Yield, for each memory, the rows that the last call depends on and that no earlier call has written."""
    *before, last = calls
    cls = instruction_set.instructions[last.instruction]
    images.fill(case.blocks, case.parameters)
    execute(instruction_set, device, images.memory, before)
    right = _bytes(executed(cls, device, last.fields, images.memory))
    yield from _outside(instruction_set, device, case, calls, images, right)
    for array in _hidden(instruction_set, device, last):
        undefined = _unwritten(instruction_set, device, case, before, array)
        read = np.zeros(array.size, bool)
        for r in cls.reads(device, last.fields):
            if r.space == array.name:
                read[r.offset : r.offset + r.size] = True
        rows = np.flatnonzero((undefined & read).reshape(-1, array.row_bytes).any(1))
        shown: list[int] = []
        for row in rows[:_ROWS].tolist():
            place = slice(row * array.row_bytes, (row + 1) * array.row_bytes)
            view = images.memory.view(array.name, place.start, array.row_bytes)
            kept = view.copy()
            for other in (0xFF, 0x3C, 0x01):
                view[undefined[place]] = kept[undefined[place]] ^ np.uint8(other)
                if _bytes(executed(cls, device, last.fields, images.memory)) != right:
                    shown.append(row)
                    break
            view[:] = kept
        if shown:
            yield f"{array.name} {_rows(array, shown)}"


def _outside(
    instruction_set: InstructionSet, device: Device, case: StreamCase, calls: Sequence[Call], images: Images,
    right: list[tuple[str, int, int, bytes]],
) -> Iterator[str]:  # fmt: skip
    """Yield the bytes of DDR and HBM that the last call depends on and that nothing has written."""
    if case.unwritten == "zeros":
        return
    last = calls[-1]
    cls = instruction_set.instructions[last.instruction]
    gaps = unwritten_reads(instruction_set, device, calls, case.blocks, until=len(calls) - 1)
    lines = [
        Range(r.space, at, min(at + _LINE, r.offset + r.size) - at, r.bank)
        for r in gaps
        for at in range(r.offset, r.offset + r.size, _LINE)
    ]
    shown: list[Range] = []
    for line in lines[:_LINES]:
        view = images.memory.view(line.space, line.offset, line.size, line.bank)
        kept = view.copy()
        for other in (0xFF, 0x3C, 0x01):
            view[:] = kept ^ np.uint8(other)
            if _bytes(executed(cls, device, last.fields, images.memory)) != right:
                before = shown[-1] if shown else None
                if before and (before.space, before.bank, before.offset + before.size) == (line.space, line.bank, line.offset):
                    shown[-1] = replace(before, size=before.size + line.size)
                else:
                    shown.append(line)
                break
        view[:] = kept
    for r in shown[:4]:
        port = f" port {r.bank}" if r.space == "hbm" else ""
        yield f"{r.space}{port} bytes [{r.offset:#x}, {r.offset + r.size:#x})"
    if len(shown) > 4:
        yield f"{len(shown) - 4} more ranges"


def _unwritten(
    instruction_set: InstructionSet, device: Device, case: StreamCase, calls: Iterable[Call], array: MemoryArray
) -> np.ndarray:
    """Return the mask of bytes of a memory that no block of the case fills and no call has written."""
    found = np.ones(array.size, bool)
    for b in case.blocks:
        if b.space == array.name:
            found[b.offset : b.offset + b.data.nbytes] = False
    for call in calls:
        cls = instruction_set.instructions[call.instruction]
        for w in () if refusal(cls, device, call.fields) else writes_of(cls, device, call.fields):
            if w.space == array.name:
                found[w.offset : w.offset + w.size] = False
    return found


def _bytes(writes: Sequence[Write]) -> list[tuple[str, int, int, bytes]]:
    return [(w.space, w.bank, w.offset, np.ascontiguousarray(w.data).tobytes()) for w in writes]


def _rows(array: MemoryArray, rows: Sequence[int]) -> str:
    """Return rows as text: "row 3", "rows 0 to 7 and 12", counted through all banks."""
    cuts = np.flatnonzero(np.diff(rows) != 1) + 1
    spans = [f"{run[0]} to {run[-1]}" if len(run) > 1 else str(run[0]) for run in np.split(np.array(rows), cuts)]
    more = f" and {len(spans) - 4} more ranges" if len(spans) > 4 else ""
    shown = ", ".join(spans[:4])
    bank = f" (of {array.banks} banks of {array.depth})" if array.banks > 1 else ""
    return f"{'rows' if len(rows) > 1 else 'row'} {shown}{more}{bank}"
