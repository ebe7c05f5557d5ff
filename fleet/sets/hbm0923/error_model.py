"""Errors of the device's arithmetic against the golden: facts for derived bounds (`fleet.compare.bounds.tolerance`).

Memory holds FP16, units compute in binary32. How often a term is rounded follows from the orders of docs/arithmetic.md:
  products by weights   once with its group's sum, once with the scale, and in every later accumulation: at most 2 + groups
  products of attention once: their sums are exact until then
  all other sums        in the five halvings of its beat of 32 lanes, and in the accumulation of every beat: 5 + beats
Batch norm weights are 1, so batch norm adds only the bias's rounding. Functions and tables have errors measured over all their
inputs; rounded constants (1 / channels, an attention's scale) have their own error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fleet.sdk import Device
from fleet.sdk.error_model import DeviceArithmetic
from fleet.sdk.ir import FleetOp, dialect, op_id, shape_of
from fleet.sdk.ir import composite as c
from fleet.sdk.lowering import Options
from fleet.sets.hbm0923.lower.activation import table_of
from fleet.sets.hbm0923.lower.attention import AttentionSizes
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.numerics.act_tables import ERRORS
from fleet.sets.hbm0923.options import group_of

FUNCTION_ULP: Mapping[str, float] = {"exp": 1.0, "recip": 1.52, "rsqrt": 1.01}
"""Errors in ulp, from docs/arithmetic.md, "exp, recip, rsqrt"."""
_HALVINGS = 5


def error_model(ops: Sequence[FleetOp], device: Device, options: Options) -> DeviceArithmetic:
    """Return the error model: FP16 in memory and binary32 inside (the defaults), plus what the operations add."""
    group = group_of(device, options)
    roundings = {op_id(op): n for op in ops if (n := _roundings(op, group)) is not None}
    stored = any(isinstance(op, c.AttentionOp | c.LinearOp) for op in ops)
    return DeviceArithmetic(
        inner=np.dtype(np.float16) if stored else None,
        roundings=roundings,
        ulp=FUNCTION_ULP,
        absolute={table: ERRORS[table] for op in ops if (table := _table(op)) is not None},
        relative={name: error for op in ops for name, error in _relative(op, device).items()},
        causes=_causes(ops, group),
        products=1,
    )


def _causes(ops: Sequence[FleetOp], group: int) -> Mapping[str, str]:
    tables = [table for op in ops if (table := _table(op)) not in {None, "relu"}]
    if any(isinstance(op, dialect.MatmulOp | c.LinearOp) for op in ops):
        unit = "sums that are rounded to binary32"
        words = {"weights": f"weights as INT4 with an FP16 scale for {group} inputs, biases as FP16"}
    elif any(isinstance(op, c.LayerNormOp | c.RmsNormOp) for op in ops):
        unit = "the FP20 reciprocal of the number of channels, binary32 sums and square root"
        words = {"weights": "gamma and beta as FP16"}
    elif any(isinstance(op, c.AttentionOp) for op in ops):
        unit, words = "scores and probabilities that are stored as FP16, the exponential, binary32 sums", {}
    elif any(isinstance(op, c.SoftmaxOp) for op in ops):
        unit, words = "the exponential and the reciprocal in binary32", {}
    else:
        unit, words = "binary32 inside", {}
    if tables:
        unit = f"16 straight lines for {tables[0]} (at most {ERRORS[str(tables[0])]:g} beside it)"
    return {**words, "unit": unit}


def _sum(terms: int) -> int:
    return _HALVINGS + ceil_div(terms, PIXEL_LANES)


def _roundings(op: FleetOp, group: int) -> int | None:
    if isinstance(op, dialect.MatmulOp | c.LinearOp):
        return 2 + ceil_div(shape_of(op.operands[0].type)[-1], group)
    if isinstance(op, c.LayerNormOp | c.RmsNormOp | c.SoftmaxOp):
        return _sum(shape_of(op.operand.type)[-1])
    if isinstance(op, c.AttentionOp):
        return _sum(AttentionSizes.of(op).total)  # of the softmax
    return None


def _table(op: FleetOp) -> str | None:
    if isinstance(op, c.LinearOp):
        return None if op.activation.data == "none" else op.activation.data
    return table_of(op)


def _relative(op: FleetOp, device: Device) -> Mapping[str, float]:
    if isinstance(op, c.LayerNormOp | c.RmsNormOp):
        return {"reciprocal": _missed(1 / shape_of(op.operand.type)[-1], _FP20_DIGITS)}
    if isinstance(op, c.AttentionOp):
        return {"scale": _missed(float(op.scale.value.data), _FP20_DIGITS if device.parameters["ScaleFp20"] else _FP16_DIGITS)}
    return {}


_FP16_DIGITS, _FP20_DIGITS = 11, 14
"""Binary digits of FP16 and FP20 numbers, including the leading one."""


def _missed(value: float, digits: int) -> float:
    """Return the relative error of rounding to so many digits: by the format, without what the lowering puts into registers."""
    mantissa, _ = math.frexp(value)
    return abs(round(mantissa * 2**digits) / 2**digits / mantissa - 1)
