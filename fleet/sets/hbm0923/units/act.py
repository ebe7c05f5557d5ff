"""`act`: a function of every element, piecewise linear in 16 segments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np
import numpy.typing as npt

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import operands
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.cycles.units import UnitPlan, plan_cycles
from fleet.sets.hbm0923.numerics.mvm import NAN16, to_fp16
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.feature import Bits, FeatureTensor, blank
from fleet.sets.hbm0923.units.refusals import Hull, Refusal
from fleet.sets.hbm0923.units.unit import UnitInstruction

SEGMENTS = 16
TABLE_BYTES = 128
"""x, k and b take 32 bytes each; the rest is 0."""


class ActTensors(operands.ActOperands):
    """Operands of an activation, and the tensors that they describe."""

    @property
    def source(self) -> FeatureTensor:
        """The input tensor."""
        return FeatureTensor(self.in_addr, self.in_surface, self.in_line, self.surfaces, self.lines, self.tokens, self.in_onchip)

    @property
    def destination(self) -> FeatureTensor:
        """The output tensor."""
        return FeatureTensor(
            self.out_addr, self.out_surface, self.out_line, self.surfaces, self.lines, self.tokens, self.out_onchip
        )

    def reads(self, device: Device) -> list[Range]:
        """Return the ranges of features and table."""
        return [*self.source.ranges(), Range("ddr", self.table_addr, TABLE_BYTES)]

    def writes(self, device: Device) -> list[Range]:
        """Return the ranges of features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles: one pass, after the table is loaded."""
        plan = UnitPlan("act", self.source, self.destination, FeatureTensor(self.table_addr, 0, 0, 1, 1, 1), TABLE_BYTES // 64)
        return plan_cycles(device, plan, memory)


def piecewise(v: Bits, table: npt.NDArray[np.float16]) -> Bits:
    """Apply a table [3, 16] of x, k, b to FP16 bit patterns; v's shape."""
    if v.size > 1 << 16:
        return piecewise(np.arange(1 << 16, dtype=np.uint16), table)[v]
    x, k, b = table.astype(np.float32)
    values = v.view(np.float16).astype(np.float32)
    with np.errstate(invalid="ignore", over="ignore"):
        segment = np.zeros(v.shape, np.intp)
        for j in range(SEGMENTS):
            segment[x[j] <= values] = j
        y = k[segment] * values + b[segment]
    constant = (k[segment] == 0) & ~np.isnan(values)
    bits = to_fp16(cast("npt.NDArray[np.float32]", np.where(constant, b[segment], y)))  # NumPy does not say
    bits[np.isnan(values)] = NAN16
    return bits


class Act(UnitInstruction[ActTensors]):
    """Piecewise linear activation."""

    name = "act"
    operands = ActTensors

    @classmethod
    def compute(cls, device: Device, o: ActTensors, memory: Memory) -> Sequence[Write]:
        """Return the writes of the results."""
        table = np.asarray(memory.view("ddr", o.table_addr, TABLE_BYTES)).view("<f2")[: 3 * SEGMENTS].reshape(3, SEGMENTS)
        y = piecewise(o.source.load(memory), table)
        blank(y, o.channels)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """Yield refusals of sizes and modes."""
        f = fields
        count, lines, tokens = f["act_surfaces"], f["act_hin"], f["act_win"]
        yield from check.described(ActTensors, f)
        yield from check.between("act_surfaces", count, 1, 0xFFFF, "groups of 32 channels")
        yield from check.between("act_win", tokens, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("act_hin", lines, 1, check.MOST_LINES, "lines")
        for side in ("in", "out"):
            yield from check.pixel_stride(f"act_{side}_surface", f[f"act_{side}_surface"], count, tokens)
            yield from check.pixel_stride(f"act_{side}_line", f[f"act_{side}_line"], lines, tokens)
        names = "act_out_surface", "act_out_line"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (count, lines), tokens)

    @classmethod
    def places(cls, device: Device, o: ActTensors) -> Iterator[Refusal]:
        """Yield refusals of ranges."""
        table = Hull("act_table_addr", "ddr", o.table_addr, o.table_addr + TABLE_BYTES)
        source = check.feature_hull("act_in_addr", o.source)
        output = check.feature_hull("act_out_addr", o.destination)
        yield from check.in_memory(device, (source, table, output))
        yield from check.apart(device, (source, table), (output,), in_place=True)
