"""A device's arithmetic in a group of operations, from which `fleet.compare.bounds` derives bounds of its error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fleet.ir.dialect import FleetOp
from fleet.sdk.hardware.device import Device
from fleet.sdk.lowering import Options

__all__ = ["DeviceArithmetic", "ErrorModel", "FixedPoint"]

Array = NDArray[np.float64]

FLOAT16, FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)


@dataclass(frozen=True)
class FixedPoint:
    """Conversion to fixed point: rounded to steps of `before`, then of `step`, and limited to low ... high."""

    step: float
    low: float
    high: float
    before: float = 0.0

    def taken(self, value: Array, error: Array) -> Array:
        """`error` after a value within `error` of `value` was brought into fixed point.

        What lies outside the range is moved to its end: towards `value`, or as far as `value` itself lies outside.
        """
        return np.maximum(error + (self.step + self.before) / 2, np.maximum(value - self.high, self.low - value))

    def nearest(self, value: Array) -> Array:
        """A value in fixed point; ties go up."""
        return np.clip(np.floor(value / self.step + 0.5) * self.step, self.low, self.high)


@dataclass(frozen=True)
class DeviceArithmetic:
    """One group of operations on the device. Weights are exact: the reference is the rounded golden.

    Attributes:
        load: dtype to which activations are rounded when they enter the unit, or the fixed point that they are brought into. It is
            taken whenever a group reads an activation, also one that the device left in memory.
        internal: dtype of the steps inside.
        store: dtype of every value that leaves the group or that an argmax reads.
        roundings: operation id -> most roundings that one term of that reduction meets, products and sums together (1 if the sum is
            exact until it is complete); without: a sum in any order.
        ulp: function name -> largest error in ULPs of `internal` ("exp", "recip", "rsqrt", inside composites too); without: 0.5,
            a correctly rounded function.
        inner: dtype to which tensors inside a composite are stored (scores and probabilities of an attention); None: as computed.
        absolute: function name ("gelu_tanh") -> largest absolute error of a table in its place, over all inputs.
        relative: "reciprocal" (1 / n of a mean), "scale" (of an attention) -> relative error of the rounded constant.
        products: most roundings of one term of a sum of products inside a composite (an attention's scores and values), where
            `roundings` counts those of its other sums; None: as many as there.
        causes: "weights", "unit" -> what causes the errors of the stored weights and of the unit, in words, for reports.
    """

    load: np.dtype | FixedPoint = FLOAT16
    internal: np.dtype = FLOAT32
    store: np.dtype = FLOAT16
    roundings: Mapping[str, int] = field(default_factory=dict[str, int])
    ulp: Mapping[str, float] = field(default_factory=dict[str, float])
    inner: np.dtype | None = None
    absolute: Mapping[str, float] = field(default_factory=dict[str, float])
    relative: Mapping[str, float] = field(default_factory=dict[str, float])
    causes: Mapping[str, str] = field(default_factory=dict[str, str])
    products: int | None = None


class ErrorModel(Protocol):
    """An instruction set's statement on the arithmetic of its groups."""

    def __call__(self, ops: Sequence[FleetOp], device: Device, options: Options, /) -> DeviceArithmetic:
        """ops: the operations that one instruction commit computes (`Commit.ops`), in program order."""
        ...
