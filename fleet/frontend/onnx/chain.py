"""What leads from inputs to one value of a program in the making: its words for a message, and what it is for given inputs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, op_id
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.transforms.simplify.numbers import compute

__all__ = ["OnnxChain"]

_SHOWN = 6
"""Operations that a message shows."""


class OnnxChain:
    """The operations behind a value, in order.

    Args:
        value: the value.
        inputs: names of the program's inputs. arguments: arrays of inputs and weights.
    """

    def __init__(self, value: SSAValue, inputs: Mapping[Any, str], arguments: Mapping[Any, np.ndarray | None]) -> None:
        self._value, self._arguments = value, arguments
        self._operations: list[FleetOp] = []
        self._inputs: dict[str, None] = {}
        seen: set[Operation] = set()
        left: list[tuple[SSAValue, bool]] = [(value, False)]
        while left:
            v, done = left.pop()
            op = v.owner
            if v in inputs:
                self._inputs[inputs[v]] = None
            elif isinstance(op, FleetOp) and done:
                self._operations.append(op)
            elif isinstance(op, FleetOp) and op not in seen:
                seen.add(op)
                left.append((v, True))
                left += [(o, False) for o in op.operands]

    def words(self) -> str:
        """ "x -> ReduceSum.s -> Greater.g": the inputs, and the operations of named nodes."""
        names = [op_id(op) for op in self._operations if not isinstance(op, ConstantOp) and "id" in op.properties]
        shown = names if len(names) <= _SHOWN else [names[0], "...", *names[1 - _SHOWN :]]
        return " -> ".join([", ".join(self._inputs) or "no input", *shown])

    def compute(self) -> Any:
        """The value. Raises what NumPy raises, NotImplementedError for an operation that NumPy has no call for."""
        held: dict[Any, Any] = dict(self._arguments)
        for op in self._operations:
            type_ = op.results[0].type
            found = constant_value(op) if isinstance(op, ConstantOp) else compute(op, [held[o] for o in op.operands])
            if is_tensor(type_):
                found = np.broadcast_to(np.asarray(found, numpy_dtype(type_)), shape_of(type_))
            held[op.results[0]] = found
        return held[self._value]
