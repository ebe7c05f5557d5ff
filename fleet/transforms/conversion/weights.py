"""Arrays of a graph's constants for programs: computed once, on demand, and shared by all programs of a graph."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property

import numpy as np

from fleet.errors import ModelError
from fleet.ir.accel.nodes import ConstantNode
from fleet.ir.weights import Recipe

Change = Callable[[ConstantNode, np.ndarray], np.ndarray]
"""(constant, its float array) -> another array of the same shape: the values that a device computes with."""


class WeightMatrix(Recipe):
    """A constant (CHin, CHout) as [CHout, CHin] float32."""

    def __init__(self, constant: ConstantNode, shape: tuple[int, int], label: str, make: Callable[[], np.ndarray]) -> None:
        self.constant, self.shape, self.dtype = constant, shape, np.dtype(np.float32)
        self._label, self._make = label, make

    @cached_property
    def digest(self) -> str:  # pyright: ignore[reportIncompatibleMethodOverride]
        """SHA-256 of the label if the weights have one, else of the data."""
        if self._label:
            return hashlib.sha256(f"{self._label}:{self.constant.label}:transposed".encode()).hexdigest()
        return hashlib.sha256(self.array.tobytes()).hexdigest()

    def compute(self) -> np.ndarray:
        """Compute the weights, as `Recipe.compute` does."""
        return np.ascontiguousarray(self._make().T, np.float32)


class GraphWeights:
    """Constant -> array, float32.

    Args:
        change: None for the constants' own values; else a function that changes each ("as the device stores them").
        label: names the content (a digest of the model's weights and of `change`), so that programs can be hashed without reading
            half a gigabyte; "" hashes the arrays.
    """

    def __init__(self, change: Change | None = None, label: str = "") -> None:
        self._change, self._label = change, label
        self._matrices: dict[ConstantNode, WeightMatrix] = {}
        self._arrays: dict[ConstantNode, np.ndarray] = {}

    def matrix(self, constant: ConstantNode) -> WeightMatrix:
        """Return a weight matrix, transposed; computed on first use. Raises ModelError if its shape is not known."""
        if constant not in self._matrices:
            shape = constant.shape if constant.shape is not None else self._data(constant).shape
            if len(shape) != 2 or not all(isinstance(d, int) for d in shape):
                raise ModelError(f"shape {list(shape)}, expected (CHin, CHout)", where=f"constant {constant.label}")
            inputs, outputs = (int(str(d)) for d in shape)
            made = WeightMatrix(constant, (outputs, inputs), self._label, lambda: self._data(constant))
            self._matrices[constant] = made
        return self._matrices[constant]

    def array(self, constant: ConstantNode) -> np.ndarray:
        """Return any other constant, in its own shape."""
        if constant not in self._arrays:
            self._arrays[constant] = self._data(constant)
        return self._arrays[constant]

    def _data(self, constant: ConstantNode) -> np.ndarray:
        data = constant.data() if callable(constant.data) else constant.data
        where = f"constant {constant.label}"
        if data is None:
            raise ModelError("it has no data, only a shape", where=where, hint="give the model its weights")
        if isinstance(data, str):
            raise ModelError(f"its data is a file of packed bytes ({data}), which only a device reads", where=where)
        array = np.asarray(data, np.float32)
        if constant.shape is not None and array.shape != tuple(constant.shape):
            raise ModelError(f"its data has shape {list(array.shape)}, expected {list(constant.shape)}", where=where)
        if self._change is not None:
            array = np.asarray(self._change(constant, array), np.float32)
        return array
