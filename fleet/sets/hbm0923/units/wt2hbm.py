"""`wt2hbm`: copies bytes from DDR into the bank of one HBM port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Self

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import operands
from fleet.sets.hbm0923.cycles.caches import copy_cycles
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.refusals import Hull, Refusal, RefusalCause
from fleet.sets.hbm0923.units.unit import UnitInstruction

START, _MODE = operands.Wt2hbmOperands.FIXED[-1]


class Wt2HbmOperands(operands.Wt2hbmOperands):
    """Operands of a copy."""

    @classmethod
    def copy(cls, source: int, destination: int, size: int, port: int) -> Self:
        """Return a copy from a DDR offset to one in the bank of `port`. size: bytes. The other registers of the unit are 0."""
        return cls(insts_addr=0, beats=0, tasks=0, ddr_addr=source, hbm_low=destination, bits=8 * size, port=port)

    @property
    def size(self) -> int:
        """Bytes to copy."""
        return self.bits // 8

    def reads(self, device: Device) -> list[Range]:
        """Return the range in DDR."""
        return [Range("ddr", self.ddr_addr, self.size)]

    def writes(self, device: Device) -> list[Range]:
        """Return the range in the port's bank."""
        return [Range("hbm", self.hbm_low, self.size, self.port)]

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles: a beat of 32 bytes per cycle; the last beat may be partial."""
        return copy_cycles(device, self.ddr_addr, self.hbm_low, self.size, memory)


class Wt2Hbm(UnitInstruction[Wt2HbmOperands]):
    """A copy from DDR to HBM."""

    name = "wt2hbm"
    operands = Wt2HbmOperands

    @classmethod
    def compute(cls, device: Device, o: Wt2HbmOperands, memory: Memory) -> Sequence[Write]:
        """Compute the write of one block."""
        return [Write("hbm", o.hbm_low, np.array(memory.view("ddr", o.ddr_addr, o.size)), o.port)]

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """Yield refusals of sizes and modes.

        The hardware accepts more than the description: any number of whole bytes, and any value in the registers of a binary.
        """
        f = fields
        yield from check.mode(START, f[START], (_MODE,))
        yield from check.one_of(f, {"aux_hbm_high": (0,)})
        if f["aux_bits"] == 0 or f["aux_bits"] % 8:
            yield Refusal(RefusalCause.BAD_SIZE, f"aux_bits: {f['aux_bits']}, expected a multiple of 8 above 0")
        yield from check.between("aux_port", f["aux_port"], 0, device.parameters["HbmPorts"] - 1, "HbmPorts")
        yield from check.aligned(f, ("aux_ddr_addr",))
        yield from check.beats_aligned(f, ("aux_hbm_low",))

    @classmethod
    def places(cls, device: Device, o: Wt2HbmOperands) -> Iterator[Refusal]:
        """Yield refusals of ranges."""
        source = Hull("aux_ddr_addr", "ddr", o.ddr_addr, o.ddr_addr + o.size)
        yield from check.in_memory(device, (source, Hull("aux_hbm_low", "hbm", o.hbm_low, o.hbm_low + o.size)))
