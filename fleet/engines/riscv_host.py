"""The host's side of a RISC-V or AArch64 program: it computes the program's host calls (`fleet.targets.riscv.host_calls`)."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided
from xdsl.dialects.builtin import TupleType
from xdsl.ir import BlockArgument, SSAValue

from fleet.core.codec import Json
from fleet.engines.riscv_emulators.base import Emulator
from fleet.errors import ModelError
from fleet.ir.dialect import FleetOp, PrintOp, name_of, op_id
from fleet.ir.program import Program
from fleet.ir.types import numpy_dtype, shape_of
from fleet.isa.memory import as_bytes
from fleet.targets.bytecode.evaluate import apply
from fleet.targets.printed import show
from fleet.targets.riscv.codegen import OperationCode
from fleet.targets.riscv.host_calls import HostCall
from fleet.targets.riscv.kernels.kernel import ArrayOperand
from fleet.targets.riscv.plan import HELD, part_offsets, type_supported

HostValue: TypeAlias = "np.ndarray | np.generic | Sequence[HostValue]"
"""A value that the host keeps or computes: an array or number; a sequence for a decision, a loop or several results."""


class HostSide:
    """Computes the calls of one run and keeps the values that have no place in the program's memory.

    Attributes:
        calls: operation id -> number of times the host computed it. reasons: operation id -> why.
        values: `value_key` -> value without a place in memory. printed: the text of the prints so far.
    """

    def __init__(
        self,
        program: Program,
        host_calls: Sequence[HostCall],
        machine: Emulator,
        inputs: Mapping[str, np.ndarray],
        target: str = "riscv",
    ) -> None:
        """Take the arguments that have no place in memory from the weights and inputs. target: the caller, for messages."""
        self._program, self._host_calls, self._machine, self._target = program, host_calls, machine, target
        self._text = io.StringIO()
        self._echo = partial(print, file=self._text)
        self.calls: Counter[str] = Counter()
        self.reasons: dict[str, str] = {}
        self.values: dict[str, HostValue] = {}
        for argument, value in zip(program.arguments, program.function.body.block.args, strict=True):
            if not type_supported(value.type):
                arrays = program.weights if argument.kind == "weight" else inputs
                self.values[value_key(value, program)] = arrays[argument.name]

    @property
    def printed(self) -> str:
        """The text that the program printed while it ran."""
        return self._text.getvalue()

    @property
    def said(self) -> dict[str, Json]:
        """Return the entries for the trace's `meta`: "host_calls" and "host_reasons"; empty if the host computed nothing."""
        return {"host_calls": dict(self.calls), "host_reasons": dict(self.reasons)} if self.calls else {}

    def array(self, key: str) -> np.ndarray:
        """Return a kept value that is one array or number."""
        return np.asarray(self.values[key])

    def placement(self, operations: Sequence[OperationCode]) -> dict[str, str]:
        """Return operation id -> the target or "host"; empty if the host computed nothing."""
        places = {o.id: self._target for o in operations}
        return places | dict.fromkeys(self.calls, "host") if self.calls else {}

    def call(self, number: int, place: int) -> None:
        """Compute a call. place: address of the table of its arrays' addresses. Raises ModelError naming operation and place."""
        call = self._host_calls[number]
        arrays = [*call.operands] if call.out is None else [call.out, *call.operands]
        addresses = np.frombuffer(self._machine.read(place, 8 * len(arrays)), "<i8").tolist()
        try:
            self._compute(call, addresses)
        except ModelError as error:
            at = getattr(call.op.properties.get("at"), "data", None) or self._program.source_name
            raise ModelError(f"operation {op_id(call.op)}: {error.what}", where=at, hint=error.hint) from error

    def _compute(self, call: HostCall, addresses: Sequence[int]) -> None:
        operands = addresses[len(addresses) - len(call.operands) :]
        values = [
            self._read(array, address, value)
            for array, address, value in zip(call.operands, operands, call.op.operands, strict=True)
        ]
        if isinstance(call.op, PrintOp):
            show(call.op, values, self._echo)
            return
        self.calls[op_id(call.op)] += 1
        self.reasons[op_id(call.op)] = call.reason(self._target)
        result = apply(call.op, values, partial(show, echo=self._echo))
        assert call.out is not None
        if call.out.dtype == HELD:
            self.values[op_id(call.op)] = result
        else:
            self._write(call.op, addresses[0], result)

    def _read(self, array: ArrayOperand, address: int, value: SSAValue) -> HostValue:
        if array.dtype == HELD:
            return self.values[value_key(value, self._program)]
        return read_array(self._machine, address, array.shape, array.strides, array.dtype)

    def _write(self, op: FleetOp, address: int, result: HostValue) -> None:
        type_ = op.results[0].type
        values, types, offsets = (result,), (type_,), [0]
        if isinstance(type_, TupleType):
            assert isinstance(result, Sequence)
            values, types, offsets = tuple(result), type_.types.data, part_offsets(type_)[0]
        for value, offset, of in zip(values, offsets, types, strict=True):
            array, shape, dtype = np.asarray(value), shape_of(of), numpy_dtype(of)
            if array.shape != shape or array.dtype != dtype:
                raise ModelError(f"{name_of(op)} gives {array.dtype}{list(array.shape)}; expected {dtype}{list(shape)}")
            self._machine.write(address + offset, as_bytes(array).data)


def value_key(value: SSAValue, program: Program) -> str:
    """Return the key of a value that the host keeps: the id of its operation, or the argument's name after a `%`."""
    if isinstance(value, BlockArgument):
        return f"%{program.arguments[value.index].name}"
    assert isinstance(value.owner, FleetOp)
    return op_id(value.owner)


def read_array(machine: Emulator, address: int, shape: Sequence[int], strides: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Return a copy of an array in an emulator's memory. address: of its first element. strides: in elements."""
    if not np.prod(shape, dtype=np.int64):
        return np.empty(shape, dtype)
    reach = [(n - 1) * s for n, s in zip(shape, strides, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    flat = np.frombuffer(machine.read(address + low * dtype.itemsize, (high - low + 1) * dtype.itemsize), dtype)
    return as_strided(flat[-low:], shape, [s * dtype.itemsize for s in strides]).copy()
