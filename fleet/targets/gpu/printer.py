"""Statements -> text.

A value that is used once is written where it is used; one that is used more often, or that is long, gets a variable. What reads
memory is read before anything behind it writes.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fleet.targets.gpu.statements import (
    CallStatement,
    Choice,
    CountedLoop,
    Expression,
    FaultStop,
    Pointer,
    Raw,
    StatementBlock,
    StatementItem,
    StoreStatement,
    TextOperand,
    When,
    WhileLoop,
    operands_of,
)
from fleet.targets.gpu.surface import Surface
from fleet.targets.riscv.kernels.kernel import F32, F64, I1

_LONGEST = 88
"""Characters of an expression up to which it is written where it is used."""


class StatementPrinter:
    """Prints the statements of one launch. base: returns the text of the address of a pointer's first element."""

    def __init__(self, surface: Surface, base: Callable[[Pointer], str]) -> None:
        self._surface, self._base = surface, base
        self._uses: Counter[Expression] = Counter()
        self._used_in: dict[Expression, StatementBlock] = {}
        self._pending: dict[Expression, str] = {}
        self._reading: set[Expression] = set()
        self._numbers: Counter[str] = Counter()
        self._lines: list[str] = []
        self.stops = False
        """Whether a work item may end with a fault."""

    def text(self, block: StatementBlock, depth: int) -> str:
        """Return the lines of a block."""
        self._count(block)
        self._block(block, depth)
        return "".join(f"{line}\n" for line in self._lines)

    # ---- uses

    def _count(self, block: StatementBlock) -> None:
        """Count the uses of every value by what is printed, from the last statement on."""
        for item in reversed(block.items):
            if isinstance(item, Expression):
                if self._uses[item]:
                    for n, operand in enumerate(item.operands):
                        self._use(operand, block, (item.form or "").count(f"{{{n}}}"))
                continue
            before, bodies, ends = operands_of(item)
            for body, operands in zip(reversed(bodies), reversed(_ends(item, ends)), strict=True):
                for operand in operands:
                    self._use(operand, body)
                self._count(body)
            for operand in before:
                self._use(operand, block)

    def _use(self, operand: TextOperand, block: StatementBlock, times: int = 1) -> None:
        if isinstance(operand, Expression):
            self._uses[operand] += times
            self._used_in[operand] = block

    # ---- statements

    def _block(self, block: StatementBlock, depth: int) -> None:
        for item in block.items:
            if isinstance(item, Expression):
                self._value(item, block, depth)
            else:
                self._statement(item, depth)

    def _value(self, item: Expression, block: StatementBlock, depth: int) -> None:
        if not self._uses[item] or item.form is None:
            return
        reads = item.reads or any(isinstance(o, Expression) and o in self._reading for o in item.operands)
        operands = [self._operand(o, counts=item.counts) for o in item.operands]
        text = item.form.format(*map(bare, operands) if item.reads else operands)
        if self._uses[item] == 1 and self._used_in[item] is block and len(text) <= _LONGEST:
            self._pending[item] = text
            if reads:
                self._reading.add(item)
            return
        self._declare(item, text, depth)

    def _declare(self, item: Expression, text: str, depth: int) -> None:
        self._name(item, "v")
        self._line(f"const {self._type(item)} {item.name} = {bare(text)};", depth)

    def _flush(self, depth: int) -> None:
        """Give variables to values that read memory and are not used yet: what follows may write there."""
        for item in [item for item in self._pending if item in self._reading]:
            self._declare(item, self._pending.pop(item), depth)
        self._reading.clear()

    def _statement(self, item: StatementItem, depth: int) -> None:
        match item:
            case StoreStatement():
                offset = "0" if item.pointer.offset is None else bare(self._operand(item.pointer.offset, counts=True))
                value = bare(self._operand(item.value))
                self._flush(depth)
                self._line(f"{self._base(item.pointer)}[{offset}] = {value};", depth)
            case CountedLoop():
                self._loop(item, depth)
            case WhileLoop():
                init = bare(self._operand(item.init))
                self._flush(depth)
                self._name(item.variable, "s")
                self._line(f"{self._type(item.variable)} {item.variable.name} = {init};", depth)
                self._line("for (;;) {", depth)
                self._block(item.test, depth + 1)
                self._line(f"if (!{self._operand(item.holds)}) break;", depth + 1)
                self._block(item.body, depth + 1)
                self._line(f"{item.variable.name} = {bare(self._operand(item.after))};", depth + 1)
                self._line("}", depth)
            case Choice():
                otherwise, condition = bare(self._operand(item.otherwise)), bare(self._operand(item.condition))
                self._flush(depth)
                self._name(item.variable, "s")
                self._line(f"{self._type(item.variable)} {item.variable.name} = {otherwise};", depth)
                self._line(f"if ({condition}) {{", depth)
                self._block(item.body, depth + 1)
                self._line(f"{item.variable.name} = {bare(self._operand(item.value))};", depth + 1)
                self._line("}", depth)
            case When():
                condition = bare(self._operand(item.condition))
                self._flush(depth)
                self._line(f"if ({condition}) {{", depth)
                self._block(item.body, depth + 1)
                self._line("}", depth)
            case FaultStop():
                self._stop(item, depth)
            case CallStatement():
                operands = [bare(self._operand(o, counts=True)) for o in item.operands]
                self._flush(depth)
                self._line(item.form.format(*operands), depth)
            case _:
                assert isinstance(item, Raw)
                self._flush(depth)
                self._line(item.text, depth)

    def _loop(self, loop: CountedLoop, depth: int) -> None:
        starts = [bare(self._operand(value)) for value in loop.init]
        self._flush(depth)
        for variable, start in zip(loop.carried, starts, strict=True):
            self._name(variable, "s")
            self._line(f"{self._type(variable)} {variable.name} = {start};", depth)
        self._name(loop.variable, "k")
        k = loop.variable.name
        step = f"++{k}" if loop.step == 1 else f"{k} += {loop.step}"
        if loop.unrolled:
            self._line(f"#pragma unroll {loop.unrolled}" if loop.unrolled > 0 else "#pragma unroll", depth)
        self._line(f"for (int {k} = 0; {k} < {loop.count}; {step}) {{", depth)
        self._block(loop.body, depth + 1)
        if len(loop.carried) > 1:  # all new values before the first variable changes
            for value in loop.after:
                if isinstance(value, Expression) and not value.name:
                    self._declare(value, self._pending.pop(value), depth + 1)
        after = [self._operand(value) for value in loop.after]
        names = {variable.name for variable in loop.carried}
        for n, (variable, text) in enumerate(zip(loop.carried, after, strict=True)):
            if text in names - {variable.name}:
                self._numbers["t"] += 1
                after[n] = f"t{self._numbers['t'] - 1}"
                self._line(f"const {self._type(variable)} {after[n]} = {text};", depth + 1)
        for variable, text in zip(loop.carried, after, strict=True):
            if text != variable.name:
                self._line(f"{variable.name} = {bare(text)};", depth + 1)
        self._line("}", depth)

    def _stop(self, item: FaultStop, depth: int) -> None:
        condition, value, bound = (bare(self._operand(v)) for v in (item.condition, item.value, item.bound))
        self.stops = True
        self._line(f"if ({condition}) {{", depth)
        # The first launch finds the first item with a fault, a second one what it says.
        self._line(f"if ({self._surface.least}(stopped, i) == i) {{", depth + 1)
        for n, text in enumerate((str(item.fault), value, bound)):
            self._line(f"fault[{n}] = {text};", depth + 2)
        self._line("}", depth + 1)
        self._line("return;", depth + 1)
        self._line("}", depth)

    # ---- expressions

    def _line(self, text: str, depth: int) -> None:
        self._lines.append("  " * depth + text)

    def _name(self, item: Expression, letter: str) -> None:
        item.name = f"{letter}{self._numbers[letter]}"
        self._numbers[letter] += 1

    def _type(self, item: Expression) -> str:
        return "int" if item.index else self._surface.types[str(item.type)]

    def _operand(self, operand: TextOperand, *, counts: bool = False) -> str:
        """Return the text of an operand. counts: of a value that counts elements."""
        if not isinstance(operand, Expression):
            return literal(operand, self._surface, counts=counts)
        text = operand.name or self._pending.pop(operand)
        self._reading.discard(operand)
        return text if counts or not operand.index else f"({self._surface.types['i64']}){text}"


