"""The KV cache in HBM: layout of K and V of one layer in the ports, and reading it.

K: position t in port t % P, line t / P, its D values contiguous. V: channel d in port d % P, line d / P, its positions contiguous.
A line takes `line` bytes, the lines of one key/value head follow each other, and heads are `head` bytes apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fleet.sdk import Device, Memory, Range
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.units.refusals import Hull, Refusal, RefusalCause


@dataclass(frozen=True)
class KvCache:
    """The place of the vectors of `heads` key/value heads.

    base: offset in the bank of every port; head, line: strides in bytes.
    vectors: numbered across the ports (positions of K, channels of V); length: FP16 elements of each.
    """

    base: int
    head: int
    line: int
    heads: int
    vectors: int
    length: int

    def lines(self, ports: int) -> int:
        """Return the lines of one head in a port."""
        return ceil_div(self.vectors, ports)

    @property
    def line_bytes(self) -> int:
        """Bytes of a vector in whole beats."""
        return BEAT_BYTES * ceil_div(2 * self.length, BEAT_BYTES)

    def head_bytes(self, ports: int) -> int:
        """Return the bytes from the start of a head to its end."""
        return (self.lines(ports) - 1) * self.line + self.line_bytes

    def end(self, ports: int) -> int:
        """Return the end of the hull, the same in every port."""
        return self.base + (self.heads - 1) * self.head + self.head_bytes(ports)

    def hull(self, device: Device, name: str) -> Hull:
        """Return the hull; register `name` holds its start."""
        return Hull(name, "hbm", self.base, self.end(device.parameters["HbmPorts"]))

    def ranges(self, device: Device) -> list[Range]:
        """Return the ranges that are read: whole lines, the same in every port."""
        ports = device.parameters["HbmPorts"]
        lines, size = self.lines(ports), self.line_bytes
        starts = [self.base + h * self.head for h in range(self.heads)]
        if lines == 1 or self.line == size:
            blocks = [(start, lines * size) for start in starts]
        else:
            blocks = [(start + n * self.line, size) for start in starts for n in range(lines)]
        return [Range("hbm", at, n, port) for at, n in blocks for port in range(ports)]

    def load(self, device: Device, memory: Memory, head: int) -> npt.NDArray[np.float16]:
        """Return one head's vectors, [vectors, length rounded up to a whole pixel], +0 after the length."""
        ports = device.parameters["HbmPorts"]
        lines = self.lines(ports)
        size = self.head_bytes(ports)
        out = np.zeros((lines, ports, ceil_div(self.length, PIXEL_LANES) * PIXEL_LANES), np.float16)
        for port in range(ports):
            raw = np.asarray(memory.view("hbm", self.base + head * self.head, size, port))
            out[:, port, : self.length] = np.ndarray((lines, self.length), "<f2", raw, strides=(self.line, 2))
        return out.reshape(lines * ports, -1)[: self.vectors]

    def strides(self, device: Device, names: tuple[str, str]) -> list[Refusal]:
        """Return refusals for strides that are too small. names: the registers of head and line stride."""
        lines = self.lines(device.parameters["HbmPorts"])
        found: list[Refusal] = []
        if lines > 1 and self.line < self.line_bytes:
            found.append(Refusal(RefusalCause.BAD_SIZE, f"{names[1]}: {self.line:#x}, expected at least {self.line_bytes:#x}"))
        size = self.head_bytes(device.parameters["HbmPorts"])
        if self.heads > 1 and self.head < size:
            line = f"{names[0]}: {self.head:#x}, expected at least {size:#x} ({lines} lines)"
            found.append(Refusal(RefusalCause.BAD_SIZE, line))
        return found
