"""Parts of a compiled graph: instructions whose fields are expressions, loops around them, and the nodes they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fleet.sdk.tasks import Packing, TaskOperand
from fleet.symbols.expr import Expr, Number, Var

_LARGEST_ADDRESS = 1 << 40
"""Bound of an address: a header's expressions must be known to fit 64 bits."""


def address_of(storage: str) -> Var:
    """The variable that stands for the address of a storage."""
    return Var(storage, _LARGEST_ADDRESS)


@dataclass(frozen=True)
class Instr:
    """One instruction. fields: register name -> number or expression; node: index of its `NodeInfo`.

    tokens: (first, behind the last) that it works on; None where that means nothing.
    """

    instruction: str
    fields: Mapping[str, Number]
    node: int
    tokens: tuple[Number, Number] | None


@dataclass(frozen=True)
class Loop:
    """Instructions that run `count` times, with `index` from 0; never more than `most` times."""

    index: Var
    count: Expr
    most: int
    body: tuple[Instr, ...]


@dataclass(frozen=True)
class NodeInfo:
    """A call of the graph. items: its part of `Emission.items`, [first, end). name: unique."""

    name: str
    op: str
    step: int
    first: int
    end: int
    args: tuple[TaskOperand, ...]
    results: tuple[TaskOperand, ...]


@dataclass(frozen=True)
class ConstantPlace:
    """A constant and where it stands. data: as in `fleet.ir.accel.nodes.Constant`; files: unique beginning of its files' names."""

    name: str
    data: object
    storage: str
    space: str
    packing: Packing


@dataclass(frozen=True)
class Requirement:
    """A step must keep `value` at or below `most`."""

    value: Expr
    most: int
    what: str


@dataclass(frozen=True)
class Emission:
    """A compiled graph, before addresses are put in.

    Attributes:
        items: in program order. nodes: calls with instructions, in order; views: calls without.
        inputs, outputs: name -> where it stands.
        constants: in the order of their first use.
        dims: the dynamic dimensions, by name. requirements: what a step must keep to.
        parameters: parameter register -> value.
        log: a line a call, where it reads and writes.
    """

    items: tuple[Instr | Loop, ...]
    nodes: tuple[NodeInfo, ...]
    views: tuple[NodeInfo, ...]
    inputs: Mapping[str, TaskOperand]
    outputs: Mapping[str, TaskOperand]
    constants: tuple[ConstantPlace, ...]
    dims: Mapping[str, Var]
    requirements: tuple[Requirement, ...]
    parameters: Mapping[str, int]
    log: tuple[str, ...]

    def instructions(self) -> Iterator[Instr]:
        """All of them, those of a loop once."""
        for item in self.items:
            yield from item.body if isinstance(item, Loop) else (item,)
