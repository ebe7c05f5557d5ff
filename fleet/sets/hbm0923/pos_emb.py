"""`pos_emb`: rotary embedding, adjacent pairs of channels rotated by the angles of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import refusals as check
from fleet.sets.hbm0923.arithmetic import to_fp16
from fleet.sets.hbm0923.feature import Feature
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES
from fleet.sets.hbm0923.refusals import Cause, Refusal
from fleet.sets.hbm0923.unit import ONCHIP_IN, ONCHIP_OUT, SFU_START, UnitInstruction, flag
from fleet.sets.hbm0923.unit_timing import Memory as Timing
from fleet.sets.hbm0923.unit_timing import Plan, coefficient_beats, plan_cycles

MODE_POS_EMB = 4
HEAD_CHANNELS = (64, 128)


@dataclass(frozen=True)
class PosEmbOperands:
    """What the registers of a rotary embedding say.

    Attributes:
        channels: of a head, 64 or 128; heads, tokens: counts; last: position of the first token (for people: `table`
            already counts it).
        table: DDR offset of the first token's cosines and sines; its strides: between groups of 32 channels, and between
            heads (0: all heads share the table).
        input, output: offsets with strides between surfaces and heads; *_onchip: in the on-chip memory.
    """

    channels: int
    heads: int
    tokens: int
    last: int
    table: int
    table_surface: int
    table_head: int
    input: int
    in_surface: int
    in_head: int
    output: int
    out_surface: int
    out_head: int
    in_onchip: bool = False
    out_onchip: bool = False

    def _feature(self, base: int, surface: int, head: int, onchip: bool = False) -> Feature:
        return Feature(base, surface, head, self.channels // PIXEL_LANES, self.heads, self.tokens, onchip)

    @property
    def source(self) -> Feature:
        """The input tensor; lines are heads."""
        return self._feature(self.input, self.in_surface, self.in_head, self.in_onchip)

    @property
    def destination(self) -> Feature:
        """The output tensor."""
        return self._feature(self.output, self.out_surface, self.out_head, self.out_onchip)

    @property
    def angles(self) -> Feature:
        """The table, for every head."""
        return self._feature(self.table, self.table_surface, self.table_head)

    def encode(self, device: Device) -> dict[str, int]:
        """Register name -> value."""
        return {
            "pos_emb_table_addr": self.table,
            "pos_emb_in_addr": self.input,
            "pos_emb_in_head": self.in_head,
            "pos_emb_in_surface": self.in_surface,
            "pos_emb_out_addr": self.output,
            "pos_emb_out_surface": self.out_surface,
            "pos_emb_out_head": self.out_head,
            "pos_emb_surfaces": self.channels // PIXEL_LANES,
            "pos_emb_tokens": self.tokens,
            "pos_emb_last": self.last,
            "pos_emb_heads": self.heads,
            "pos_emb_table_head": self.table_head,
            "pos_emb_table_surface": self.table_surface,
            "pos_emb_zero207": 0,
            "pos_emb_onchip": flag(self.in_onchip, ONCHIP_IN) | flag(self.out_onchip, ONCHIP_OUT),
            SFU_START: MODE_POS_EMB,
        }

    def reads(self, device: Device) -> list[Range]:
        """Features; the table once where heads share it."""
        angles = self.angles if self.table_head else self._one_table()
        return [*self.source.ranges(), *angles.ranges()]

    def _one_table(self) -> Feature:
        return Feature(self.table, self.table_surface, 0, self.channels // PIXEL_LANES, 1, self.tokens)

    def writes(self, device: Device) -> list[Range]:
        """Features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """A beat of the table goes with every beat; a table that all heads share is read once if the buffer holds it."""
        stays = self.table_head == 0 and self.tokens * self.channels // PIXEL_LANES <= coefficient_beats(device)
        return plan_cycles(device, Plan("pos_emb", self.source, self.destination, self.angles, resident=stays), memory)