def _ends(item: StatementItem, ends: Sequence[TextOperand]) -> list[Sequence[TextOperand]]:
    """Return what is read at the end of every body of a statement."""
    return [ends[:1], ends[1:]] if isinstance(item, WhileLoop) else [ends] * len(operands_of(item)[1])


def bare(text: str) -> str:
    """Return an expression without parentheses around the whole of it."""
    if not text.startswith("("):
        return text
    depth = 0
    for at, character in enumerate(text):
        depth += {"(": 1, ")": -1}.get(character, 0)
        if depth == 0:
            return text[1:-1] if at == len(text) - 1 else text
    return text


def literal(constant: Any, surface: Surface, *, counts: bool = False) -> str:
    """Return the text of a number. counts: it counts elements, in C's int."""
    type_, value = constant.type, constant.constant
    if type_ in (F32, F64):
        return _float(type_, float(value), surface)
    if type_ == I1:
        return "true" if value else "false"
    half = 1 << (type_.width - 1)
    number = (int(value) + half) % (2 * half) - half
    suffix = surface.long_suffix if type_.width == 64 and not counts else ""
    if number == -half and type_.width >= 32:
        return f"({number + 1}{suffix} - 1)"
    return f"{number}{suffix}" if number >= 0 else f"({number}{suffix})"


def _float(type_: Any, value: float, surface: Surface) -> str:
    single = type_ == F32
    if not math.isfinite(value):
        form, bits = ("f", "i32") if single else ("d", "i64")
        (number,) = struct.unpack("<I" if single else "<Q", struct.pack(f"<{form}", value))
        suffix = "" if single else surface.long_suffix
        return f"{surface.bits[bits, str(type_)]}(0x{number:x}{suffix})"
    text = f"{np.float32(value)!s}f" if single else repr(value)
    return f"({text})" if text.startswith("-") else text
