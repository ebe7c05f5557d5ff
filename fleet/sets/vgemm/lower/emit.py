"""Makes steps from tile sizes and places, including the ranges that each instruction touches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.sdk import Device, DeviceError
from fleet.sets.vgemm.lower.schedule import FINISH, ByteSpan, ScheduledStep
from fleet.sets.vgemm.operands import AluOp, AluOperands, GemmOperands, LoadOperands, MemoryType, StoreOperands
from fleet.sets.vgemm.pads import element_bytes, pad
from fleet.sets.vgemm.shapes import Transfer, columns, rows

SPACES = {MemoryType.UOP: "uop", MemoryType.WGT: "wgt", MemoryType.INP: "inp", MemoryType.ACC: "acc", MemoryType.OUT: "acc"}

Uop = tuple[int, int, int]
"""(accumulator, input or second accumulator, weight)."""


def uop_bytes(uops: Sequence[Uop]) -> np.ndarray:
    """Return micro-operations as in memory: 11, 11 and 10 bits, uint8."""
    words = np.array([a | s << 11 | w << 22 for a, s, w in uops], "<u4")
    return words.view(np.uint8)


class Uops:
    """The micro-operations of a program: each list is stored once, contiguously; a prefix of a list is shared with it.

    A table has as many as the scratchpad holds. After a full table another one begins, which must be loaded before it is used.
    """

    def __init__(self, depth: int = 1 << 11) -> None:
        self._depth = depth
        self.tables: list[list[Uop]] = [[]]
        self._known: dict[tuple[Uop, ...], int] = {}

    def place(self, uops: Sequence[Uop]) -> tuple[int, int]:
        """Return [first, end) of the list in the last table. Raises DeviceError if the list does not fit into a table."""
        key = tuple(uops)
        if len(key) > self._depth:
            raise DeviceError(f"a list of {len(key)} micro-operations, expected at most {self._depth}", where="gemm")
        begin = next((at for known, at in self._known.items() if known[: len(key)] == key), None)
        if begin is None:
            if len(self.tables[-1]) + len(key) > self._depth:
                self.tables.append([])
                self._known.clear()
            begin = self._known[key] = len(self.tables[-1])
            self.tables[-1] += key
        return begin, begin + len(key)

    @property
    def words(self) -> list[Uop]:
        """The last table."""
        return self.tables[-1]

    @property
    def table(self) -> int:
        """The number of the last table."""
        return len(self.tables) - 1


def _ddr(device: Device, t: Transfer) -> ByteSpan:
    size = element_bytes(device, t.memory_type)
    return ByteSpan("ddr", t.address, t.address + ((t.y_size - 1) * t.x_stride + t.x_size) * size)


def _sram(t: Transfer) -> ByteSpan:
    return ByteSpan(SPACES[t.memory_type], t.sram_base, t.sram_base + rows(t) * columns(t))


def load(
    device: Device, kind: MemoryType, sram: int, address: int, y: int, x: int, stride: int = 0,
    y_pad: tuple[int, int] = (0, 0), x_pad: tuple[int, int] = (0, 0),
) -> ScheduledStep:  # fmt: skip
    """Return a LOAD of [y, x] elements; stride 0: adjacent rows."""
    t = LoadOperands(
        memory_type=kind, sram_base=sram, address=address, y_size=y, x_size=x, x_stride=stride or x,
        y_pad_before=y_pad[0], y_pad_after=y_pad[1], x_pad_before=x_pad[0], x_pad_after=x_pad[1],
    )  # fmt: skip
    return ScheduledStep("load", t, reads=(_ddr(device, t),), writes=(_sram(t),))


def store(device: Device, kind: MemoryType, sram: int, address: int, y: int, x: int, stride: int = 0) -> ScheduledStep:
    """Return a STORE of [y, x] elements; stride 0: adjacent rows."""
    t = StoreOperands(memory_type=kind, sram_base=sram, address=address, y_size=y, x_size=x, x_stride=stride or x)
    return ScheduledStep("store", t, reads=(_sram(t),), writes=(_ddr(device, t),))


def _hull(space: str, first: Sequence[int], factor: tuple[int, int], extents: tuple[int, int], depth: int) -> ByteSpan:
    """Return the span that indices reach; the whole scratchpad if they wrap around."""
    last = max(first) + sum(f * (n - 1) for f, n in zip(factor, extents, strict=True))
    return ByteSpan(space, min(first), last + 1) if last < depth else ByteSpan(space, 0, depth)


def gemm(
    device: Device, uops: Uops, listed: Sequence[Uop], extents: tuple[int, int] = (1, 1), acc: tuple[int, int] = (0, 0),
    inp: tuple[int, int] = (0, 0), wgt: tuple[int, int] = (0, 0), *, reset: bool = False,
) -> ScheduledStep:  # fmt: skip
    """Return a GEMM with the listed micro-operations."""
    place = uops.place(listed)
    body = GemmOperands(
        uop_begin=place[0], uop_end=place[1], iter_out=extents[0], iter_in=extents[1], acc_out=acc[0], acc_in=acc[1],
        inp_out=inp[0], inp_in=inp[1], wgt_out=wgt[0], wgt_in=wgt[1], reset=reset,
    )  # fmt: skip
    spans = [
        _hull(SPACES[kind], [u[i] for u in listed], factor, extents, pad(device, kind).depth)
        for i, (kind, factor) in enumerate(((MemoryType.ACC, acc), (MemoryType.INP, inp), (MemoryType.WGT, wgt)))
    ]
    reads = (ByteSpan("uop", *place),) if reset else (ByteSpan("uop", *place), *spans)
    return ScheduledStep("gemm", body, reads=reads, writes=(spans[0],))


def alu(
    device: Device, uops: Uops, listed: Sequence[Uop], op: AluOp, extents: tuple[int, int] = (1, 1),
    dst: tuple[int, int] = (0, 0), src: tuple[int, int] = (0, 0), imm: int | None = None,
) -> ScheduledStep:  # fmt: skip
    """Return an ALU with the listed micro-operations. imm None: of two accumulators. Raises DeviceError if imm exceeds 16 bits."""
    if imm is not None and not -(1 << 15) <= imm < 1 << 15:
        raise DeviceError(f"{imm} is not an immediate of 16 bits", where=f"{device.name}, alu {op.name}")
    place = uops.place(listed)
    body = AluOperands(
        uop_begin=place[0], uop_end=place[1], iter_out=extents[0], iter_in=extents[1], dst_out=dst[0], dst_in=dst[1],
        src_out=src[0], src_in=src[1], op=op, use_imm=imm is not None, imm=imm or 0,
    )  # fmt: skip
    depth = pad(device, MemoryType.ACC).depth
    written = _hull("acc", [u[0] for u in listed], dst, extents, depth)
    second = () if imm is not None else (_hull("acc", [u[1] for u in listed], src, extents, depth),)
    return ScheduledStep("alu", body, reads=(ByteSpan("uop", *place), written, *second), writes=(written,))


def finish() -> ScheduledStep:
    """Return a barrier."""
    return FINISH
