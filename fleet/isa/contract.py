"""The plug-in contract: everything that fleet knows of an instruction set stands behind these names.

A set is found through the entry point group `fleet.instruction_sets`; the entry point's object is an `InstructionSet`.
Nothing outside a set's own folders names it. docs/instruction-sets.md is the tutorial; rtl_models/README.md has the
hardware's side (the ports of the top module).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

if TYPE_CHECKING:
    from fleet.isa.lowering import Pattern
    from fleet.isa.tasks import GraphTasks


@dataclass(frozen=True)
class Device:
    """One device: the parameters that description, functional model, RTL and compiler share, from one TOML file.

    Attributes:
        name: "hbm_small".
        instruction_set: name of the set that it belongs to.
        parameters: integers under the names of the RTL's parameters ("Tin", "Tout", "HbmPorts", ...); all go to the RTL.
        memory: space -> bytes ("ddr"; "hbm" is bytes a port).
        clock_mhz: the domain in which cycles are counted.
        limits: figures for the roofline: "macs_per_cycle", "hbm_bytes_per_cycle", "ddr_bytes_per_cycle".
        path: the file.
        timing: space -> table of the DRAM behind its ports, as `fleet.isa.dram` reads it; empty: no timed memory. Not part of
            the description's hash: it says when, never what.
    """

    name: str
    instruction_set: str
    parameters: Mapping[str, int]
    memory: Mapping[str, int]
    clock_mhz: float
    limits: Mapping[str, float]
    path: Path
    timing: Mapping[str, Mapping[str, float | str]] = field(default_factory=dict[str, Mapping[str, float | str]])


@dataclass(frozen=True)
class Write:
    """Bytes that an instruction writes: one contiguous block in one space. `data` is uint8, flat.

    space: "ddr", "hbm", "onchip", "reg" or one that the set defines; bank: the HBM port, else 0.
    offset: bytes from the start of the space (of the bank for "hbm").
    dtype: of the elements, as NumPy writes it ("<f2", "<u4"), for messages; empty when unknown.
    """

    space: str
    offset: int
    data: np.ndarray
    bank: int = 0
    dtype: str = ""


@dataclass(frozen=True)
class Range:
    """A range of bytes that an instruction reads or writes, for hazards, legality and traffic."""

    space: str
    offset: int
    size: int
    bank: int = 0


@dataclass(frozen=True)
class Call:
    """One instruction of a stream: its class by name, its operand fields, and what it stands for.

    fields: register or word name (as the description spells it) -> unsigned integer.
    ops: ids of the IR operations that it implements (last: what it computes); token_range as in `Commit`.
    """

    instruction: str
    fields: Mapping[str, int]
    ops: tuple[str, ...] = ()
    token_range: tuple[int, int] | None = None


class Memory(ABC):
    """Device memory as the functional model sees it; backed by mapped files or plain arrays.

    Space "reg" holds the registers whose role is `parameter`, by byte address: what an instruction depends on beside its
    fields. Space "onchip" keeps its contents over all calls of a run.
    """

    @abstractmethod
    def view(self, space: str, offset: int, size: int, bank: int = 0) -> np.ndarray:
        """Writable uint8 view of a range. Raises DeviceError when the range leaves the space."""


class Instruction(ABC):
    """One class an instruction, bound by `name` to the description; the set refuses to load when they disagree.

    Semantics is a pure function of fields and memory: `execute` returns its writes and never touches memory itself, so
    that a write outside `writes` is found by comparing the two.
    """

    name: ClassVar[str]
    executes_in: ClassVar[str] = ""
    """The hardware's unit, for timelines, where it is not the unit whose registers it is started by."""

    @classmethod
    @abstractmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """Bit-exact semantics, vectorised NumPy. A `Write` to space "reg" sets a result register (offset = byte address)."""

    @classmethod
    @abstractmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """One line a violated constraint (naming the field and what was expected); empty when the call is legal."""

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """(error cause, why) with which hardware refuses the call, the cause as the description numbers it; None: legal.

        For sets with one cause; where there are several this says which of them counts.
        """
        wrong = cls.legal(device, fields)
        return (1, "; ".join(wrong)) if wrong else None

    @classmethod
    @abstractmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Every range read."""

    @classmethod
    @abstractmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Every range written, without result registers."""

    @classmethod
    @abstractmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """Cycles from the device's parameters, ideal memory."""

    @classmethod
    def expected_cycles(cls, device: Device, fields: Mapping[str, int], memory: str = "ideal") -> int | None:
        """Cycles with a memory model, given by its name without a parameter ("ideal", "timed", "stall", "fixed").

        None where the set has no estimate, which is all but ideal memory unless a class says more. With "timed" it is the mean
        over refresh phases. Raises DeviceError when the device says nothing of its memories.
        """
        return cls.cost(device, fields) if memory == "ideal" else None

    @classmethod
    def macs(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, int]:
        """(useful, issued) multiply-accumulates; the difference is padding waste. (0, 0) for units without."""
        return (0, 0)


@dataclass(frozen=True)
class RtlFiles:
    """The hardware of a set.

    sources: SystemVerilog files in compile order (packages first); include_dirs: for `include.
    top: module name, with the ports of rtl_models/README.md.
    parameters: from a device to top's parameters (name -> int); default: the device's own parameters.
    """

    sources: tuple[Path, ...]
    top: str
    include_dirs: tuple[Path, ...] = ()
    parameters: Callable[[Device], Mapping[str, int]] = lambda device: device.parameters


Loader = Callable[[Device, int, int, int, int], Sequence[Call]]
"""(device, source, port, target, size) -> the calls that copy `size` bytes from DDR offset `source` to `target` of the port's bank.

All three are multiples of 32, the source of 64.
"""


@dataclass(frozen=True)
class InstructionSet:
    """The manifest: one plug-in.

    Attributes:
        name: "toy".
        description: the SystemRDL file; `fleet.isa.description.load` parses it.
        instructions: name -> class; exactly the instructions of the description.
        patterns: how IR operations become instructions, best first (`fleet.isa.lowering`).
        composites: names of composite operations ("attention", as in `fleet.ir.composite`) that patterns match: the compiler
            looks for them in a model before it matches. Without any a model is matched as it came.
        layout: packs and unpacks activation tensors (`fleet.isa.lowering.Layout`).
        rtl: None while a set has no hardware yet: engine `rtl` then says so.
        devices: name -> device.
        cases: folder of the set's own cases; may be empty.
        sources: the files that decide bits (semantics, legality, tables): Python, and data that they read. Their text, the classes'
            and that of all that they import is part of `fleet.isa.registry.description_hash`, with the canonical description and
            the device's values.
        extra: what only some parts of the project ask for, by name.
        loader: the instructions by which the device fills its own HBM; None: only the host does (`--load host`).
        tasks: how operators of a graph become instructions (`fleet.isa.tasks`); None: the graph compiler refuses the set.
    """

    name: str
    description: Path
    instructions: Mapping[str, type[Instruction]]
    patterns: Sequence[Pattern]
    layout: Any
    devices: Mapping[str, Device]
    rtl: RtlFiles | None = None
    cases: Path | None = None
    sources: tuple[Path, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    loader: Loader | None = None
    composites: tuple[str, ...] = ()
    tasks: GraphTasks | None = None
