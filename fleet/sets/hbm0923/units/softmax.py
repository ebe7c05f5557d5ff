"""`softmax`: over positions, of every head and token, with or without the causal mask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import operands
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.cycles.units import UnitPlan, plan_cycles
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.numerics.softmax import softmax
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.feature import FeatureTensor
from fleet.sets.hbm0923.units.refusals import Refusal
from fleet.sets.hbm0923.units.unit import UnitInstruction

_BLOCK_LANES = 1 << 15
"""Lanes that are processed together: a few arrays of 256 KiB fit into the second cache."""


class SoftmaxTensors(operands.SoftmaxOperands):
    """Operands of a softmax, and the tensors that they describe; lines are heads, channels are positions."""

    @property
    def source(self) -> FeatureTensor:
        """The input tensor; lines are heads."""
        return FeatureTensor(self.in_addr, self.in_surface, self.in_line, self.surfaces, self.heads, self.tokens, self.in_onchip)

    @property
    def destination(self) -> FeatureTensor:
        """The output tensor."""
        return FeatureTensor(
            self.out_addr, self.out_surface, self.out_line, self.surfaces, self.heads, self.tokens, self.out_onchip
        )

    def reads(self, device: Device) -> list[Range]:
        """Return the ranges of features, including masked ones."""
        return self.source.ranges()

    def writes(self, device: Device) -> list[Range]:
        """Return the ranges of features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles; three passes over every row: maximum, sum, scaling."""
        plan = UnitPlan("softmax", self.source, self.destination, lanes=self.last + 1, causal=bool(self.mask))
        return plan_cycles(device, plan, memory)


class Softmax(UnitInstruction[SoftmaxTensors]):
    """Softmax over positions."""

    name = "softmax"
    operands = SoftmaxTensors

    @classmethod
    def compute(cls, device: Device, o: SoftmaxTensors, memory: Memory) -> Sequence[Write]:
        """Compute the writes in blocks of tokens and heads, without surfaces that no token of a block sees."""
        x = o.source.load(memory).view("<f2")
        y = np.zeros(x.shape, np.uint16)
        step = max(1, _BLOCK_LANES // (o.surfaces * PIXEL_LANES))
        for w in range(0, o.tokens, step):
            tokens = min(step, o.tokens - w)
            seen = np.arange(w, w + tokens) + (o.last + 1) if o.mask else np.full(tokens, o.positions)
            groups = ceil_div(int(seen[-1]), PIXEL_LANES)
            valid = np.arange(groups * PIXEL_LANES) < seen[:, None]
            for h in range(0, o.heads, step // tokens):
                block = x[h : h + step // tokens, :groups, w : w + tokens]
                rows = block.transpose(0, 2, 1, 3).reshape(-1, groups * PIXEL_LANES)
                bits = softmax(rows, np.tile(valid, (len(block), 1))).reshape(-1, tokens, groups, PIXEL_LANES)
                y[h : h + step // tokens, :groups, w : w + tokens] = bits.transpose(0, 2, 1, 3)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """Yield refusals of sizes and modes."""
        f = fields
        tokens, heads, positions = f["softmax_tokens"], f["softmax_heads"], f["softmax_chin"]
        yield from check.described(SoftmaxTensors, f)
        yield from check.between("softmax_chin", positions, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("softmax_tokens", tokens, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("softmax_heads", heads, 1, check.MOST_LINES, "heads")
        surfaces = ceil_div(positions, PIXEL_LANES)
        for side in ("in", "out"):
            yield from check.pixel_stride(f"softmax_{side}_surface", f[f"softmax_{side}_surface"], surfaces, tokens)
            yield from check.pixel_stride(f"softmax_{side}_line", f[f"softmax_{side}_line"], heads, tokens)
        names = "softmax_out_surface", "softmax_out_line"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (surfaces, heads), tokens)

    @classmethod
    def places(cls, device: Device, o: SoftmaxTensors) -> Iterator[Refusal]:
        """Yield refusals of ranges."""
        source = check.feature_hull("softmax_in_addr", o.source)
        output = check.feature_hull("softmax_out_addr", o.destination)
        yield from check.in_memory(device, (source, output))
        yield from check.apart(device, (source,), (output,), in_place=True)
