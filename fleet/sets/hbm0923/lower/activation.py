"""Elementwise functions: one `act` instruction per tile of tokens, with the function's table."""

from __future__ import annotations

from fleet.sdk import Device
from fleet.sdk.ir import FleetOp, Program
from fleet.sdk.ir import composite as c
from fleet.sdk.ir import dialect as d
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import activations, feature_shape, no_feature
from fleet.sets.hbm0923.lower.unrolled import Unrolled, feature_at
from fleet.sets.hbm0923.matching import is_zero
from fleet.sets.hbm0923.numerics.act_tables import act_table
from fleet.sets.hbm0923.operators.vectors import emit_table
from fleet.sets.hbm0923.tables import pack_act


def table_of(op: FleetOp) -> str | None:
    """Return the name of an operation's table, or None."""
    if isinstance(op, c.GeluOp):
        return "gelu_tanh" if op.approximate.data == "tanh" else "gelu"
    if isinstance(op, c.SiluOp):
        return "silu"
    if isinstance(op, c.SigmoidOp):
        return "sigmoid"
    if isinstance(op, d.TanhOp):
        return "tanh"
    if isinstance(op, d.MaximumOp) and (is_zero(op.lhs) or is_zero(op.rhs)):
        return "relu"
    return None


def store_table(context: EmitContext, name: str) -> int:
    """Return the DDR offset of table `name`, which is placed once."""
    return context.store(f"act.{name}", "ddr", pack_act(act_table(name)))


class ActivationPattern:
    """GELU, SiLU, sigmoid and tanh with fitted tables; ReLU with an exact table."""

    name = "act"

    def match(self, op: FleetOp, program: Program, device: Device, options: Options) -> Match[str] | Missed | None:
        """Match one operation on an activation."""
        table = table_of(op)
        if table is None:
            return None
        operand = op.operands[1] if isinstance(op, d.MaximumOp) and is_zero(op.operands[0]) else op.operands[0]
        reason = no_feature(operand)
        if reason is None and not activations(program, operand):
            reason = "its operand is a weight"
        if reason is not None:
            return Missed(reason)
        return Match(self, (op,), (operand,), (), (op.results[0],), table)

    def emit(self, match: Match[str], context: EmitContext) -> None:
        """Emit it; the table is placed in DDR once."""
        (source,) = match.activations
        shape = feature_shape(source)
        x, y = (feature_at(shape.tokens, shape.channels, context.address(v)) for v in (source, match.results[0]))
        emit_table(Unrolled(context, match.ops, (0, shape.tokens)), x, y, store_table(context, match.data))
