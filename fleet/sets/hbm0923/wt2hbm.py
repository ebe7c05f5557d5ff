"""`wt2hbm`: copies bytes from DDR into the bank of one HBM port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import refusals as check
from fleet.sets.hbm0923.cache_timing import copy_cycles
from fleet.sets.hbm0923.refusals import Cause, Hull, Refusal
from fleet.sets.hbm0923.unit import UnitInstruction
from fleet.sets.hbm0923.unit_timing import Memory as Timing

START = "aux_start"
MODE_WT2HBM = 2


@dataclass(frozen=True)
class Wt2HbmOperands:
    """What the registers of a copy say. source: DDR offset; destination: offset in the bank of `port`; size: bytes."""

    source: int
    destination: int
    size: int
    port: int

    def encode(self, device: Device) -> dict[str, int]:
        """Register name -> value; the registers of the unit's other instruction are 0."""
        return {
            "aux_insts_addr": 0,
            "aux_beats": 0,
            "aux_tasks": 0,
            "aux_ddr_addr": self.source,
            "aux_hbm_low": self.destination,
            "aux_hbm_high": 0,
            "aux_bits": 8 * self.size,
            "aux_port": self.port,
            START: MODE_WT2HBM,
        }

    def reads(self, device: Device) -> list[Range]:
        """Bytes in DDR."""
        return [Range("ddr", self.source, self.size)]

    def writes(self, device: Device) -> list[Range]:
        """Bytes in the port's bank."""
        return [Range("hbm", self.destination, self.size, self.port)]

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """A beat of 32 bytes a cycle; the last may be part of one."""
        return copy_cycles(device, self.source, self.destination, self.size, memory)


class Wt2Hbm(UnitInstruction[Wt2HbmOperands]):
    """A copy from DDR to HBM."""

    name = "wt2hbm"
    fields = (
        "aux_insts_addr", "aux_beats", "aux_tasks", "aux_ddr_addr", "aux_hbm_low", "aux_hbm_high", "aux_bits", "aux_port",
        START,
    )  # fmt: skip

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> Wt2HbmOperands:
        """See `UnitInstruction`."""
        f = fields
        return Wt2HbmOperands(f["aux_ddr_addr"], f["aux_hbm_low"], f["aux_bits"] // 8, f["aux_port"])

    @classmethod
    def compute(cls, device: Device, o: Wt2HbmOperands, memory: Memory) -> Sequence[Write]:
        """One block."""
        return [Write("hbm", o.destination, np.array(memory.view("ddr", o.source, o.size)), o.port)]

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        f = fields
        yield from check.mode(START, f[START], (MODE_WT2HBM,))
        yield from check.one_of(f, {"aux_hbm_high": (0,)})
        if f["aux_bits"] == 0 or f["aux_bits"] % 8:
            yield Refusal(Cause.BAD_SIZE, f"aux_bits: {f['aux_bits']}, expected a multiple of 8 above 0")
        yield from check.between("aux_port", f["aux_port"], 0, device.parameters["HbmPorts"] - 1, "HbmPorts")
        yield from check.aligned(f, ("aux_ddr_addr",))
        yield from check.beats_aligned(f, ("aux_hbm_low",))

    @classmethod
    def places(cls, device: Device, o: Wt2HbmOperands) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        source = Hull("aux_ddr_addr", "ddr", o.source, o.source + o.size)
        yield from check.in_memory(device, (source, Hull("aux_hbm_low", "hbm", o.destination, o.destination + o.size)))
