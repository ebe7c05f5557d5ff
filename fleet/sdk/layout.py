"""How activation tensors lie in device memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

__all__ = ["Layout"]


class Layout(ABC):
    """How an activation tensor lies in device memory."""

    real: ClassVar[np.dtype] = np.dtype(np.float16)
    """The dtype in which traces keep real tensors."""

    @abstractmethod
    def size(self, shape: tuple[int, ...], dtype: np.dtype) -> int:
        """Bytes that a tensor takes. Raises DeviceError for a shape that the layout cannot hold."""

    @abstractmethod
    def pack(self, array: np.ndarray) -> np.ndarray:
        """Host tensor (float32 or float64, integers for index tensors) -> device bytes (uint8), rounding as the device stores."""

    @abstractmethod
    def unpack(self, data: np.ndarray, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """Device bytes -> host tensor of `dtype`; exact."""
