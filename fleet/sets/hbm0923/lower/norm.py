"""Layer norm and RMS norm over the channels of every token: one `norm` instruction per tile of tokens."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from fleet.sdk import Device
from fleet.sdk.ir import FleetOp, Program, constant_value, dialect, shape_of, weight_name
from fleet.sdk.ir import composite as c
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import activations, feature_shape, no_feature, stored_half, weights
from fleet.sets.hbm0923.lower.unrolled import Unrolled, feature_at
from fleet.sets.hbm0923.matching import unstorable
from fleet.sets.hbm0923.numerics.norm import EPS_LIMIT
from fleet.sets.hbm0923.operators.vectors import emit_norm
from fleet.sets.hbm0923.tables import pack_norm

_NORMS = (c.LayerNormOp, c.RmsNormOp)


def _eps(op: c.LayerNormOp | c.RmsNormOp) -> float:
    return float(op.eps.value.data)


def _run_eps(program: Program) -> float:
    """Return the epsilon that the register holds for the whole run: that of the program's first norm."""
    return next(_eps(op) for op in program.operations() if isinstance(op, _NORMS))


class NormPattern:
    """layer_norm and rms_norm over the last axis; gamma and beta are weights, or one number for all channels."""

    name = "norm"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[None] | Missed | None:
        """Match one norm."""
        if not isinstance(op, _NORMS):
            return None
        if reason := self._reason(op, program, device):
            return Missed(reason)
        return Match(self, (op,), (op.operand,), weights(program, *op.operands[1:]), (op.results[0],), None)

    def _reason(self, op: c.LayerNormOp | c.RmsNormOp, program: Program, device: Device) -> str | None:
        if reason := no_feature(op.operand):
            return reason
        rank, channels = len(shape_of(op.operand.type)), feature_shape(op.operand).channels
        if not activations(program, op.operand):
            return "its operand is a weight"
        if isinstance(op, c.LayerNormOp) and int(op.axis.value.data) not in {-1, rank - 1}:
            return "it is not over the last axis, the device norms the channels of a token"
        if channels > device.parameters["MaxChannels"]:
            return f"{channels} channels, the device's row buffer holds {device.parameters['MaxChannels']}"
        for value in op.operands[1:]:
            if not _per_channel(value, channels) or (weight_name(value, program) is None and _number(value) is None):
                return "gamma or beta is no weight with one number a channel, and no number that FP16 has"
        if reason := unstorable(program, *op.operands[1:]):
            return reason
        if not 0 <= _eps(op) < EPS_LIMIT:
            return f"eps {_eps(op):g}, the device takes 0 up to {EPS_LIMIT}"
        if _eps(op) != _run_eps(program):
            return f"eps {_eps(op):g}: the device has one register for the whole run, {_run_eps(program):g} for the first norm"
        return None

    def emit(self, match: Match[None], context: EmitContext) -> None:
        """Emit it. Raises ModelError if FP16 cannot hold the coefficients."""
        (op,) = match.ops
        assert isinstance(op, _NORMS)
        shape = feature_shape(op.operand)
        made = [_coefficients(context, value, shape.channels) for value in op.operands[1:]]
        names, halves = [name for name, _ in made], [half for _, half in made]
        words = context.store(f"{' '.join(names)}.norm", "ddr", pack_norm(halves[0], halves[1] if len(halves) > 1 else None))
        x, y = (feature_at(shape.tokens, shape.channels, context.address(v)) for v in (op.operand, op.results[0]))
        emit_norm(Unrolled(context, match.ops, (0, shape.tokens)), x, y, words, eps=_eps(op), layer=isinstance(op, c.LayerNormOp))


def _number(value: SSAValue) -> float | None:
    """Return the number that a constant holds in all its elements, if FP16 represents it exactly; else None."""
    if not isinstance(value.owner, dialect.ConstantOp):
        return None
    number = float(constant_value(value.owner))
    with np.errstate(over="ignore"):
        return number if float(np.float16(number)) == number else None


def _coefficients(context: EmitContext, value: SSAValue, channels: int) -> tuple[str, np.ndarray]:
    """Return (name, FP16 [channels]) of gamma or beta."""
    name = weight_name(value, context.program)
    if name is not None:
        return name, stored_half(context, name).reshape(-1)
    number = _number(value)
    assert number is not None
    return f"{number:g} for {channels}", np.full(channels, number, np.float16)


def _per_channel(value: SSAValue, channels: int) -> bool:
    shape = shape_of(value.type)
    return shape[-1:] == (channels,) and all(n == 1 for n in shape[:-1])
