"""`dat2hbm`: appends K or V of new tokens to the cache in HBM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import refusals as check
from fleet.sets.hbm0923.cache_timing import store_cycles
from fleet.sets.hbm0923.feature import Bits, Feature
from fleet.sets.hbm0923.kv_cache import Cache
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES
from fleet.sets.hbm0923.pos_emb import HEAD_CHANNELS
from fleet.sets.hbm0923.refusals import MOST_LINES, Refusal
from fleet.sets.hbm0923.unit import SFU_START, UnitInstruction
from fleet.sets.hbm0923.unit_timing import Memory as Timing

MODE_DAT2HBM = 0x40


@dataclass(frozen=True)
class Dat2HbmOperands:
    """What the registers of a cache write say.

    Attributes:
        keys: K, for `trp_mvm`; else V, for `f2w_mvm`.
        channels: of a head, 64 or 128; heads: key/value heads; tokens: new ones; last: position of the first of them.
        input: DDR offset with strides between surfaces and heads.
        cache: offset in the bank of every HBM port; cache_head, cache_line: strides.
    """

    keys: bool
    channels: int
    heads: int
    tokens: int
    last: int
    input: int
    in_surface: int
    in_line: int
    cache: int
    cache_head: int
    cache_line: int

    @property
    def source(self) -> Feature:
        """The input tensor; lines are heads."""
        surfaces = self.channels // PIXEL_LANES
        return Feature(self.input, self.in_surface, self.in_line, surfaces, self.heads, self.tokens)

    @property
    def vectors(self) -> Cache:
        """The cache as far as it is filled then."""
        total = self.last + self.tokens
        vectors, length = (total, self.channels) if self.keys else (self.channels, total)
        return Cache(self.cache, self.cache_head, self.cache_line, self.heads, vectors, length)

    def encode(self, device: Device) -> dict[str, int]:
        """Register name -> value."""
        return {
            "dat2hbm_zero194": 0,
            "dat2hbm_in_addr": self.input,
            "dat2hbm_in_surface": self.in_surface,
            "dat2hbm_in_line": self.in_line,
            "dat2hbm_out_addr": self.cache,
            "dat2hbm_wt_head": self.cache_head,
            "dat2hbm_wt_line": self.cache_line,
            "dat2hbm_bank_step": device.parameters["Log2BankStep"],
            "dat2hbm_last": self.last,
            "dat2hbm_tokens": self.tokens,
            "dat2hbm_heads": self.heads,
            "dat2hbm_surfaces": self.channels // PIXEL_LANES,
            "dat2hbm_trp": int(self.keys),
            "dat2hbm_zero207": 0,
            "dat2hbm_zero208": 0,
            SFU_START: MODE_DAT2HBM,
        }

    def blocks(self, device: Device) -> Iterator[tuple[int, int, int, int]]:
        """Every contiguous piece that is written: (port, offset, head, position or channel)."""
        ports = device.parameters["HbmPorts"]
        first, count, at = (self.last, self.tokens, 0) if self.keys else (0, self.channels, 2 * self.last)
        for h in range(self.heads):
            for i in range(first, first + count):
                yield i % ports, self.cache + h * self.cache_head + i // ports * self.cache_line + at, h, i

    def reads(self, device: Device) -> list[Range]:
        """Features."""
        return self.source.ranges()

    def writes(self, device: Device) -> list[Range]:
        """Elements of K or V, nothing beside them."""
        size = 2 * (self.channels if self.keys else self.tokens)
        return [Range("hbm", at, size, port) for port, at, _, _ in self.blocks(device)]

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """A pixel goes to one port (K) or to all of them (V)."""
        return store_cycles(device, self.source, keys=self.keys, last=self.last, memory=memory)


class Dat2Hbm(UnitInstruction[Dat2HbmOperands]):
    """A write into the KV cache."""

    name = "dat2hbm"
    executes_in = "attention"
    fields = (
        "dat2hbm_zero194", "dat2hbm_in_addr", "dat2hbm_in_surface", "dat2hbm_in_line", "dat2hbm_out_addr", "dat2hbm_wt_head",
        "dat2hbm_wt_line", "dat2hbm_bank_step", "dat2hbm_last", "dat2hbm_tokens", "dat2hbm_heads", "dat2hbm_surfaces",
        "dat2hbm_trp", "dat2hbm_zero207", "dat2hbm_zero208", SFU_START,
    )  # fmt: skip

    @classmethod
    def decode(cls, device: Device, fields: Mapping[str, int]) -> Dat2HbmOperands:
        """See `UnitInstruction`."""
        f = fields
        return Dat2HbmOperands(
            keys=bool(f["dat2hbm_trp"]),
            channels=f["dat2hbm_surfaces"] * PIXEL_LANES,
            heads=f["dat2hbm_heads"],
            tokens=f["dat2hbm_tokens"],
            last=f["dat2hbm_last"],
            input=f["dat2hbm_in_addr"],
            in_surface=f["dat2hbm_in_surface"],
            in_line=f["dat2hbm_in_line"],
            cache=f["dat2hbm_out_addr"],
            cache_head=f["dat2hbm_wt_head"],
            cache_line=f["dat2hbm_wt_line"],
        )

    @classmethod
    def compute(cls, device: Device, o: Dat2HbmOperands, memory: Memory) -> Sequence[Write]:
        """Bits as they are: NaN keeps its payload."""
        x: Bits = o.source.load(memory).transpose(0, 2, 1, 3).reshape(o.heads, o.tokens, -1)[..., : o.channels]
        rows = np.ascontiguousarray(x if o.keys else x.transpose(0, 2, 1))
        first = o.last if o.keys else 0
        return [Write("hbm", at, rows[h, i - first].view(np.uint8), port) for port, at, h, i in o.blocks(device)]

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        f, p = fields, device.parameters
        tokens, heads = f["dat2hbm_tokens"], f["dat2hbm_heads"]
        yield from check.mode(SFU_START, f[SFU_START], (MODE_DAT2HBM,))
        zeros = dict.fromkeys(("dat2hbm_zero194", "dat2hbm_zero207", "dat2hbm_zero208"), (0,))
        groups = [c // PIXEL_LANES for c in HEAD_CHANNELS]
        yield from check.one_of(f, zeros | {"dat2hbm_bank_step": (p["Log2BankStep"],), "dat2hbm_trp": (0, 1)})
        yield from check.one_of(f, {"dat2hbm_surfaces": groups})
        sizes = [
            *check.between("dat2hbm_tokens", tokens, 1, p["MaxToken"], "MaxToken"),
            *check.between("dat2hbm_heads", heads, 1, MOST_LINES, "heads"),
            *check.between("dat2hbm_last", f["dat2hbm_last"], 0, p["MaxToken"] - tokens, "MaxToken - dat2hbm_tokens"),
        ]
        yield from sizes
        o = cls.decode(device, fields)
        yield from check.pixel_stride("dat2hbm_in_surface", o.in_surface, o.source.surfaces, tokens)
        yield from check.pixel_stride("dat2hbm_in_line", o.in_line, heads, tokens)
        if not sizes:
            yield from o.vectors.strides(device, ("dat2hbm_wt_head", "dat2hbm_wt_line"))
        yield from check.aligned(f, cls.fields[1:4])
        yield from o.vectors.aligned(("dat2hbm_out_addr", "dat2hbm_wt_head", "dat2hbm_wt_line"))

    @classmethod
    def places(cls, device: Device, o: Dat2HbmOperands) -> Iterator[Refusal]:
        """See `UnitInstruction`."""
        source = check.feature_hull("dat2hbm_in_addr", o.source)
        yield from check.in_memory(device, (source, o.vectors.hull(device, "dat2hbm_out_addr")))
