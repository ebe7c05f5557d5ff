"""A declared array, as the seeds' `@jit` has it: `Tensor(shape=(2, 3), dtype="float32")`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fleet.errors import ModelError
from fleet.ir.types import DTYPES


class TensorDataError(ModelError, ValueError):
    """Data of another shape or dtype than declared; a ValueError, as in the seed."""


class Tensor:
    """Shape and dtype of an array, and, once it is set, the array: an annotation of an argument, or an argument.

    A size of None is any size.

    >>> a = Tensor(shape=(2, 3), dtype="float32")
    >>> a.data = np.ones((2, 3), np.float32)
    >>> print(a)
    float32[2, 3]
    """

    def __init__(self, shape: Sequence[int | None], dtype: str | type | np.dtype = "float32") -> None:
        """Raises ModelError if fleet does not carry the dtype, or the shape is not a sequence of sizes."""
        try:
            self.dtype = np.dtype(dtype)
            self.shape = tuple(None if d is None else int(d) for d in shape)
        except (TypeError, ValueError):
            raise ModelError(f"no shape and dtype: {shape!r}, {dtype!r}", where="Tensor", hint='as (2, 3), "float32"') from None
        if self.dtype.name not in DTYPES or min((d for d in self.shape if d is not None), default=0) < 0:
            hint = f"dtypes are {', '.join(DTYPES)}, sizes are not negative"
            raise ModelError(f"{self.dtype}{list(self.shape)} cannot be had", where="Tensor", hint=hint)
        self._data: np.ndarray | None = None

    @property
    def data(self) -> np.ndarray:
        """The array. Raises ModelError before it is set."""
        if self._data is None:
            raise ModelError(f"the tensor {self} has no data", where="Tensor", hint="set .data")
        return self._data

    @data.setter
    def data(self, data: object) -> None:
        """Takes an array of NumPy, or of another library that shares memory on the processor (DLPack).

        Raises TensorDataError if shape or dtype is another one, ModelError if the object is no array.
        """
        array = from_outside(data, "Tensor")
        fits = array.ndim == len(self.shape) and all(d in (None, n) for d, n in zip(self.shape, array.shape, strict=True))
        if not fits or array.dtype != self.dtype:
            raise TensorDataError(f"declared {self}, the data are {array.dtype}{list(array.shape)}", where="Tensor")
        self._data = array

    def __str__(self) -> str:
        return f"{self.dtype.name}[{', '.join('?' if d is None else str(d) for d in self.shape)}]"


def from_outside(value: Any, where: str) -> np.ndarray:
    """An array of NumPy, or one of another library without a copy. Raises ModelError for anything else."""
    if type(value) is np.ndarray:
        return value
    if type(value) is np.memmap:
        return value.view(np.ndarray)
    if hasattr(value, "__dlpack__") and not isinstance(value, np.ndarray):
        try:
            return np.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise ModelError(f"the array cannot be shared with NumPy ({error})", where=where, hint="move it to the CPU") from None
    hint = "give an array of NumPy"
    raise ModelError(f"an object of type {type(value).__name__} is not an array", where=where, hint=hint)
