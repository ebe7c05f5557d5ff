"""Lowering of a graph's operators to instructions: an instruction set's services for the graph compiler.

A set offers `GraphTasks` as `InstructionSet.tasks`. Sizes and addresses are expressions over dynamic dimensions (`token`,
`last_token`), over names of storage ("runtime0") and over loop variables, so that one compile serves every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from numbers import Real
from typing import Protocol

import numpy as np

from fleet.errors import DeviceError
from fleet.sdk.hardware.device import Device
from fleet.sdk.instructions.instruction import Memory, Write
from fleet.sdk.lowering import Options
from fleet.symbols.expr import Expr, Number

__all__ = [
    "GraphTasks",
    "Join",
    "OnChipRoom",
    "Operand",
    "Packing",
    "Quantiser",
    "Room",
    "Space",
    "Task",
    "TaskCall",
    "TaskContext",
    "TaskOperand",
    "View",
]


@dataclass(frozen=True)
class TaskOperand:
    """A tensor where it stands.

    Attributes:
        shape: (heads, tokens, channels) of features, (CHin, CHout) of weights, (kv_heads, positions, channels) of a cache.
        dtype: "float16", "int4", ...; space: "ddr", "hbm", "onchip".
        address: offset within the space (a storage's name plus an offset).
        surface, line: bytes between groups of channels and between heads, of features; a view keeps its source's. Of a cache:
            bytes between lines of one head and between heads.
        group: inputs that share a scale, of quantised weights. kept: stored weights of a block of them, of sparse ones; 0: all.
        name: the constant's, else empty.
        storage: name of the storage that it stands in.
    """

    shape: tuple[Number, ...]
    dtype: str
    space: str
    address: Number
    surface: Number = 0
    line: Number = 0
    group: int = 0
    kept: int = 0
    name: str = ""
    storage: str = ""


@dataclass(frozen=True)
class TaskCall:
    """One call of a graph: its operator, operands, results and attributes; node: its name in reports.

    results: empty while it is asked what room they need, and of a view.
    """

    op: str
    node: str
    args: tuple[TaskOperand, ...]
    results: tuple[TaskOperand, ...]
    attrs: Mapping[str, object]

    def number(self, name: str) -> Number | None:
        """An attribute that is an integer or an expression; None: it is not given. Raises DeviceError for anything else."""
        value = self.attrs.get(name)
        if value is None or isinstance(value, int | Expr):
            return value
        raise DeviceError(f"attribute {name} is {value!r}, expected an integer", where=self.node)

    def real(self, name: str) -> float | None:
        """An attribute that is a number; None: it is not given. Raises DeviceError for anything else."""
        value = self.attrs.get(name)
        if value is None or isinstance(value, Real):
            return None if value is None else float(value)
        raise DeviceError(f"attribute {name} is {value!r}, expected a number", where=self.node)


class TaskContext(Protocol):
    """The compiler's services for a task that emits."""

    device: Device

    def emit(self, instruction: str, fields: Mapping[str, Number], tokens: tuple[Number, Number] | None = None) -> None:
        """Appends one instruction; every register of its unit by name, as `Call.fields` has them.

        tokens: (first, behind the last) that it works on; None: all of the first result.
        """
        ...

    def loop(self, name: str, count: Number) -> AbstractContextManager[Expr]:
        """Repeat what is emitted inside `count` times (at least once); gives the loop's variable, from 0.

        Under the setting `lite` the variable is 0 and steps that need more than one round are refused (`require`).
        """
        ...

    def parameter(self, register: str, value: int) -> None:
        """Sets a parameter register for the whole model. Raises DeviceError when it is set already to something else."""
        ...

    def require(self, value: Number, most: int, what: str) -> None:
        """A step in which `value` is above `most` is refused, naming `what`: the instructions emitted hold only for others."""
        ...


Task = Callable[[TaskContext, TaskCall], None]
"""Emits the instructions of a call. Raises DeviceError naming what the device cannot do."""


@dataclass(frozen=True)
class Space:
    """A memory as the plan sees it.

    Attributes:
        size: bytes, of every bank. align: what addresses are a multiple of.
        parts: equal parts; a tensor stands within one, and a result in another one than operands of the same instruction.
    """

    size: int
    align: int
    parts: int = 1


@dataclass(frozen=True)
class OnChipRoom:
    """Room of a tensor: bytes (in every bank) with every dimension at its bound, and its strides (`TaskOperand`)."""

    size: int
    surface: Number = 0
    line: Number = 0


class Quantiser(Protocol):
    """Quantises a matrix."""

    def __call__(self, array: np.ndarray, group: int, levels: int, kept: int = 0, /) -> tuple[np.ndarray, np.ndarray]:
        """Return codes int8 and scales float16 [groups, outputs] of weights [inputs, outputs].

        group: inputs that share a scale. kept: codes of each block of 8 inputs that are other than 0, at most; 0: all.
        """
        ...


@dataclass(frozen=True)
class Packing:
    """Packing of a constant for one use of it.

    Attributes:
        kind: two uses of one constant have the same.
        room: what it takes. shape: as tasks see it. group, kept: as in `TaskOperand`.
        pack: its array -> one flat uint8 array a bank (one for spaces other than "hbm"), each of room.size bytes. Raises
            ModelError for an array of another shape or values that the device cannot hold.
        default: the array of a constant without data, where the device brings one (a table of a function that the call names).
    """

    kind: str
    room: OnChipRoom
    shape: tuple[int, ...]
    pack: Callable[[np.ndarray, Quantiser], Sequence[np.ndarray]]
    group: int = 0
    default: Callable[[], np.ndarray] | None = None
    kept: int = 0


class View(Protocol):
    """An operator without instructions: its results are parts of its operands' bytes."""

    def __call__(self, call: TaskCall, shapes: Sequence[tuple[Number, ...]]) -> tuple[TaskOperand, ...]:
        """The results, of the given shapes. Raises DeviceError where it cannot be done without copying."""
        ...


class Join(Protocol):
    """An operator whose operands can be written into its result, so that nothing is copied."""

    def __call__(self, call: TaskCall, whole: TaskOperand) -> tuple[TaskOperand, ...]:
        """Return the place of each operand in the result: address and strides, the rest as the call has it. Raises DeviceError."""
        ...


@dataclass(frozen=True)
class GraphTasks:
    """All that a set offers.

    Attributes:
        tasks: operator -> what emits it. views: operator -> what it makes of operands.
        joins: those views whose operands may be written where the result stands.
        spaces: the memories of a device.
        room: (device, operand without an address, attributes of the call that makes it) -> what it takes. Raises DeviceError
            for a tensor that the device has no layout for.
        packing: (device, call without results, index of an argument that is a constant, options of the compile) -> how it
            stands. The argument's operand has the graph's shape and no address. Raises DeviceError where the operator takes
            no constant there.
        load: (device, operand with numbers, memory) -> the tensor that stands there, in its own shape.
        store: (device, operand with numbers, array) -> what a host writes so that the tensor stands there.
    """

    tasks: Mapping[str, Task]
    views: Mapping[str, View]
    joins: Mapping[str, Join]
    spaces: Callable[[Device], Mapping[str, Space]]
    room: Callable[[Device, TaskOperand, Mapping[str, object]], OnChipRoom]
    packing: Callable[[Device, TaskCall, int, Options], Packing]
    load: Callable[[Device, TaskOperand, Memory], np.ndarray]
    store: Callable[[Device, TaskOperand, np.ndarray], Sequence[Write]]


Operand = TaskOperand
"""Name of `TaskOperand` until 2.5."""

Room = OnChipRoom
"""Name of `OnChipRoom` until 2.5."""
