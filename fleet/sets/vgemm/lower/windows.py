"""Steps of a convolution of any size: tiles of output rows and columns, of output blocks, and of the terms of a sum.

Every tile uses one half of the input and accumulator scratchpads, so that one tile is loaded while the other is computed. The
weights of a tile's output blocks stay for all tiles if they fit; else parts of the terms are loaded in turn, also in halves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fleet.sdk import Device, DeviceError
from fleet.sets.vgemm.lower import emit
from fleet.sets.vgemm.lower.emit import Uops
from fleet.sets.vgemm.lower.matching import ConvolutionWindow
from fleet.sets.vgemm.lower.schedule import ScheduledStep
from fleet.sets.vgemm.lower.tiles import Epilogue, ScratchpadRoom, Tile, TileRun, finished, load_weights
from fleet.sets.vgemm.operands import MemoryType

_FACTORS = 1 << 11
"""Factors of a loop must be below it."""
_ZEROS = 15
"""Maximum elements of padding beside a row, and rows of padding, of a load."""
_AROUND = 24
"""Approximate cycles of a load besides its elements."""


@dataclass(frozen=True)
class Image:
    """A convolution's source: images of rows by columns pixels; its window; output rows and columns. channels: without padding."""

    count: int
    rows: int
    columns: int
    channels: int
    window: ConvolutionWindow
    out_rows: int
    out_columns: int


@dataclass(frozen=True)
class _Plan:
    """Output rows, columns and blocks of a tile; terms of a sum whose weights are loaded at a time; whether all weights stay."""

    rows: int
    columns: int
    blocks: int
    terms: int
    resident: bool


