"""The driver's program: what a host does with a device, independent of a language. `fleet.targets.driver.cpp` prints it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from fleet.sdk.layout import Arrangement
from fleet.symbols.expr import Number


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function. kind: "device" (registers), "memory" (DMA), "folder" (text) or "int"."""

    name: str
    kind: str


@dataclass(frozen=True)
class ArrayName:
    """A row-major array on the host, or a parameter that points to one. written: whether the function writes it."""

    name: str
    dtype: np.dtype
    shape: tuple[int, ...]
    written: bool = False

    @property
    def count(self) -> int:
        """Number of elements."""
        return prod(self.shape)


@dataclass
class Block:
    """Statements in order."""

    body: list[Node] = field(default_factory=list["Node"])

    def add(self, *statements: Node) -> None:
        """Append statements."""
        self.body += statements


@dataclass(frozen=True)
class Annotation:
    """A comment line."""

    text: str


@dataclass(frozen=True)
class Define:
    """A global: kind "address" (64 bits, a constant in hexadecimal) or "int" (changes while the program runs)."""

    name: str
    kind: str
    value: Number
    comment: str = ""


@dataclass(frozen=True)
class Assign:
    """Assigns a value to an "int"."""

    name: str
    value: Number


@dataclass(frozen=True)
class CsbRead:
    """Reads a register; an expression of `Return`."""

    register: int


@dataclass(frozen=True)
class CsbWrite:
    """Writes a register. title: its description."""

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
class DefineArray:
    """An array filled with zeros: of a function, or of the whole program."""

    array: ArrayName


@dataclass(frozen=True)
class ReadArray:
    """Fills an array from a file below the folder."""

    array: ArrayName
    file: str


@dataclass(frozen=True)
class CopyArray:
    """Copies elements."""

    target: ArrayName
    source: ArrayName


@dataclass(frozen=True)
class StoreTensor:
    """Writes an array to DDR at an absolute address, in the device's layout."""

    array: ArrayName
    address: int
    arrangement: Arrangement


@dataclass(frozen=True)
class LoadTensor:
    """Reads an array from DDR."""

    array: ArrayName
    address: int
    arrangement: Arrangement


@dataclass(frozen=True)
class HostKernel:
    """Declares a function of another object file: arrays in, arrays out. comment: what it computes."""

    name: str
    arrays: Sequence[ArrayName]
    comment: str


@dataclass(frozen=True)
class CallKernel:
    """Calls a declared function with arrays in the order of its parameters; ends the program if it reports a fault."""

    kernel: HostKernel
    arrays: Sequence[ArrayName]


@dataclass(frozen=True)
class Ports:
    """Tables of a model's inputs and outputs, and a function that runs the model with them.

    run: the function that takes them all; inputs, outputs: name in the model -> parameter, in order.
    """

    run: str
    inputs: Mapping[str, ArrayName]
    outputs: Mapping[str, ArrayName]


@dataclass(frozen=True)
class CallFunction:
    """Calls a function, passing its parameters by their own names."""

    name: str
    parameters: Sequence[Parameter]


@dataclass(frozen=True)
class Return:
    """Returns a register's value, or a number."""

    value: CsbRead | Number


@dataclass(frozen=True)
class IfThen:
    """Runs its body if the expression is not 0."""

    condition: Number
    then: Block
    otherwise: Block | None = None


@dataclass(frozen=True)
class For:
    """Runs its body with `index` from 0 to below `count`."""

    index: str
    count: Number
    body: Block


@dataclass(frozen=True)
class DriverFunction:
    """A function. gives: type of its result, "nothing", "word" (32 bits) or "address"."""

    name: str
    parameters: Sequence[Parameter | ArrayName]
    body: Block
    gives: str = "nothing"


Node = (
    Annotation
    | Assign
    | Block
    | CallFunction
    | CallKernel
    | CopyArray
    | CopyFile
    | CsbWrite
    | Define
    | DefineArray
    | For
    | DriverFunction
    | IfThen
    | HostKernel
    | LoadTensor
    | Ports
    | ReadArray
    | Return
    | StoreTensor
    | WaitFor
    | WriteWord
)


@dataclass(frozen=True)
class DriverProgram:
    """The program. namespace: None for none. tensors: whether it moves tensors, and needs the header for that."""

    body: Block
    namespace: str | None = None
    tensors: bool = False
