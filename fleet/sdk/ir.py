"""The operations of a program, as patterns meet them: `fleet.ir`'s names that an instruction set may use."""

from __future__ import annotations

from xdsl.ir import BlockArgument, SSAValue

from fleet.ir import dialect
from fleet.ir.calibration import calibration_of
from fleet.ir.constants import constant_value
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.operations import composite
from fleet.ir.operations.operation import integers
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of

__all__ = [
    "FleetOp",
    "Program",
    "calibration_of",
    "composite",
    "constant_value",
    "dialect",
    "integers",
    "is_tensor",
    "numpy_dtype",
    "op_id",
    "shape_of",
    "weight_name",
]


def weight_name(value: SSAValue, program: Program) -> str | None:
    """Name of the weight argument that a value is, or None."""
    argument = program.arguments[value.index] if isinstance(value, BlockArgument) else None
    return argument.name if argument is not None and argument.kind == "weight" else None
