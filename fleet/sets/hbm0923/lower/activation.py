"""Elementwise functions: one `act` instruction per tile of tokens, with the function's table."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.sdk import Call, Device
from fleet.sdk.ir import FleetOp, Program, op_id
from fleet.sdk.ir import composite as c
from fleet.sdk.ir import dialect as d
from fleet.sdk.lowering import EmitContext, Match, Missed, Options
from fleet.sets.hbm0923.lower.features import FeatureShape, activations, feature_shape, no_feature, tiles
from fleet.sets.hbm0923.matching import is_zero
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES
from fleet.sets.hbm0923.numerics.act_tables import act_table
from fleet.sets.hbm0923.tables import pack_act
from fleet.sets.hbm0923.units.act import ActTensors


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


def emit_table(context: EmitContext, name: str, shape: FeatureShape, source: int, target: int, ops: Sequence[str]) -> None:
    """Emit the instructions that apply table `name`. source, target: DDR offsets, may be equal."""
    table = context.store(f"act.{name}", "ddr", pack_act(act_table(name)))
    for first, count in tiles(context.device, shape.tokens):
        skip = first * PIXEL_BYTES
        operands = ActTensors(
            channels=shape.channels, lines=1, tokens=count, table_addr=table, in_addr=source + skip,
            in_surface=shape.row, in_line=shape.row, out_addr=target + skip, out_surface=shape.row, out_line=shape.row,
        )  # fmt: skip
        context.emit(Call("act", operands.encode(), tuple(ops), (first, first + count)))


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
        addresses = context.address(source), context.address(match.results[0])
        emit_table(context, match.data, feature_shape(source), *addresses, [op_id(match.ops[0])])
