"""`elementwise`: A + B, A - B or A * B."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import refusals as check
from fleet.sets.hbm0923.arithmetic import to_fp16
from fleet.sets.hbm0923.feature import Feature, blank, decode_surfaces, encode_surfaces
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.refusals import Refusal
from fleet.sets.hbm0923.unit import ONCHIP_IN, ONCHIP_OUT, ONCHIP_SECOND, UnitInstruction, flag
from fleet.sets.hbm0923.unit_timing import Memory as Timing
from fleet.sets.hbm0923.unit_timing import Plan, plan_cycles

START = "elementwise_start"
MODE_ELEMENTWISE = 1
ADD, SUBTRACT, MULTIPLY = 0, 1, 2
MOST_CHANNELS = 0xFFFF * PIXEL_LANES


@dataclass(frozen=True)
class ElementwiseOperands:
    """What the registers of an elementwise instruction say.

    Attributes:
        operation: ADD, SUBTRACT or MULTIPLY. channels: exact; lines, tokens: of all three tensors.
        a, b: offsets, with the same strides; output: with its own. *_onchip: in the on-chip memory.
    """

    operation: int
    channels: int
    lines: int
    tokens: int
    a: int
    b: int
    in_surface: int
    in_line: int
    output: int
    out_surface: int
    out_line: int
    a_onchip: bool = False
    b_onchip: bool = False
    out_onchip: bool = False

    @property
    def surfaces(self) -> int:
        """Groups of 32 channels."""
        return ceil_div(self.channels, PIXEL_LANES)

    @property
    def sources(self) -> tuple[Feature, Feature]:
        """A and B."""
        a = Feature(self.a, self.in_surface, self.in_line, self.surfaces, self.lines, self.tokens, self.a_onchip)
        b = Feature(self.b, self.in_surface, self.in_line, self.surfaces, self.lines, self.tokens, self.b_onchip)
        return a, b

    @property
    def destination(self) -> Feature:
        """The output tensor."""
        return Feature(self.output, self.out_surface, self.out_line, self.surfaces, self.lines, self.tokens, self.out_onchip)

    def encode(self, device: Device) -> dict[str, int]:
        """Register name -> value."""
        onchip = flag(self.a_onchip, ONCHIP_IN) | flag(self.out_onchip, ONCHIP_OUT) | flag(self.b_onchip, ONCHIP_SECOND)
        return {
            "elementwise_mode": self.operation,
            "elementwise_a_addr": self.a,
            "elementwise_a_surface": self.in_surface,
            "elementwise_a_line": self.in_line,
            "elementwise_out_addr": self.output,
            "elementwise_out_surface": self.out_surface,
            "elementwise_out_line": self.out_line,
            "elementwise_surfaces": encode_surfaces(self.channels),
            "elementwise_hin": self.lines,
            "elementwise_win": self.tokens,
            "elementwise_b_addr": self.b,
            "elementwise_onchip": onchip,
            START: MODE_ELEMENTWISE,
        }

    def reads(self, device: Device) -> list[Range]:
        """A and B, also where they are one tensor."""
        a, b = self.sources
        return [*a.ranges(), *b.ranges()]

    def writes(self, device: Device) -> list[Range]:
        """Features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Two beats are read for one that is written."""
        a, b = self.sources
        return plan_cycles(device, Plan("elementwise", a, self.destination, b), memory)


class Elementwise(UnitInstruction[ElementwiseOperands]):
    """Sum, difference or product of two tensors."""

    name = "elementwise"
    fields = (
        "elementwise_mode", "elementwise_a_addr", "elementwise_a_surface", "elementwise_a_line", "elementwise_out_addr",
        "elementwise_out_surface", "elementwise_out_line", "elementwise_surfaces", "elementwise_hin", "elementwise_win",
        "elementwise_b_addr", "elementwise_onchip", START,
    )  # fmt: skip

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> ElementwiseOperands:
        """See `UnitInstruction`."""
        f = fields
        return ElementwiseOperands(
            operation=f["elementwise_mode"],
            channels=decode_surfaces(f["elementwise_surfaces"]),
            lines=f["elementwise_hin"],
            tokens=f["elementwise_win"],
            a=f["elementwise_a_addr"],
            b=f["elementwise_b_addr"],
            in_surface=f["elementwise_a_surface"],
            in_line=f["elementwise_a_line"],
            output=f["elementwise_out_addr"],
            out_surface=f["elementwise_out_surface"],
            out_line=f["elementwise_out_line"],
            a_onchip=bool(f["elementwise_onchip"] & ONCHIP_IN),
            b_onchip=bool(f["elementwise_onchip"] & ONCHIP_SECOND),
            out_onchip=bool(f["elementwise_onchip"] & ONCHIP_OUT),
        )

    @classmethod
    def compute(cls, device: Device, o: ElementwiseOperands, memory: Memory) -> Sequence[Write]:
        """Line by line."""
        a, b = (s.load(memory).view("<f2") for s in o.sources)
        y = np.empty(a.shape, np.uint16)
        operator = {ADD: np.add, SUBTRACT: np.subtract, MULTIPLY: np.multiply}[o.operation]
        with np.errstate(all="ignore"):
            for h in range(o.lines):
                y[h] = to_fp16(operator(a[h].astype(np.float32), b[h].astype(np.float32)))
        blank(y, o.channels)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        f = fields
        yield from check.mode(START, f[START], (MODE_ELEMENTWISE,))
        yield from check.one_of(f, {"elementwise_mode": (ADD, SUBTRACT, MULTIPLY)})
        yield from check.only_bits("elementwise_onchip", f["elementwise_onchip"], ONCHIP_IN | ONCHIP_OUT | ONCHIP_SECOND)
        yield from check.surfaces("elementwise_surfaces", f["elementwise_surfaces"], MOST_CHANNELS, "groups of 32 channels")
        count, lines, tokens = f["elementwise_surfaces"] & 0xFFFF, f["elementwise_hin"], f["elementwise_win"]
        yield from check.between("elementwise_win", tokens, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("elementwise_hin", lines, 1, check.MOST_LINES, "lines")
        for side in ("a", "out"):
            yield from check.pixel_stride(f"elementwise_{side}_surface", f[f"elementwise_{side}_surface"], count, tokens)
            yield from check.pixel_stride(f"elementwise_{side}_line", f[f"elementwise_{side}_line"], lines, tokens)
        names = "elementwise_out_surface", "elementwise_out_line"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (count, lines), tokens)
        yield from check.aligned(f, (*cls.fields[1:7], "elementwise_b_addr"))

    @classmethod
    def places(cls, device: Device, o: ElementwiseOperands) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        sources = tuple(check.feature_hull(f"elementwise_{n}_addr", s) for n, s in zip("ab", o.sources, strict=True))
        output = check.feature_hull("elementwise_out_addr", o.destination)
        yield from check.in_memory(device, (*sources, output))
        yield from check.apart(device, sources, (output,), in_place=True)
