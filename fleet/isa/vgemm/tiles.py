"""Steps of a product: tiles that fit into the scratchpads, in two halves: one is loaded while the other is computed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.errors import DeviceError
from fleet.isa.contract import Device
from fleet.isa.vgemm import emit
from fleet.isa.vgemm.emit import Uops
from fleet.isa.vgemm.layout import FRACTION
from fleet.isa.vgemm.matching import Window
from fleet.isa.vgemm.numbers import ACTIVATION_BITS, HIGH, LOW
from fleet.isa.vgemm.schedule import Step
from fleet.isa.vgemm.words import AluOp, MemoryType

__all__ = ["Epilogue", "Image", "convolution", "dense", "quantise", "unfit"]

_ROWS = 64
"""Rows of a tile at most: each is a micro-operation."""


@dataclass(frozen=True)
class Epilogue:
    """What becomes of the sums: where bias, residual and result stand in DDR (None: there is none), and what ALU does.

    shift: to the left, before the bias (real numbers). steps: after bias and residual. narrow: the result is INT8.
    """

    result: int
    bias: int | None
    residual: int | None
    shift: int
    steps: tuple[tuple[AluOp, int], ...]
    narrow: bool


@dataclass(frozen=True)
class Image:
    """A convolution's source: images of rows by columns pixels, and its window; output rows and columns."""

    count: int
    rows: int
    columns: int
    window: Window
    out_rows: int
    out_columns: int

    @property
    def padded_rows(self) -> int:
        """With zeros."""
        return self.rows + sum(self.window.rows)

    @property
    def padded_columns(self) -> int:
        """With zeros."""
        return self.columns + sum(self.window.columns)


@dataclass(frozen=True)
class _Room:
    """Elements of the scratchpads."""

    uop: int
    inp: int
    wgt: int
    acc: int

    @classmethod
    def of(cls, device: Device) -> _Room:
        p = device.parameters
        return cls(p["UopDepth"], p["InpDepth"], p["WgtDepth"], p["AccDepth"])


def quantise(device: Device, uops: Uops, source: int, target: int, elements: int) -> Iterator[Step]:
    """Real numbers of DDR (fixed point) to INT8 with 4 fraction bits: to the nearest, ties up, limited to the range.

    elements: blocks of channels.
    """
    block, half = device.parameters["Block"], _Room.of(device).acc // 2
    shift = FRACTION - ACTIVATION_BITS
    for tile, first in enumerate(range(0, elements, half)):
        count, base = min(half, elements - first), half * (tile % 2)
        yield emit.load(device, MemoryType.ACC, base, source + 4 * block * first, 1, count)
        for op, imm in ((AluOp.ADD, 1 << shift - 1), (AluOp.SHR, shift), (AluOp.MIN, HIGH), (AluOp.MAX, LOW)):
            yield emit.alu(device, uops, [(base, base, 0)], op, (1, count), (0, 1), (0, 1), imm)
        yield emit.store(device, MemoryType.OUT, base, target + block * first, 1, count)


@dataclass(frozen=True)
class _Tile:
    """A tile of sums in the accumulators: rows by `blocks` blocks of outputs at `base`; the first row and block of the whole."""

    base: int
    rows: int
    blocks: int
    first_row: int
    first_block: int


def _finished(device: Device, uops: Uops, tile: _Tile, all_blocks: int, e: Epilogue) -> Iterator[Step]:
    """Bias, residual and steps on a tile of sums, and its way to DDR."""
    block = device.parameters["Block"]
    extents, each = (tile.rows, tile.blocks), (tile.blocks, 1)
    count = tile.rows * tile.blocks
    at = tile.first_row * all_blocks + tile.first_block

    def number(op: AluOp, imm: int) -> Step:
        return emit.alu(device, uops, [(tile.base, tile.base, 0)], op, extents, each, each, imm)

    if e.shift:
        yield number(AluOp.SHR, -e.shift)
    free = tile.base + count
    if e.residual is not None:
        yield emit.load(device, MemoryType.ACC, free, e.residual + 4 * block * at, tile.rows, tile.blocks, all_blocks)
        yield emit.alu(device, uops, [(tile.base, free, 0)], AluOp.ADD, extents, each, each)
        free += count
    if e.bias is not None:
        yield emit.load(device, MemoryType.ACC, free, e.bias + 4 * block * tile.first_block, 1, tile.blocks)
        yield emit.alu(device, uops, [(tile.base, free, 0)], AluOp.ADD, extents, each, (0, 1))
    for op, imm in e.steps:
        yield number(op, imm)
    kind, size = (MemoryType.OUT, block) if e.narrow else (MemoryType.ACC, 4 * block)
    yield emit.store(device, kind, tile.base, e.result + size * at, tile.rows, tile.blocks, all_blocks)


