"""Parts of a compiled graph: instructions whose fields are expressions, loops around them, and the nodes they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from fleet.errors import DeviceError
from fleet.isa.description import Description, parameter_values
from fleet.sdk.tasks import Packing, TaskOperand
from fleet.symbols.expr import Expr, Number, Var

_LARGEST_ADDRESS = 1 << 40
"""Bound of an address: a header's expressions must be known to fit 64 bits."""


def address_of(storage: str) -> Var:
    """The variable for the address of a storage."""
    return Var(storage, _LARGEST_ADDRESS)


def set_parameter(known: dict[str, int], description: Description, register: str, value: int) -> None:
    """Set a parameter register for a whole model. Raises DescriptionError for a wrong one, DeviceError for two values."""
    parameter_values(description, {register: value})
    if known.setdefault(register, value) != value:
        what = f"register '{register}' is needed with {known[register]:#x} and with {value:#x}"
        raise DeviceError(what, hint="the device has one for the whole model")


@dataclass(frozen=True)
class Instr:
    """One instruction: a `Call` whose numbers may be expressions of the storages' addresses, of dimensions and of a loop's index.

    tokens: (first, end) of the tokens that it processes; None if not applicable.
    """

    instruction: str
    fields: Mapping[str, Number]
    ops: tuple[str, ...]
    tokens: tuple[Number, Number] | None

    @cached_property
    def dynamic(self) -> Mapping[str, Expr]:
        """Register -> its expression, of those that have one."""
        return {name: value for name, value in self.fields.items() if isinstance(value, Expr)}


@dataclass(frozen=True)
class Loop:
    """Instructions that run `count` times, with `index` from 0; never more than `most` times."""

    index: Var
    count: Expr
    most: int
    body: tuple[Instr, ...]


@dataclass(frozen=True)
class NodeInfo:
    """A call of the graph with instructions: [first, end) of `Emission.items`. name: unique."""

    name: str
    op: str
    first: int
    end: int
    results: tuple[TaskOperand, ...]


@dataclass(frozen=True)
class ConstantPlace:
    """A constant and its place. data: as in `fleet.ir.accel.nodes.Constant`; files: unique prefix of its files' names."""

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
    """A compiled graph, before addresses are assigned.

    Attributes:
        items: in program order. nodes: calls with instructions, in order.
        inputs, outputs: name -> place.
        constants: in the order of their first use.
        dims: the dynamic dimensions, by name. requirements: the limits of a step.
        parameters: parameter register -> value.
        log: one line per call, where it reads and writes.
    """

    items: tuple[Instr | Loop, ...]
    nodes: tuple[NodeInfo, ...]
    inputs: Mapping[str, TaskOperand]
    outputs: Mapping[str, TaskOperand]
    constants: tuple[ConstantPlace, ...]
    dims: Mapping[str, Var]
    requirements: tuple[Requirement, ...]
    parameters: Mapping[str, int]
    log: tuple[str, ...]
