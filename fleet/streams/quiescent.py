"""Memory that differs at the end of a stream although all commits agree: where, both values, and the last writer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.isa.memory import MappedMemory
from fleet.isa.resolved import begun_state, resolved, writes_of
from fleet.sdk import Call, Device, InstructionSet, Write
from fleet.sdk.hardware.state import REGISTERS
from fleet.streams.images import MOST, ByteDifference
from fleet.streams.model_side import refusal


def memory_differs(
    instruction_set: InstructionSet, device: Device, calls: Sequence[Call], blocks: Sequence[Write],
    bytes_: Sequence[ByteDifference], expected: MappedMemory, found: MappedMemory, *, agreed: bool,
) -> str:  # fmt: skip
    """Describe in one line what differs.

    Args:
        calls, blocks: of the stream. bytes_: differing bytes, at least one.
        expected, found: memory at the end.
        agreed: all commits agree, so no observed write explains the difference.
    """
    inside = [b for b in bytes_ if b.space in device.arrays or b.space == REGISTERS]
    b = next((b for b in inside if agreed), bytes_[0])
    more = f"{len(bytes_):,} byte{'s' if len(bytes_) > 1 else ''}{' or more' if len(bytes_) >= MOST else ''}"
    place = device.place(b.space, b.bank, b.address)
    if b not in inside:
        return f"memory differs at the end in {more}; first at {place}: expected {b.expected:#04x}, found {b.found:#04x}"
    dtype = np.dtype(device.arrays[b.space].dtype if b.space in device.arrays else "<u4")
    at = b.address // dtype.itemsize * dtype.itemsize
    wanted, got = (m.view(b.space, at, dtype.itemsize).view(dtype)[0].item() for m in (expected, found))
    undefined = b.space in device.arrays and bool(expected.untouched(b.space)[b.address])
    values = f"expected {'what stood there before (undefined)' if undefined else wanted}, found {got}"
    why = " although no observed write says so" if agreed else ""
    writer = _last_writer(instruction_set, device, calls, blocks, b)
    return f"{place} differs after the last instruction{why}: {values}; {writer}; {more} in all"


def _last_writer(
    instruction_set: InstructionSet, device: Device, calls: Sequence[Call], blocks: Sequence[Write], b: ByteDifference
) -> str:
    size = device.arrays[b.space].row_bytes if b.space in device.arrays else 4
    first = b.address // size * size
    what = "row" if b.space in device.arrays else "register"
    walked = resolved(instruction_set, device, calls, begun_state(device, blocks))
    for seq in range(len(walked) - 1, -1, -1):
        call = walked[seq]
        cls = instruction_set.instructions[call.instruction]
        if refusal(cls, device, call.fields):
            continue
        if any(
            w.space == b.space and w.offset < first + size and first < w.offset + w.size
            for w in writes_of(cls, device, call.fields)
        ):
            return f"the last instruction that wrote this {what} was {seq} ({call.instruction})"
    return f"no instruction writes this {what}"