def dense(
    device: Device, uops: Uops, source: int, weights: int, rows: int, inputs: int, outputs: int, e: Epilogue
) -> Iterator[Step]:
    """A matrix product: [rows, inputs] of DDR by weights, both in blocks. A tile has as many outputs as weights fit, then rows.

    weights: blocks [outputs, inputs].
    """
    block, room = device.parameters["Block"], _Room.of(device)
    depth = min(inputs, room.inp // 2, room.wgt // 2)
    whole = depth == inputs
    wide = min(outputs, (room.wgt if whole else room.wgt // 2) // depth, room.acc // 8)
    share = 2 if e.residual is not None else 1
    high = min(rows, _ROWS, room.uop // 8, room.inp // 2 // depth, (room.acc // 2 - wide) // (wide * share))
    tiles = turn = 0
    for first_block in range(0, outputs, wide):
        blocks = min(wide, outputs - first_block)
        if whole:
            yield _weights(device, weights, 0, first_block, blocks, 0, inputs, inputs)
        for first_row in range(0, rows, high):
            tile = _Tile(room.acc // 2 * (tiles % 2), min(high, rows - first_row), blocks, first_row, first_block)
            tiles += 1
            sums = [(tile.base + r * blocks, 0, 0) for r in range(tile.rows)]
            yield emit.gemm(device, uops, sums, (blocks, 1), (1, 0), reset=True)
            for first in range(0, inputs, depth):
                k = min(depth, inputs - first)
                at, wgt = room.inp // 2 * (turn % 2), 0 if whole else room.wgt // 2 * (turn % 2)
                turn += 1
                start = source + block * (first_row * inputs + first)
                yield emit.load(device, MemoryType.INP, at, start, tile.rows, k, inputs)
                if not whole:
                    yield _weights(device, weights, wgt, first_block, blocks, first, k, inputs)
                listed = [(tile.base + r * blocks, at + r * k, wgt) for r in range(tile.rows)]
                yield emit.gemm(device, uops, listed, (blocks, k), (1, 0), (0, 1), (k, 1))
            yield from _finished(device, uops, tile, outputs, e)


def _weights(device: Device, weights: int, at: int, first_out: int, outs: int, first: int, count: int, inputs: int) -> Step:
    block = device.parameters["Block"]
    start = weights + block * block * (first_out * inputs + first)
    return emit.load(device, MemoryType.WGT, at, start, outs, count, inputs)


def unfit(device: Device, image: Image, inputs: int) -> str | None:
    """Why a convolution does not fit into the scratchpads, in a clause; None where it does. inputs: blocks of channels."""
    room, taps = _Room.of(device), image.window.taps[0] * image.window.taps[1]
    size = image.padded_rows * image.padded_columns * inputs
    if size > room.inp // 2:
        return f"a padded image takes {size} blocks, half the scratchpad of inputs has {room.inp // 2}"
    if max(image.window.columns) * inputs > 15 or max(image.window.rows) > 15:
        return f"{max(image.window.columns) * inputs} blocks of zeros beside a row, a load has at most 15"
    if taps * inputs > min(room.wgt, (room.uop - 16) // 2):
        return f"{taps * inputs} blocks of weights an output block, expected at most {min(room.wgt, (room.uop - 16) // 2)}"
    pixels = image.out_rows * image.out_columns
    if pixels + 1 > room.acc // 2:
        return f"{pixels} pixels, half the accumulators hold {room.acc // 2 - 1}"
    return None


def convolution(
    device: Device, uops: Uops, source: int, weights: int, image: Image, inputs: int, outputs: int, e: Epilogue
) -> Iterator[Step]:
    """Images one after the other, for as many output blocks as fit: micro-operations are taps, loops are pixels.

    weights: blocks [outputs, taps, inputs].
    """
    block, room, window = device.parameters["Block"], _Room.of(device), image.window
    if wrong := unfit(device, image, inputs):
        raise DeviceError(wrong, where=device.name)
    terms = window.taps[0] * window.taps[1] * inputs
    pixels = image.out_rows * image.out_columns
    wide = min(outputs, room.wgt // terms, (room.uop - 16) // 2 // terms, room.acc // 2 // (pixels + 1))
    wide = -(-outputs // -(-outputs // wide))  # as many tiles, alike
    x_pad = (window.columns[0] * inputs, window.columns[1] * inputs)
    line = image.padded_columns * inputs
    tiles = 0
    for first_block in range(0, outputs, wide):
        blocks = min(wide, outputs - first_block)
        yield _weights(device, weights, 0, first_block, blocks, 0, terms, terms)
        for n in range(image.count):
            tile = _Tile(room.acc // 2 * (tiles % 2), pixels, blocks, n * pixels, first_block)
            at = room.inp // 2 * (tiles % 2)
            tiles += 1
            row = image.columns * inputs
            yield emit.load(
                device, MemoryType.INP, at, source + block * n * image.rows * row, image.rows, row, row, window.rows, x_pad
            )
            yield emit.gemm(device, uops, [(tile.base, 0, 0)], (pixels, blocks), (blocks, 1), reset=True)
            taps = [(y * line + x * inputs) for y in range(window.taps[0]) for x in range(window.taps[1])]
            listed = [
                (tile.base + o, at + tap + i, (o * len(taps) + t) * inputs + i)
                for o in range(blocks) for t, tap in enumerate(taps) for i in range(inputs)
            ]  # fmt: skip
            steps = (window.stride * line, window.stride * inputs)
            extents = (image.out_rows, image.out_columns)
            yield emit.gemm(device, uops, listed, extents, (image.out_columns * blocks, blocks), steps)
            yield from _finished(device, uops, tile, outputs, e)
