"""The sequence of operations that replaces one operation; the operations are outside any block."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import f64, i1, i64
from xdsl.ir import Attribute, SSAValue

from fleet.ir.build import make
from fleet.ir.constants import constant
from fleet.ir.dialect import FleetOp
from fleet.ir.shapes import UNKNOWN, InferenceError
from fleet.ir.types import shape_of


class Expansion:
    """Collects operations in `ops`, in the order of their creation."""

    def __init__(self) -> None:
        self.ops: list[FleetOp] = []

    def __call__(self, name: str, *operands: SSAValue | float, **attributes: Any) -> SSAValue:
        """Emit operation `name` and return its result; numbers are Python's."""
        values = [v if isinstance(v, SSAValue) else self.number(v) for v in operands]
        return self._add(make(name, values, **attributes))

    def number(self, value: float, type_: Attribute | None = None) -> SSAValue:
        """Emit a constant: a Python number, or of another type."""
        own = i1 if isinstance(value, bool) else i64 if isinstance(value, int) else f64
        return self._add(constant(value, type_ or own))

    def reduce(self, name: str, x: SSAValue, axis: int) -> SSAValue:
        """Emit a reduction over one axis, which stays with size 1."""
        return self(name, x, axes=[axis % len(shape_of(x.type))], keepdims=True)

    def window(self, x: SSAValue, start: int, size: int, step: int = 1) -> SSAValue:
        """Return the size of the last dimension."""
        shape = known_shape(x, "rope")
        lead = shape[:-1]
        return self("slice", x, start=[0] * len(lead) + [start], size=[*lead, size], step=[1] * len(lead) + [step])

    def end(self, result: SSAValue) -> None:
        """Keep only the operations that `result` needs, its own operation last."""
        if result.owner not in self.ops:
            result = self("reshape", result, shape=list(known_shape(result, "an operand as the result")))
        needed: set[SSAValue] = {result}
        for op in reversed(self.ops):
            if needed.intersection(op.results):
                needed.update(op.operands)
        kept = [op for op in self.ops if needed.intersection(op.results)]
        self.drop([op for op in self.ops if op not in kept])
        self.ops = kept

    def drop(self, ops: list[FleetOp] | None = None) -> None:
        """Drop operations (all by default), so that they no longer count as users."""
        for op in reversed(self.ops if ops is None else ops):
            op.drop_all_references()
        if ops is None:
            self.ops = []

    def _add(self, op: FleetOp) -> SSAValue:
        self.ops.append(op)
        return op.results[0]


def known_shape(value: SSAValue, name: str) -> tuple[int, ...]:
    """Return the shape. Raises InferenceError if a dimension is unknown."""
    shape = shape_of(value.type)
    if UNKNOWN in shape:
        raise InferenceError(f"{name} of an unknown dimension has no sequence of primitive operations")
    return shape
