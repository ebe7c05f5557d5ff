"""How an operator of a graph becomes instructions: what an instruction set offers to the graph compiler.

A set lists its tasks in `InstructionSet.tasks`, operator name -> `Task`. Sizes and addresses are expressions over dynamic dimensions
(`token`, `last_token`), over names of storage ("runtime0") and over loop variables, so that one compile serves every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from fleet.isa.contract import Device
from fleet.symbols.expr import Expr

__all__ = ["Operand", "Task", "TaskCall", "TaskContext"]

Number = int | Expr


@dataclass(frozen=True)
class Operand:
    """A tensor where it stands.

    Attributes:
        shape: (heads, tokens, channels) of features, (CHin, CHout) of weights, (kv_heads, positions, channels) of a cache.
        dtype: "float16", "int4", ...; space: "ddr", "hbm", "onchip".
        address: offset within the space (a storage's name plus an offset).
        surface, line: bytes between groups of 32 channels and between heads, of features; a view keeps its source's.
        group: inputs that share a scale, of quantised weights. name: the constant's, else empty.
    """

    shape: tuple[Number, ...]
    dtype: str
    space: str
    address: Number
    surface: Number = 0
    line: Number = 0
    group: int = 0
    name: str = ""


@dataclass(frozen=True)
class TaskCall:
    """One call of a graph: its operator, operands, results and attributes; node: its name in reports."""

    op: str
    node: str
    args: tuple[Operand, ...]
    results: tuple[Operand, ...]
    attrs: Mapping[str, Any]


class TaskContext(Protocol):
    """What the compiler offers while a task emits."""

    device: Device

    def emit(self, instruction: str, fields: Mapping[str, Number]) -> None:
        """Appends one instruction; every register of its unit by name, as `Call.fields` has them."""
        ...

    def loop(self, name: str, count: Number) -> AbstractContextManager[Expr]:
        """What is emitted inside runs `count` times (at least once); gives the loop's variable, from 0.

        Under the setting `lite` the count is taken as 1 and holding it to that is the caller's.
        """
        ...

    def parameter(self, register: str, value: int) -> None:
        """Sets a parameter register for the whole model. Raises DeviceError when it is set already to something else."""
        ...

    def upper(self, value: Number) -> int:
        """The largest that an expression gets, with every dynamic dimension at its bound."""
        ...


Task = Callable[[TaskContext, TaskCall], None]
"""Emits the instructions of a call. Raises DeviceError naming what the device cannot do."""
