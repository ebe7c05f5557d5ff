"""`dat2hbm`: appends K or V of new tokens to the cache in HBM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import operands
from fleet.sets.hbm0923.cycles.caches import store_cycles
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.feature import Bits, FeatureTensor
from fleet.sets.hbm0923.units.kv_cache import KvCache
from fleet.sets.hbm0923.units.refusals import MOST_LINES, Refusal
from fleet.sets.hbm0923.units.unit import UnitInstruction


class Dat2HbmOperands(operands.Dat2hbmOperands):
    """Operands of a cache write, and the tensors that they describe; lines are key/value heads."""

    @property
    def source(self) -> FeatureTensor:
        """The input tensor; lines are heads."""
        surfaces = self.channels // PIXEL_LANES
        return FeatureTensor(self.in_addr, self.in_surface, self.in_line, surfaces, self.heads, self.tokens)

    @property
    def vectors(self) -> KvCache:
        """The cache with its content after this instruction."""
        total = self.last + self.tokens
        vectors, length = (total, self.channels) if self.keys else (self.channels, total)
        return KvCache(self.out_addr, self.wt_head, self.wt_line, self.heads, vectors, length)

    def ports(self, device: Device) -> Iterator[tuple[int, int, slice]]:
        """Yield for every port that is written: port, offset of its first piece, positions or channels of its pieces.

        Each head has as many pieces, a line apart; heads are `wt_head` apart.
        """
        ports = device.parameters["HbmPorts"]
        first, count, at = (self.last, self.tokens, 0) if self.keys else (0, self.channels, 2 * self.last)
        for n in range(min(ports, count)):
            line, port = divmod(first + n, ports)
            yield port, self.out_addr + line * self.wt_line + at, slice(n, count, ports)

    def reads(self, device: Device) -> list[Range]:
        """Return the ranges of features."""
        return self.source.ranges()

    def writes(self, device: Device) -> list[Range]:
        """Return the ranges of the elements of K or V, and nothing else."""
        count, length = (self.tokens, self.channels) if self.keys else (self.channels, self.tokens)
        strides = (self.wt_head, self.wt_line)
        return [
            Range("hbm", at, 2 * length, port, (self.heads, len(range(count)[own])), strides)
            for port, at, own in self.ports(device)
        ]

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles; a pixel goes to one port (K) or to all of them (V)."""
        return store_cycles(device, self.source, keys=bool(self.keys), last=self.last, memory=memory)


class Dat2Hbm(UnitInstruction[Dat2HbmOperands]):
    """A write into the KV cache."""

    name = "dat2hbm"
    executes_in = "attention"
    operands = Dat2HbmOperands

    @classmethod
    def compute(cls, device: Device, o: Dat2HbmOperands, memory: Memory) -> Sequence[Write]:
        """Compute the writes. Bits stay unchanged: NaN keeps its payload."""
        x: Bits = o.source.load(memory).transpose(0, 2, 1, 3).reshape(o.heads, o.tokens, -1)[..., : o.channels]
        pieces = np.ascontiguousarray(x if o.keys else x.transpose(0, 2, 1)).view(np.uint8)
        strides = (o.wt_head, o.wt_line)
        return [Write("hbm", at, pieces[:, own], port, strides=strides) for port, at, own in o.ports(device)]

    @classmethod
    def sizes(cls, device: Device, fields: Mapping[str, int]) -> Iterator[Refusal]:
        """Yield refusals of sizes and modes."""
        f, p = fields, device.parameters
        tokens, heads = f["dat2hbm_tokens"], f["dat2hbm_heads"]
        yield from check.described(Dat2HbmOperands, f)
        sizes = [
            *check.between("dat2hbm_tokens", tokens, 1, p["MaxToken"], "MaxToken"),
            *check.between("dat2hbm_heads", heads, 1, MOST_LINES, "heads"),
            *check.between("dat2hbm_last", f["dat2hbm_last"], 0, p["MaxToken"] - tokens, "MaxToken - dat2hbm_tokens"),
        ]
        yield from sizes
        o = cls.decode(fields)
        yield from check.pixel_stride("dat2hbm_in_surface", o.in_surface, o.source.surfaces, tokens)
        yield from check.pixel_stride("dat2hbm_in_line", o.in_line, heads, tokens)
        if not sizes:
            yield from o.vectors.strides(device, ("dat2hbm_wt_head", "dat2hbm_wt_line"))

    @classmethod
    def places(cls, device: Device, o: Dat2HbmOperands) -> Iterator[Refusal]:
        """Yield refusals of ranges."""
        source = check.feature_hull("dat2hbm_in_addr", o.source)
        yield from check.in_memory(device, (source, o.vectors.hull(device, "dat2hbm_out_addr")))
