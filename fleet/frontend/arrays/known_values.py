"""Arrays whose values are known while the source is read: literals, small recipes, and what is computed out of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from fleet.frontend.reading.static import Made, Static
from fleet.frontend.reading.values import TracedArray
from fleet.ir import dialect as d
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.ir.weights import Creation, Entry, StreamDraw
from fleet.transforms.simplify.numbers import COMPUTED, call_of

__all__ = ["KnownValues"]

_MAX_ELEMENTS = 1 << 16
_MAX_WORK = 1 << 25
"""Limit on the elements computed for one source."""
_OTHERS = (
    d.CumsumOp, d.ArgmaxOp, d.ArgminOp, d.GatherOp, d.WhereOp, d.ClipOp, d.MatmulOp, d.ItemOp, d.CastOp, d.NumpyOp,
    d.ArgsortOp, d.EinsumOp, d.ScatterOp,
)  # fmt: skip
"""Operations computed by their record, in addition to `COMPUTED`."""


def _of_entry(entry: Entry) -> np.ndarray | None:
    if math.prod(entry.shape) > _MAX_ELEMENTS:
        return None
    if isinstance(entry, StreamDraw):  # all before it are drawn with it
        return entry.array if entry.made or entry.stream.elements <= _MAX_ELEMENTS else None
    return entry if isinstance(entry, np.ndarray) else entry.array if isinstance(entry, Creation) else None


class KnownValues:
    """Known values of the IR, each computed once."""

    def __init__(self, made: Made) -> None:
        self._made = made
        self._found: dict[SSAValue, np.ndarray | None] = {}
        self._work = 0

    def array(self, value: TracedArray) -> np.ndarray | None:
        """The elements; None if they are run-time values or more than 2^16."""
        if isinstance(value, Static) and value.entry is not None:
            return _of_entry(value.entry)
        return self.of(value.ssa)

    def of(self, value: SSAValue) -> np.ndarray | None:
        """The value as an array; None if only the run knows it."""
        stack = [value]
        while stack:
            at = stack[-1]
            if at in self._found:
                stack.pop()
                continue
            op = at.owner
            if not isinstance(op, FleetOp):
                self._found[at] = next((_of_entry(entry) for _, argument, entry in self._made.used if argument is at), None)
            elif not self._computable(op, at):
                self._found[at] = None
            elif (open_ := next((v for v in op.operands if v not in self._found), None)) is not None:
                stack.append(open_)
            else:
                operands = [self._found[v] for v in op.operands]
                arrays = [a for a in operands if a is not None]
                self._found[at] = self._computed(op, at, arrays) if len(arrays) == len(operands) else None
        return self._found[value]

    def decided(self, value: SSAValue) -> bool:
        """Whether the value is known, and was asked for."""
        return self._found.get(value) is not None

    def _computable(self, op: FleetOp, value: SSAValue) -> bool:
        shape = shape_of(value.type)
        if any(n < 0 for n in shape) or math.prod(shape) > _MAX_ELEMENTS or self._work > _MAX_WORK:
            return False
        if not isinstance(op, ConstantOp) and type(op) not in COMPUTED and not isinstance(op, _OTHERS):
            return False
        return not any(v in self._found and self._found[v] is None for v in op.operands)

    def _computed(self, op: FleetOp, value: SSAValue, arrays: Sequence[np.ndarray]) -> np.ndarray | None:
        shape, dtype = shape_of(value.type), numpy_dtype(value.type)
        self._work += math.prod(shape) + sum(a.size for a in arrays)
        if isinstance(op, ConstantOp):
            return np.full(shape, constant_value(op), dtype)
        try:
            found: Any = call_of(op)(*arrays) if type(op) in COMPUTED else _by_record(op, arrays)
        except (ArithmeticError, ValueError, LookupError):
            return None  # the run reports the error
        made = np.asarray(found, dtype)
        return made if made.shape == shape else None


def _by_record(op: FleetOp, arrays: Sequence[np.ndarray]) -> Any:
    values = [a if is_tensor(v.type) else a.item() for a, v in zip(arrays, op.operands, strict=True)]
    with np.errstate(all="ignore"):
        return type(op).compute(values, attributes_of(op))
