"""`norm`: RMS norm and layer norm over the channels of every token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import refusals as check
from fleet.sets.hbm0923.arithmetic import to_fp16
from fleet.sets.hbm0923.feature import LANES_LSB, Feature, blank, decode_surfaces, encode_surfaces
from fleet.sets.hbm0923.float32 import F32, fp20_value, sum_beats
from fleet.sets.hbm0923.functions import rsqrt
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.refusals import Hull, Refusal
from fleet.sets.hbm0923.unit import ONCHIP_IN, ONCHIP_OUT, SFU_START, UnitInstruction, flag
from fleet.sets.hbm0923.unit_timing import Memory as Timing
from fleet.sets.hbm0923.unit_timing import Plan, plan_cycles

MODE_NORM = 0x20
EPS_REGISTER = 4 * 224
"""Byte address of the parameter register with epsilon (binary32)."""
FP20_MASK = (1 << 20) - 1
_BLOCK_LANES = 1 << 16
"""Lanes that are normalised together: 256 KiB of binary32, which stay in the second cache."""


@dataclass(frozen=True)
class NormOperands:
    """What the registers of a norm say.

    Attributes:
        channels: exact; lines, tokens: of input and output.
        weights: DDR offset of uint32 (gamma << 16) | beta a channel, in whole groups of 32.
        input, output: offsets, with strides between surfaces and lines; *_onchip: in the on-chip memory.
        recip: FP20 of 1 / channels. layer: layer norm, else RMS norm.
    """

    channels: int
    lines: int
    tokens: int
    weights: int
    input: int
    in_surface: int
    in_line: int
    output: int
    out_surface: int
    out_line: int
    recip: int
    layer: bool = False
    in_onchip: bool = False
    out_onchip: bool = False

    @property
    def surfaces(self) -> int:
        """Groups of 32 channels."""
        return ceil_div(self.channels, PIXEL_LANES)

    @property
    def source(self) -> Feature:
        """The input tensor."""
        return Feature(self.input, self.in_surface, self.in_line, self.surfaces, self.lines, self.tokens, self.in_onchip)

    @property
    def destination(self) -> Feature:
        """The output tensor."""
        return Feature(self.output, self.out_surface, self.out_line, self.surfaces, self.lines, self.tokens, self.out_onchip)

    @property
    def weight_bytes(self) -> int:
        """Bytes of the coefficients."""
        return 4 * PIXEL_LANES * self.surfaces

    def encode(self, device: Device) -> dict[str, int]:
        """Register name -> value."""
        return {
            "norm_wt_addr": self.weights,
            "norm_in_addr": self.input,
            "norm_in_surface": self.in_surface,
            "norm_in_line": self.in_line,
            "norm_out_addr": self.output,
            "norm_out_surface": self.out_surface,
            "norm_out_line": self.out_line,
            "norm_surfaces": encode_surfaces(self.channels),
            "norm_hin": self.lines,
            "norm_win": self.tokens,
            "norm_pixels": self.lines * self.tokens,
            "norm_recip_channels": self.recip,
            "norm_burst_m1": self.surfaces - 1,
            "norm_layer": int(self.layer),
            "norm_onchip": flag(self.in_onchip, ONCHIP_IN) | flag(self.out_onchip, ONCHIP_OUT),
            SFU_START: MODE_NORM,
        }

    def reads(self, device: Device) -> list[Range]:
        """Features and coefficients."""
        return [*self.source.ranges(), Range("ddr", self.weights, self.weight_bytes)]

    def writes(self, device: Device) -> list[Range]:
        """Features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """RMS norm goes twice over every row, layer norm three times."""
        coefficients = Feature(self.weights, 0, 0, 1, 1, 1)
        kind = "layer norm" if self.layer else "norm"
        return plan_cycles(device, Plan(kind, self.source, self.destination, coefficients, 2 * self.surfaces), memory)


def normalise(x: F32, gamma: F32, beta: F32, inv: np.float32, eps: np.float32, *, layer: bool) -> F32:
    """y before it is rounded to FP16.

    Args:
        x: [surfaces, tokens, 32], +0 in absent lanes; overwritten.
        gamma, beta: [surfaces, 1, 32].
        inv: 1 / channels. eps: added to the mean of the squares.
        layer: subtract the mean.
    """
    if layer:
        mean = sum_beats(x) * inv
        x -= mean[:, None]
    r = rsqrt(sum_beats(x * x) * inv + eps)
    x *= r[:, None]
    x *= gamma
    x += beta
    return x


