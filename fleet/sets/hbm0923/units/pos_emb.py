"""`pos_emb`: rotary embedding, adjacent pairs of channels rotated by the angles of a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from fleet.sdk import Device, Memory, Range, Write
from fleet.sets.hbm0923 import operands
from fleet.sets.hbm0923.cycles.units import Memory as Timing
from fleet.sets.hbm0923.cycles.units import UnitPlan, coefficient_beats, plan_cycles
from fleet.sets.hbm0923.mvm_operands import PIXEL_LANES
from fleet.sets.hbm0923.numerics.mvm import to_fp16
from fleet.sets.hbm0923.units import refusals as check
from fleet.sets.hbm0923.units.feature import FeatureTensor
from fleet.sets.hbm0923.units.refusals import Refusal, RefusalCause
from fleet.sets.hbm0923.units.unit import UnitInstruction

HEAD_CHANNELS = (64, 128)


class PosEmbTensors(operands.PosEmbOperands):
    """Operands of a rotary embedding, and the tensors that they describe; lines are heads."""

    def _feature(self, base: int, surface: int, head: int, onchip: bool = False) -> FeatureTensor:
        return FeatureTensor(base, surface, head, self.channels // PIXEL_LANES, self.heads, self.tokens, onchip)

    @property
    def source(self) -> FeatureTensor:
        """The input tensor; lines are heads."""
        return self._feature(self.in_addr, self.in_surface, self.in_line, self.in_onchip)

    @property
    def destination(self) -> FeatureTensor:
        """The output tensor."""
        return self._feature(self.out_addr, self.out_surface, self.out_line, self.out_onchip)

    @property
    def angles(self) -> FeatureTensor:
        """The table, with lines for all heads."""
        return self._feature(self.table_addr, self.table_surface, self.table_line)

    def reads(self, device: Device) -> list[Range]:
        """Return the ranges of features and table; a table that heads share counts once."""
        angles = self.angles if self.table_line else self._one_table()
        return [*self.source.ranges(), *angles.ranges()]

    def _one_table(self) -> FeatureTensor:
        return FeatureTensor(self.table_addr, self.table_surface, 0, self.channels // PIXEL_LANES, 1, self.tokens)

    def writes(self, device: Device) -> list[Range]:
        """Return the ranges of features."""
        return self.destination.ranges()

    def cycles(self, device: Device, memory: Timing = "ideal") -> int:
        """Return the cycles; every beat needs one of the table. A shared table is read once if the buffer holds it."""
        stays = self.table_line == 0 and self.tokens * self.channels // PIXEL_LANES <= coefficient_beats(device)
        return plan_cycles(device, UnitPlan("pos_emb", self.source, self.destination, self.angles, resident=stays), memory)


class PosEmb(UnitInstruction[PosEmbTensors]):
    """Rotary embedding."""

    name = "pos_emb"
    operands = PosEmbTensors

    @classmethod
    def compute(cls, device: Device, o: PosEmbTensors, memory: Memory) -> Sequence[Write]:
        """Compute the writes head by head."""
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
        """Yield refusals of sizes and modes."""
        f = fields
        yield from check.described(PosEmbTensors, f, {"pos_emb_surfaces": RefusalCause.BAD_SIZE})
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

    @classmethod
    def places(cls, device: Device, o: PosEmbTensors) -> Iterator[Refusal]:
        """Yield refusals of ranges."""
        source = check.feature_hull("pos_emb_in_addr", o.source)
        table = check.feature_hull("pos_emb_table_addr", o.angles)._replace(feature=None)
        output = check.feature_hull("pos_emb_out_addr", o.destination)
        yield from check.in_memory(device, (source, table, output))
        yield from check.apart(device, (source, table), (output,), in_place=True)
