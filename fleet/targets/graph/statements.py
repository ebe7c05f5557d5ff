"""The driver's program: what a host does with a device, without a language. A target prints it (`fleet.targets.graph.cpp`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fleet.symbols.expr import Number

__all__ = [
    "Annotation", "Assign", "Block", "CallFunction", "CopyFile", "CsbRead", "CsbWrite", "Define", "For", "Function", "IfThen",
    "Node", "Parameter", "Program", "Return", "WaitFor", "WriteWord",
]  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """Of a function. kind: "device" (registers), "memory" (DMA), "folder" (text) or "int"."""

    name: str
    kind: str


@dataclass
class Block:
    """Statements in order."""

    body: list[Node] = field(default_factory=list["Node"])

    def add(self, *statements: Node) -> None:
        """Appends."""
        self.body += statements


@dataclass(frozen=True)
class Annotation:
    """A line for people."""

    text: str


@dataclass(frozen=True)
class Define:
    """A global: kind "address" (64 bits, hexadecimal where it is a number) or "int" (changes while the program runs)."""

    name: str
    kind: str
    value: Number
    comment: str = ""


@dataclass(frozen=True)
class Assign:
    """Gives an "int" a value."""

    name: str
    value: Number


@dataclass(frozen=True)
class CsbRead:
    """Reads a register; an expression of `Return`."""

    register: int


@dataclass(frozen=True)
class CsbWrite:
    """Writes a register. title: what it is."""

    register: int
    value: Number
    title: str = ""


@dataclass(frozen=True)
class WaitFor:
    """Reads a register until it has the value."""

    register: int
    value: int


@dataclass(frozen=True)
class WriteWord:
    """Writes 32 bits to an absolute address of DDR."""

    address: Number
    value: Number


@dataclass(frozen=True)
class CopyFile:
    """Copies a file below the folder to an absolute address. space: "ddr" or "hbm"."""

    space: str
    file: str
    address: Number
    size: int


@dataclass(frozen=True)
class CallFunction:
    """Calls a function with its own parameters' names."""

    name: str
    parameters: Sequence[Parameter]


@dataclass(frozen=True)
class Return:
    """Gives back a register's value, or a number."""

    value: CsbRead | Number


@dataclass(frozen=True)
class IfThen:
    """Where the expression is not 0."""

    condition: Number
    then: Block
    otherwise: Block | None = None


@dataclass(frozen=True)
class For:
    """`index` from 0 to below `count`."""

    index: str
    count: Number
    body: Block


@dataclass(frozen=True)
class Function:
    """A function. gives: "nothing", "word" (32 bits) or "address"."""

    name: str
    parameters: Sequence[Parameter]
    body: Block
    gives: str = "nothing"


Node = (
    Annotation
    | Assign
    | Block
    | CallFunction
    | CopyFile
    | CsbWrite
    | Define
    | For
    | Function
    | IfThen
    | Return
    | WaitFor
    | WriteWord
)


@dataclass(frozen=True)
class Program:
    """All of it. namespace: None for none."""

    body: Block
    namespace: str | None = None
