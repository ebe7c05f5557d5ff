"""A softmax outside of an attention: one `softmax` instruction per tile of tokens."""

from __future__ import annotations

from fleet.sdk import Call, Device
from fleet.sdk.ir import FleetOp, Program, op_id, shape_of
from fleet.sdk.ir import composite as c
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import activations, feature_shape, no_feature
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES
from fleet.sets.hbm0923.units.softmax import SoftmaxTensors


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
        address, target = context.address(source), context.address(match.results[0])
        step = min(shape.channels, context.device.parameters["MaxToken"])
        for first in range(0, shape.tokens, step):
            count = min(step, shape.tokens - first)
            skip = first * PIXEL_BYTES
            operands = SoftmaxTensors(
                heads=1, tokens=count, last=shape.channels - count, mask=False, in_addr=address + skip, in_surface=shape.row,
                in_line=shape.row, out_addr=target + skip, out_surface=shape.row, out_line=shape.row,
            )  # fmt: skip
            context.emit(Call("softmax", operands.encode(), (op_id(match.ops[0]),), (first, first + count)))
