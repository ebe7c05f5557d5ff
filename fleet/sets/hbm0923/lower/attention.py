"""Attention: keys and values into the cache, scores, softmax, weights by values. Five instructions a sequence.

A head is a line of its channels, so query, key and value need no transposition; parts of one product are views of it. All
attentions of a program share one area for the scores and probabilities of all heads. Several sequences stand in memory one after
the other, as tokens of one feature: each has its own tokens' part of every surface, and its own caches.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from fleet.sdk import Call, Device
from fleet.sdk.ir import FleetOp, Program, op_id, shape_of, weight_name
from fleet.sdk.ir import composite as c
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import activations, feature_shape, no_feature
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, PIXEL_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.units.attention import AttentionOperands, F2wMvmTensors, TrpMvmTensors, with_bank_step
from fleet.sets.hbm0923.units.dat2hbm import Dat2HbmOperands
from fleet.sets.hbm0923.units.pos_emb import HEAD_CHANNELS
from fleet.sets.hbm0923.units.refusals import MOST_LINES
from fleet.sets.hbm0923.units.softmax import SoftmaxTensors

HIDDEN = -1e4
"""An additive mask value at or below this hides a position, as the causal mask does exactly. If scores are so large that the golden
does not hide it, the comparison reports the difference.
"""


@dataclass(frozen=True)
class AttentionSizes:
    """Sizes of an attention.

    heads, kv_heads, sequences: counts. channels: of a head. tokens, total: queries and positions of one sequence.
    """

    heads: int
    kv_heads: int
    channels: int
    tokens: int
    total: int
    sequences: int

    @classmethod
    def of(cls, op: c.AttentionOp) -> AttentionSizes:
        """Return the sizes of an attention whose operands are features."""
        q, k = feature_shape(op.q), feature_shape(op.k)
        heads, shape = int(op.heads.value.data), shape_of(op.q.type)
        sequences = shape[0] if len(shape) == 3 else 1
        tokens, total = q.tokens // sequences, k.tokens // sequences
        return cls(heads, int(op.kv_heads.value.data), q.channels // heads, tokens, total, sequences)

    @property
    def scores(self) -> int:
        """Bytes of the scores of one head."""
        return ceil_div(self.total, PIXEL_LANES) * self.tokens * PIXEL_BYTES


def scale_word(device: Device, scale: float) -> int:
    """Return the operand `scale`. Raises DeviceError if it is outside FP20."""
    if device.parameters["ScaleFp20"]:
        return with_bank_step(device, fp20_word(Fraction(scale)))
    with np.errstate(over="ignore"):
        return with_bank_step(device, int(np.float16(scale).view(np.uint16)))


class _Place(NamedTuple):
    """Where the heads of one sequence stand: address, and strides between groups of 32 channels and between heads, in bytes."""

    at: int
    surface: int
    line: int


class AttentionPattern:
    """attention(q, k, v[, mask]) with a causal mask or none, of one sequence or several."""

    name = "attention"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[bool] | Missed | None:
        """Match one attention."""
        if not isinstance(op, c.AttentionOp):
            return None
        causal = bool(op.causal.value.data)
        reason = self._reason(op, program, device)
        if reason is None and op.mask is not None:
            seen = _mask_of(op.mask, program, AttentionSizes.of(op))
            causal, reason = (causal or seen == "causal"), None if seen in {"causal", "none"} else seen
        if reason is not None:
            return Missed(reason)
        weights = () if op.mask is None else (str(weight_name(op.mask, program)),)
        s, given = AttentionSizes.of(op), activations(program, op.q, op.k, op.v)
        return Match(self, (op,), given, weights, (op.results[0],), causal, scratch=s.heads * s.scores)

    def _reason(self, op: c.AttentionOp, program: Program, device: Device) -> str | None:
        if reason := no_feature(op.q, op.k, op.v):
            return reason
        s, most = AttentionSizes.of(op), device.parameters["MaxToken"]
        if any(weight_name(v, program) is not None for v in (op.q, op.k, op.v)):
            return "query, key or value is a weight"
        if s.channels not in HEAD_CHANNELS:
            return f"a head has {s.channels} channels, the device takes 64 or 128"
        if s.total > most:
            return f"{s.total} positions, the device takes {most} (MaxToken)"
        if s.tokens > s.total:
            return f"{s.tokens} queries and {s.total} positions, the device counts queries among the positions"
        if s.heads > MOST_LINES:
            return f"{s.heads} heads, the device takes {MOST_LINES}"
        scale = float(op.scale.value.data)
        # 2^-14 is the smallest normal FP16.
        if not 2.0**-14 <= abs(scale) <= 65504:
            return f"a scale of {scale:g}, the device's register takes 2^-14 to 65504"
        return None

    def emit(self, match: Match[bool], context: EmitContext) -> None:
        """Emit it. Raises DeviceError if the cache or the scores do not fit."""
        (op,) = match.ops
        assert isinstance(op, c.AttentionOp)
        for sequence in range(AttentionSizes.of(op).sequences):
            self._emit_sequence(op, sequence, match, context)

    def _emit_sequence(self, op: c.AttentionOp, sequence: int, match: Match[bool], context: EmitContext) -> None:
        s, device, ops = AttentionSizes.of(op), context.device, (op_id(op),)
        room = context.scratch()
        first, first_key = sequence * s.tokens, sequence * s.total
        tokens, positions = (first, first + s.tokens), (first_key, first_key + s.total)
        keys, values = self._cache(op, s, sequence, context)
        for part in (keys, values):
            context.emit(Call("dat2hbm", part.encode(), ops, positions))
        row = s.tokens * PIXEL_BYTES
        surface = s.sequences * row
        line, skip = s.channels // PIXEL_LANES * surface, first * PIXEL_BYTES

        def product(k_or_v: Dat2HbmOperands, source: _Place, target: _Place, scale: float) -> AttentionOperands:
            operands = TrpMvmTensors if k_or_v.keys else F2wMvmTensors
            return operands(
                channels=s.channels, heads=s.heads, kv_heads=s.kv_heads, total=s.total, tokens=s.tokens, wt_addr=k_or_v.out_addr,
                wt_head=k_or_v.wt_head, wt_line=k_or_v.wt_line, in_addr=source.at, in_surface=source.surface, in_line=source.line,
                out_addr=target.at, out_surface=target.surface, out_line=target.line, scale=scale_word(device, scale),
            )  # fmt: skip

        between = _Place(room, row, s.scores)
        asked, mixed = (_Place(context.address(v) + skip, surface, line) for v in (op.q, op.results[0]))
        scores = product(keys, asked, between, float(op.scale.value.data))
        context.emit(Call("trp_mvm", scores.encode(), ops, tokens))
        softmax = SoftmaxTensors(
            heads=s.heads, tokens=s.tokens, last=s.total - s.tokens, mask=match.data, in_addr=room, in_surface=row,
            in_line=s.scores, out_addr=room, out_surface=row, out_line=s.scores,
        )  # fmt: skip
        context.emit(Call("softmax", softmax.encode(), ops, tokens))
        context.emit(Call("f2w_mvm", product(values, between, mixed, 1.0).encode(), ops, tokens))

    def _cache(
        self, op: c.AttentionOp, s: AttentionSizes, sequence: int, context: EmitContext
    ) -> tuple[Dat2HbmOperands, Dat2HbmOperands]:
        """Return the operands that write a sequence's keys and values, each into its own area beside the weights."""
        made: list[Dat2HbmOperands] = []
        ports = context.device.parameters["HbmPorts"]
        surface, skip = s.sequences * s.total * PIXEL_BYTES, sequence * s.total * PIXEL_BYTES
        of = f".{sequence}" if s.sequences > 1 else ""
        for keys, value in ((True, op.k), (False, op.v)):
            vectors, length = (s.total, s.channels) if keys else (s.channels, s.total)
            line = ceil_div(2 * length, BEAT_BYTES) * BEAT_BYTES
            head = ceil_div(vectors, ports) * line
            at = context.reserve(f"{op_id(op)}.{'keys' if keys else 'values'}{of}", "hbm", s.kv_heads * head)
            cache = Dat2HbmOperands(
                keys=keys, channels=s.channels, heads=s.kv_heads, tokens=s.total, last=0,
                in_addr=context.address(value) + skip, in_surface=surface, in_line=s.channels // PIXEL_LANES * surface,
                out_addr=at, wt_head=head, wt_line=line,
            )  # fmt: skip
            made.append(cache)
        return made[0], made[1]


def _mask_of(mask: SSAValue, program: Program, s: AttentionSizes) -> str:
    """Return "causal", "none", or why the mask is neither."""
    name = weight_name(mask, program)
    if name is None:
        return "its mask is computed at run time, the device knows the causal mask only"
    try:
        array = np.broadcast_to(program.weights[name], (s.sequences, s.tokens, s.total))
    except ValueError:
        return f"its mask does not broadcast to [{s.tokens}, {s.total}]"
    if not array.any():
        return "none"
    seen = np.tri(s.tokens, s.total, s.total - s.tokens, dtype=bool)
    if not array[:, seen].any() and bool((array[:, ~seen] <= HIDDEN).all()):
        return "causal"
    return f"its mask '{name}' is not causal (0 for what is seen, {HIDDEN:g} or less beyond), the device knows no other"
