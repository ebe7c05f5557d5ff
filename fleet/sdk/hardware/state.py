"""Architectural state: the memories inside the hardware, and the registers that instructions write and later ones depend on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fleet.errors import DeviceError

__all__ = ["ARRAY_0", "REGISTERS", "MemoryArray", "OnChipMemory", "State", "StateRegister", "depth_parameter", "evaluated"]

ARRAY_0 = 256
"""Number of the first on-chip memory's space in digests; the others follow in the order of the description."""

REGISTERS = "state"
"""Space of the state registers: register n is the 32-bit word at byte 4 * n."""

_OPERATORS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.FloorDiv: int.__floordiv__,
}


@dataclass(frozen=True)
class OnChipMemory:
    """A memory inside the hardware, as the description declares it.

    Attributes:
        name: of its space in `Range`, `Write` and `Memory.view`.
        dtype: of an element, as NumPy writes it ("<i4").
        columns: elements of a row: integers, the device's parameters, + - * // ("Block * Block").
        banks: of equal depth, one behind the other.
        undefined: what reset leaves has no value; else it is 0.
    """

    name: str
    dtype: str
    columns: str = "1"
    banks: int = 1
    undefined: bool = True


class StateRegister(NamedTuple):
    """A register of 32 bits that instructions write (a stride, a mode, a pointer). reset: its value after reset."""

    name: str
    reset: int = 0


@dataclass(frozen=True)
class State:
    """The architectural state of an instruction set; `fleet isa generate` writes it as `STATE` from the description."""

    memories: tuple[OnChipMemory, ...] = ()
    registers: tuple[StateRegister, ...] = ()


@dataclass(frozen=True)
class MemoryArray:
    """An on-chip memory of one device: `banks` times `depth` rows of `columns` elements.

    number: of its space in digests (`fleet.isa.digest`) and in what the hardware tells of its writes.
    """

    name: str
    number: int
    dtype: str
    columns: int
    depth: int
    banks: int = 1
    undefined: bool = True

    @property
    def row_bytes(self) -> int:
        """Bytes of a row."""
        return self.columns * np.dtype(self.dtype).itemsize

    @property
    def size(self) -> int:
        """Bytes of all banks."""
        return self.banks * self.depth * self.row_bytes

    def place(self, offset: int) -> str:
        """Return the place of a byte: "bank 1, row 7, column 3", the bank where there are several."""
        row, inside = divmod(offset, self.row_bytes)
        bank, row = divmod(row, self.depth)
        column = f", column {inside // np.dtype(self.dtype).itemsize}" if self.columns > 1 else ""
        return (f"bank {bank}, " if self.banks > 1 else "") + f"row {row}{column}"


def depth_parameter(memory: str) -> str:
    """The hardware's parameter for the depth of (a bank of) a memory: "weight_buffer" -> "WeightBufferDepth"."""
    return "".join(part[:1].upper() + part[1:] for part in memory.split("_")) + "Depth"


def evaluated(expression: str, parameters: Mapping[str, int]) -> int:
    """The value of an expression of parameters. Raises DeviceError for anything else than names, integers and + - * //."""
    try:
        return _value(ast.parse(expression, mode="eval").body, parameters)
    except (SyntaxError, ZeroDivisionError) as error:
        raise DeviceError(f"'{expression}' has no value ({error.args[0]})") from error


def _value(node: ast.expr, parameters: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name):
        if node.id not in parameters:
            raise DeviceError(f"no parameter '{node.id}'", hint=f"expected one of {', '.join(parameters) or 'none'}")
        return parameters[node.id]
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_value(node.left, parameters), _value(node.right, parameters))
    raise DeviceError(f"'{ast.unparse(node)}' is not a name, an integer, or + - * // of them")
