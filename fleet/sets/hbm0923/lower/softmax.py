"""A softmax outside of an attention: one `softmax` instruction per tile of tokens."""

from __future__ import annotations

from fleet.sdk import Device
from fleet.sdk.ir import FleetOp, Program, shape_of
from fleet.sdk.ir import composite as c
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sdk.symbols import as_expr, dim
from fleet.sets.hbm0923.lower.features import activations, feature_shape, no_feature
from fleet.sets.hbm0923.lower.unrolled import Unrolled, feature_at
from fleet.sets.hbm0923.operators.attention import emit_softmax
from fleet.sets.hbm0923.operators.operands import as_int, tiles


class SoftmaxPattern:
    """softmax over the last axis."""

    name = "softmax"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[None] | Missed | None:
        """Match one softmax."""
        if not isinstance(op, c.SoftmaxOp):
            return None
        reason, most = no_feature(op.operand), device.parameters["MaxToken"]
        if reason is None and int(op.axis.value.data) not in {-1, len(shape_of(op.operand.type)) - 1}:
            reason = "it is not over the last axis, the device takes it over the channels of a token"
        if reason is None and not activations(program, op.operand):
            reason = "its operand is a weight"
        if reason is None and feature_shape(op.operand).channels > most:
            reason = f"{feature_shape(op.operand).channels} channels, the device takes {most} (MaxToken)"
        if reason is not None:
            return Missed(reason)
        return Match(self, (op,), (op.operand,), (), (op.results[0],), None)

    def emit(self, match: Match[None], context: EmitContext) -> None:
        """Emit it. The hardware counts positions as tokens plus earlier ones, so a tile has at most as many tokens as channels."""
        (source,) = match.activations
        shape = feature_shape(source)
        x, y = (feature_at(shape.tokens, shape.channels, context.address(v)) for v in (source, match.results[0]))
        unrolled = Unrolled(context, match.ops, (0, shape.tokens))
        with tiles(unrolled, shape.tokens, min(shape.channels, context.device.parameters["MaxToken"])) as tile:
            last = as_int(dim(shape.channels - as_expr(tile.size)))
            emit_softmax(unrolled, x.part(tile), y.part(tile), last=last, causal=False, tokens=tile.tokens)
