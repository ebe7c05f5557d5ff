"""Layout of tensors in DDR: rows of channels (the last axis), each padded with zeros to whole groups of 16 channels.

INT8 tensors have one byte per element. INT32 and real tensors have four: real numbers are in fixed point with 16 fraction bits.
Every block of 4, 8 or 16 channels of a row is one element of a scratchpad.
"""

from __future__ import annotations

from math import prod

import numpy as np

from fleet.sdk import Arrangement, DeviceError, Layout

GROUP = 16
"""Rows are padded to a multiple of this number of channels, on every device."""

FRACTION = 16
"""Fraction bits of real numbers in DDR."""


def channels(count: int) -> int:
    """Return the channels of a row including padding."""
    return -(-count // GROUP) * GROUP


class VgemmLayout(Layout):
    """Rows of channels, each padded with zeros to whole groups."""

    real = np.dtype(np.float32)

    def arrangement(self, shape: tuple[int, ...], dtype: np.dtype) -> Arrangement:
        """Return the places of the elements. Raises DeviceError for unsupported dtypes, and for tensors without channels."""
        if not shape or 0 in shape:
            raise DeviceError(
                f"no room is laid out for a tensor of shape {list(shape)}", hint="tensors have a last axis of channels"
            )
        real = dtype.kind == "f"
        if not real and dtype not in {np.dtype(np.int8), np.dtype(np.int32)}:
            raise DeviceError(f"the device holds int8, int32 and real tensors, not {dtype}")
        rows, row = prod(shape[:-1]), channels(shape[-1])
        number = np.dtype("i1") if dtype == np.int8 else np.dtype("<i4")
        return Arrangement(rows, shape[-1], GROUP, row, GROUP, rows * row, number, FRACTION if real else None)
