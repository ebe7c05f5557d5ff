"""Operators that work token by token: norms, rotary embedding, activations, sums and products of two tensors."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from fleet.sdk.symbols import as_expr, dim
from fleet.sdk.tasks import Task, TaskCall, TaskContext
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.operators.attention import head_channels
from fleet.sets.hbm0923.operators.operands import (
    FeatureOperand,
    argument,
    as_int,
    constant,
    feature,
    known,
    last_token,
    refused,
    same,
    tiles,
)
from fleet.sets.hbm0923.units.act import ActTensors
from fleet.sets.hbm0923.units.elementwise import ElementwiseTensors
from fleet.sets.hbm0923.units.feature import groups_of
from fleet.sets.hbm0923.units.norm import NormTensors
from fleet.sets.hbm0923.units.pos_emb import PosEmbTensors

DEFAULT_EPS = 1e-5
EPS_PARAMETER = "eps"


def _pair(call: TaskCall) -> tuple[FeatureOperand, FeatureOperand]:
    """Return input and result."""
    return feature(call, argument(call, 0, "a tensor"), "the input"), feature(call, call.results[0], "the result")


def is_layer_norm(call: TaskCall) -> bool:
    """Return whether the mean is subtracted. The public compiler has one operator with attribute `rms` for both norms."""
    return call.op.endswith("layer_norm") and not call.attrs.get("rms", 0)


def norm(context: TaskContext, call: TaskCall) -> None:
    """Layer norm and RMS norm over the channels."""
    x, y = _pair(call)
    channels = known(x.channels, call, "the number of channels")
    layer = is_layer_norm(call)
    if channels > context.device.parameters["MaxChannels"]:
        raise refused(call, f"{channels} channels, the device's row buffer holds {context.device.parameters['MaxChannels']}")
    given = call.real("eps")
    emit_norm(context, x, y, constant(call, 1, "coefficients"), eps=DEFAULT_EPS if given is None else given, layer=layer)


def emit_norm(context: TaskContext, x: FeatureOperand, y: FeatureOperand, coefficients: int, *, eps: float, layer: bool) -> None:
    """Emit a norm of all channels. coefficients: DDR offset of gamma and beta; layer: the mean is subtracted."""
    channels = int(x.channels)
    context.parameter(EPS_PARAMETER, int(np.float32(eps).view(np.uint32)))
    with tiles(context, x.tokens, context.device.parameters["MaxToken"]) as tile:
        source, target = x.part(tile), y.part(tile)
        operands = NormTensors(
            **groups_of(channels), lines=x.lines, tokens=as_int(source.tokens), wt_addr=coefficients, in_addr=source.address,
            in_surface=x.surface, in_line=x.line, out_addr=target.address, out_surface=y.surface, out_line=y.line,
            recip=fp20_word(Fraction(1, channels)), layer=layer, in_onchip=x.onchip, out_onchip=y.onchip,
        )  # fmt: skip
        context.emit("norm", operands.encode(), tile.tokens)


def pos_emb(context: TaskContext, call: TaskCall) -> None:
    """Rotary embedding of all heads: (heads, tokens, D), with one shared table (1, positions, D) of (cos, sin)."""
    x, y = _pair(call)
    channels = head_channels(call, x.channels)
    table = argument(call, 1, "a table")
    address = constant(call, 1, "the table")
    last = last_token(call)
    positions = known(table.shape[-2], call, "the number of positions of the table")
    context.require(as_expr(last) + x.tokens, positions, f"positions of the table '{table.name}'")
    start = as_int(as_expr(address) + as_expr(last) * PIXEL_BYTES)
    emit_rotary(context, x, y, RotaryTable(start, as_int(table.surface), as_int(last)), channels)


class RotaryTable(NamedTuple):
    """A rotary table in DDR: the row of the first token, bytes between groups of channels, tokens before the first one."""

    address: int
    surface: int
    last: int


def emit_rotary(context: TaskContext, x: FeatureOperand, y: FeatureOperand, table: RotaryTable, channels: int) -> None:
    """Emit the rotary embedding of all heads, which share one table."""
    with tiles(context, x.tokens, context.device.parameters["MaxToken"]) as tile:
        source, target = x.part(tile), y.part(tile)
        operands = PosEmbTensors(
            channels=channels, heads=x.lines, tokens=as_int(source.tokens), last=as_int(dim(as_expr(table.last) + tile.first)),
            table_addr=tile.moved(table.address), table_surface=table.surface, table_line=0, in_addr=source.address,
            in_surface=x.surface, in_line=x.line, out_addr=target.address, out_surface=y.surface, out_line=y.line,
            in_onchip=x.onchip, out_onchip=y.onchip,
        )  # fmt: skip
        context.emit("pos_emb", operands.encode(), tile.tokens)


def rope(context: TaskContext, call: TaskCall) -> None:
    """Rotary embedding of the newer models: rotates adjacent pairs of the first channels; the table has (1, 0) for the others."""
    if call.attrs.get("mode") != "glm":
        what = "it pairs channels half a head apart, the device pairs neighbours"
        raise refused(call, what, "permute the rows of the weights before it and use pos_emb")
    pos_emb(context, call)


def activate(context: TaskContext, call: TaskCall) -> None:
    """Apply a function to every element, with a table of 16 segments."""
    x, y = _pair(call)
    known(x.channels, call, "the number of channels")
    emit_table(context, x, y, constant(call, 1, "the table"))


def emit_table(context: TaskContext, x: FeatureOperand, y: FeatureOperand, table: int) -> None:
    """Emit a function of every element. table: DDR offset of its segments."""
    with tiles(context, x.tokens, context.device.parameters["MaxToken"]) as tile:
        source, target = x.part(tile), y.part(tile)
        operands = ActTensors(
            channels=int(x.channels), lines=x.lines, tokens=as_int(source.tokens), table_addr=table, in_addr=source.address,
            in_surface=x.surface, in_line=x.line, out_addr=target.address, out_surface=y.surface, out_line=y.line,
            in_onchip=x.onchip, out_onchip=y.onchip,
        )  # fmt: skip
        context.emit("act", operands.encode(), tile.tokens)


def elementwise(mode: ElementwiseMode) -> Task:
    """Return the task of a sum, difference or product of two tensors of one shape."""

    def emit(context: TaskContext, call: TaskCall) -> None:
        a, y = _pair(call)
        b = feature(call, argument(call, 1, "a second tensor"), "the second operand")
        if a.lines != b.lines or not same(a.tokens, b.tokens) or not same(a.channels, b.channels):
            shapes = f"({a.lines}, {a.tokens}, {a.channels}) and ({b.lines}, {b.tokens}, {b.channels})"
            raise refused(call, f"{shapes}: expected one shape")
        known(a.channels, call, "the number of channels")
        if (a.surfaces > 1 and not same(a.surface, b.surface)) or (a.lines > 1 and not same(a.line, b.line)):
            raise refused(call, "its operands have different strides, the device knows one", "one of them is a view of some tokens")
        emit_elementwise(context, mode, a, b, y)

    return emit


def emit_elementwise(context: TaskContext, mode: ElementwiseMode, a: FeatureOperand, b: FeatureOperand, y: FeatureOperand) -> None:
    """Emit a sum, difference or product of two tensors of one shape and the same strides."""
    with tiles(context, a.tokens, context.device.parameters["MaxToken"]) as tile:
        first, second, target = a.part(tile), b.part(tile), y.part(tile)
        operands = ElementwiseTensors(
            mode=mode, **groups_of(int(a.channels)), lines=a.lines, tokens=as_int(first.tokens), a_addr=first.address,
            b_addr=second.address, a_surface=a.surface, a_line=a.line, out_addr=target.address, out_surface=y.surface,
            out_line=y.line, a_onchip=a.onchip, b_onchip=b.onchip, out_onchip=y.onchip,
        )  # fmt: skip
        context.emit("elementwise", operands.encode(), tile.tokens)


add, sub, mul = map(elementwise, ElementwiseMode)