class PosEmb(UnitInstruction[PosEmbOperands]):
    """Rotary embedding."""

    name = "pos_emb"
    fields = (
        "pos_emb_table_addr", "pos_emb_in_addr", "pos_emb_in_head", "pos_emb_in_surface", "pos_emb_out_addr",
        "pos_emb_out_surface", "pos_emb_out_head", "pos_emb_surfaces", "pos_emb_tokens", "pos_emb_last", "pos_emb_heads",
        "pos_emb_table_head", "pos_emb_table_surface", "pos_emb_zero207", "pos_emb_onchip", SFU_START,
    )  # fmt: skip

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> PosEmbOperands:
        """See `UnitInstruction`."""
        f = fields
        return PosEmbOperands(
            channels=f["pos_emb_surfaces"] * PIXEL_LANES,
            heads=f["pos_emb_heads"],
            tokens=f["pos_emb_tokens"],
            last=f["pos_emb_last"],
            table=f["pos_emb_table_addr"],
            table_surface=f["pos_emb_table_surface"],
            table_head=f["pos_emb_table_head"],
            input=f["pos_emb_in_addr"],
            in_surface=f["pos_emb_in_surface"],
            in_head=f["pos_emb_in_head"],
            output=f["pos_emb_out_addr"],
            out_surface=f["pos_emb_out_surface"],
            out_head=f["pos_emb_out_head"],
            in_onchip=bool(f["pos_emb_onchip"] & ONCHIP_IN),
            out_onchip=bool(f["pos_emb_onchip"] & ONCHIP_OUT),
        )

    @classmethod
    def compute(cls, device: Device, o: PosEmbOperands, memory: Memory) -> Sequence[Write]:
        """Head by head."""
        x, table = o.source.load(memory).view("<f2"), o.angles.load(memory).view("<f2")
        y = np.empty(x.shape, np.uint16)
        with np.errstate(all="ignore"):
            for h in range(o.heads):
                v, t = x[h].astype(np.float32), table[h].astype(np.float32)
                even, odd, cos, sin = v[..., 0::2], v[..., 1::2], t[..., 0::2], t[..., 1::2]
                y[h, ..., 0::2] = to_fp16(even * cos - odd * sin)
                y[h, ..., 1::2] = to_fp16(even * sin + odd * cos)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        f = fields
        yield from check.mode(SFU_START, f[SFU_START], (MODE_POS_EMB,))
        groups = [c // PIXEL_LANES for c in HEAD_CHANNELS]
        yield from check.one_of(f, {"pos_emb_zero207": (0,)})
        yield from check.only_bits("pos_emb_onchip", f["pos_emb_onchip"], ONCHIP_IN | ONCHIP_OUT)
        if f["pos_emb_surfaces"] not in groups:
            yield Refusal(Cause.BAD_SIZE, f"pos_emb_surfaces: {f['pos_emb_surfaces']}, expected 2 or 4 groups of 32 channels")
        tokens, heads = f["pos_emb_tokens"], f["pos_emb_heads"]
        yield from check.between("pos_emb_tokens", tokens, 1, device.parameters["MaxToken"], "MaxToken")
        yield from check.between("pos_emb_heads", heads, 1, check.MOST_LINES, "heads")
        for part in ("in", "out", "table"):
            name = f"pos_emb_{part}_surface"
            yield from check.pixel_stride(name, f[name], f["pos_emb_surfaces"], tokens)
            name = f"pos_emb_{part}_head"
            if part != "table" or f[name]:
                yield from check.pixel_stride(name, f[name], heads, tokens)
        names = "pos_emb_out_surface", "pos_emb_out_head"
        yield from check.rows_apart(names, (f[names[0]], f[names[1]]), (f["pos_emb_surfaces"], heads), tokens)
        yield from check.aligned(f, (*cls.fields[:7], "pos_emb_table_head", "pos_emb_table_surface"))

    @classmethod
    def places(cls, device: Device, o: PosEmbOperands) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        source = check.feature_hull("pos_emb_in_addr", o.source)
        table = check.feature_hull("pos_emb_table_addr", o.angles)._replace(feature=None)
        output = check.feature_hull("pos_emb_out_addr", o.destination)
        yield from check.in_memory(device, (source, table, output))
        yield from check.apart(device, (source, table), (output,), in_place=True)
