"""Code as a list of instructions: the words of each opcode, checked for completeness."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple

from fleet.errors import ModelError
from fleet.targets.bytecode.opcodes import INDEXED, OpCode, TypeCode


class Form(Enum):
    """The kind of instruction of an opcode."""

    push = "pushes a number that the opcode holds"
    ldc = "pushes a constant"
    invoke = "calls an operator"
    load = "pushes a slot"
    store = "pops into a slot"
    jump = "continues elsewhere"
    branch = "pops a truth value and may continue elsewhere"


class BytecodeInstruction(NamedTuple):
    """One instruction: its start and end in the code, and its words.

    Attributes:
        slot: of a load or store.
        constant: index into the constants (ldc, invoke).
        target: code offset of a jump or branch.
        shape, element: of an ldc of a tensor, else None.
        number: the pushed number.
    """

    offset: int
    end: int
    op: OpCode
    form: Form
    slot: int = -1
    constant: int = -1
    target: int = -1
    shape: tuple[int, ...] | None = None
    element: TypeCode | None = None
    number: int | float = 0


def _forms() -> dict[OpCode, tuple[Form, int | None, int | float]]:
    table: dict[OpCode, tuple[Form, int | None, int | float]] = {
        OpCode.ldc: (Form.ldc, None, 0),
        OpCode.invokestatic: (Form.invoke, None, 0),
        OpCode.goto: (Form.jump, None, 0),
        OpCode.if_true: (Form.branch, None, 0),
        OpCode.if_false: (Form.branch, None, 0),
    }
    for value in range(-1, 6):
        table[OpCode(OpCode.iconst_0 + value)] = (Form.push, None, value)
    for value in range(3):
        table[OpCode(OpCode.fconst_0 + value)] = (Form.push, None, float(value))
    pairs = ((OpCode.iload, OpCode.istore), (OpCode.fload, OpCode.fstore), (OpCode.aload, OpCode.astore))
    for code, form in (pair for load, store in pairs for pair in ((load, Form.load), (store, Form.store))):
        table[code] = (form, None, 0)
        for slot in range(INDEXED):
            table[OpCode(code + 1 + slot)] = (form, slot, 0)
    return table


_FORMS = _forms()
"""Opcode -> its form, and the slot and the number that it contains."""


def form_of(op: OpCode) -> tuple[Form, int | None]:
    """Return the opcode's form, and the slot that it contains, or None."""
    return _FORMS[op][:2]


def instructions(code: Sequence[int]) -> Iterator[BytecodeInstruction]:
    """Yield the instructions in order. Raises ModelError with the offset for an unknown opcode and for missing words."""
    position, size = 0, len(code)
    while position < size:
        start = position
        try:
            op = OpCode(code[start])
        except ValueError:
            raise ModelError(f"unknown opcode {code[start]}", where=f"bytecode offset {start}") from None
        form, slot, number = _FORMS[op]
        position += 1
        if form is Form.ldc:
            found = _ldc(code, start, op)
        elif form is Form.push or slot is not None:
            found = BytecodeInstruction(start, position, op, form, -1 if slot is None else slot, number=number)
        else:
            if position >= size:
                raise _ends(start)
            word = code[position]
            end = position + 1
            if form is Form.invoke:
                found = BytecodeInstruction(start, end, op, form, constant=word)
            elif form in _JUMPS:
                found = BytecodeInstruction(start, end, op, form, target=word)
            else:
                found = BytecodeInstruction(start, end, op, form, slot=word)
        position = found.end
        yield found


_JUMPS = (Form.jump, Form.branch)


def _ldc(code: Sequence[int], start: int, op: OpCode) -> BytecodeInstruction:
    words = code[start + 1 : start + 3]
    if len(words) < 2:
        raise _ends(start)
    if words[0] == TypeCode.scalar:
        return BytecodeInstruction(start, start + 3, op, Form.ldc, constant=words[1])
    where = f"bytecode offset {start}"
    if words[0] != TypeCode.tensor:
        raise ModelError(f"ldc of type code {words[0]}", where=where)
    end = start + 5 + words[1]
    if words[1] < 0 or end > len(code):
        raise _ends(start)
    *shape, element, constant = code[start + 3 : end]
    if element not in ELEMENTS:
        raise ModelError(f"elements of type code {element}", where=where)
    if min(shape, default=0) < 0:
        raise ModelError(f"constant of shape {shape}", where=where)
    return BytecodeInstruction(start, end, op, Form.ldc, constant=constant, shape=tuple(shape), element=TypeCode(element))


ELEMENTS = frozenset(code for code in TypeCode if code not in (TypeCode.scalar, TypeCode.tensor, TypeCode.string))


def _ends(start: int) -> ModelError:
    return ModelError("the code ends within an instruction", where=f"bytecode offset {start}")
