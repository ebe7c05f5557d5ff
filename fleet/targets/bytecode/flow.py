"""Finds what the operand stack and the slots hold at every instruction, before the code runs.

The code is cut into blocks at jumps and their targets. Each block is interpreted with types instead of values, starting from its
predecessors' results. If several lead to one place, their stacks must have equal depth there, and a slot counts as written only if
all of them wrote it. Unreachable code is not analysed, and never runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f64, i1

from fleet.errors import FleetError, ModelError
from fleet.ir.shapes import InferenceError, check_size
from fleet.ir.types import element_type, spelling, tensor_type
from fleet.targets.bytecode.contents import Contents
from fleet.targets.bytecode.hints import DispatchHintParser, DispatchInfo, parse_type
from fleet.targets.bytecode.instructions import BytecodeInstruction, Form, instructions
from fleet.targets.bytecode.opcodes import ELEMENT_CODES, TypeCode

ANY = "any"
"""The type of a value whose type depends on the path."""

MAX_SLOTS = 1 << 22
"""Maximum slots of a module; protects against headers that would exhaust memory."""

ELEMENT_DTYPES = {code: dtype for dtype, code in ELEMENT_CODES.items()}


@dataclass
class StackState:
    """Types on the stack and in the written slots."""

    stack: list[str]
    slots: dict[int, str]

    def copy(self) -> StackState:
        """Return an independent copy."""
        return StackState(list(self.stack), dict(self.slots))


@dataclass
class BasicBlock:
    """Instructions [first, last) of the list, executed in sequence.

    Attributes:
        successors: indices of blocks; `len(blocks)` is the end of the code. For a branch: (jump target, fall-through).
        depth: of the stack when the block starts; None if the block is unreachable.
    """

    first: int
    last: int
    successors: tuple[int, ...] = ()
    state: StackState | None = None

    @property
    def depth(self) -> int | None:
        """Values on the stack when the block starts; None if the block is unreachable."""
        return None if self.state is None else len(self.state.stack)


@dataclass
class ControlFlow:
    """The code in blocks, with types.

    Attributes:
        instructions: all of them.
        blocks: in code order.
        types: for every instruction the type of the value that it pushes or stores, "" for none.
        dispatches: constant index -> the parsed hint.
        end: the slots after a run; None if the end is unreachable.
    """

    instructions: list[BytecodeInstruction]
    blocks: list[BasicBlock]
    types: list[str]
    dispatches: dict[int, DispatchInfo] = field(default_factory=dict)
    end: StackState | None = None


def analyse(module: Contents) -> ControlFlow:
    """Analyse a module. Raises ModelError with the offset if the code is malformed."""
    if not 0 <= module.variable_size <= MAX_SLOTS:
        raise ModelError(f"{module.variable_size} slots, at most {MAX_SLOTS} are possible", where="bytecode")
    if len(module.arguments) > module.variable_size:
        raise ModelError(f"{len(module.arguments)} arguments in {module.variable_size} slots", where="bytecode")
    code = list(instructions(module.code))
    flow = ControlFlow(code, _cut(code, len(module.code)), [""] * len(code))
    _Analysis(module, flow).run()
    return flow


def _cut(code: list[BytecodeInstruction], size: int) -> list[BasicBlock]:
    index = {i.offset: n for n, i in enumerate(code)} | {size: len(code)}
    if not code:
        return []
    starts = {0}
    for n, i in enumerate(code):
        if i.form in (Form.jump, Form.branch):
            if i.target not in index:
                raise ModelError(f"a jump to {i.target}, where no instruction begins", where=f"bytecode offset {i.offset}")
            starts |= {index[i.target], n + 1}
    firsts = sorted(s for s in starts if s < len(code))
    number = {first: n for n, first in enumerate(firsts)} | {len(code): len(firsts)}
    blocks = [BasicBlock(first, last) for first, last in zip(firsts, [*firsts[1:], len(code)], strict=True)]
    for block in blocks:
        final = code[block.last - 1]
        if final.form is Form.jump:
            block.successors = (number[index[final.target]],)
        elif final.form is Form.branch:
            block.successors = (number[index[final.target]], number[block.last])
        else:
            block.successors = (number[block.last],)
    return blocks


class _Analysis:
    def __init__(self, module: Contents, flow: ControlFlow) -> None:
        self.module, self.flow = module, flow
        self._const_types: dict[int, str] = {}

    def run(self) -> None:
        arguments = {i: spelling(tensor_type(a.shape, a.dtype)) for i, a in enumerate(self.module.arguments)}
        start = StackState([], arguments)
        blocks = self.flow.blocks
        if not blocks:
            self.flow.end = start
            return
        blocks[0].state = start
        work = [0]
        while work:
            n = work.pop()
            block = blocks[n]
            assert block.state is not None
            state = block.state.copy()
            for i in range(block.first, block.last):
                self._step(i, state)
            last = self.flow.instructions[block.last - 1]
            for successor in dict.fromkeys(block.successors):
                if self._join(successor, state, last) and successor < len(blocks):
                    work.append(successor)

    def _join(self, n: int, state: StackState, last: BytecodeInstruction) -> bool:
        """Merge a state into the start of block n; return whether that changed it."""
        blocks = self.flow.blocks
        known = blocks[n].state if n < len(blocks) else self.flow.end
        if known is None:
            joined = state.copy()
        else:
            if len(known.stack) != len(state.stack) and n < len(blocks):
                at = self.flow.instructions[blocks[n].first].offset
                raise ModelError(
                    f"{len(state.stack)} values on the stack where it continues at {at}, {len(known.stack)} on another way there",
                    where=f"bytecode offset {last.offset}",
                )
            stack = [a if a == b else ANY for a, b in zip(known.stack, state.stack, strict=False)]
            slots = {s: a if a == state.slots[s] else ANY for s, a in known.slots.items() if s in state.slots}
            joined = StackState(stack, slots)
            if joined == known:
                return False
        if n < len(blocks):
            blocks[n].state = joined
        else:
            self.flow.end = joined
        return True

    def _step(self, n: int, state: StackState) -> None:
        i = self.flow.instructions[n]
        try:
            self.flow.types[n] = self._transfer(i, state)
        except FleetError as error:
            raise ModelError(str(error), where=f"bytecode offset {i.offset}") from error

    def _transfer(self, i: BytecodeInstruction, state: StackState) -> str:
        """Apply an instruction to the state; return the type that it pushes or stores."""
        match i.form:
            case Form.push:
                state.stack.append(type_ := "f64" if isinstance(i.number, float) else "i32")
            case Form.ldc:
                state.stack.append(type_ := self._constant_type(i))
            case Form.invoke:
                type_ = self._invoke(i, state)
            case Form.load:
                if i.slot not in state.slots:
                    raise ModelError(f"slot {i.slot} is read before it is written")
                state.stack.append(type_ := state.slots[i.slot])
            case Form.store:
                if not 0 <= i.slot < self.module.variable_size:
                    raise ModelError(f"slot {i.slot} of {self.module.variable_size}")
                type_ = state.slots[i.slot] = _pop(state)
            case Form.branch:
                _pop(state)
                type_ = ""
            case Form.jump:
                type_ = ""
        return type_

    def _invoke(self, i: BytecodeInstruction, state: StackState) -> str:
        info = self.flow.dispatches.get(i.constant)
        if info is None:
            hint = self._constant(i.constant)
            if not isinstance(hint, str):
                raise ModelError(f"invokestatic of constant {hint!r}, which is not a dispatch hint")
            info = DispatchHintParser(hint).parse()
            if len(info.out_types) > 1:
                raise ModelError(f"an operator with {len(info.out_types)} results, at most one is possible")
            for type_ in info.out_types:
                _check_result(type_)
            info.target = self.module.target
            self.flow.dispatches[i.constant] = info
        for _ in info.in_types:
            _pop(state)
        state.stack += info.out_types
        return info.out_types[0] if info.out_types else ""

    def _constant_type(self, i: BytecodeInstruction) -> str:
        value = self._constant(i.constant)
        if i.element is not None:
            assert i.shape is not None
            return spelling(tensor_type(i.shape, ELEMENT_DTYPES[TypeCode(i.element)]))
        match value:
            case bool():
                return spelling(i1)
            case int():
                return spelling(element_type(np.int32 if -(1 << 31) <= value < 1 << 31 else np.int64))
            case float():
                return spelling(f64)
            case np.ndarray():
                return spelling(tensor_type(value.shape, value.dtype))
            case _:
                return ANY

    def _constant(self, index: int) -> Any:
        if not 0 <= index < len(self.module.consts):
            raise ModelError(f"constant {index} of {len(self.module.consts)}")
        return self.module.consts[index]


def _check_result(type_: str) -> None:
    """Check a type's size, to protect against hints that would exhaust memory."""
    try:
        check_size(parse_type(type_)[0])
    except InferenceError as error:
        raise ModelError(f"a result of type {type_}: {error}") from None


def _pop(state: StackState) -> str:
    if not state.stack:
        raise ModelError("the operand stack is empty")
    return state.stack.pop()
