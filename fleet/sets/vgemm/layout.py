"""How tensors stand in DDR: rows of channels (the last axis), each filled with zeros to whole groups of 16 channels.

INT8 tensors have a byte an element. INT32 tensors and real ones have four: real numbers in fixed point with 16 fraction bits.
Every block of 4, 8 or 16 channels of a row is one element of a scratchpad.
"""

from __future__ import annotations

from math import prod

import numpy as np

from fleet.sdk import DeviceError, Layout

__all__ = ["FRACTION", "GROUP", "VgemmLayout", "channels"]

GROUP = 16
"""Channels to whose multiple a row is filled, on every device."""

FRACTION = 16
"""Fraction bits of real numbers in DDR."""


def channels(count: int) -> int:
    """Of a row with its fill."""
    return -(-count // GROUP) * GROUP


class VgemmLayout(Layout):
    """Rows of channels, each filled with zeros to whole groups."""

    real = np.dtype(np.float32)

    def size(self, shape: tuple[int, ...], dtype: np.dtype) -> int:
        """Bytes."""
        if not shape or 0 in shape:
            raise DeviceError(
                f"no room is laid out for a tensor of shape {list(shape)}", hint="tensors have a last axis of channels"
            )
        return prod(shape[:-1]) * channels(shape[-1]) * self._bytes(dtype)

    def pack(self, array: np.ndarray) -> np.ndarray:
        """Host tensor -> bytes; real numbers to the nearest, ties to even, and to the end of the range where they lie beyond."""
        number = np.dtype("i1") if self._bytes(array.dtype) == 1 else np.dtype("<i4")
        if array.dtype.kind == "f":
            scaled = np.rint(array.astype(np.float64) * 2.0**FRACTION)
            array = np.clip(np.nan_to_num(scaled, posinf=np.inf, neginf=-np.inf), -(2.0**31), 2.0**31 - 1)
        count = array.shape[-1]
        rows = np.zeros((prod(array.shape[:-1]), channels(count)), number)
        rows[:, :count] = array.reshape(-1, count)
        return rows.reshape(-1).view(np.uint8)

    def unpack(self, data: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Bytes -> host tensor."""
        if data.size != self.size(shape, dtype):
            raise DeviceError(f"{data.size} bytes for a tensor {list(shape)}, expected {self.size(shape, dtype)}")
        number = np.dtype("i1") if self._bytes(dtype) == 1 else np.dtype("<i4")
        rows = np.ascontiguousarray(data).view(number).reshape(-1, channels(shape[-1]))[:, : shape[-1]].reshape(shape)
        return (rows / 2.0**FRACTION).astype(dtype) if dtype.kind == "f" else rows.astype(dtype)

    def _bytes(self, dtype: np.dtype) -> int:
        if dtype == np.int8:
            return 1
        if dtype == np.int32 or dtype.kind == "f":
            return 4
        raise DeviceError(f"the device holds int8, int32 and real tensors, not {dtype}")