class Norm(UnitInstruction[NormOperands]):
    """RMS norm or layer norm."""

    name = "norm"
    fields = (
        "norm_wt_addr", "norm_in_addr", "norm_in_surface", "norm_in_line", "norm_out_addr", "norm_out_surface",
        "norm_out_line", "norm_surfaces", "norm_hin", "norm_win", "norm_pixels", "norm_recip_channels", "norm_burst_m1",
        "norm_layer", "norm_onchip", SFU_START,
    )  # fmt: skip

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> NormOperands:
        """See `UnitInstruction`."""
        f = fields
        return NormOperands(
            channels=decode_surfaces(f["norm_surfaces"]),
            lines=f["norm_hin"],
            tokens=f["norm_win"],
            weights=f["norm_wt_addr"],
            input=f["norm_in_addr"],
            in_surface=f["norm_in_surface"],
            in_line=f["norm_in_line"],
            output=f["norm_out_addr"],
            out_surface=f["norm_out_surface"],
            out_line=f["norm_out_line"],
            recip=f["norm_recip_channels"],
            layer=bool(f["norm_layer"]),
            in_onchip=bool(f["norm_onchip"] & ONCHIP_IN),
            out_onchip=bool(f["norm_onchip"] & ONCHIP_OUT),
        )

    @classmethod
    def compute(cls, device: Device, o: NormOperands, memory: Memory) -> Sequence[Write]:
        """Blocks of tokens, so that what is summed twice stays in the cache."""
        words = np.asarray(memory.view("ddr", o.weights, o.weight_bytes)).view("<f2").reshape(o.surfaces, 1, PIXEL_LANES, 2)
        gamma, beta = words[..., 1].astype(np.float32), words[..., 0].astype(np.float32)
        eps = np.asarray(memory.view("reg", EPS_REGISTER, 4)).view("<f4")[0]
        x = o.source.load(memory).view("<f2")
        y = np.empty(x.shape, np.uint16)
        step = max(1, _BLOCK_LANES // (o.surfaces * PIXEL_LANES))
        with np.errstate(all="ignore"):
            for h in range(o.lines):
                for w in range(0, o.tokens, step):
                    block = x[h, :, w : w + step].astype(np.float32)
                    blank(block, o.channels)
                    y[h, :, w : w + step] = to_fp16(normalise(block, gamma, beta, fp20_value(o.recip), eps, layer=o.layer))
        blank(y, o.channels)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        f = fields
        yield from check.mode(SFU_START, f[SFU_START], (MODE_NORM,))
        yield from check.one_of(f, {"norm_layer": (0, 1)})
        yield from check.only_bits("norm_onchip", f["norm_onchip"], ONCHIP_IN | ONCHIP_OUT)
        yield from check.only_bits("norm_recip_channels", f["norm_recip_channels"], FP20_MASK)
        yield from check.surfaces("norm_surfaces", f["norm_surfaces"], device.parameters["MaxChannels"], "MaxChannels")
        if f["norm_layer"] == 1 and f["norm_surfaces"] >> LANES_LSB:
            line = f"norm_surfaces: {f['norm_surfaces']:#x} in a layer norm, expected whole groups of 32 channels"
            yield Refusal(check.Cause.BAD_SIZE, line)
        yield from check.between("norm_win", f["norm_win"], 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("norm_hin", f["norm_hin"], 1, check.MOST_LINES, "lines")
        count = f["norm_surfaces"] & 0xFFFF
        yield from check.same("norm_pixels", f["norm_pixels"], f["norm_hin"] * f["norm_win"], "norm_hin * norm_win")
        yield from check.same("norm_burst_m1", f["norm_burst_m1"], count - 1, "groups of norm_surfaces, less 1")
        for side in ("in", "out"):
            yield from check.pixel_stride(f"norm_{side}_surface", f[f"norm_{side}_surface"], count, f["norm_win"])
            yield from check.pixel_stride(f"norm_{side}_line", f[f"norm_{side}_line"], f["norm_hin"], f["norm_win"])
        names = "norm_out_surface", "norm_out_line"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (count, f["norm_hin"]), f["norm_win"])
        yield from check.aligned(f, cls.fields[:7])

    @classmethod
    def places(cls, device: Device, o: NormOperands) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        coefficients = Hull("norm_wt_addr", "ddr", o.weights, o.weights + o.weight_bytes)
        source = check.feature_hull("norm_in_addr", o.source)
        output = check.feature_hull("norm_out_addr", o.destination)
        yield from check.in_memory(device, (source, coefficients, output))
        yield from check.apart(device, (source, coefficients), (output,), in_place=True)
