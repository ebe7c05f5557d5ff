"""What the instructions beside MVM have in common: operands that know their ranges, and a check with causes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Generic, Protocol, TypeVar, cast

from fleet.sdk import Device, DeviceError, Instruction, Memory, Range, Write
from fleet.sets.hbm0923.mvm_operands import ONCHIP_IN, ONCHIP_OUT, ONCHIP_SECOND
from fleet.sets.hbm0923.refusals import Refusal, first_refusal, given
from fleet.sets.hbm0923.unit_timing import Memory as Timing

__all__ = ["ONCHIP_IN", "ONCHIP_OUT", "ONCHIP_SECOND", "SFU_START", "Operands", "UnitInstruction", "flag"]

SFU_START = "sfu_start"
"""Register 209, whose value is one-hot the instruction."""


class Operands(Protocol):
    """What the registers of one instruction say."""

    def reads(self, device: Device) -> list[Range]:
        """Every range read."""
        ...

    def writes(self, device: Device) -> list[Range]:
        """Every range written."""
        ...

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Cycles from start to commit; see `fleet.sets.hbm0923.unit_timing` and `cache_timing`."""
        ...


Record = TypeVar("Record", bound=Operands)


class UnitInstruction(Instruction, Generic[Record]):
    """An instruction whose operands are a class of their own.

    fields: all registers, as the description names them, in write order.
    """

    fields: ClassVar[tuple[str, ...]]

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> Record:
        """The operands of legal fields; what others decode to has no meaning."""
        assert cls.operands is not None
        return cast("Record", cls.operands.decode(fields))

    @classmethod
    @abstractmethod
    def compute(cls, device: Device, o: Record, memory: Memory) -> Sequence[Write]:
        """`execute` on the operands."""

    @classmethod
    @abstractmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """What is wrong but for ranges; all registers are there and fit."""

    @classmethod
    @abstractmethod
    def places(cls, device: Device, o: Record) -> Iterator[Refusal]:
        """What is wrong with ranges; asked only when nothing else is."""

    @classmethod
    def decoded(cls, device: Device, fields: Mapping[str, int]) -> Record:
        """`decode`; DeviceError where a register is missing."""
        try:
            return cls.decode(device, fields)
        except KeyError as error:
            raise DeviceError(f"no value for register {error}", where=f"{cls.name} instruction") from None

    @classmethod
    def refusals(cls, device: Device, fields: Mapping[str, int]) -> list[Refusal]:
        """Every violated constraint; those of ranges only when there is no other."""
        found = given(fields, cls.fields) or list(cls.sizes(device, fields))
        return found or list(cls.places(device, cls.decoded(device, fields)))

    @classmethod
    def execute(cls, device: Device, fields: Mapping[str, int], memory: Memory) -> Sequence[Write]:
        """See docs/arithmetic.md. The fields must be legal."""
        return cls.compute(device, cls.decoded(device, fields), memory)

    @classmethod
    def legal(cls, device: Device, fields: Mapping[str, int]) -> Sequence[str]:
        """Constraints of docs/arithmetic.md and of the device's buffers and memories."""
        return [r.line for r in cls.refusals(device, fields)]

    @classmethod
    def refusal(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, str] | None:
        """The cause that counts."""
        return first_refusal(cls.refusals(device, fields))

    @classmethod
    def reads(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Every range read."""
        return cls.decoded(device, fields).reads(device)

    @classmethod
    def writes(cls, device: Device, fields: Mapping[str, int]) -> Sequence[Range]:
        """Every range written."""
        return cls.decoded(device, fields).writes(device)

    @classmethod
    def cost(cls, device: Device, fields: Mapping[str, int]) -> int:
        """See `fleet.sets.hbm0923.unit_timing` and `cache_timing`."""
        return cls.decoded(device, fields).cycles(device)

    @classmethod
    def expected_cycles(cls, device: Device, fields: Mapping[str, int], memory: str = "ideal") -> int | None:
        """With "timed" the mean over phases of the refresh."""
        if memory == "timed":
            return cls.decoded(device, fields).cycles(device, "timed")
        return super().expected_cycles(device, fields, memory)


def flag(value: bool, bit: int) -> int:
    """A bit of an on-chip register."""
    return bit if value else 0
