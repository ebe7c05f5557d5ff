"""`softmax`: over positions, of every head and token, with or without the causal mask."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import refusals as check
from fleet.sets.hbm0923.arithmetic import to_fp16
from fleet.sets.hbm0923.feature import Feature
from fleet.sets.hbm0923.float32 import F32, sum_beats
from fleet.sets.hbm0923.functions import exp32, recip
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.refusals import Refusal
from fleet.sets.hbm0923.unit import ONCHIP_IN, ONCHIP_OUT, SFU_START, UnitInstruction, flag
from fleet.sets.hbm0923.unit_timing import Memory as Timing
from fleet.sets.hbm0923.unit_timing import Plan, plan_cycles

MODE_SOFTMAX = 8
_BLOCK_LANES = 1 << 15
"""Lanes that are worked on together: a few arrays of 128 KiB stay in the second cache."""


@dataclass(frozen=True)
class SoftmaxOperands:
    """What the registers of a softmax say.

    Attributes:
        heads, tokens: counts. last: tokens before the first one; there are last + tokens positions.
        mask: token w sees positions 0 to last + w only; else it sees all.
        input, output: offsets with strides between surfaces and heads; *_onchip: in the on-chip memory.
    """

    heads: int
    tokens: int
    last: int
    mask: bool
    input: int
    in_surface: int
    in_line: int
    output: int
    out_surface: int
    out_line: int
    in_onchip: bool = False
    out_onchip: bool = False

    @property
    def positions(self) -> int:
        """Channels of the tensors."""
        return self.last + self.tokens

    @property
    def surfaces(self) -> int:
        """Groups of 32 positions."""
        return ceil_div(self.positions, PIXEL_LANES)

    @property
    def source(self) -> Feature:
        """The input tensor; lines are heads."""
        return Feature(self.input, self.in_surface, self.in_line, self.surfaces, self.heads, self.tokens, self.in_onchip)

    @property
    def destination(self) -> Feature:
        """The output tensor."""
        return Feature(self.output, self.out_surface, self.out_line, self.surfaces, self.heads, self.tokens, self.out_onchip)

    def encode(self, device: Device) -> dict[str, int]:
        """Register name -> value."""
        return {
            "softmax_mask": self.mask * 1,  # an expression stays one
            "softmax_in_addr": self.input,
            "softmax_in_surface": self.in_surface,
            "softmax_in_line": self.in_line,
            "softmax_out_addr": self.output,
            "softmax_out_surface": self.out_surface,
            "softmax_out_line": self.out_line,
            "softmax_surfaces": self.surfaces,
            "softmax_heads": self.heads,
            "softmax_chin": self.positions,
            "softmax_tokens": self.tokens,
            "softmax_win": self.tokens,
            "softmax_last": self.last,
            "softmax_zero207": 0,
            "softmax_onchip": flag(self.in_onchip, ONCHIP_IN) | flag(self.out_onchip, ONCHIP_OUT),
            SFU_START: MODE_SOFTMAX,
        }

    def reads(self, device: Device) -> list[Range]:
        """Features, masked ones too."""
        return self.source.ranges()

    def writes(self, device: Device) -> list[Range]:
        """Features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Three passes over every row: maximum, sum, scaling."""
        plan = Plan("softmax", self.source, self.destination, lanes=self.last + 1, causal=self.mask)
        return plan_cycles(device, plan, memory)


def soft_maximum(x: F32, valid: npt.NDArray[np.bool_]) -> F32:
    """y before it is rounded to FP16, +0 where not valid. Both [surfaces, tokens, 32]."""
    m = np.fmax.reduce(np.where(valid, x, np.float32(-np.inf)), axis=(0, 2))
    # Where all are NaN, m is -infinity here and would be NaN: x - m is NaN either way.
    e = np.where(valid, exp32(x - m[:, None]), np.float32(0))
    y = e * recip(sum_beats(e))[:, None]
    return np.where(valid, y, np.float32(0))


class Softmax(UnitInstruction[SoftmaxOperands]):
    """Softmax over positions."""

    name = "softmax"
    fields = (
        "softmax_mask", "softmax_in_addr", "softmax_in_surface", "softmax_in_line", "softmax_out_addr",
        "softmax_out_surface", "softmax_out_line", "softmax_surfaces", "softmax_heads", "softmax_chin", "softmax_tokens",
        "softmax_win", "softmax_last", "softmax_zero207", "softmax_onchip", SFU_START,
    )  # fmt: skip

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> SoftmaxOperands:
        """See `UnitInstruction`."""
        f = fields
        return SoftmaxOperands(
            heads=f["softmax_heads"],
            tokens=f["softmax_tokens"],
            last=f["softmax_last"],
            mask=bool(f["softmax_mask"]),
            input=f["softmax_in_addr"],
            in_surface=f["softmax_in_surface"],
            in_line=f["softmax_in_line"],
            output=f["softmax_out_addr"],
            out_surface=f["softmax_out_surface"],
            out_line=f["softmax_out_line"],
            in_onchip=bool(f["softmax_onchip"] & ONCHIP_IN),
            out_onchip=bool(f["softmax_onchip"] & ONCHIP_OUT),
        )

    @classmethod
    def compute(cls, device: Device, o: SoftmaxOperands, memory: Memory) -> Sequence[Write]:
        """Blocks of tokens; surfaces that no token of a block sees are left out."""
        x = o.source.load(memory).view("<f2")
        y = np.zeros(x.shape, np.uint16)
        step = max(1, _BLOCK_LANES // (o.surfaces * PIXEL_LANES))
        position = np.arange(o.surfaces * PIXEL_LANES).reshape(o.surfaces, 1, PIXEL_LANES)
        with np.errstate(all="ignore"):
            for w in range(0, o.tokens, step):
                end = min(w + step, o.tokens)
                seen = np.arange(w, end) + (o.last + 1) if o.mask else np.full(end - w, o.positions)
                groups = ceil_div(int(seen[-1]), PIXEL_LANES)
                valid = position[:groups] < seen[:, None]
                for h in range(o.heads):
                    y[h, :groups, w:end] = to_fp16(soft_maximum(x[h, :groups, w:end].astype(np.float32), valid))
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        f = fields
        tokens, heads, positions = f["softmax_tokens"], f["softmax_heads"], f["softmax_chin"]
        yield from check.mode(SFU_START, f[SFU_START], (MODE_SOFTMAX,))
        yield from check.one_of(f, {"softmax_mask": (0, 1), "softmax_zero207": (0,)})
        yield from check.only_bits("softmax_onchip", f["softmax_onchip"], ONCHIP_IN | ONCHIP_OUT)
        yield from check.between("softmax_chin", positions, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("softmax_tokens", tokens, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("softmax_heads", heads, 1, check.MOST_LINES, "heads")
        yield from check.same("softmax_chin", positions, tokens + f["softmax_last"], "softmax_tokens + softmax_last")
        yield from check.same("softmax_win", f["softmax_win"], tokens, "softmax_tokens")
        surfaces = ceil_div(positions, PIXEL_LANES)
        yield from check.same("softmax_surfaces", f["softmax_surfaces"], surfaces, "groups of softmax_chin")
        for side in ("in", "out"):
            yield from check.pixel_stride(f"softmax_{side}_surface", f[f"softmax_{side}_surface"], surfaces, tokens)
            yield from check.pixel_stride(f"softmax_{side}_line", f[f"softmax_{side}_line"], heads, tokens)
        names = "softmax_out_surface", "softmax_out_line"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (surfaces, heads), tokens)
        yield from check.aligned(f, cls.fields[1:7])

    @classmethod
    def places(cls, device: Device, o: SoftmaxOperands) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        source = check.feature_hull("softmax_in_addr", o.source)
        output = check.feature_hull("softmax_out_addr", o.destination)
        yield from check.in_memory(device, (source, output))
        yield from check.apart(device, (source,), (output,), in_place=True)
