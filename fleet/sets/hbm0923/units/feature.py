"""Feature tensors in DDR or on chip: places of their pixels, reading and writing them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from fleet.sdk import Memory, Range, Write
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div

Bits = npt.NDArray[np.uint16]
LANES_LSB = 16
"""A surfaces register holds the count below this bit, and from it on the valid lanes of the last group (0: all 32)."""


def channels_of(surfaces: int, lanes: int) -> int:
    """Return the channels of so many groups. lanes: valid ones of the last group, 0 for all."""
    return (surfaces - 1) * PIXEL_LANES + (lanes or PIXEL_LANES)


class Groups(TypedDict):
    """Operands that give the number of channels."""

    surfaces: int
    lanes: int


def groups_of(channels: int) -> Groups:
    """Return the operands of a number of channels."""
    return {"surfaces": ceil_div(channels, PIXEL_LANES), "lanes": channels % PIXEL_LANES}


@dataclass(frozen=True)
class FeatureTensor:
    """The place of a feature tensor: element (h, c, w) is at byte base + (c / 32) * surface + h * line + w * 64 + (c % 32) * 2.

    base, surface, line: bytes. surfaces, lines, tokens: counts. onchip: in the on-chip memory instead of DDR.
    """

    base: int
    surface: int
    line: int
    surfaces: int
    lines: int
    tokens: int
    onchip: bool = False

    @property
    def space(self) -> str:
        """The memory space."""
        return "onchip" if self.onchip else "ddr"

    @property
    def end(self) -> int:
        """End of the hull, which starts at `base`."""
        return self.base + (self.surfaces - 1) * self.surface + (self.lines - 1) * self.line + self.tokens * PIXEL_BYTES

    def _blocks(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the (line, surface) rows ordered by address, the starts of contiguous blocks in it, and the blocks' addresses."""
        lines = np.arange(self.lines, dtype=np.int64)[:, None] * self.line
        at = (self.base + lines + np.arange(self.surfaces, dtype=np.int64) * self.surface).reshape(-1)
        order = np.argsort(at, kind="stable")
        at = at[order]
        first = np.flatnonzero(np.diff(at, prepend=at[0] - 1) != self.tokens * PIXEL_BYTES)
        return order, first, at[first]

    def ranges(self) -> list[Range]:
        """Return the bytes in as few ranges as possible."""
        _, first, at = self._blocks()
        sizes = np.diff(first, append=self.lines * self.surfaces) * self.tokens * PIXEL_BYTES
        return [Range(self.space, a, n) for a, n in zip(at.tolist(), sizes.tolist(), strict=True)]

    def load(self, memory: Memory) -> Bits:
        """Return FP16 bit patterns [lines, surfaces, tokens, 32]: a read-only view of the memory."""
        raw = np.asarray(memory.view(self.space, self.base, self.end - self.base)).view("<u2")
        shape = (self.lines, self.surfaces, self.tokens, PIXEL_LANES)
        return np.lib.stride_tricks.as_strided(raw, shape, (self.line, self.surface, PIXEL_BYTES, 2), writeable=False)

    def writes(self, bits: Bits) -> list[Write]:
        """Return the writes of FP16 bit patterns [lines, surfaces, tokens, 32]. The order of overlapping rows is undefined."""
        order, first, at = self._blocks()
        rows = np.ascontiguousarray(bits, "<u2").reshape(self.lines * self.surfaces, -1)
        data = rows if np.array_equal(order, np.arange(order.size)) else rows[order]
        ends = [*first[1:].tolist(), order.size]
        blocks = zip(at.tolist(), first.tolist(), ends, strict=True)
        return [Write(self.space, a, data[i:j].reshape(-1).view(np.uint8)) for a, i, j in blocks]


def blank(lanes: np.ndarray, channels: int) -> None:
    """Set the lanes at or beyond `channels` of [..., surfaces, tokens, 32] to +0, in place."""
    if channels % PIXEL_LANES:
        lanes[..., -1, :, channels % PIXEL_LANES :] = 0
