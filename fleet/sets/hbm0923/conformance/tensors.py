"""Feature tensors of a draw: their places, their data, and which of them share a range."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from fleet.sdk import Call, Device, Place, Write, halves
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.units.elementwise import ElementwiseTensors
from fleet.sets.hbm0923.units.feature import groups_of

LAYOUTS = ("lines outside", "surfaces outside", "gaps")
"""Surfaces of a line are adjacent; lines of a surface are adjacent; either one with unused room between rows."""


@dataclass(frozen=True)
class DrawnTensor:
    """base, strides: bytes; onchip: in the on-chip memory."""

    base: int
    surface: int
    line: int
    onchip: bool = False


class Ends(TypedDict):
    """Operands that describe input and output."""

    in_addr: int
    in_surface: int
    in_line: int
    in_onchip: bool
    out_addr: int
    out_surface: int
    out_line: int
    out_onchip: bool


def ends(x: DrawnTensor, y: DrawnTensor) -> Ends:
    """Return the operands of two tensors."""
    return {
        "in_addr": x.base, "in_surface": x.surface, "in_line": x.line, "in_onchip": x.onchip,
        "out_addr": y.base, "out_surface": y.surface, "out_line": y.line, "out_onchip": y.onchip,
    }  # fmt: skip


class Tensors:
    """Places the tensors of one instruction. blocks: content of memory; before: calls that fill the on-chip memory."""

    def __init__(self, device: Device, rng: np.random.Generator, place: Place) -> None:
        self._device, self._rng, self._place = device, rng, place
        self.blocks: list[Write] = []
        self.before: list[Call] = []
        self._read: list[tuple[int, int]] = []
        self.half = device.parameters.get("OnchipDepth", 0) * PIXEL_BYTES

    def strides(self, lines: int, surfaces: int, tokens: int, layout: str) -> tuple[int, int, int]:
        """Return (surface stride, line stride, bytes of the hull)."""
        gap = PIXEL_BYTES * int(self._rng.integers(1, 4)) if layout == "gaps" else 0
        row = tokens * PIXEL_BYTES + gap
        if layout == "surfaces outside":
            surface, line = row * lines, row
        else:
            surface, line = row, row * surfaces + gap
        return surface, line, (surfaces - 1) * surface + (lines - 1) * line + tokens * PIXEL_BYTES

    def source(self, lines: int, channels: int, tokens: int, kind: str, layout: str, *, onchip: bool = False) -> DrawnTensor:
        """Place a tensor to read, filled with data of a kind; the padding lanes too."""
        surface, line, size = self.strides(lines, ceil_div(channels, PIXEL_LANES), tokens, layout)
        if onchip and size <= self.half:
            at = within_half(self._place, size, self.half)
            return DrawnTensor(self._prepared(size, kind) if at is None else at, surface, line, onchip=True)
        return DrawnTensor(self.data(size, kind), surface, line)

    def data(self, size: int, kind: str) -> int:
        """Return the DDR offset of a range to read. size: bytes."""
        base, fresh = self._place.source("ddr", size)
        if fresh:
            self.fill("ddr", base, halves(self._rng, size // 2, kind))
        self._read.append((base, base + size))
        return base

    def words(self, values: np.ndarray) -> int:
        """Return the DDR offset of a range that holds exactly these values."""
        data = np.ascontiguousarray(values).reshape(-1).view(np.uint8)
        base = self._place.take("ddr", data.size)
        self.fill("ddr", base, data)
        self._read.append((base, base + data.size))
        return base

    def fill(self, space: str, offset: int, data: np.ndarray, bank: int = 0) -> None:
        """Add a block of memory content."""
        self.blocks.append(Write(space, offset, data.reshape(-1).view(np.uint8), bank))

    def target(
        self, lines: int, channels: int, tokens: int, layout: str, *, onchip: bool = False, avoid: Sequence[DrawnTensor] = ()
    ) -> DrawnTensor:
        """Place a tensor to write. It overlaps nothing placed here; memory holds noise there before.

        onchip: in the half that contains none of `avoid`.
        """
        surface, line, size = self.strides(lines, ceil_div(channels, PIXEL_LANES), tokens, layout)
        if onchip and size <= self.half:
            taken = {t.base // self.half for t in avoid if t.onchip}
            free = [h for h in (0, 1) if h not in taken]
            if free:
                return DrawnTensor(
                    free[int(self._rng.integers(len(free)))] * self.half + self._within(size), surface, line, onchip=True
                )
        base, fresh = self._place.target("ddr", size, self._read)
        if fresh:
            self.fill("ddr", base, self._rng.integers(0, 256, size, dtype=np.uint8))
        self._read.append((base, base + size))
        return DrawnTensor(base, surface, line)

    def alone(self, tensor: DrawnTensor, *, twice: bool = False) -> bool:
        """Return whether nothing else placed here overlaps a DDR tensor. twice: the tensor itself may be placed twice."""
        own = [r for r in self._read if r[0] == tensor.base]
        if not own:
            return False
        start, end = max(own, key=lambda r: r[1])
        others = [r for r in self._read if r[0] < end and start < r[1] and r != (start, end)]
        return not others and (twice or len(own) == 1)

    def bank(self, size: int, kind: str, *, written: bool = False) -> int:
        """Return the offset, equal in all HBM ports, of a range filled with data of a kind in every port."""
        at, fresh = self._place.target("hbm", size, (), 32) if written else self._place.source("hbm", size, 32)
        for port in range(self._device.parameters["HbmPorts"] if fresh else 0):
            self.fill("hbm", at, halves(self._rng, size // 2, kind), port)
        return at

    def _within(self, size: int) -> int:
        """Return an offset in a half; in a program sometimes so that the range ends with the half."""
        room = (self.half - size) // PIXEL_BYTES
        last = self._place.program and self._rng.random() < 0.2
        return PIXEL_BYTES * (room if last else int(self._rng.integers(0, room + 1)))

    def _prepared(self, size: int, kind: str) -> int:
        """Return an offset in the first half of the on-chip memory, filled by elementwise additions of two tensors."""
        tokens = size // PIXEL_BYTES
        at = self._within(size)
        most = self._device.parameters["MaxToken"]
        for first in range(0, tokens, most):
            n = min(most, tokens - first)
            a, b = (self.data(n * PIXEL_BYTES, k) for k in (kind, "plain"))
            o = ElementwiseTensors(
                **groups_of(PIXEL_LANES), lines=1, tokens=n, a_addr=a, b_addr=b, a_surface=n * PIXEL_BYTES, a_line=n * PIXEL_BYTES,
                out_addr=at + first * PIXEL_BYTES, out_surface=n * PIXEL_BYTES, out_line=n * PIXEL_BYTES, out_onchip=True,
            )  # fmt: skip
            self.before.append(Call("elementwise", o.encode()))
        return at


def within_half(place: Place, size: int, half: int) -> int | None:
    """Return the offset of an on-chip range that earlier calls of the program wrote, in one half of the memory; or None."""
    at = place.written("onchip", size, PIXEL_BYTES)
    return at if at is not None and at // half == (at + size - 1) // half else None


def choice(rng: np.random.Generator, values: Sequence[int]) -> int:
    """Return one of the values."""
    return values[int(rng.integers(len(values)))]


def numbers(rng: np.random.Generator, below: int, count: int) -> list[int]:
    """Return random integers from 1."""
    return [int(n) for n in rng.integers(1, below, count)]


def size_class(value: int, units: dict[int, str], most: int = 0) -> str:
    """Return a size in words: its position relative to the units at which hardware has a boundary."""
    if value == 1:
        return "1"
    if value == most:
        return "the most"
    for unit, name in units.items():
        for d, text in ((0, name), (-1, f"{name} - 1"), (1, f"{name} + 1")):
            if value == unit + d:
                return text
    for unit, name in units.items():
        if value % unit == 0:
            return f"whole multiple of {name}"
    return "other"