def _even(whole: int, most: int) -> int:
    """Return the size of equal parts, as large as `most` allows."""
    return -(-whole // -(-whole // most))


def _parts(whole: int) -> list[int]:
    return sorted({-(-whole // n) for n in range(1, whole + 1)}, reverse=True)


def _plans(device: Device, image: Image, inputs: int, outputs: int, share: int) -> Iterator[tuple[int, _Plan]]:
    """Yield (approximate cycles of loads, plan) of every plan that fits."""
    room, window = ScratchpadRoom.of(device), image.window
    terms = window.taps[0] * window.taps[1] * inputs
    weight = max(device.parameters["Block"] ** 2 // 64, 1)
    for blocks in _parts(outputs):
        resident = blocks * terms <= room.wgt
        part = min(terms, room.uop // 2 // blocks, room.wgt if resident else room.wgt // 2 // blocks)
        if not part:
            continue
        for columns in _parts(image.out_columns):
            line = ((columns - 1) * window.stride + window.taps[1]) * inputs
            pixels = (room.acc // 2 - blocks) // (blocks * share)
            high = min(image.out_rows, pixels // columns, (room.inp // 2 // line - window.taps[0]) // window.stride + 1)
            if high < 1 or room.inp // 2 // line < window.taps[0] or window.stride * line >= _FACTORS:
                continue
            rows = _even(image.out_rows, high)
            tiles = -(-image.out_rows // rows) * -(-image.out_columns // columns) * image.count
            loads = tiles * (line * ((rows - 1) * window.stride + window.taps[0]) + _AROUND)
            weights = blocks * terms * weight * (1 if resident else tiles)
            yield -(-outputs // blocks) * (loads + weights), _Plan(rows, columns, blocks, part, resident)


def _plan(device: Device, image: Image, inputs: int, outputs: int, share: int) -> _Plan | None:
    return min(_plans(device, image, inputs, outputs, share), key=lambda found: found[0], default=(0, None))[1]


def unfit(device: Device, image: Image, inputs: int, outputs: int, *, residual: bool = False) -> str | None:
    """Return why a convolution cannot be tiled, as a clause; None if it can. inputs, outputs: blocks of channels."""
    zeros = max(image.window.columns) * inputs
    if zeros > _ZEROS or max(image.window.rows) > _ZEROS:
        return f"{zeros} blocks of zeros beside a row, a load has at most {_ZEROS}"
    if _plan(device, image, inputs, outputs, 2 if residual else 1) is None:
        size = image.window.taps[0] * image.window.taps[1] * inputs
        return f"one window takes {size} blocks of inputs, half the scratchpad has {ScratchpadRoom.of(device).inp // 2}"
    return None


@dataclass(frozen=True)
class _Range:
    """Input rows (or columns) that a tile loads: first, count, zeros before and after. at: place of its first tap."""

    first: int
    count: int
    zeros: tuple[int, int]
    at: int

    @property
    def size(self) -> int:
        """Rows (or columns) including zeros."""
        return self.count + sum(self.zeros)


def _range(first: int, count: int, taps: int, stride: int, before: int, size: int) -> _Range:
    """Return the range for outputs [first, first + count). At least one real row is loaded, even if only zeros are needed."""
    low, high = first * stride - before, (first + count - 1) * stride - before + taps
    begin, end = min(max(low, 0), size - 1), max(min(high, size), 1)
    begin, end = min(begin, end - 1), max(end, begin + 1)
    zeros = (max(begin - low, 0) if low < 0 else 0, max(high - end, 0))
    return _Range(begin, end - begin, zeros, low + zeros[0] - begin)


def convolution(
    device: Device, uops: Uops, source: int, weights: int, image: Image, inputs: int, outputs: int, e: Epilogue
) -> Iterator[ScheduledStep]:
    """Return the steps of a convolution: micro-operations are taps and channels, loops are a tile's pixels.

    weights: blocks [outputs, taps, inputs].
    """
    block, room, window = device.parameters["Block"], ScratchpadRoom.of(device), image.window
    plan = _plan(device, image, inputs, outputs, 1 if e.residual is None else 2)
    if plan is None:
        raise DeviceError(f"{unfit(device, image, inputs, outputs, residual=e.residual is not None)}", where=device.name)
    used = -(-image.channels // block)  # the other blocks of a row hold zeros
    terms = window.taps[0] * window.taps[1] * inputs
    tiles = turn = 0
    for first_block in range(0, outputs, plan.blocks):
        blocks = min(plan.blocks, outputs - first_block)
        if plan.resident:
            yield load_weights(device, weights, 0, first_block, blocks, 0, terms, terms)
        for n, r, c in _tiles(image, plan):
            rows, columns = min(plan.rows, image.out_rows - r), min(plan.columns, image.out_columns - c)
            y = _range(r, rows, window.taps[0], window.stride, window.rows[0], image.rows)
            x = _range(c, columns, window.taps[1], window.stride, window.columns[0], image.columns)
            base, at = room.acc // 2 * (tiles % 2), room.inp // 2 * (tiles % 2)
            tiles += 1
            start = source + block * inputs * ((n * image.rows + y.first) * image.columns + x.first)
            zeros = (x.zeros[0] * inputs, x.zeros[1] * inputs)
            yield emit.load(
                device, MemoryType.INP, at, start, y.count, x.count * inputs, image.columns * inputs, y.zeros, zeros
            )  # fmt: skip
            yield emit.gemm(device, uops, [(base, 0, 0)], (rows * columns, blocks), (blocks, 1), reset=True)
            line = x.size * inputs
            for first in range(0, terms, plan.terms):
                count = min(plan.terms, terms - first)
                listed = _listed(window, inputs, used, line, range(first, first + count))
                if not listed:
                    continue
                there, step = (first, terms) if plan.resident else (room.wgt // 2 * (turn % 2), count)
                if not plan.resident:
                    turn += 1
                    yield load_weights(device, weights, there, first_block, blocks, first, count, terms)
                origin = at + y.at * line + x.at * inputs
                uop_list = [(base + o, origin + i, there + o * step + t) for o in range(blocks) for i, t in listed]
                extents = (rows, columns)
                strides = (window.stride * line, window.stride * inputs)
                yield emit.gemm(device, uops, uop_list, extents, (columns * blocks, blocks), strides)
            place = (n * image.out_rows + r) * image.out_columns + c
            yield from finished(device, uops, Tile(base, blocks, first_block, _runs(image, rows, columns, place)), outputs, e)


def _tiles(image: Image, plan: _Plan) -> Iterator[tuple[int, int, int]]:
    """Yield (image, first row, first column) of each output tile."""
    for n in range(image.count):
        for r in range(0, image.out_rows, plan.rows):
            yield from ((n, r, c) for c in range(0, image.out_columns, plan.columns))


def _listed(window: ConvolutionWindow, inputs: int, used: int, line: int, terms: range) -> list[tuple[int, int]]:
    """Return (place in the tile's inputs, place in the weights) of terms (tap, input block)."""
    found: list[tuple[int, int]] = []
    for n, term in enumerate(terms):
        tap, i = divmod(term, inputs)
        if i < used:
            found.append((tap // window.taps[1] * line + tap % window.taps[1] * inputs + i, n))
    return found


def _runs(image: Image, rows: int, columns: int, first: int) -> tuple[TileRun, ...]:
    """Return the runs of a tile: whole rows are one run of pixels, parts of rows one run per row."""
    if columns == image.out_columns:
        return (TileRun(0, rows * columns, first),)
    return tuple(TileRun(y * columns, columns, first + y * image.out_columns) for y in range(rows))
