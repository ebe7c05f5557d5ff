"""Attention: keys and values into the cache, scores, softmax, weights by values. Five instructions a sequence.

A head is a line of its channels, so query, key and value need no transposition; parts of one product are views of it. All
attentions of a program share one area for the scores and probabilities of all heads. Several sequences stand in memory one after
the other, as tokens of one feature: each has its own tokens' part of every surface, and its own caches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from fleet.sdk import Device
from fleet.sdk.ir import FleetOp, Program, op_id, shape_of, weight_name
from fleet.sdk.ir import composite as c
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import activations, feature_shape, no_feature
from fleet.sets.hbm0923.lower.unrolled import Unrolled
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.operators.attention import (
    Cached,
    CachePlace,
    beyond_scale,
    cache_room,
    emit_cache,
    emit_heads,
    emit_softmax,
)
from fleet.sets.hbm0923.operators.operands import FeatureOperand
from fleet.sets.hbm0923.units.pos_emb import HEAD_CHANNELS
from fleet.sets.hbm0923.units.refusals import MOST_LINES

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
        return beyond_scale(float(op.scale.value.data))

    def emit(self, match: Match[bool], context: EmitContext) -> None:
        """Emit it. Raises DeviceError if the cache or the scores do not fit."""
        (op,) = match.ops
        assert isinstance(op, c.AttentionOp)
        for sequence in range(AttentionSizes.of(op).sequences):
            self._emit_sequence(op, sequence, match, context)

    def _emit_sequence(self, op: c.AttentionOp, sequence: int, match: Match[bool], context: EmitContext) -> None:
        s = AttentionSizes.of(op)
        first = sequence * s.tokens
        unrolled = Unrolled(context, match.ops, (first, first + s.tokens))
        keys, values = (self._cache(op, s, sequence, unrolled, context, keys=keys) for keys in (True, False))
        row = s.tokens * PIXEL_BYTES
        between = FeatureOperand(s.heads, s.tokens, s.total, context.scratch(), row, s.scores, onchip=False)
        asked, mixed = (
            _heads(s.heads, s.tokens, s.channels, s.sequences * row, context.address(v) + first * PIXEL_BYTES)
            for v in (op.q, op.results[0])
        )
        emit_heads(unrolled, asked, between, keys, s.channels, scale=float(op.scale.value.data))
        emit_softmax(unrolled, between, between, last=s.total - s.tokens, causal=match.data)
        emit_heads(unrolled, between, mixed, values, s.channels)

    def _cache(
        self, op: c.AttentionOp, s: AttentionSizes, sequence: int, unrolled: Unrolled, context: EmitContext, *, keys: bool
    ) -> Cached:
        """Emit the write of a sequence's keys or values into an area of its own beside the weights."""
        of = f".{sequence}" if s.sequences > 1 else ""
        room = cache_room(context.device, keys, s.kv_heads, s.total, s.channels)
        at = context.reserve(f"{op_id(op)}.{'keys' if keys else 'values'}{of}", "hbm", room.size)
        place, first = CachePlace(at, int(room.line), int(room.surface)), sequence * s.total
        source = context.address(op.k if keys else op.v) + first * PIXEL_BYTES
        x = _heads(s.kv_heads, s.total, s.channels, s.sequences * s.total * PIXEL_BYTES, source)
        emit_cache(unrolled, x, place, keys=keys, channels=s.channels, last=0, tokens=(first, first + s.total))
        return Cached(place, s.kv_heads, s.total)


def _heads(heads: int, tokens: int, channels: int, surface: int, address: int) -> FeatureOperand:
    """Return one sequence of a feature as heads: lines of its groups of channels. surface: bytes of a group of all sequences."""
    return FeatureOperand(heads, tokens, channels, address, surface, channels // PIXEL_LANES * surface, onchip=False)


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
