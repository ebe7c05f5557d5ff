"""Layouts of activation tensors in device memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fleet.errors import DeviceError

__all__ = ["Arrangement", "Layout"]

_NANS = {np.dtype(np.float16): 0x7E00, np.dtype(np.float32): 0x7FC00000, np.dtype(np.float64): 0x7FF8000000000000}
"""The one NaN of each format that is stored: quiet, positive, no payload."""


class ArrangementError(DeviceError):
    """Places that cannot be: a fault of the layout, where another DeviceError refuses a tensor."""


@dataclass(frozen=True)
class Arrangement:
    """Places of a tensor's elements. The axes before the last together are rows, the last one has channels.

    Raises ArrangementError for places outside the memory and elements that are no numbers.

    Element [row, channel] is number `row * row_step + channel // lanes * block_step + channel % lanes`; all others are 0.

    Attributes:
        rows, channels: of the tensor.
        lanes: channels that stand side by side.
        row_step, block_step: elements from a row to the next, and from a block of `lanes` channels to the next.
        count: elements in memory, the fill included.
        number: dtype of an element in memory: float16, float32, float64, or an integer.
        fraction: fraction bits, if a real number is stored as an integer in fixed point.
    """

    rows: int
    channels: int
    lanes: int
    row_step: int
    block_step: int
    count: int
    number: np.dtype
    fraction: int | None = None

    def __post_init__(self) -> None:
        if min(self.rows, self.channels, self.row_step, self.block_step, self.count) < 0 or self.lanes < 1:
            raise ArrangementError(f"{self} has a negative number, or no lanes")
        if self.number.kind not in "iu" and self.number.newbyteorder("=") not in _NANS:
            known = ", ".join(d.name for d in _NANS)
            raise ArrangementError(f"elements in memory are {self.number}, expected {known} or an integer")
        last = (self.rows - 1) * self.row_step + (self.blocks - 1) * self.block_step + self.lanes
        if self.rows and self.blocks and last > self.count:
            raise ArrangementError(f"element [{self.rows - 1}, {self.channels - 1}] leaves the {self.count} elements of {self}")

    @classmethod
    def flat(cls, elements: int, number: np.dtype, count: int | None = None) -> Arrangement:
        """Elements in C order; count: with their fill."""
        return cls(1, elements, max(elements, 1), elements, elements, elements if count is None else count, number)

    @property
    def blocks(self) -> int:
        """Blocks of `lanes` channels, the last one filled with zeros."""
        return -(-self.channels // self.lanes)

    @property
    def size(self) -> int:
        """Size in bytes."""
        return self.count * self.number.itemsize

    def of(self, memory: np.ndarray) -> np.ndarray:
        """A view (rows, blocks, lanes) of the elements in memory, an array of `count` elements."""
        steps = [s * memory.itemsize for s in (self.row_step, self.block_step, 1)]
        return np.lib.stride_tricks.as_strided(memory, (self.rows, self.blocks, self.lanes), steps)


class Layout:
    """Layout of an activation tensor in device memory.

    A set gives `arrangement`. A layout that has no such form gives `size`, `pack` and `unpack` instead; a C++ host program
    (`--emit hpp`) cannot be made for it.
    """

    real: ClassVar[np.dtype] = np.dtype(np.float16)
    """The dtype in which traces keep real tensors: float32 for a device whose memory holds float32. `arrangement` must take it."""

    def arrangement(self, shape: tuple[int, ...], dtype: np.dtype) -> Arrangement:
        """Return the places of the elements. Raises DeviceError for a shape or dtype that the layout cannot hold."""
        raise DeviceError(f"{type(self).__name__} does not say where the elements of a tensor stand", hint="give it `arrangement`")

    def size(self, shape: tuple[int, ...], dtype: np.dtype) -> int:
        """Bytes that a tensor takes. Raises DeviceError for a shape or dtype that the layout cannot hold."""
        return self.arrangement(shape, dtype).size

    def pack(self, array: np.ndarray) -> np.ndarray:
        """Host tensor (floats, or integers for index tensors) -> device bytes (uint8), rounded to the nearest, ties to even.

        Real numbers beyond the format become infinity, beyond a fixed-point number its end; NaN becomes the quiet one without a
        payload (0x7E00 in FP16), or 0 in fixed point.
        Raises DeviceError for integers beyond what is stored, and as `arrangement`.
        """
        a = self.arrangement(array.shape, array.dtype)
        rows = np.zeros((a.rows, a.blocks * a.lanes), a.number)
        rows[:, : a.channels] = _stored(array, a).reshape(a.rows, a.channels)
        memory = np.zeros(a.count, a.number)
        if rows.size:
            a.of(memory)[...] = rows.reshape(a.rows, a.blocks, a.lanes)
        return memory.view(np.uint8)

    def unpack(self, data: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Device bytes -> host tensor of `dtype`; exact where `dtype` holds what is stored. Raises DeviceError for another size."""
        a = self.arrangement(shape, dtype)
        if data.size != a.size:
            raise DeviceError(f"{data.size} bytes for a tensor {list(shape)} of {dtype}, expected {a.size}")
        memory = np.ascontiguousarray(data).view(a.number)
        if not memory.size:
            return np.zeros(shape, dtype)
        rows = a.of(memory).reshape(a.rows, a.blocks * a.lanes)[:, : a.channels]
        numbers = rows if a.fraction is None else rows / 2.0**a.fraction
        return numbers.reshape(shape).astype(dtype)


def _stored(array: np.ndarray, a: Arrangement) -> np.ndarray:
    """The elements as they are stored, in the tensor's shape."""
    if a.fraction is not None:
        ends = np.iinfo(a.number)
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = np.rint(array.astype(np.float64) * 2.0**a.fraction)
        return np.clip(np.nan_to_num(scaled, posinf=np.inf, neginf=-np.inf), ends.min, ends.max).astype(a.number)
    if a.number.kind == "f":
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            real = array.astype(a.number)
        real.view(f"{a.number.byteorder}u{a.number.itemsize}")[np.isnan(array)] = _NANS[a.number.newbyteorder("=")]
        return real
    ends = np.iinfo(a.number)
    if array.size and (int(array.min()) < ends.min or int(array.max()) > ends.max):
        raise DeviceError(f"an index tensor holds values outside {a.number.name}")
    return array.astype(a.number)
