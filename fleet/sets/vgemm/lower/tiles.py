"""Steps of a product: tiles that fit into halves of the scratchpads. One half is loaded while the other is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fleet.sdk import Device
from fleet.sets.vgemm.layout import FRACTION
from fleet.sets.vgemm.lower import emit
from fleet.sets.vgemm.lower.emit import Uops
from fleet.sets.vgemm.lower.schedule import ScheduledStep
from fleet.sets.vgemm.numbers import ACTIVATION_BITS, HIGH, LOW
from fleet.sets.vgemm.operands import AluOp, MemoryType

_ROWS = 64
"""Maximum rows of a tile; each row is a micro-operation."""


@dataclass(frozen=True)
class Epilogue:
    """The epilogue of a product: addresses of bias, residual and result in DDR (None: absent), and ALU steps.

    shift: to the left, before the bias (real numbers). steps: after bias and residual. narrow: the result is INT8. shifts: address
    of amounts for SHR, one per channel, used instead of `shift`.
    """

    result: int
    bias: int | None
    residual: int | None
    shift: int
    steps: tuple[tuple[AluOp, int], ...]
    narrow: bool
    shifts: int | None = None


@dataclass(frozen=True)
class ScratchpadRoom:
    """Numbers of elements of the scratchpads."""

    uop: int
    inp: int
    wgt: int
    acc: int

    @classmethod
    def of(cls, device: Device) -> ScratchpadRoom:
        """Return the room of a device."""
        p = device.parameters
        return cls(p["UopDepth"], p["InpDepth"], p["WgtDepth"], p["AccDepth"])


def quantise(
    device: Device, uops: Uops, source: int, target: int, elements: int, bits: int = ACTIVATION_BITS
) -> Iterator[ScheduledStep]:
    """Convert real numbers in DDR (fixed point) to INT8 with `bits` fraction bits: to nearest, ties up, clipped to the range.

    elements: blocks of channels.
    """
    block, half = device.parameters["Block"], ScratchpadRoom.of(device).acc // 2
    shift = FRACTION - bits
    # Half a step must fit into an immediate. Shifting in two steps gives the same result.
    before = max(0, shift - 15)
    shift -= before
    first_shift = [(AluOp.SHR, before)] if before else []
    for tile, first in enumerate(range(0, elements, half)):
        count, base = min(half, elements - first), half * (tile % 2)
        yield emit.load(device, MemoryType.ACC, base, source + 4 * block * first, 1, count)
        for op, imm in (*first_shift, (AluOp.ADD, 1 << shift - 1), (AluOp.SHR, shift), (AluOp.MIN, HIGH), (AluOp.MAX, LOW)):
            yield emit.alu(device, uops, [(base, base, 0)], op, (1, count), (0, 1), (0, 1), imm)
        yield emit.store(device, MemoryType.OUT, base, target + block * first, 1, count)


class TileRun(NamedTuple):
    """Rows of a tile that are also contiguous in DDR: the first one in the tile, their number, the first one in the whole."""

    at: int
    rows: int
    first: int


@dataclass(frozen=True)
class Tile:
    """A tile of sums in the accumulators at `base`: rows by `blocks` blocks of outputs, with its first block in the whole."""

    base: int
    blocks: int
    first_block: int
    runs: tuple[TileRun, ...]

    @property
    def rows(self) -> int:
        """Number of rows of all runs."""
        return sum(run.rows for run in self.runs)


def finished(device: Device, uops: Uops, tile: Tile, all_blocks: int, e: Epilogue) -> Iterator[ScheduledStep]:
    """Apply bias, residual and ALU steps to a tile of sums, and store it to DDR."""
    block = device.parameters["Block"]
    extents, each = (tile.rows, tile.blocks), (tile.blocks, 1)
    count = tile.rows * tile.blocks

    def number(op: AluOp, imm: int) -> ScheduledStep:
        return emit.alu(device, uops, [(tile.base, tile.base, 0)], op, extents, each, each, imm)

    if e.shift:
        yield number(AluOp.SHR, -e.shift)
    free = tile.base + count
    if e.shifts is not None:
        yield emit.load(device, MemoryType.ACC, free, e.shifts + 4 * block * tile.first_block, 1, tile.blocks)
        yield emit.alu(device, uops, [(tile.base, free, 0)], AluOp.SHR, extents, each, (0, 1))
    if e.residual is not None:
        for run in tile.runs:
            start = e.residual + 4 * block * (run.first * all_blocks + tile.first_block)
            yield emit.load(device, MemoryType.ACC, free + run.at * tile.blocks, start, run.rows, tile.blocks, all_blocks)
        yield emit.alu(device, uops, [(tile.base, free, 0)], AluOp.ADD, extents, each, each)
        free += count
    if e.bias is not None:
        yield emit.load(device, MemoryType.ACC, free, e.bias + 4 * block * tile.first_block, 1, tile.blocks)
        yield emit.alu(device, uops, [(tile.base, free, 0)], AluOp.ADD, extents, each, (0, 1))
    for op, imm in e.steps:
        yield number(op, imm)
    kind, size = (MemoryType.OUT, block) if e.narrow else (MemoryType.ACC, 4 * block)
    for run in tile.runs:
        start = e.result + size * (run.first * all_blocks + tile.first_block)
        yield emit.store(device, kind, tile.base + run.at * tile.blocks, start, run.rows, tile.blocks, all_blocks)


def dense(
    device: Device, uops: Uops, source: int, weights: int, rows: int, inputs: int, used: int, outputs: int, e: Epilogue
) -> Iterator[ScheduledStep]:
    """Multiply [rows, inputs] in DDR by weights, both in blocks. A tile has as many outputs as weights fit, then rows.

    weights: blocks [outputs, inputs]. used: nonzero blocks of a row's inputs; the others hold zeros.
    """
    block, room = device.parameters["Block"], ScratchpadRoom.of(device)
    depth = min(used, room.inp // 2, room.wgt // 2)
    whole = depth == used
    wide = min(outputs, (room.wgt if whole else room.wgt // 2) // depth, room.acc // 8)
    share = 2 if e.residual is not None else 1
    high = min(rows, _ROWS, room.uop // 8, room.inp // 2 // depth, (room.acc // 2 - wide) // (wide * share))
    tiles = turn = 0
    for first_block in range(0, outputs, wide):
        blocks = min(wide, outputs - first_block)
        if whole:
            yield load_weights(device, weights, 0, first_block, blocks, 0, used, inputs)
        for first_row in range(0, rows, high):
            tile = Tile(room.acc // 2 * (tiles % 2), blocks, first_block, (TileRun(0, min(high, rows - first_row), first_row),))
            tiles += 1
            sums = [(tile.base + r * blocks, 0, 0) for r in range(tile.rows)]
            yield emit.gemm(device, uops, sums, (blocks, 1), (1, 0), reset=True)
            for first in range(0, used, depth):
                k = min(depth, used - first)
                at, wgt = room.inp // 2 * (turn % 2), 0 if whole else room.wgt // 2 * (turn % 2)
                turn += 1
                start = source + block * (first_row * inputs + first)
                yield emit.load(device, MemoryType.INP, at, start, tile.rows, k, inputs)
                if not whole:
                    yield load_weights(device, weights, wgt, first_block, blocks, first, k, inputs)
                listed = [(tile.base + r * blocks, at + r * k, wgt) for r in range(tile.rows)]
                yield emit.gemm(device, uops, listed, (blocks, k), (1, 0), (0, 1), (k, 1))
            yield from finished(device, uops, tile, outputs, e)


def load_weights(
    device: Device, weights: int, at: int, first_out: int, outs: int, first: int, count: int, inputs: int
) -> ScheduledStep:
    """Load blocks [first_out, outs] by [first, count] of weights [outputs, inputs] to consecutive elements from `at` on."""
    block = device.parameters["Block"]
    start = weights + block * block * (first_out * inputs + first)
    return emit.load(device, MemoryType.WGT, at, start, outs, count, inputs)
