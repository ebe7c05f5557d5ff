"""IR -> bytecode. One slot per value, in program order after the arguments; constants are pushed where they are used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, SSAValue

from fleet.errors import ModelError
from fleet.ir.constants import constant_value
from fleet.ir.dialect import ConstantOp, ElementOp, FleetOp, FusedOp, IfOp, WhileOp, YieldOp, op_id
from fleet.ir.program import Argument, Program
from fleet.ir.types import is_tensor, numpy_dtype, shape_of, spelling
from fleet.targets.bytecode.contents import ArgumentSlot, OutputSlot
from fleet.targets.bytecode.hints import hint_of
from fleet.targets.bytecode.module import ByteCodeModule
from fleet.targets.bytecode.opcodes import ELEMENT_CODES, INDEXED, OpCode, TypeCode

_ICONST = {-1: OpCode.iconst_m1, **{i: OpCode(OpCode.iconst_0 + i) for i in range(6)}}
_FCONST = {float(i): OpCode(OpCode.fconst_0 + i) for i in range(3)}
_LOAD = {"i": OpCode.iload, "f": OpCode.fload, "a": OpCode.aload}
_STORE = {"i": OpCode.istore, "f": OpCode.fstore, "a": OpCode.astore}


class ByteCodeConverter:
    """Converts a program, or a bare module, whose function's arguments all become inputs."""

    def __init__(self, program: Program | ModuleOp) -> None:
        self.program = program if isinstance(program, Program) else _program(program)

    def convert(self) -> ByteCodeModule:
        """Return the bytecode; deterministic."""
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
        self._used = 0
        self._aliases: dict[SSAValue, SSAValue] = {}
        """A body's argument -> the outer value that it equals."""
        self._parts: dict[SSAValue, list[int]] = {}
        """Tuple -> the slots of its parts."""

    def run(self) -> ByteCodeModule:
        program = self.program
        for value in program.function.body.block.args:
            self.slots[value] = self._new_slot()
        self._operations(program.function.body.block)
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
            self.consts, self.code, "python", self._used, tuple(self.invokes), tuple(arguments), tuple(outputs),
            program.weights, program.hash,
        )  # fmt: skip

    def _new_slot(self) -> int:
        self._used += 1
        return self._used - 1

    def _operations(self, block: Block) -> None:
        for op in block.ops:
            if isinstance(op, FusedOp):
                parts = self._parts[op.result] = [self._new_slot() for _ in op.result.type.types.data]
                self._body(op.body.block, [*op.inputs], parts)
            elif isinstance(op, IfOp):
                self._if(op)
            elif isinstance(op, WhileOp):
                self._while(op)
            elif isinstance(op, FleetOp):
                for result in op.results:
                    self.slots[result] = self._new_slot()
                if isinstance(op, ElementOp):
                    self._element(op)
                elif not isinstance(op, ConstantOp):
                    self._invoke(op)

    # ---- decisions and loops: jumps

    def _if(self, op: IfOp) -> None:
        parts = self._parts[op.result] = [self._new_slot() for _ in op.result.type.types.data]
        self._push(op.condition)
        otherwise = self._jump(OpCode.if_false)
        self._body(op.then.block, [*op.inputs], parts)
        end = self._jump(OpCode.goto)
        self._land(otherwise)
        self._body(op.otherwise.block, [*op.inputs], parts)
        self._land(end)

    def _while(self, op: WhileOp) -> None:
        carried = self._parts[op.result] = [self._new_slot() for _ in op.carried]
        for value in op.carried:
            self._push(value)
        self._store_all([*op.carried], carried)
        again = len(self.code)
        for block in op.bodies:
            for argument, slot in zip(block.args, carried, strict=False):
                self.slots[argument] = slot
            for argument, value in zip(block.args[len(carried) :], op.inputs, strict=True):
                self._same(argument, value)
        self._operations(op.test.block)
        self._push(_given(op.test.block)[0])
        end = self._jump(OpCode.if_false)
        self._operations(op.body.block)
        for value in (given := _given(op.body.block)):
            self._push(value)
        self._store_all(given, carried)
        self._land(self._jump(OpCode.goto), again)
        self._land(end)

    def _body(self, block: Block, inputs: Sequence[SSAValue], parts: Sequence[int]) -> None:
        for argument, value in zip(block.args, inputs, strict=True):
            self._same(argument, value)
        self._operations(block)
        for value in (given := _given(block)):
            self._push(value)
        self._store_all(given, parts)

    def _same(self, argument: SSAValue, value: SSAValue) -> None:
        """Map a body's argument to an outer value."""
        self._aliases[argument] = self._aliases.get(value, value)

    def _store_all(self, values: Sequence[SSAValue], slots: Sequence[int]) -> None:
        """Pop the pushed values into slots, last first, so that no slot is overwritten before it is read."""
        for value, slot in reversed(list(zip(values, slots, strict=True))):
            self._slot(_STORE[_letter(value.type)], slot)

    def _element(self, op: ElementOp) -> None:
        self._slot(_LOAD[_letter(op.result.type)], self._parts[op.operand][op.index.value.data])
        self.code += [OpCode.invokestatic, self._const(hint_of(op))]
        self.invokes.append(op_id(op))
        self._store(op.result)

    def _jump(self, code: OpCode) -> int:
        """Emit a jump with an unknown target; return its place."""
        self.code += [code, -1]
        return len(self.code) - 1

    def _land(self, place: int, target: int | None = None) -> None:
        """Let a jump go here, or to an earlier place."""
        self.code[place] = len(self.code) if target is None else target

    # ---- values

    def _invoke(self, op: FleetOp) -> None:
        for operand in op.operands:
            self._push(operand)
        self.code += [OpCode.invokestatic, self._const(hint_of(op))]
        self.invokes.append(op_id(op))
        for result in op.results:
            self._store(result)

    def _push(self, value: SSAValue) -> None:
        value = self._aliases.get(value, value)
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
        key = (type(value), repr(value))  # repr distinguishes -0.0 and nan from equal values
        if key not in self._const_index:
            self._const_index[key] = len(self.consts)
            self.consts.append(value)
        return self._const_index[key]


def _given(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    assert isinstance(last, YieldOp)
    return last.operands


def _letter(type_: Attribute) -> str:
    if is_tensor(type_):
        return "a"
    return "f" if numpy_dtype(type_).kind == "f" else "i"
