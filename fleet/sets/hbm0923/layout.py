"""Activations in DDR: 32-lane pixels of FP16, and uint32 index tensors."""

from __future__ import annotations

from math import prod

import numpy as np

from fleet.sdk import Arrangement, DeviceError, Layout
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div


class FeatureLayout(Layout):
    """Layout of tensors in DDR.

    Floating-point tensors [..., C] become [ceil(C / 32), N, 32] FP16, with all axes except the last as N tokens; integers become
    uint32 in C order.
    """

    def arrangement(self, shape: tuple[int, ...], dtype: np.dtype) -> Arrangement:
        """Return the places of the elements. Raises DeviceError for unsupported dtypes and shapes."""
        if dtype.kind in "iu":
            return Arrangement.flat(prod(shape), np.dtype("<u4"))
        if dtype.kind != "f":
            raise DeviceError(f"a tensor of {dtype} does not fit the feature layout; expected floats or integers")
        if not shape or 0 in shape:
            raise DeviceError(f"an activation of shape {list(shape)} does not fit the feature layout; expected [..., channels]")
        tokens, channels = prod(shape[:-1]), shape[-1]
        surface = tokens * PIXEL_LANES
        count = ceil_div(channels, PIXEL_LANES) * surface
        return Arrangement(tokens, channels, PIXEL_LANES, PIXEL_LANES, surface, count, np.dtype("<f2"))
