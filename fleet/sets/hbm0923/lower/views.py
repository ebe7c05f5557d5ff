"""Views that need no instruction: whole groups of 32 channels of all tokens are contiguous in memory.

So query, key and value of one product are views of its result. A reshape that keeps the channels does not change memory.
"""

from __future__ import annotations

from fleet.sdk import Device
from fleet.sdk.ir import FleetOp, Program, integers, shape_of
from fleet.sdk.ir import dialect as d
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import activations, feature_shape, no_feature
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES


class ViewPattern:
    """x[..., a:b] if a and b are multiples of 32, or b is the end; a reshape that keeps the last axis."""

    name = "view"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[int] | Missed | None:
        """Match a slice of channels, or a reshape of the axes before them."""
        if not isinstance(op, d.SliceOp | d.ReshapeOp):
            return None
        if reason := no_feature(op.operand, op.results[0]):
            return Missed(reason)
        if not activations(program, op.operand):
            return Missed("a part of a weight")
        skip = _channels_before(op) if isinstance(op, d.SliceOp) else _kept(op)
        if isinstance(skip, str):
            return Missed(skip)
        whole, part = feature_shape(op.operand), feature_shape(op.results[0])
        if skip % PIXEL_LANES or (part.channels % PIXEL_LANES and skip + part.channels != whole.channels):
            return Missed(f"channels {skip} to {skip + part.channels}, views begin and end at multiples of {PIXEL_LANES}")
        return Match(self, (op,), (op.operand,), (), (op.results[0],), skip, view=True)

    def emit(self, match: Match[int], context: EmitContext) -> None:
        """Emit no instruction; make the result a view."""
        whole = feature_shape(match.activations[0])
        skip = match.data // PIXEL_LANES * whole.tokens * PIXEL_BYTES
        context.view(match.results[0], match.activations[0], skip)


def _kept(op: d.ReshapeOp) -> int | str:
    """Return 0, or why channels do not stay channels."""
    before, after = feature_shape(op.operand), feature_shape(op.results[0])
    if before != after:
        return f"channels are {before.channels} before it and {after.channels} after it, in memory they stay channels"
    return 0


def _channels_before(op: d.SliceOp) -> int | str:
    """Return the channels before the slice, or why it is no view: it omits tokens, or skips channels within its range."""
    before, after = shape_of(op.operand.type), shape_of(op.results[0].type)
    if len(before) != len(after):
        return "a part with fewer dimensions, views keep [tokens, channels]"
    start = integers(op.start)
    step = op.properties.get("step")
    stepped = step is not None and any(n != 1 for n in integers(step))
    if stepped or any(start[:-1]) or before[:-1] != after[:-1]:
        return "a part with steps or of some tokens only, views are of channels and have all tokens"
    return start[-1]
