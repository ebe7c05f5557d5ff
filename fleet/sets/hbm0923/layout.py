"""Activations in DDR: 32-lane pixels of FP16, and uint32 index tensors."""

from __future__ import annotations

from math import prod

import numpy as np

from fleet.sdk import DeviceError, Layout
from fleet.sets.hbm0923.arithmetic import to_fp16
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div


def _tokens_channels(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) not in {1, 2} or 0 in shape:
        raise DeviceError(f"an activation of shape {list(shape)} does not fit the feature layout; expected [tokens, channels]")
    return (1, shape[0]) if len(shape) == 1 else (shape[0], shape[1])


class FeatureLayout(Layout):
    """Floating-point tensors [N, C] or [C] (one token) as [ceil(C / 32), N, 32] FP16; integers as uint32 in C order."""

    def size(self, shape: tuple[int, ...], dtype: np.dtype) -> int:
        """Bytes."""
        if dtype.kind in "iu":
            return 4 * prod(shape)
        tokens, channels = _tokens_channels(shape)
        return ceil_div(channels, PIXEL_LANES) * tokens * PIXEL_BYTES

    def pack(self, array: np.ndarray) -> np.ndarray:
        """Rounds to FP16 (nearest even, overflow to infinity, NaN 0x7E00), pads with +0; integers must fit uint32."""
        if array.dtype.kind in "iu":
            if array.size and (array.min() < 0 or array.max() >= 1 << 32):
                raise DeviceError("an index tensor holds values outside uint32")
            return np.ascontiguousarray(array).astype("<u4").reshape(-1).view(np.uint8)
        if array.dtype.kind != "f":
            raise DeviceError(f"a tensor of {array.dtype} does not fit the feature layout; expected floats or integers")
        tokens, channels = _tokens_channels(array.shape)
        surfaces = ceil_div(channels, PIXEL_LANES)
        lanes = np.zeros((tokens, surfaces * PIXEL_LANES), "<u2")
        lanes[:, :channels] = to_fp16(array.reshape(tokens, channels))
        pixels = lanes.reshape(tokens, surfaces, PIXEL_LANES).transpose(1, 0, 2)
        return np.ascontiguousarray(pixels).reshape(-1).view(np.uint8)

    def unpack(self, data: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """The tensor of `dtype` out of `size(shape, dtype)` bytes; exact for float16 and wider."""
        expected = self.size(shape, dtype)
        if data.size != expected:
            raise DeviceError(f"{data.size} bytes for a tensor {list(shape)} of {dtype}; expected {expected}")
        flat = np.ascontiguousarray(data).view(np.uint8)
        if dtype.kind in "iu":
            return flat.view("<u4").astype(dtype).reshape(shape)
        tokens, channels = _tokens_channels(shape)
        surfaces = ceil_div(channels, PIXEL_LANES)
        pixels = flat.view("<f2").reshape(surfaces, tokens, PIXEL_LANES).transpose(1, 0, 2)
        return pixels.reshape(tokens, surfaces * PIXEL_LANES)[:, :channels].astype(dtype).reshape(shape)
