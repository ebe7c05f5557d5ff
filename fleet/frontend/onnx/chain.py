"""What leads from inputs to one value of a program in the making: its words for a message, and what it is for given inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, op_id
from fleet.ir.expand import expand
from fleet.ir.types import is_tensor, numpy_dtype, shape_of
from fleet.transforms.simplify.numbers import compute

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

    def compute(self, held: dict[Any, Any]) -> Any:
        """The value. held: values that were computed before; gets those of this chain.

        Raises what NumPy raises, NotImplementedError for an operation that cannot be computed while the model is read.
        """
        for op in self._operations:
            result = op.results[0]
            if result in held:
                continue
            type_ = result.type
            values = [held[o] if o in held else self._arguments[o] for o in op.operands]
            found = constant_value(op) if isinstance(op, ConstantOp) else _computed(op, values)
            if is_tensor(type_):
                found = np.broadcast_to(np.asarray(found, numpy_dtype(type_)), shape_of(type_))
            held[result] = found
        return held[self._value] if self._value in held else self._arguments[self._value]


def _computed(op: FleetOp, operands: Sequence[object]) -> Any:
    """One operation; one that NumPy has no call for by the operations that it is made of."""
    try:
        return compute(op, operands)
    except NotImplementedError:
        parts = expand(op)
        if not parts:
            raise
    try:
        held: dict[Any, Any] = dict(zip(op.operands, operands, strict=True))
        for part in parts:
            values = [held[o] for o in part.operands]
            held[part.results[0]] = constant_value(part) if isinstance(part, ConstantOp) else compute(part, values)
        return held[parts[-1].results[0]]
    finally:
        for part in reversed(parts):
            part.drop_all_references()  # else the program's values would seem to be used
