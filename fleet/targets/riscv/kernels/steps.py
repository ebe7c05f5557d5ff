"""One step of a kernel's loops: an elementwise operation, activations too, on values in registers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.riscv.kernels.composite import activation
from fleet.targets.riscv.kernels.elementwise import BINARY, UNARY, LaneOperand, StepShape, lane_value, step_shape
from fleet.targets.riscv.kernels.kernel import Builder, Value, convert

_ACTIVATIONS = (d.GeluOp, d.SiluOp)
STEPS = frozenset({*BINARY, *UNARY, d.WhereOp, *_ACTIVATIONS})
"""The operations that a step can compute."""


def step_of(op: FleetOp, constants: Sequence[float | None]) -> StepShape:
    """Return how loops over the operation's elements step. constants: of the operands."""
    if isinstance(op, _ACTIVATIONS):
        return StepShape(8, heavy=True, serial=False)
    return step_shape(op, numpy_dtype(op.results[0].type), [numpy_dtype(v.type) for v in op.operands], constants)


def step_value(b: Builder, op: FleetOp, operands: Sequence[LaneOperand]) -> Value:
    """Emit the operation on the elements of one step."""
    dtype = numpy_dtype(op.results[0].type)
    if isinstance(op, d.GeluOp | d.SiluOp):
        name = f"gelu_{attributes_of(op)['approximate']}" if isinstance(op, d.GeluOp) else "silu"
        return activation(b, name, operands[0].read(dtype), dtype)
    return lane_value(b, op, dtype, operands)


def passed(b: Builder, value: Value, dtype: np.dtype) -> LaneOperand:
    """Return a result as an operand of later operations."""
    return LaneOperand(dtype, None, lambda wanted: convert(b, value, dtype, wanted))


def constant_of(value: SSAValue) -> float | None:
    """Return the number that a value is known to be, or None."""
    owner = value.owner
    return constant_value(owner) if isinstance(owner, d.ConstantOp) and not shape_of(value.type) else None
