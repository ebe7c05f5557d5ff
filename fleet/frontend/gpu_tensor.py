"""Tensors of other libraries that lie on a CUDA device: known by DLPack, read by nobody here."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fleet.errors import ModelError

_CUDA, _MANAGED = 2, 13
"""DLPack's kinds of devices whose memory kernels of CUDA read: kDLCUDA and kDLCUDAManaged."""


@dataclass(frozen=True, eq=False)
class GpuTensor:
    """A tensor on a CUDA device: of CuPy, torch, or whoever has `__dlpack__`, `shape` and `dtype`.

    Attributes:
        value: the tensor.
        shape, dtype: its own.
        device: number of the device.
    """

    value: Any
    shape: tuple[int, ...]
    dtype: np.dtype
    device: int

    @cached_property
    def form(self) -> np.ndarray:
        """An array of that shape and dtype, read-only and without memory, for whoever asks for these alone."""
        return np.broadcast_to(np.zeros((), self.dtype), self.shape)

    def fetched(self) -> np.ndarray:
        """Return a copy in NumPy. Raises ModelError without CuPy."""
        try:
            cupy: Any = importlib.import_module("cupy")
        except ImportError:
            hint = "install cupy, or move it to the CPU"
            raise ModelError(f"a tensor on GPU {self.device} cannot be read", where="Tensor", hint=hint) from None
        return np.asarray(cupy.asnumpy(cupy.from_dlpack(self.value)))


def gpu_tensor(value: Any, where: str) -> GpuTensor | None:
    """Return a tensor that lies on a CUDA device, or None. Raises ModelError if NumPy has no such dtype."""
    ask = getattr(value, "__dlpack_device__", None)
    if ask is None or isinstance(value, np.ndarray):
        return None
    kind, number = ask()
    if int(kind) not in (_CUDA, _MANAGED):
        return None
    name = str(value.dtype).rpartition(".")[2]  # "torch.float32"
    try:
        dtype = np.dtype(name)
    except TypeError:
        dtype = None
    if dtype is None or dtype.kind == "V":  # ml_dtypes, once imported, teaches NumPy "bfloat16"
        raise ModelError(f"a tensor of dtype {name}", where=where, hint="cast it to a dtype of NumPy")
    return GpuTensor(value, tuple(int(n) for n in value.shape), dtype, int(number))
