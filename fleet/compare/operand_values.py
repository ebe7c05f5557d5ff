"""Operands of one element of a fused group: their values, and their result in binary64."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import BlockArgument, SSAValue

from fleet.compare.bounds.golden_values import Values
from fleet.errors import FleetError
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp, kind_of, op_id
from fleet.ir.types import shape_of

_SHOWN = 12

Index = tuple[int | slice, ...]

_BINARY: Mapping[type[FleetOp], Callable[[float, float], float]] = {
    d.AddOp: lambda a, b: a + b,
    d.SubOp: lambda a, b: a - b,
    d.MulOp: lambda a, b: a * b,
    d.MaximumOp: lambda a, b: float(np.maximum(a, b)),
    d.MinimumOp: lambda a, b: float(np.minimum(a, b)),
}


@dataclass
class _Walk:
    """A walk from an element back to the group's operands. lines: one per operand, in the order of the walk."""

    values: Values
    inside: Mapping[str, FleetOp]
    lines: list[str] = field(default_factory=list[str])

    def of(self, value: SSAValue, index: Index) -> np.ndarray | None:
        """Return the value at `index` in binary64, or None if unknown. Adds operands from outside the group to `lines`."""
        owner = value.owner
        if isinstance(owner, FleetOp) and not isinstance(owner, d.ConstantOp) and op_id(owner) in self.inside:
            return self._computed(owner, index)
        found = np.asarray(self.values.of(value))[index]
        if isinstance(owner, FleetOp) and isinstance(owner, d.ConstantOp):
            return np.asarray(found, np.float64)
        line = f"{self._name(value)}{_place(index)}{self._stored(value)} = {_some(found)}"
        if line not in self.lines:
            self.lines.append(line)
        return np.asarray(found, np.float64)

    def _computed(self, op: FleetOp, index: Index) -> np.ndarray | None:
        if isinstance(op, d.MatmulOp) and len(index) >= 2:
            left = self.of(op.lhs, (*index[:-1], slice(None)))
            across = shape_of(op.rhs.type)
            right = self.of(op.rhs, (*_within(index[:-2], across[:-2]), slice(None), index[-1]))
            return None if left is None or right is None else np.asarray(np.dot(left, right))
        for kind, compute in _BINARY.items():
            if isinstance(op, kind):
                parts = [self.of(v, _within(index, shape_of(v.type))) for v in op.operands]
                a, b = parts
                return None if a is None or b is None else np.asarray(compute(float(a), float(b)))
        for value in op.operands:  # other operations: name the operands, do not repeat the arithmetic
            line = f"{self._name(value)}, by {kind_of(op)}"
            if line not in self.lines:
                self.lines.append(line)
        return None

    def _stored(self, value: SSAValue) -> str:
        if isinstance(value, BlockArgument):
            return " as stored" if self.values.program.arguments[value.index].kind == "weight" else " as given"
        return ""

    def _name(self, value: SSAValue) -> str:
        if isinstance(value, BlockArgument):
            return self.values.program.arguments[value.index].name
        owner = value.owner
        return op_id(owner) if isinstance(owner, FleetOp) else "?"


def operand_lines(values: Values, ops: Sequence[str], element: tuple[int, ...]) -> tuple[str, ...]:
    """Return one line per operand of the group that `element` depends on, then their result without intermediate rounding.

    Args:
        values: what the group read (weights as the device stores them).
        ops: ids of the group in program order.
        element: coordinates in the value of the last operation of the group that has them.

    Returns:
        The lines; none if the values are not available. Missing values never raise.
    """
    inside = {op_id(op): op for op in values.program.operations() if op.results and op_id(op) in set(ops)}
    for name in reversed(ops):
        op = inside.get(name)
        if op is None or isinstance(op, d.ArgmaxOp | d.ArgminOp):
            continue
        shape = shape_of(op.results[0].type)
        if len(shape) == len(element) and all(0 <= i < n for i, n in zip(element, shape, strict=True)):
            walk = _Walk(values, inside)
            try:
                exact = walk.of(op.results[0], element)
            except (FleetError, IndexError):
                return ()
            told = [f"{name}{_place(element)} from these in binary64: {float(exact):.9g}"] if exact is not None else []
            return (*walk.lines, *told)
    return ()


def _within(index: Index, shape: tuple[int, ...]) -> Index:
    """Return the index in an operand that is broadcast to the result."""
    tail = index[len(index) - len(shape) :] if shape else ()
    return tuple(0 if n == 1 else i for i, n in zip(tail, shape, strict=True))


def _place(index: Index) -> str:
    return "[" + ", ".join(":" if isinstance(i, slice) else str(i) for i in index) + "]" if index else ""


def _some(found: np.ndarray) -> str:
    flat = np.asarray(found, np.float64).reshape(-1)
    text = " ".join(f"{v:.6g}" for v in flat[:_SHOWN])
    return text if flat.size <= _SHOWN else f"{text} ... ({flat.size} values)"
