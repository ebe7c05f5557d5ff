"""Common parts of all instructions except MVM: operands that know their ranges, and a check with causes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Generic, Protocol, TypeVar, cast

from fleet.sdk import Device, Instruction, Memory, Range, Write, contiguous
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.units.refusals import Refusal, first_refusal, given


class UnitOperands(Protocol):
    """The decoded registers of one instruction."""

    def reads(self, device: Device) -> list[Range]:
        """Return every range that is read."""
        ...

    def writes(self, device: Device) -> list[Range]:
        """Return every range that is written, as `Instruction.destination` does."""
        ...

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles from start to commit (`fleet.sets.hbm0923.cycles`, modules `units` and `caches`)."""
        ...


Record = TypeVar("Record", bound=UnitOperands)


class UnitInstruction(Instruction, Generic[Record]):
    """An instruction whose operands know their ranges."""

    @classmethod
    def decode(cls, fields: Mapping[str, int]) -> Record:
        """Return the operands of legal fields; for illegal fields the result is meaningless."""
        assert cls.operands is not None
        return cast("Record", cls.operands.decode(fields))

    @classmethod
    @abstractmethod
    def compute(cls, device: Device, o: Record, memory: Memory) -> Sequence[Write]:
        """Compute the writes from the operands: `execute` after decoding."""

    @classmethod
    @abstractmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """Yield refusals of everything except ranges. All registers are present and fit."""

    @classmethod
    @abstractmethod
    def places(cls, device: Device, o: Record) -> Iterator[Refusal]:
        """Yield refusals of ranges. Called only if everything else is legal."""

    @classmethod
    def refusals(cls, device: Device, fields: Mapping[str, int]) -> list[Refusal]:
        """Return every violated constraint; those of ranges only if there is no other."""
        assert cls.operands is not None
        found = given(fields, [register for register, _ in cls.operands.FIXED]) or list(cls.sizes(device, fields))
        return found or list(cls.places(device, cls.decode(fields)))

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """Compute the results as docs/arithmetic.md has them. The fields must be legal."""
        return cls.compute(device, cls.decode(fields), memory)

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """Constraints of docs/arithmetic.md and of the device's buffers and memories."""
        return [r.line for r in cls.refusals(device, fields)]

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """Return the reported cause and its reasons, or None."""
        return first_refusal(cls.refusals(device, fields))

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return every range that is read."""
        return cls.decode(fields).reads(device)

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return every range that is written."""
        return contiguous(cls.destination(device, fields))

    @classmethod
    def destination(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Return the ranges that are written, those at regular distances as one."""
        return cls.decode(fields).writes(device)

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """Return the cycles with ideal memory (`fleet.sets.hbm0923.cycles`)."""
        return cls.decode(fields).cycles(device)

    @classmethod
    def expected_cycles(cls, device: Device, fields: Mapping[str, int], memory: str = "ideal") -> int | None:
        """Return the cycles; with "timed" the mean over phases of the refresh."""
        if memory == "timed":
            return cls.decode(fields).cycles(device, "timed")
        return super().expected_cycles(device, fields, memory)
