"""`norm`: RMS norm and layer norm over the channels of every token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import operands
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.cycles.units import UnitPlan, plan_cycles
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES
from fleet.sets.hbm0923.numerics.float32 import FP20_MANTISSA, fp20_word
from fleet.sets.hbm0923.numerics.mvm import to_fp16
from fleet.sets.hbm0923.numerics.norm import normalise
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.feature import LANES_LSB, FeatureTensor, blank, channels_of
from fleet.sets.hbm0923.units.refusals import Hull, Refusal
from fleet.sets.hbm0923.units.unit import UnitInstruction

EPS_REGISTER = 4 * 224
"""Byte address of the parameter register with epsilon (binary32)."""
_BLOCK_LANES = 1 << 15
"""Lanes that are normalised together: a few arrays of 256 KiB fit into the second cache."""


class NormTensors(operands.NormOperands):
    """Operands of a norm, and the tensors that they describe."""

    @property
    def channels(self) -> int:
        """Exact channels of input and output."""
        return channels_of(self.surfaces, self.lanes)

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

    @property
    def weight_bytes(self) -> int:
        """Bytes of the coefficients."""
        return 4 * PIXEL_LANES * self.surfaces

    def reads(self, device: Device) -> list[Range]:
        """Return the ranges of features and coefficients."""
        return [*self.source.ranges(), Range("ddr", self.wt_addr, self.weight_bytes)]

    def writes(self, device: Device) -> list[Range]:
        """Return the ranges of features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles; two passes over every row: sums, results."""
        coefficients = FeatureTensor(self.wt_addr, 0, 0, 1, 1, 1)
        kind = "layer norm" if self.layer else "norm"
        return plan_cycles(device, UnitPlan(kind, self.source, self.destination, coefficients, 2 * self.surfaces), memory)


class Norm(UnitInstruction[NormTensors]):
    """RMS norm or layer norm."""

    name = "norm"
    operands = NormTensors

    @classmethod
    def compute(cls, device: Device, o: NormTensors, memory: Memory) -> Sequence[Write]:
        """Compute the writes in blocks of tokens, so that what is read twice stays in the cache."""
        words = np.asarray(memory.view("ddr", o.wt_addr, o.weight_bytes)).view("<f2").reshape(o.surfaces * PIXEL_LANES, 2)
        gamma, beta = words[:, 1].astype(np.float32), words[:, 0].astype(np.float32)
        eps = np.asarray(memory.view("reg", EPS_REGISTER, 4)).view("<f4")[0]
        x = o.source.load(memory).view("<f2")
        y = np.empty(x.shape, np.uint16)
        step = max(1, _BLOCK_LANES // (o.surfaces * PIXEL_LANES))
        for h in range(o.lines):
            for w in range(0, o.tokens, step):
                halves = np.ascontiguousarray(x[h, :, w : w + step].transpose(1, 0, 2))
                rows = halves.reshape(-1, o.surfaces * PIXEL_LANES).astype(np.float32)
                rows[:, o.channels :] = 0
                block = to_fp16(normalise(rows, gamma, beta, o.channels, eps, layer=bool(o.layer)))
                y[h, :, w : w + step] = block.reshape(-1, o.surfaces, PIXEL_LANES).transpose(1, 0, 2)
        blank(y, o.channels)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """Yield refusals of sizes and modes."""
        f = fields
        yield from check.described(NormTensors, f)
        yield from check.surfaces("norm_surfaces", f["norm_surfaces"], device.parameters["MaxChannels"], "MaxChannels")
        yield from _reciprocal(f["norm_surfaces"], f["norm_recip_channels"], device.parameters["MaxChannels"])
        yield from check.between("norm_win", f["norm_win"], 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("norm_hin", f["norm_hin"], 1, check.MOST_LINES, "lines")
        count = f["norm_surfaces"] & 0xFFFF
        for side in ("in", "out"):
            yield from check.pixel_stride(f"norm_{side}_surface", f[f"norm_{side}_surface"], count, f["norm_win"])
            yield from check.pixel_stride(f"norm_{side}_line", f[f"norm_{side}_line"], f["norm_hin"], f["norm_win"])
        names = "norm_out_surface", "norm_out_line"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (count, f["norm_hin"]), f["norm_win"])

    @classmethod
    def places(cls, device: Device, o: NormTensors) -> Iterator[Refusal]:
        """Yield refusals of ranges."""
        coefficients = Hull("norm_wt_addr", "ddr", o.wt_addr, o.wt_addr + o.weight_bytes)
        source = check.feature_hull("norm_in_addr", o.source)
        output = check.feature_hull("norm_out_addr", o.destination)
        yield from check.in_memory(device, (source, coefficients, output))
        yield from check.apart(device, (source, coefficients), (output,), in_place=True)


def _reciprocal(surfaces: int, word: int, most: int) -> Iterator[Refusal]:
    """Check that 1 / C as FP20 is at most one of its steps beside the true one. surfaces: the register; most: channels."""
    groups, lanes = surfaces & 0xFFFF, surfaces >> LANES_LSB
    if groups == 0 or lanes >= PIXEL_LANES or channels_of(groups, lanes) > most:
        return  # refused for its number of channels
    channels, exponent = channels_of(groups, lanes), word >> FP20_MANTISSA
    mantissa = word & (1 << FP20_MANTISSA) - 1 | 1 << FP20_MANTISSA
    if not 13 <= exponent <= 31 or abs(channels * mantissa - (1 << 44 - exponent)) > channels:
        nearest = fp20_word(Fraction(1, channels))
        line = f"norm_recip_channels: {word:#x}, expected {nearest:#x} or one beside it, 1 / {channels} channels as FP20"
        yield Refusal(check.RefusalCause.BAD_SIZE, line)
