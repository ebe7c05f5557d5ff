"""Error rules of composites: the rules of their textbook sequences (`fleet.ir.expand`), one after the other.

An engine that computes a composite with another order of its sums is covered. One that omits a rounding is covered too, because the
bound grows with each rounding. Values between the steps are computed in float64 from the operands' values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
from xdsl.ir import SSAValue

from fleet.compare.rules.arithmetic import ARITHMETIC, floor_of
from fleet.compare.rules.functions import FUNCTIONS
from fleet.compare.rules.steps import Array, BoundStep, Rule, clean
from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp
from fleet.ir.expand import expand
from fleet.ir.shapes import InferenceError
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.bytecode.evaluate import apply

_PRIMITIVES: Mapping[type[FleetOp], Rule] = {**ARITHMETIC, **FUNCTIONS}


def _sequence(s: BoundStep) -> Array:
    values: dict[SSAValue, Array] = dict(zip(s.op.operands, s.x, strict=True))
    errors: dict[SSAValue, Array] = dict(zip(s.op.operands, s.e, strict=True))
    floors: dict[SSAValue, Array] = {}
    bound: Array = np.zeros(())
    for op in _steps(s.op):
        result = op.results[0]
        if isinstance(op, d.ConstantOp):
            values[result] = _constant(op, s.dtype)
            errors[result] = np.zeros_like(values[result])
            if (values[result] > 0).all():
                floors[result] = values[result]
            continue
        x, e = [values[v] for v in op.operands], [errors[v] for v in op.operands]
        dtype = s.dtype if numpy_dtype(result.type).kind == "f" else numpy_dtype(result.type)
        step = BoundStep(op, x, e, dtype, replace(s.how, store=None), [floors.get(v) for v in op.operands])
        bound = np.asarray(np.broadcast_to(clean(_PRIMITIVES[type(op)](step)), shape_of(result.type)))
        if (floor := floor_of(step)) is not None:
            floors[result] = np.asarray(np.broadcast_to(floor, shape_of(result.type)))
        values[result] = np.asarray(apply(op, x)).astype(np.float64 if dtype.kind == "f" else dtype)
        errors[result] = bound
    return bound


@lru_cache(maxsize=1024)
def _steps(op: FleetOp) -> list[FleetOp]:
    """Return the sequence of a composite; each is derived several times in a comparison."""
    return expand(op)


def _constant(op: d.ConstantOp, dtype: np.dtype) -> Array:
    """Return a constant as float64. A Python number takes the array's dtype first (NumPy 2's weak promotion)."""
    value = np.full(shape_of(op.result.type), constant_value(op), numpy_dtype(op.result.type))
    if not is_tensor(op.result.type) and value.dtype.kind == "f":
        value = value.astype(dtype)
    return value.astype(np.float64)


def _called(s: BoundStep) -> Array:
    """Bound a call of a NumPy function by its sequence's rules. Without a sequence, only exact operands prove an exact result."""
    try:
        known = bool(_steps(s.op))
    except InferenceError:
        known = False
    if known:
        return _sequence(s)
    return np.full(shape_of(s.op.results[0].type), np.inf if any(e.any() for e in s.e) else 0.0)


COMPOSITES: Mapping[type[FleetOp], Rule] = {
    **{op: _sequence for op in d.FLEET.operations if issubclass(op, d.CompositeOp)},
    d.NumpyOp: _called,
}
