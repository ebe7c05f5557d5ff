"""`trp_mvm` and `f2w_mvm`: queries by keys, and weights by values, with K and V in HBM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import operands
from fleet.sets.hbm0923.cycles.attention import Lines, attention_cycles
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.numerics.dots import exact_dots
from fleet.sets.hbm0923.numerics.float32 import fp20_value
from fleet.sets.hbm0923.numerics.mvm import to_fp16
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.feature import FeatureTensor, blank
from fleet.sets.hbm0923.units.kv_cache import KvCache
from fleet.sets.hbm0923.units.refusals import Refusal, RefusalCause
from fleet.sets.hbm0923.units.unit import UnitInstruction


def scale_lsb(device: Device) -> int:
    """Return the bits of the scale in its register; the bank step is above them."""
    return 20 if device.parameters["ScaleFp20"] else 16


def with_bank_step(device: Device, scale: int) -> int:
    """Return the operand `scale`. scale: FP16 bits, or an FP20 word if the device has `ScaleFp20`."""
    return scale | device.parameters["Log2BankStep"] << scale_lsb(device)


class AttentionOperands(operands.TrpMvmOperands):
    """Operands of attention, and the tensors that they describe; lines are query heads.

    `trp_mvm` (`scores`): queries by keys, D inputs and T outputs. `f2w_mvm` has operands of the same names: weights by values, T
    inputs and D outputs.
    """

    scores: ClassVar[bool]

    @property
    def inputs(self) -> int:
        """Channels of the input."""
        return self.channels if self.scores else self.total

    @property
    def outputs(self) -> int:
        """Channels of the output."""
        return self.total if self.scores else self.channels

    @property
    def source(self) -> FeatureTensor:
        """The input tensor; lines are query heads."""
        surfaces = ceil_div(self.inputs, PIXEL_LANES)
        return FeatureTensor(self.in_addr, self.in_surface, self.in_line, surfaces, self.heads, self.tokens, self.in_onchip)

    @property
    def destination(self) -> FeatureTensor:
        """The output tensor."""
        surfaces = ceil_div(self.outputs, PIXEL_LANES)
        return FeatureTensor(self.out_addr, self.out_surface, self.out_line, surfaces, self.heads, self.tokens, self.out_onchip)

    @property
    def vectors(self) -> KvCache:
        """K or V."""
        return KvCache(self.wt_addr, self.wt_head, self.wt_line, self.kv_heads, self.outputs, self.inputs)

    def scale_value(self, device: Device) -> np.float32:
        """Return the scale as binary32."""
        bits = self.scale & ((1 << scale_lsb(device)) - 1)
        if device.parameters["ScaleFp20"]:
            return fp20_value(bits)
        return np.float32(np.uint16(bits).view(np.float16))

    def reads(self, device: Device) -> list[Range]:
        """Return the ranges of features and cache."""
        return [*self.source.ranges(), *self.vectors.ranges(device)]

    def writes(self, device: Device) -> list[Range]:
        """Return the ranges of features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles; the cache is read for every group of query heads and tokens."""
        v = self.vectors
        pairs = self.heads // self.kv_heads * self.tokens
        lines = Lines(v.base, v.heads, v.head, pairs, v.lines(device.parameters["HbmPorts"]), v.line, v.line_bytes // BEAT_BYTES)
        return attention_cycles(device, self.source, self.destination, lines, memory)


class TrpMvmTensors(AttentionOperands):
    """Operands of `trp_mvm`: queries by keys."""

    scores = True


class F2wMvmTensors(AttentionOperands):
    """Operands of `f2w_mvm`: weights by values."""

    INSTRUCTION, FIXED = operands.F2wMvmOperands.INSTRUCTION, operands.F2wMvmOperands.FIXED
    LAYOUT = operands.F2wMvmOperands.LAYOUT
    scores = False


class AttentionInstruction(UnitInstruction[AttentionOperands]):
    """Base class of both instructions."""

    @classmethod
    def compute(cls, device: Device, o: AttentionOperands, memory: Memory) -> Sequence[Write]:
        """Compute the writes, for all query heads of a key/value head together."""
        x = o.source.load(memory).view("<f2")
        y = np.zeros((o.heads, ceil_div(o.outputs, PIXEL_LANES), o.tokens, PIXEL_LANES), np.uint16)
        scale, share = o.scale_value(device), o.heads // o.kv_heads
        for kv in range(o.kv_heads):
            heads = slice(kv * share, (kv + 1) * share)
            rows = x[heads].transpose(0, 2, 1, 3).reshape(share * o.tokens, -1).copy()
            rows[:, o.inputs :] = 0
            sums = exact_dots(rows.view(np.float16), o.vectors.load(device, memory, kv))
            with np.errstate(invalid="ignore", over="ignore"):
                sums *= scale
            lanes = np.zeros((share * o.tokens, y.shape[1] * PIXEL_LANES), np.uint16)
            lanes[:, : o.outputs] = to_fp16(sums)
            y[heads] = lanes.reshape(share, o.tokens, y.shape[1], PIXEL_LANES).transpose(0, 2, 1, 3)
        blank(y, o.outputs)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """Yield refusals of sizes and modes."""
        p, lsb, name = device.parameters, scale_lsb(device), cls.name
        o = cls.decode(fields)
        yield from check.described(type(o), fields)
        if o.scale >> lsb != p["Log2BankStep"]:
            yield Refusal(RefusalCause.UNSUPPORTED, f"{name}_scale: {o.scale:#x}, expected {p['Log2BankStep']} from bit {lsb} on")
        yield from check.between(f"{name}_total", o.total, 1, p["MaxToken"], "MaxToken")
        yield from check.between(f"{name}_tokens", o.tokens, 1, p["MaxToken"], "MaxToken")
        if o.heads == 0 or o.kv_heads == 0 or o.heads % o.kv_heads:
            line = f"{name}_heads: {o.heads} query heads and {o.kv_heads} key/value heads, expected a multiple"
            yield Refusal(RefusalCause.BAD_SIZE, line)
            return
        for side, feature in (("in", o.source), ("out", o.destination)):
            yield from check.pixel_stride(f"{name}_{side}_surface", feature.surface, feature.surfaces, o.tokens)
            yield from check.pixel_stride(f"{name}_{side}_line", feature.line, o.heads, o.tokens)
        out = o.destination
        names = f"{name}_out_surface", f"{name}_out_line"
        yield from check.rows_apart(names, (out.surface, out.line), (out.surfaces, o.heads), o.tokens)
        yield from o.vectors.strides(device, (f"{name}_wt_head", f"{name}_wt_line"))

    @classmethod
    def places(cls, device: Device, o: AttentionOperands) -> Iterator[Refusal]:
        """Yield refusals of ranges."""
        source = check.feature_hull(f"{cls.name}_in_addr", o.source)
        output = check.feature_hull(f"{cls.name}_out_addr", o.destination)
        yield from check.in_memory(device, (source, output, o.vectors.hull(device, f"{cls.name}_wt_addr")))
        yield from check.apart(device, (source,), (output,))

    @classmethod
    def macs(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, int]:
        """Return (useful, issued) multiply-accumulates; issued counts whole beats of 32 lanes and whole rounds of the ports."""
        o, ports = cls.decode(fields), device.parameters["HbmPorts"]
        rows = o.heads * o.tokens
        padded = ceil_div(o.inputs, PIXEL_LANES) * PIXEL_LANES * ceil_div(o.outputs, ports) * ports
        return rows * o.inputs * o.outputs, rows * padded


class TrpMvm(AttentionInstruction):
    """Scores: queries by keys."""

    name = "trp_mvm"
    executes_in = "attention"
    operands = TrpMvmTensors


class F2wMvm(AttentionInstruction):
    """Weights by values."""

    name = "f2w_mvm"
    executes_in = "attention"
    operands = F2wMvmTensors
