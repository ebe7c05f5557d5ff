"""`elementwise`: A + B, A - B or A * B."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import operands
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.cycles.units import UnitPlan, plan_cycles
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES
from fleet.sets.hbm0923.numerics.mvm import to_fp16
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.feature import FeatureTensor, blank, channels_of
from fleet.sets.hbm0923.units.refusals import Refusal
from fleet.sets.hbm0923.units.unit import UnitInstruction

MOST_CHANNELS = 0xFFFF * PIXEL_LANES
_FUNCTIONS = {ElementwiseMode.ADD: np.add, ElementwiseMode.SUB: np.subtract, ElementwiseMode.MUL: np.multiply}


class ElementwiseTensors(operands.ElementwiseOperands):
    """Operands of an elementwise instruction, and the tensors that they describe; A and B have the same strides."""

    @property
    def channels(self) -> int:
        """Exact channels of all three tensors."""
        return channels_of(self.surfaces, self.lanes)

    @property
    def sources(self) -> tuple[FeatureTensor, FeatureTensor]:
        """Operands A and B."""
        a = FeatureTensor(self.a_addr, self.a_surface, self.a_line, self.surfaces, self.lines, self.tokens, self.a_onchip)
        b = FeatureTensor(self.b_addr, self.a_surface, self.a_line, self.surfaces, self.lines, self.tokens, self.b_onchip)
        return a, b

    @property
    def destination(self) -> FeatureTensor:
        """The output tensor."""
        return FeatureTensor(
            self.out_addr, self.out_surface, self.out_line, self.surfaces, self.lines, self.tokens, self.out_onchip
        )

    def reads(self, device: Device) -> list[Range]:
        """Return the ranges of A and B, even if they are one tensor."""
        a, b = self.sources
        return [*a.ranges(), *b.ranges()]

    def writes(self, device: Device) -> list[Range]:
        """Return the ranges of features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles; two beats are read for each one written."""
        a, b = self.sources
        return plan_cycles(device, UnitPlan("elementwise", a, self.destination, b), memory)


class Elementwise(UnitInstruction[ElementwiseTensors]):
    """Sum, difference or product of two tensors."""

    name = "elementwise"
    operands = ElementwiseTensors

    @classmethod
    def compute(cls, device: Device, o: ElementwiseTensors, memory: Memory) -> Sequence[Write]:
        """Compute the writes line by line."""
        a, b = (s.load(memory).view("<f2") for s in o.sources)
        y = np.empty(a.shape, np.uint16)
        with np.errstate(all="ignore"):
            for h in range(o.lines):
                y[h] = to_fp16(_FUNCTIONS[o.mode](a[h].astype(np.float32), b[h].astype(np.float32)))
        blank(y, o.channels)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """Yield refusals of sizes and modes."""
        f = fields
        yield from check.described(ElementwiseTensors, f)
        yield from check.surfaces("elementwise_surfaces", f["elementwise_surfaces"], MOST_CHANNELS, "groups of 32 channels")
        count, lines, tokens = f["elementwise_surfaces"] & 0xFFFF, f["elementwise_hin"], f["elementwise_win"]
        yield from check.between("elementwise_win", tokens, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("elementwise_hin", lines, 1, check.MOST_LINES, "lines")
        for side in ("a", "out"):
            yield from check.pixel_stride(f"elementwise_{side}_surface", f[f"elementwise_{side}_surface"], count, tokens)
            yield from check.pixel_stride(f"elementwise_{side}_line", f[f"elementwise_{side}_line"], lines, tokens)
        names = "elementwise_out_surface", "elementwise_out_line"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (count, lines), tokens)

    @classmethod
    def places(cls, device: Device, o: ElementwiseTensors) -> Iterator[Refusal]:
        """Yield refusals of ranges."""
        sources = tuple(check.feature_hull(f"elementwise_{n}_addr", s) for n, s in zip("ab", o.sources, strict=True))
        output = check.feature_hull("elementwise_out_addr", o.destination)
        yield from check.in_memory(device, (*sources, output))
        yield from check.apart(device, sources, (output,), in_place=True)
