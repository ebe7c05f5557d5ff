"""IR -> bytecode. One slot a value, in program order after the arguments; constants are pushed where they are used."""

from __future__ import annotations

import math
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from fleet.errors import ModelError
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, FleetOp, op_id
from fleet.ir.program import Argument, Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, spelling
from fleet.targets.bytecode.hints import hint_of
from fleet.targets.bytecode.module import ArgumentSlot, ByteCodeModule, OutputSlot
from fleet.targets.bytecode.opcodes import ELEMENT_CODES, INDEXED, OpCode, TypeCode

__all__ = ["ByteCodeConverter"]

_ICONST = {-1: OpCode.iconst_m1, **{i: OpCode(OpCode.iconst_0 + i) for i in range(6)}}
_FCONST = {float(i): OpCode(OpCode.fconst_0 + i) for i in range(3)}
_LOAD = {"i": OpCode.iload, "f": OpCode.fload, "a": OpCode.aload}
_STORE = {"i": OpCode.istore, "f": OpCode.fstore, "a": OpCode.astore}


class ByteCodeConverter:
    """Converts a program, or a bare module whose function's arguments are then all inputs."""

    def __init__(self, program: Program | ModuleOp) -> None:
        self.program = program if isinstance(program, Program) else _program(program)

    def convert(self) -> ByteCodeModule:
        """The bytecode. The same program gives the same bytecode."""
        return _Emitter(self.program).run()


def _program(module: ModuleOp) -> Program:
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    if len(functions) != 1:
        raise ModelError(f"a module with {len(functions)} functions has no bytecode; it must have one")
    arguments = [
        Argument(v.name_hint or f"arg{i}", shape_of(v.type), numpy_dtype(v.type), "input")
        for i, v in enumerate(functions[0].body.block.args)
    ]
    program = Program(module, tuple(arguments), {}, ())
    names = tuple(f"out{i}" for i in range(len(program.returned())))
    return Program(module, tuple(arguments), {}, names)


class _Emitter:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.consts: list[Any] = []
        self.code: list[int] = []
        self.slots: dict[SSAValue, int] = {}
        self.invokes: list[str] = []
        self._const_index: dict[tuple[type, str], int] = {}

    def run(self) -> ByteCodeModule:
        program = self.program
        for value in program.function.body.block.args:
            self.slots[value] = len(self.slots)
        for op in program.operations():
            for result in op.results:
                self.slots[result] = len(self.slots)
            if not isinstance(op, ConstantOp):
                self._invoke(op)
        stored: set[SSAValue] = set()
        for value in program.returned():
            if isinstance(value.owner, ConstantOp) and value not in stored:
                self._push(value)
                self._store(value)
                stored.add(value)
        outputs = [
            OutputSlot(name, self.slots[v], spelling(v.type), not is_tensor(v.type))
            for name, v in zip(program.outputs, program.returned(), strict=True)
        ]
        arguments = [ArgumentSlot(a.name, a.kind, a.shape, a.dtype.name, a.dims) for a in program.arguments]
        return ByteCodeModule(
            self.consts, self.code, "python", len(self.slots), tuple(self.invokes), tuple(arguments), tuple(outputs),
            program.weights, program.hash,
        )  # fmt: skip

    def _invoke(self, op: FleetOp) -> None:
        for operand in op.operands:
            self._push(operand)
        self.code += [OpCode.invokestatic, self._const(hint_of(op))]
        self.invokes.append(op_id(op))
        for result in op.results:
            self._store(result)

    def _push(self, value: SSAValue) -> None:
        if isinstance(value.owner, ConstantOp):
            self._push_constant(value.owner)
        else:
            self._slot(_LOAD[_letter(value.type)], self.slots[value])

    def _store(self, value: SSAValue) -> None:
        self._slot(_STORE[_letter(value.type)], self.slots[value])

    def _slot(self, code: OpCode, slot: int) -> None:
        self.code += [OpCode(code + 1 + slot)] if slot < INDEXED else [code, slot]

    def _push_constant(self, op: ConstantOp) -> None:
        type_, number = op.result.type, constant_value(op)
        if is_tensor(type_):
            shape = shape_of(type_)
            element = ELEMENT_CODES[numpy_dtype(type_)]
            self.code += [OpCode.ldc, TypeCode.tensor, len(shape), *shape, element, self._const(number)]
        elif isinstance(number, int) and not isinstance(number, bool) and number in _ICONST:
            self.code.append(_ICONST[number])
        elif isinstance(number, float) and number in _FCONST and math.copysign(1.0, number) > 0:
            self.code.append(_FCONST[number])
        else:
            self.code += [OpCode.ldc, TypeCode.scalar, self._const(number)]

    def _const(self, value: bool | int | float | str) -> int:
        key = (type(value), repr(value))  # repr keeps -0.0 and nan apart from their equals
        if key not in self._const_index:
            self._const_index[key] = len(self.consts)
            self.consts.append(value)
        return self._const_index[key]


def _letter(type_: Attribute) -> str:
    if is_tensor(type_):
        return "a"
    return "f" if numpy_dtype(type_).kind == "f" else "i"
