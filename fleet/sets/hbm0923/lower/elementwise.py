"""Sum, difference and product of two activations of one shape: one `elementwise` instruction per tile of tokens."""

from __future__ import annotations

from collections.abc import Mapping

from fleet.sdk import Device
from fleet.sdk.ir import FleetOp, Program
from fleet.sdk.ir import dialect as d
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import (
    activations,
    feature_shape,
    no_feature,
    place,
    same_shapes,
    weights,
)
from fleet.sets.hbm0923.lower.unrolled import Unrolled, feature_at
from fleet.sets.hbm0923.matching import unstorable, unstorable_bias
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.operators.vectors import emit_elementwise

_MODES: Mapping[type[FleetOp], ElementwiseMode] = {
    d.AddOp: ElementwiseMode.ADD, d.SubOp: ElementwiseMode.SUB, d.MulOp: ElementwiseMode.MUL,
}  # fmt: skip


class ElementwisePattern:
    """a + b, a - b and a * b."""

    name = "elementwise"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[None] | Missed | None:
        """Match operands of the result's shape; one of them may be a weight."""
        if type(op) not in _MODES:
            return None
        reason = no_feature(*op.operands, *op.results)
        if reason is None and not same_shapes(*op.operands):
            reason = unstorable_bias(op, program) or "one side is broadcast, the device takes two tensors of one shape"
        inputs = activations(program, *op.operands)
        if reason is None and not inputs:
            reason = "both sides are weights"
        if reason is None:
            reason = unstorable(program, *op.operands)
        if reason is not None:
            return Missed(reason)
        return Match(self, (op,), inputs, weights(program, *op.operands), (op.results[0],), None)

    def emit(self, match: Match[None], context: EmitContext) -> None:
        """Emit it. Raises ModelError if a weight is not finite in FP16."""
        (op,) = match.ops
        shape = feature_shape(op.results[0])
        addresses = [place(context, v) for v in op.operands]
        a, b, y = (feature_at(shape.tokens, shape.channels, at) for at in (*addresses, context.address(op.results[0])))
        emit_elementwise(Unrolled(context, match.ops, (0, shape.tokens)), _MODES[type(op)], a, b, y)
