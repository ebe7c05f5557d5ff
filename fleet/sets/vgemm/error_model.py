"""Errors of the arithmetic on real tensors against the golden (docs/vgemm.md): facts for derived bounds.

An activation is in fixed point with 16 fraction bits in memory. For a product it becomes INT8 with 4 fraction bits, or with as many
as the calibrated range allows. Products and sums of these numbers are exact; on the way to the host they are rounded to float32.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.sdk import Device
from fleet.sdk.error_model import DeviceArithmetic, FixedPoint
from fleet.sdk.ir import FleetOp, calibration_of, op_id
from fleet.sdk.lowering import Options
from fleet.sets.vgemm.layout import FRACTION
from fleet.sets.vgemm.numbers import ACTIVATION_BITS, HIGH, LOW, activation_bits


def error_model(ops: Sequence[FleetOp], _device: Device, options: Options) -> DeviceArithmetic:
    """Return the error model: the same for every group, except for the fraction bits of a calibrated product."""
    bits = calibrated_bits(ops, options)
    step = 2.0 ** -(ACTIVATION_BITS if bits is None else bits)
    weights = "weights as INT8 with one power of two" + ("" if bits is None else " a channel")
    return DeviceArithmetic(
        load=FixedPoint(step, LOW * step, HIGH * step, before=2.0**-FRACTION),
        store=np.dtype(np.float32),
        causes={"weights": weights, "unit": f"activations in steps of 1 / {1 / step:g}, {LOW * step:g} to {HIGH * step:g}"},
    )


def calibrated_bits(ops: Sequence[FleetOp], options: Options) -> int | None:
    """Return the fraction bits of the activations of a chain's product if a calibration (a compile option) covers it, else None."""
    found = calibration_of(options)
    if found is None:
        return None
    tops = [found.ranges[op_id(op)] for op in ops if op_id(op) in found.ranges]
    return activation_bits(tops[0]) if tops else None
