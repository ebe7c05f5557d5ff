"""Arrays and prints of a compiled program as a file has them, so that it runs without the program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.dialect import FleetOp, PrintOp, op_id
from fleet.ir.program import Program
from fleet.ir.types import is_tensor
from fleet.targets.riscv.plan import Buffer, MemoryPlan


@dataclass(frozen=True)
class StoredBuffer:
    """An array in memory, as `Buffer`; strides are in elements."""

    name: str
    address: int
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]

    def buffer(self) -> Buffer:
        """Return it as the memory plan has it."""
        return Buffer(self.name, self.name, self.address, self.shape, np.dtype(self.dtype), self.strides)


def stored(buffer: Buffer) -> StoredBuffer:
    """Return a buffer of the memory plan as a file has it."""
    return StoredBuffer(buffer.name, buffer.address, buffer.shape, buffer.dtype.name, tuple(map(int, buffer.steps)))


@dataclass(frozen=True)
class StoredPrint:
    """A `print`: the hint under which the VM prints, and what it prints; `tensors` says which values are arrays."""

    hint: str
    values: tuple[StoredBuffer, ...]
    tensors: tuple[bool, ...]

    def show(self, array: Callable[[Buffer], np.ndarray], text: StringIO) -> None:
        """Write what the VM would print. array: returns the contents of a buffer."""
        from fleet.targets.bytecode.hints import DispatchHintParser
        from fleet.targets.bytecode.printing import printer

        arrays = (array(value.buffer()) for value in self.values)
        values: list[Any] = [a[()] if tensor else a.item() for a, tensor in zip(arrays, self.tensors, strict=True)]
        printer(DispatchHintParser(self.hint).parse(), partial(print, file=text))(*values)


def stored_prints(program: Program, plan: MemoryPlan) -> tuple[StoredPrint, ...]:
    """Return the prints of a program, in order."""
    prints = [op for op in program.operations() if isinstance(op, PrintOp)]
    if not prints:
        return ()
    from fleet.targets.bytecode.hints import hint_of

    names: dict[SSAValue, str] = {
        value: a.name for value, a in zip(program.function.body.block.args, program.arguments, strict=True)
    }

    def place(value: SSAValue) -> StoredBuffer:
        if isinstance(value.owner, FleetOp):
            return stored(plan.results[op_id(value.owner)])
        return stored(plan.weights.get(names[value]) or plan.inputs[names[value]])

    return tuple(
        StoredPrint(hint_of(op), tuple(map(place, op.operands)), tuple(is_tensor(v.type) for v in op.operands)) for op in prints
    )
