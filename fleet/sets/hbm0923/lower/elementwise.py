"""Sum, difference and product of two activations of one shape: one `elementwise` instruction per tile of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fleet.sdk import Call, Device
from fleet.sdk.ir import FleetOp, Program, op_id
from fleet.sdk.ir import dialect as d
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import (
    FeatureShape,
    activations,
    feature_shape,
    no_feature,
    place,
    same_shapes,
    tiles,
    weights,
)
from fleet.sets.hbm0923.matching import unstorable, unstorable_bias
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.units.elementwise import ElementwiseTensors
from fleet.sets.hbm0923.units.feature import groups_of

_MODES: Mapping[type[FleetOp], ElementwiseMode] = {
    d.AddOp: ElementwiseMode.ADD, d.SubOp: ElementwiseMode.SUB, d.MulOp: ElementwiseMode.MUL,
}  # fmt: skip


def emit_elementwise(
    context: EmitContext, mode: ElementwiseMode, shape: FeatureShape, sources: tuple[int, int], target: int, ops: Sequence[str]
) -> None:
    """Emit the instructions of one mode. sources, target: DDR offsets; target may be one of the sources."""
    a, b = sources
    for first, count in tiles(context.device, shape.tokens):
        skip = first * PIXEL_BYTES
        operands = ElementwiseTensors(
            mode=mode, **groups_of(shape.channels), lines=1, tokens=count, a_addr=a + skip, b_addr=b + skip, a_surface=shape.row,
            a_line=shape.row, out_addr=target + skip, out_surface=shape.row, out_line=shape.row,
        )  # fmt: skip
        context.emit(Call("elementwise", operands.encode(), tuple(ops), (first, first + count)))


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
        a, b = (place(context, v) for v in op.operands)
        output = context.address(op.results[0])
        emit_elementwise(context, _MODES[type(op)], feature_shape(op.results[0]), (a, b), output, [op_id(op)])
