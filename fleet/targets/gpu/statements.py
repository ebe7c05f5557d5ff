"""Statements and expressions of a kernel's text, before they are printed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

TextOperand: TypeAlias = Any
"""An `Expression`, or a constant of llvmlite, which carries no types."""


@dataclass(eq=False)
class Expression:
    """A value.

    type: llvmlite's. form: its text with {0}, {1} for the operands; None for a variable that a statement declares. index: C's int
    holds it, because it counts elements. counts: so do its operands. reads: it reads memory. name: of its variable, given when it
    is printed.
    """

    type: Any
    form: str | None
    operands: tuple[TextOperand, ...] = ()
    index: bool = False
    counts: bool = False
    reads: bool = False
    name: str = ""


@dataclass(frozen=True)
class Pointer:
    """An address: an element of the array `name`.

    type: llvmlite's, of an element. offset: elements from the first, None for 0. space: "memory", "shared" by a group, "own" of a
    work item, "common" to the launches of an operation, or "scratch", where each work item has its own bytes, from `start` on.
    """

    name: str
    type: Any
    offset: TextOperand | None = None
    space: str = "memory"
    start: int = 0


@dataclass(eq=False)
class StoreStatement:
    """memory = value."""

    pointer: Pointer
    value: TextOperand


@dataclass(eq=False)
class CountedLoop:
    """for (variable = 0; variable < count; variable += step), with values that pass from round to round.

    unrolled: so many rounds between two branches; 0: the compiler decides, -1: all, so that indices into arrays of the work item
    are known.
    """

    count: int
    step: int
    variable: Expression
    init: Sequence[TextOperand]
    carried: Sequence[Expression]
    body: StatementBlock
    after: Sequence[TextOperand] = ()
    unrolled: int = 0


@dataclass(eq=False)
class WhileLoop:
    """variable = init; as long as `holds`, which `test` computes: variable = after."""

    init: TextOperand
    variable: Expression
    test: StatementBlock
    holds: TextOperand
    body: StatementBlock
    after: TextOperand


@dataclass(eq=False)
class Choice:
    """variable = condition ? the body's value : otherwise."""

    condition: TextOperand
    variable: Expression
    otherwise: TextOperand
    body: StatementBlock
    value: TextOperand


@dataclass(eq=False)
class When:
    """A body that runs if the condition holds."""

    condition: TextOperand
    body: StatementBlock


@dataclass(eq=False)
class FaultStop:
    """The end of a work item with the number of a fault and two words for its message."""

    condition: TextOperand
    fault: int
    value: TextOperand
    bound: TextOperand


@dataclass(eq=False)
class Raw:
    """A statement as text."""

    text: str


@dataclass(eq=False)
class CallStatement:
    """A call of a function that returns nothing. form: its text with {0}, {1} for the operands, which count elements."""

    form: str
    operands: tuple[TextOperand, ...]


StatementItem: TypeAlias = Expression | StoreStatement | CountedLoop | WhileLoop | Choice | When | FaultStop | Raw | CallStatement


@dataclass(eq=False)
class StatementBlock:
    """Statements in order."""

    items: list[StatementItem] = field(default_factory=list[StatementItem])

    @property
    def acts(self) -> bool:
        """Whether it does anything but compute values."""
        return any(not isinstance(item, Expression) for item in self.items)


def operands_of(item: StatementItem) -> tuple[Sequence[TextOperand], Sequence[StatementBlock], Sequence[TextOperand]]:
    """Return what a statement reads before its bodies run, its bodies, and what is read at their ends."""
    match item:
        case Expression():
            return item.operands, (), ()
        case StoreStatement():
            offset = item.pointer.offset
            return ((item.value,) if offset is None else (offset, item.value)), (), ()
        case CountedLoop():
            return item.init, (item.body,), item.after
        case WhileLoop():
            return (item.init,), (item.test, item.body), (item.holds, item.after)
        case Choice():
            return (item.condition, item.otherwise), (item.body,), (item.value,)
        case When():
            return (item.condition,), (item.body,), ()
        case FaultStop():
            return (item.condition, item.value, item.bound), (), ()
        case CallStatement():
            return item.operands, (), ()
        case Raw():
            return (), (), ()
