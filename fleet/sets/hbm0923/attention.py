"""`trp_mvm` and `f2w_mvm`: queries by keys, and weights by values, with K and V in HBM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import refusals as check
from fleet.sets.hbm0923.arithmetic import to_fp16
from fleet.sets.hbm0923.cache_timing import Lines, attention_cycles
from fleet.sets.hbm0923.feature import Feature, blank
from fleet.sets.hbm0923.float32 import fp20_value
from fleet.sets.hbm0923.kv_cache import Cache
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.pos_emb import HEAD_CHANNELS
from fleet.sets.hbm0923.refusals import Cause, Refusal
from fleet.sets.hbm0923.trees import dot_trees
from fleet.sets.hbm0923.unit import ONCHIP_IN, ONCHIP_OUT, SFU_START, UnitInstruction, flag
from fleet.sets.hbm0923.unit_timing import Memory as Timing

MODE_F2W_MVM, MODE_TRP_MVM = 1, 2
NAMES: tuple[str, ...] = (
    "wt_addr", "in_addr", "in_surface", "in_line", "out_addr", "out_surface", "out_line", "wt_head", "wt_line", "", "total",
    "tokens", "scale", "heads", "onchip",
)  # fmt: skip
"""Registers 194 to 208 behind the instruction's name; 203 is `chin` or `chout`."""


def scale_lsb(device: Device) -> int:
    """Bits of the scale in its register; the bank step stands above them."""
    return 20 if device.parameters["ScaleFp20"] else 16


