"""The golden's values, at which all bounds are derived."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import BlockArgument, SSAValue

from fleet.errors import ComparisonFailure
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.targets.bytecode.evaluate import apply


class Values:
    """The golden's values: weights, inputs, constants and the tensor of each operation, in the golden's own dtype."""

    def __init__(self, program: Program, inputs: Mapping[str, np.ndarray], tensors: Mapping[str, np.ndarray]) -> None:
        self.program, self.inputs, self.tensors = program, inputs, tensors
        self._bodies: dict[d.RegionOp, tuple[np.ndarray, ...]] = {}

    def of(self, value: SSAValue) -> np.ndarray:
        """Return the array of a value. Raises ComparisonFailure if the golden kept none.

        No trace keeps the results of a decision or loop: they are computed from its operands and returned as a tuple.
        """
        if isinstance(value, BlockArgument):
            argument = self.program.arguments[value.index]
            return np.asarray((self.program.weights if argument.kind == "weight" else self.inputs)[argument.name])
        op = value.owner
        if isinstance(op, d.ConstantOp):
            return constant(op)
        if isinstance(op, d.RegionOp):
            if op not in self._bodies:
                self._bodies[op] = apply(op, [self.of(v) for v in op.operands])
            return cast("np.ndarray", self._bodies[op])
        assert isinstance(op, FleetOp)
        name = op_id(op)
        if name not in self.tensors:
            raise ComparisonFailure("the golden kept no tensor of it, so no bound can be derived", where=name)
        tensor = np.asarray(self.tensors[name])
        if tensor.shape != shape_of(value.type):
            raise ComparisonFailure(f"the golden has shape {tensor.shape}, the program says {shape_of(value.type)}", where=name)
        return tensor


def constant(op: d.ConstantOp) -> np.ndarray:
    """Return the array of a constant."""
    attr = op.value
    number: float | int = attr.value.data
    assert isinstance(attr, IntegerAttr | FloatAttr)
    type_ = op.results[0].type
    array = np.asarray(number, numpy_dtype(type_))
    return np.full(shape_of(type_), array) if is_tensor(type_) else array
