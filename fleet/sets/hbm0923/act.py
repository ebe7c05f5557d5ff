"""`act`: a function of every element, piecewise linear in 16 segments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import refusals as check
from fleet.sets.hbm0923.arithmetic import NAN16, to_fp16
from fleet.sets.hbm0923.feature import Bits, Feature, blank
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.refusals import Hull, Refusal
from fleet.sets.hbm0923.unit import ONCHIP_IN, ONCHIP_OUT, SFU_START, UnitInstruction, flag
from fleet.sets.hbm0923.unit_timing import Memory as Timing
from fleet.sets.hbm0923.unit_timing import Plan, plan_cycles

MODE_ACT = 0x10
SEGMENTS = 16
TABLE_BYTES = 128
"""Of which x, k and b take 32 each; the rest is 0."""


@dataclass(frozen=True)
class ActOperands:
    """What the registers of an activation say.

    Attributes:
        channels: exact; lines, tokens: of input and output.
        table: DDR offset of x[16], k[16], b[16] (FP16) and zeros, 128 bytes.
        input, output: offsets with strides between surfaces and lines; *_onchip: in the on-chip memory.
    """

    channels: int
    lines: int
    tokens: int
    table: int
    input: int
    in_surface: int
    in_line: int
    output: int
    out_surface: int
    out_line: int
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

    def encode(self, device: Device) -> dict[str, int]:
        """Register name -> value."""
        return {
            "act_table_addr": self.table,
            "act_in_addr": self.input,
            "act_in_surface": self.in_surface,
            "act_in_line": self.in_line,
            "act_out_addr": self.output,
            "act_out_surface": self.out_surface,
            "act_out_line": self.out_line,
            "act_surfaces": self.surfaces,
            "act_hin": self.lines,
            "act_win": self.tokens,
            "act_pixels": self.lines * self.tokens,
            "act_surfaces_dup": self.surfaces,
            "act_chout": self.channels,
            "act_zero207": 0,
            "act_onchip": flag(self.in_onchip, ONCHIP_IN) | flag(self.out_onchip, ONCHIP_OUT),
            SFU_START: MODE_ACT,
        }

    def reads(self, device: Device) -> list[Range]:
        """Features and the table."""
        return [*self.source.ranges(), Range("ddr", self.table, TABLE_BYTES)]

    def writes(self, device: Device) -> list[Range]:
        """Features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """One pass, once the table is there."""
        plan = Plan("act", self.source, self.destination, Feature(self.table, 0, 0, 1, 1, 1), TABLE_BYTES // 64)
        return plan_cycles(device, plan, memory)


def piecewise(v: Bits, table: npt.NDArray[np.float16]) -> Bits:
    """FP16 bit patterns through a table [3, 16] of x, k, b; v's shape."""
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


class Act(UnitInstruction[ActOperands]):
    """Piecewise linear activation."""

    name = "act"
    fields = (
        "act_table_addr", "act_in_addr", "act_in_surface", "act_in_line", "act_out_addr", "act_out_surface",
        "act_out_line", "act_surfaces", "act_hin", "act_win", "act_pixels", "act_surfaces_dup", "act_chout", "act_zero207",
        "act_onchip", SFU_START,
    )  # fmt: skip

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> ActOperands:
        """See `UnitInstruction`."""
        f = fields
        return ActOperands(
            channels=f["act_chout"],
            lines=f["act_hin"],
            tokens=f["act_win"],
            table=f["act_table_addr"],
            input=f["act_in_addr"],
            in_surface=f["act_in_surface"],
            in_line=f["act_in_line"],
            output=f["act_out_addr"],
            out_surface=f["act_out_surface"],
            out_line=f["act_out_line"],
            in_onchip=bool(f["act_onchip"] & ONCHIP_IN),
            out_onchip=bool(f["act_onchip"] & ONCHIP_OUT),
        )

    @classmethod
    def compute(cls, device: Device, o: ActOperands, memory: Memory) -> Sequence[Write]:
        """Large tensors go through the function of all 65,536 inputs."""
        table = np.asarray(memory.view("ddr", o.table, TABLE_BYTES)).view("<f2")[: 3 * SEGMENTS].reshape(3, SEGMENTS)
        y = piecewise(o.source.load(memory), table)
        blank(y, o.channels)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        f = fields
        count, lines, tokens = f["act_surfaces"], f["act_hin"], f["act_win"]
        yield from check.mode(SFU_START, f[SFU_START], (MODE_ACT,))
        yield from check.one_of(f, {"act_zero207": (0,)})
        yield from check.only_bits("act_onchip", f["act_onchip"], ONCHIP_IN | ONCHIP_OUT)
        yield from check.between("act_surfaces", count, 1, 0xFFFF, "groups of 32 channels")
        yield from check.same("act_surfaces_dup", f["act_surfaces_dup"], count, "act_surfaces")
        yield from check.same("act_surfaces", count, ceil_div(f["act_chout"], PIXEL_LANES), "groups of act_chout")
        yield from check.between("act_win", tokens, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("act_hin", lines, 1, check.MOST_LINES, "lines")
        yield from check.same("act_pixels", f["act_pixels"], lines * tokens, "act_hin * act_win")
        for side in ("in", "out"):
            yield from check.pixel_stride(f"act_{side}_surface", f[f"act_{side}_surface"], count, tokens)
            yield from check.pixel_stride(f"act_{side}_line", f[f"act_{side}_line"], lines, tokens)
        names = "act_out_surface", "act_out_line"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (count, lines), tokens)
        yield from check.aligned(f, cls.fields[:7])

    @classmethod
    def places(cls, device: Device, o: ActOperands) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        table = Hull("act_table_addr", "ddr", o.table, o.table + TABLE_BYTES)
        source = check.feature_hull("act_in_addr", o.source)
        output = check.feature_hull("act_out_addr", o.destination)
        yield from check.in_memory(device, (source, table, output))
        yield from check.apart(device, (source, table), (output,), in_place=True)