@dataclass(frozen=True)
class AttentionOperands:
    """What the registers of `trp_mvm` (`scores`) or `f2w_mvm` say.

    Attributes:
        scores: queries by keys, D inputs and T outputs; else weights by values, T inputs and D outputs.
        channels: D of a head, 64 or 128. heads, kv_heads: query heads and key/value heads. total: T positions.
        tokens: queries.
        cache: offset in the bank of every HBM port; cache_head, cache_line: strides.
        input, output: offsets with strides between surfaces and heads; *_onchip: in the on-chip memory.
        scale: FP16 bits, or an FP20 word where the device has `ScaleFp20`.
    """

    scores: bool
    channels: int
    heads: int
    kv_heads: int
    total: int
    tokens: int
    cache: int
    cache_head: int
    cache_line: int
    input: int
    in_surface: int
    in_line: int
    output: int
    out_surface: int
    out_line: int
    scale: int
    in_onchip: bool = False
    out_onchip: bool = False

    @property
    def inputs(self) -> int:
        """Channels of the input."""
        return self.channels if self.scores else self.total

    @property
    def outputs(self) -> int:
        """Channels of the output."""
        return self.total if self.scores else self.channels

    @property
    def source(self) -> Feature:
        """The input tensor; lines are query heads."""
        surfaces = ceil_div(self.inputs, PIXEL_LANES)
        return Feature(self.input, self.in_surface, self.in_line, surfaces, self.heads, self.tokens, self.in_onchip)

    @property
    def destination(self) -> Feature:
        """The output tensor."""
        surfaces = ceil_div(self.outputs, PIXEL_LANES)
        return Feature(self.output, self.out_surface, self.out_line, surfaces, self.heads, self.tokens, self.out_onchip)

    @property
    def vectors(self) -> Cache:
        """K or V."""
        return Cache(self.cache, self.cache_head, self.cache_line, self.kv_heads, self.outputs, self.inputs)

    def encode(self, device: Device) -> dict[str, int]:
        """Register name -> value."""
        names = (TrpMvm if self.scores else F2wMvm).fields
        values = (
            self.cache,
            self.input,
            self.in_surface,
            self.in_line,
            self.output,
            self.out_surface,
            self.out_line,
            self.cache_head,
            self.cache_line,
            self.channels,
            self.total,
            self.tokens,
            self.scale | device.parameters["Log2BankStep"] << scale_lsb(device),
            (self.heads // self.kv_heads - 1 << 16) + (self.heads << 8) + self.kv_heads,
            flag(self.in_onchip, ONCHIP_IN) | flag(self.out_onchip, ONCHIP_OUT),
            MODE_TRP_MVM if self.scores else MODE_F2W_MVM,
        )
        return dict(zip(names, values, strict=True))

    def scale_value(self, device: Device) -> np.float32:
        """The scale as binary32."""
        if device.parameters["ScaleFp20"]:
            return fp20_value(self.scale)
        return np.float32(np.uint16(self.scale).view(np.float16))

    def reads(self, device: Device) -> list[Range]:
        """Features and cache."""
        return [*self.source.ranges(), *self.vectors.ranges(device)]

    def writes(self, device: Device) -> list[Range]:
        """Features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """The cache is read for every query head and token."""
        v = self.vectors
        repeats = self.heads // self.kv_heads * self.tokens
        lines = Lines(v.base, v.heads, v.head, repeats, v.lines(device.parameters["HbmPorts"]), v.line, v.line_bytes // BEAT_BYTES)
        return attention_cycles(device, self.source, self.destination, lines, memory)


class AttentionInstruction(UnitInstruction[AttentionOperands]):
    """What both have in common."""

    scores: ClassVar[bool]
    mode_value: ClassVar[int]

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> AttentionOperands:
        """See `UnitInstruction`."""
        v = [fields[name] for name in cls.fields]
        return AttentionOperands(
            scores=cls.scores,
            channels=v[9],
            heads=v[13] >> 8 & 0xFF,
            kv_heads=v[13] & 0xFF,
            total=v[10],
            tokens=v[11],
            cache=v[0],
            cache_head=v[7],
            cache_line=v[8],
            input=v[1],
            in_surface=v[2],
            in_line=v[3],
            output=v[4],
            out_surface=v[5],
            out_line=v[6],
            scale=v[12] & ((1 << scale_lsb(device)) - 1),
            in_onchip=bool(v[14] & ONCHIP_IN),
            out_onchip=bool(v[14] & ONCHIP_OUT),
        )

    @classmethod
    def compute(cls, device: Device, o: AttentionOperands, memory: Memory) -> Sequence[Write]:
        """All query heads of a key/value head together."""
        x = o.source.load(memory).view("<f2")
        y = np.zeros((o.heads, ceil_div(o.outputs, PIXEL_LANES), o.tokens, PIXEL_LANES), np.uint16)
        scale, share = o.scale_value(device), o.heads // o.kv_heads
        for kv in range(o.kv_heads):
            heads = slice(kv * share, (kv + 1) * share)
            rows = x[heads].transpose(0, 2, 1, 3).reshape(share * o.tokens, -1).copy()
            rows[:, o.inputs :] = 0
            sums = dot_trees(rows.view(np.float16), o.vectors.load(device, memory, kv))
            with np.errstate(invalid="ignore", over="ignore"):
                sums *= scale
            lanes = np.zeros((share * o.tokens, y.shape[1] * PIXEL_LANES), np.uint16)
            lanes[:, : o.outputs] = to_fp16(sums)
            y[heads] = lanes.reshape(share, o.tokens, y.shape[1], PIXEL_LANES).transpose(0, 2, 1, 3)
        blank(y, o.outputs)
        return o.destination.writes(y)

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        f, p, lsb = fields, device.parameters, scale_lsb(device)
        register = dict(zip((*NAMES, "start"), cls.fields, strict=True))
        value = {name: f[r] for name, r in register.items()}
        yield from check.mode(SFU_START, f[SFU_START], (cls.mode_value,))
        yield from check.one_of(f, {register[""]: HEAD_CHANNELS})
        yield from check.only_bits(register["onchip"], value["onchip"], ONCHIP_IN | ONCHIP_OUT)
        if value["scale"] >> lsb != p["Log2BankStep"]:
            line = f"{register['scale']}: {value['scale']:#x}, expected {p['Log2BankStep']} from bit {lsb} on"
            yield Refusal(Cause.UNSUPPORTED, line)
        yield from check.between(register["total"], value["total"], 1, p["MaxToken"], "MaxToken")
        yield from check.between(register["tokens"], value["tokens"], 1, p["MaxToken"], "MaxToken")
        heads, kv_heads = value["heads"] >> 8 & 0xFF, value["heads"] & 0xFF
        if heads == 0 or kv_heads == 0 or heads % kv_heads or value["heads"] >> 16 != heads // kv_heads - 1:
            line = f"{register['heads']}: {value['heads']:#x}, expected ((FH / WH - 1) << 16) + (FH << 8) + WH"
            yield Refusal(Cause.BAD_SIZE, line)
            return
        o = cls.decode(device, fields)
        for side, feature in (("in", o.source), ("out", o.destination)):
            yield from check.pixel_stride(register[f"{side}_surface"], feature.surface, feature.surfaces, o.tokens)
            yield from check.pixel_stride(register[f"{side}_line"], feature.line, o.heads, o.tokens)
        names, out = (register["out_surface"], register["out_line"]), o.destination
        yield from check.rows_apart(names, (out.surface, out.line), (out.surfaces, o.heads), o.tokens)
        yield from o.vectors.strides(device, (register["wt_head"], register["wt_line"]))
        yield from check.aligned(f, cls.fields[1:7])
        yield from o.vectors.aligned((register["wt_addr"], register["wt_head"], register["wt_line"]))

    @classmethod
    def places(cls, device: Device, o: AttentionOperands) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        source = check.feature_hull(f"{cls.name}_in_addr", o.source)
        output = check.feature_hull(f"{cls.name}_out_addr", o.destination)
        yield from check.in_memory(device, (source, output, o.vectors.hull(device, f"{cls.name}_wt_addr")))
        yield from check.apart(device, (source,), (output,))

    @classmethod
    def macs(cls, device: Device, fields: Mapping[str, int]) -> tuple[int, int]:
        """(useful, issued); issued counts whole beats of 32 lanes and whole rounds of the ports."""
        o, ports = cls.decoded(device, fields), device.parameters["HbmPorts"]
        rows = o.heads * o.tokens
        padded = ceil_div(o.inputs, PIXEL_LANES) * PIXEL_LANES * ceil_div(o.outputs, ports) * ports
        return rows * o.inputs * o.outputs, rows * padded


class TrpMvm(AttentionInstruction):
    """Scores: queries by keys."""

    name = "trp_mvm"
    executes_in = "attention"
    fields = (*(f"trp_mvm_{n or 'chin'}" for n in NAMES), SFU_START)
    scores = True
    mode_value = MODE_TRP_MVM


class F2wMvm(AttentionInstruction):
    """Weights by values."""

    name = "f2w_mvm"
    executes_in = "attention"
    fields = (*(f"f2w_mvm_{n or 'chout'}" for n in NAMES), SFU_START)
    scores = False
    mode_value = MODE_F2W_MVM
