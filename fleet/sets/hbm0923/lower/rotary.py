"""Rotary embedding of one head: a `pos_emb` instruction."""

from __future__ import annotations

import numpy as np

from fleet.sdk import Device
from fleet.sdk.ir import FleetOp, Program, weight_name
from fleet.sdk.ir import composite as c
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import activations, feature_shape, no_feature, stored_half
from fleet.sets.hbm0923.lower.unrolled import Unrolled, feature_at
from fleet.sets.hbm0923.matching import unstorable
from fleet.sets.hbm0923.operators.vectors import RotaryTable, emit_rotary
from fleet.sets.hbm0923.tables import pack_rotary
from fleet.sets.hbm0923.units.pos_emb import HEAD_CHANNELS


class RotaryPattern:
    """rope(x, cos, sin) of adjacent pairs, x [tokens, 64 or 128]; cosines and sines are weights."""

    name = "pos_emb"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[tuple[str, str]] | Missed | None:
        """Match one rotary embedding."""
        if not isinstance(op, c.RopeOp):
            return None
        reason = no_feature(op.operand)
        names = tuple(weight_name(v, program) for v in (op.cos, op.sin))
        if reason is None and not activations(program, op.operand):
            reason = "its operand is a weight"
        if reason is None and not op.interleaved.value.data:
            reason = "it pairs channels half a head apart, the device pairs neighbours"
        if reason is None and feature_shape(op.operand).channels not in HEAD_CHANNELS:
            reason = f"a head has {feature_shape(op.operand).channels} channels, the device takes 64 or 128"
        if reason is None and None in names:
            reason = "cosines or sines are computed at run time, the device reads a table"
        if reason is None:
            reason = unstorable(program, op.cos, op.sin)
        if reason is not None:
            return Missed(reason)
        found = str(names[0]), str(names[1])
        return Match(self, (op,), (op.operand,), tuple(dict.fromkeys(found)), (op.results[0],), found)

    def emit(self, match: Match[tuple[str, str]], context: EmitContext) -> None:
        """Emit it. Raises ModelError if FP16 cannot hold the table."""
        (source,) = match.activations
        shape = feature_shape(source)
        cos, sin = match.data
        size = (shape.tokens, shape.channels // 2)
        rows = [np.broadcast_to(stored_half(context, name), size) for name in (cos, sin)]
        table = context.store(f"{cos} {sin} {shape.tokens}.rotary", "ddr", pack_rotary(rows[0], rows[1]))
        x, y = (feature_at(shape.tokens, shape.channels, context.address(v)) for v in (source, match.results[0]))
        unrolled = Unrolled(context, match.ops, (0, shape.tokens))
        emit_rotary(unrolled, x, y, RotaryTable(table, shape.row, 0), shape.channels)
