"""Errors of the device's arithmetic against the golden: facts for derived bounds (`fleet.compare.bounds.tolerance`).

Memory holds FP16, units compute in binary32, softmax in fixed point. How often a term of a sum is rounded follows from
docs/arithmetic.md:
  products              once, by weights and in attention: their sums are exact until then
  a norm's sums         never
  a softmax's sum       cut off at 2^-36 of its largest term: for every 4,096 terms as much as one rounding to binary32
Batch norm weights are 1, so batch norm adds only the bias's rounding. Functions and tables have errors measured over all their
inputs; a rounded constant (an attention's scale) has its own error.
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
from fleet.sets.hbm0923.mvm_operands import ceil_div
from fleet.sets.hbm0923.numerics.act_tables import ERRORS
from fleet.sets.hbm0923.options import group_of

FUNCTION_ULP: Mapping[str, float] = {"exp": 0.34, "recip": 0.09, "rsqrt": 0.56}
"""Errors in ulp of binary32, from docs/arithmetic.md, "Norm" and "Softmax" (half a relative error in units of 2^-24)."""
_TERMS_CUT = 4096
"""Terms of a softmax's sum that together lose as much as a rounding to binary32."""


def error_model(ops: Sequence[FleetOp], device: Device, options: Options) -> DeviceArithmetic:
    """Return the error model: FP16 in memory and binary32 inside (the defaults), plus what the operations add."""
    group = group_of(device, options)
    roundings = {op_id(op): n for op in ops if (n := _roundings(op)) is not None}
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
        unit = "exact sums that are rounded to binary32 once"
        words = {"weights": f"weights as INT4 with an FP16 scale for {group} inputs, biases as FP16"}
    elif any(isinstance(op, c.LayerNormOp | c.RmsNormOp) for op in ops):
        unit = "deviations and their factor in binary32, from exact sums"
        words = {"weights": "gamma and beta as FP16"}
    elif any(isinstance(op, c.AttentionOp) for op in ops):
        unit, words = "scores and probabilities that are stored as FP16, the exponential", {}
    elif any(isinstance(op, c.SoftmaxOp) for op in ops):
        unit, words = "the exponential and the reciprocal in fixed point", {}
    else:
        unit, words = "binary32 inside", {}
    if tables:
        unit = f"16 straight lines for {tables[0]} (at most {ERRORS[str(tables[0])]:g} beside it)"
    return {**words, "unit": unit}


def _roundings(op: FleetOp) -> int | None:
    if isinstance(op, dialect.MatmulOp | c.LinearOp):
        return 1
    if isinstance(op, c.LayerNormOp | c.RmsNormOp):
        return 0
    if isinstance(op, c.SoftmaxOp):
        return ceil_div(shape_of(op.operand.type)[-1], _TERMS_CUT)
    if isinstance(op, c.AttentionOp):
        return ceil_div(AttentionSizes.of(op).total, _TERMS_CUT)  # of the softmax
    return None


def _table(op: FleetOp) -> str | None:
    if isinstance(op, c.LinearOp):
        return None if op.activation.data == "none" else op.activation.data
    return table_of(op)


def _relative(op: FleetOp, device: Device) -> Mapping[str, float]:
    if isinstance(op, c.AttentionOp):
        return {"scale": _missed(float(op.scale.value.data), _FP20_DIGITS if device.parameters["ScaleFp20"] else _FP16_DIGITS)}
    return {}


_FP16_DIGITS, _FP20_DIGITS = 11, 14
"""Binary digits of FP16 and FP20 numbers, including the leading one."""


def _missed(value: float, digits: int) -> float:
    """Return the relative error of rounding to so many digits: by the format, without what the lowering puts into registers."""
    mantissa, _ = math.frexp(value)
    return abs(round(mantissa * 2**digits) / 2**digits / mantissa - 1)
