"""Instructions: one class an instruction, bound by name to the description; a call of one; the memory that it reads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, overload

import numpy as np

from fleet.errors import DeviceError
from fleet.sdk.hardware.device import Device
from fleet.sdk.instructions.operands import Operands

__all__ = ["Call", "Instruction", "Memory", "Range", "Write", "contiguous"]


def _starts(offset: int, counts: Sequence[int], strides: Sequence[int]) -> np.ndarray:
    """Offsets of blocks at regular distances, the last axis fastest: int64, flat."""
    found = np.array([offset], np.int64)
    for count, stride in zip(counts, strides, strict=True):
        found = (found[:, None] + stride * np.arange(count, dtype=np.int64)).reshape(-1)
    return found


@dataclass(frozen=True)
class Write:
    """Bytes that an instruction writes in one space: one contiguous block, or many of one size at regular distances.

    space: "ddr", "hbm", "reg" (result registers) or an on-chip memory; bank: the HBM port, else 0.
    offset: bytes from the start of the space (of the bank for "hbm").
    data: uint8; flat, or with strides [..., bytes of a block].
    dtype: of the elements, as NumPy writes it ("<f2", "<u4"), for messages; empty when unknown.
    strides: bytes from a block to the next along each axis of data but the last, not negative. Blocks do not overlap.

    Raises DeviceError for data of another type, or with other axes than the strides.
    """

    space: str
    offset: int
    data: np.ndarray
    bank: int = 0
    dtype: str = ""
    strides: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.data.dtype != np.uint8 or self.data.ndim != len(self.strides) + 1:
            raise DeviceError(
                f"a write to {self.space} at {self.offset:#x} has data {self.data.dtype}{list(self.data.shape)} and strides"
                f" {list(self.strides)}, expected uint8 with one axis more than strides",
                hint="`.reshape(-1).view(np.uint8)` gives the bytes of an array",
            )

    @property
    def counts(self) -> tuple[int, ...]:
        """Number of blocks along each axis; () where it is one."""
        return self.data.shape[:-1] if self.strides else ()

    def starts(self) -> np.ndarray:
        """Offsets of the blocks in the order of data: int64, flat."""
        return _starts(self.offset, self.counts, self.strides)

    def put(self, memory: Memory) -> None:
        """Write the bytes into memory. Raises DeviceError where they leave the space."""
        if not self.strides:
            memory.view(self.space, self.offset, self.data.size, self.bank)[:] = self.data
        elif self.data.size:
            span = sum((n - 1) * stride for n, stride in zip(self.counts, self.strides, strict=True)) + self.data.shape[-1]
            whole = memory.view(self.space, self.offset, span, self.bank)
            np.ndarray(self.data.shape, np.uint8, whole, strides=(*self.strides, 1))[...] = self.data

    def blocks(self) -> list[Write]:
        """The contiguous blocks that it consists of."""
        if not self.strides:
            return [self]
        pieces = np.ascontiguousarray(self.data).reshape(-1, self.data.shape[-1])
        return [Write(self.space, at, d, self.bank, self.dtype) for at, d in zip(self.starts().tolist(), pieces, strict=True)]


@dataclass(frozen=True)
class Range:
    """A range of bytes that an instruction reads or writes, for hazards, legality and traffic.

    counts, strides: of `Instruction.destination` alone, many ranges of this size at regular distances, as those of a `Write`.
    """

    space: str
    offset: int
    size: int
    bank: int = 0
    counts: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()

    def blocks(self) -> list[Range]:
        """The contiguous ranges that it consists of."""
        if not self.strides:
            return [self]
        return [Range(self.space, at, self.size, self.bank) for at in _starts(self.offset, self.counts, self.strides).tolist()]


@overload
def contiguous(found: Iterable[Write]) -> list[Write]: ...
@overload
def contiguous(found: Iterable[Range]) -> list[Range]: ...
def contiguous(found: Iterable[Write | Range]) -> Sequence[Write | Range]:
    """Writes or ranges as contiguous blocks, in the same order."""
    return [block for one in found for block in one.blocks()]


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

    Space "reg" holds the registers whose role is `parameter`, by byte address; space "state" the state registers, four bytes each.
    On-chip memories are spaces of their own names, and keep their contents over all calls of a run.
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
    operands: ClassVar[type[Operands] | None] = None
    """The generated class of its operands; the set refuses to load where it is not what the description says."""
    executes_in: ClassVar[str] = ""
    """The hardware's unit, for timelines, where it is not the unit whose registers it is started by."""
    uses: ClassVar[tuple[str, ...]] = ()
    """State registers that it depends on: `fields` has the value of each, as the call finds it, beside the operands."""

    @classmethod
    @abstractmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """Bit-exact semantics, vectorised NumPy. A `Write` to space "reg" sets a result register (offset = byte address)."""

    @classmethod
    def configures(cls, device: Device, fields: Mapping[str, int]) -> Mapping[str, int]:
        """State registers that a legal call changes: name -> new value, a function of the fields alone."""
        return {}

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
    def destination(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """The ranges of `writes`, those at regular distances as one where there are thousands of them."""
        return cls.writes(device, fields)

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
