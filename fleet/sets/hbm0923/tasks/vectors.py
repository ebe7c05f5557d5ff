"""Operators that work token by token: norms, rotary embedding, activations, sums and products of two tensors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from fleet.sdk.symbols import as_expr
from fleet.sdk.tasks import Task, TaskCall, TaskContext
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, PIXEL_LANES
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.operands import ElementwiseMode
from fleet.sets.hbm0923.tasks.attention import head_channels
from fleet.sets.hbm0923.tasks.operands import FeatureOperand, argument, as_int, constant, feature, known, last_token, refused, same
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
    if layer and channels % PIXEL_LANES:
        raise refused(call, f"{channels} channels, a layer norm of the device takes whole groups of {PIXEL_LANES}")
    if channels > context.device.parameters["MaxChannels"]:
        raise refused(call, f"{channels} channels, the device's row buffer holds {context.device.parameters['MaxChannels']}")
    given = call.real("eps")
    eps = np.float32(DEFAULT_EPS if given is None else given)
    context.parameter(EPS_PARAMETER, int(eps.view(np.uint32)))
    operands = NormTensors(
        **groups_of(channels), lines=x.lines, tokens=as_int(x.tokens), wt_addr=constant(call, 1, "coefficients"), in_addr=x.address,
        in_surface=x.surface, in_line=x.line, out_addr=y.address, out_surface=y.surface, out_line=y.line,
        recip=fp20_word(Fraction(1, channels)), layer=layer, in_onchip=x.onchip, out_onchip=y.onchip,
    )  # fmt: skip
    context.emit("norm", operands.encode())


def pos_emb(context: TaskContext, call: TaskCall) -> None:
    """Rotary embedding of all heads: (heads, tokens, D), with one shared table (1, positions, D) of (cos, sin)."""
    x, y = _pair(call)
    channels = head_channels(call, x.channels)
    table = argument(call, 1, "a table")
    address = constant(call, 1, "the table")
    last = last_token(call)
    positions = known(table.shape[-2], call, "the number of positions of the table")
    context.require(as_expr(last) + x.tokens, positions, f"positions of the table '{table.name}'")
    operands = PosEmbTensors(
        channels=channels, heads=x.lines, tokens=as_int(x.tokens), last=as_int(last),
        table_addr=as_int(as_expr(address) + as_expr(last) * PIXEL_BYTES), table_surface=as_int(table.surface), table_line=0,
        in_addr=x.address, in_surface=x.surface, in_line=x.line, out_addr=y.address, out_surface=y.surface, out_line=y.line,
        in_onchip=x.onchip, out_onchip=y.onchip,
    )  # fmt: skip
    context.emit("pos_emb", operands.encode())


def rope(context: TaskContext, call: TaskCall) -> None:
    """Rotary embedding of the newer models: rotates adjacent pairs of the first channels; the table has (1, 0) for the others."""
    if call.attrs.get("mode") != "glm":
        what = "it pairs channels half a head apart, the device pairs neighbours"
        raise refused(call, what, "permute the rows of the weights before it and use pos_emb")
    pos_emb(context, call)


def activate(context: TaskContext, call: TaskCall) -> None:
    """Apply a function to every element, with a table of 16 segments."""
    x, y = _pair(call)
    operands = ActTensors(
        channels=known(x.channels, call, "the number of channels"), lines=x.lines, tokens=as_int(x.tokens),
        table_addr=constant(call, 1, "the table"), in_addr=x.address, in_surface=x.surface, in_line=x.line, out_addr=y.address,
        out_surface=y.surface, out_line=y.line, in_onchip=x.onchip, out_onchip=y.onchip,
    )  # fmt: skip
    context.emit("act", operands.encode())


def elementwise(mode: ElementwiseMode) -> Task:
    """Return the task of a sum, difference or product of two tensors of one shape."""

    def emit(context: TaskContext, call: TaskCall) -> None:
        a, y = _pair(call)
        b = feature(call, argument(call, 1, "a second tensor"), "the second operand")
        if a.lines != b.lines or not same(a.tokens, b.tokens) or not same(a.channels, b.channels):
            shapes = f"({a.lines}, {a.tokens}, {a.channels}) and ({b.lines}, {b.tokens}, {b.channels})"
            raise refused(call, f"{shapes}: expected one shape")
        channels = known(a.channels, call, "the number of channels")
        if (a.surfaces > 1 and not same(a.surface, b.surface)) or (a.lines > 1 and not same(a.line, b.line)):
            raise refused(call, "its operands have different strides, the device knows one", "one of them is a view of some tokens")
        operands = ElementwiseTensors(
            mode=mode, **groups_of(channels), lines=a.lines, tokens=as_int(a.tokens), a_addr=a.address, b_addr=b.address,
            a_surface=a.surface, a_line=a.line, out_addr=y.address, out_surface=y.surface, out_line=y.line, a_onchip=a.onchip,
            b_onchip=b.onchip, out_onchip=y.onchip,
        )  # fmt: skip
        context.emit("elementwise", operands.encode())

    return emit


add, sub, mul = map(elementwise, ElementwiseMode)
