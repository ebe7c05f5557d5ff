"""Products by weights: mvm, mvm_bn, mvm_bn_res. If a step has more tokens than one instruction takes, a loop runs over tiles."""

from __future__ import annotations

from dataclasses import replace

from fleet.sdk import Device
from fleet.sdk.tasks import TaskCall, TaskContext, TaskOperand
from fleet.sets.hbm0923.mvm_operands import BEAT_CODES, PIXEL_BYTES, MvmFields, ceil_div, row_words
from fleet.sets.hbm0923.operators.operands import (
    FeatureOperand,
    argument,
    as_int,
    constant,
    feature,
    flag,
    known,
    most,
    refused,
    same,
    tiles,
)

INDEX_BYTES = 4
_ARGMAX_TOKENS = PIXEL_BYTES // INDEX_BYTES
"""The argmax address of a tile must be a multiple of 64 bytes, so its first token is a multiple of 16."""


def has_argmax(call: TaskCall) -> bool:
    """Return whether the call also returns indices."""
    return flag(call, "arg_max")


def mvm(context: TaskContext, call: TaskCall) -> None:
    """Multiply x (1, tokens, CHin) by weights (CHin, CHout)."""
    _product(context, call, "mvm")


def mvm_bn(context: TaskContext, call: TaskCall) -> None:
    """Multiply by weights, then apply a factor and a bias per channel."""
    _product(context, call, "mvm_bn")


def mvm_bn_res(context: TaskContext, call: TaskCall) -> None:
    """As `mvm_bn`, then add or multiply a residual."""
    _product(context, call, "mvm_bn_res")


def weight_operand(call: TaskCall) -> TaskOperand:
    """Return the weights. Raises DeviceError if the operand is not a weight."""
    weights = argument(call, 1, "weights")
    if weights.space != "hbm" or weights.dtype != "int4" or len(weights.shape) != 2:
        raise refused(call, f"its second operand is {weights.dtype} in {weights.space}, expected int4 weights in hbm")
    return weights


def _product(context: TaskContext, call: TaskCall, instruction: str) -> None:
    device, weights = context.device, weight_operand(call)
    chin, chout = (known(d, call, "a size of the weights") for d in weights.shape)
    x, y = feature(call, argument(call, 0, "activations"), "the input"), feature(call, call.results[0], "the result")
    residual = None
    if instruction == "mvm_bn_res":
        residual = feature(call, argument(call, 3, "a residual"), "the residual")
    _check(call, x, y, residual, chin, chout)
    argmax = has_argmax(call)
    whole = MvmFields(
        chin=chin, chout=chout, tokens=as_int(x.tokens), tblk=weights.group, input=x.address, weights=as_int(weights.address),
        output=y.address, in_surface=x.surface, in_line=x.line, out_surface=y.surface, out_line=y.line,
        bn=None if instruction == "mvm" else constant(call, 2, "batch norm words"),
        residual=None if residual is None else residual.address,
        argmax=as_int(call.results[1].address) if argmax else None,
        relu=flag(call, "relu"), mul=residual is not None and flag(call, "res_mul"),
        kept=weights.kept, onchip=x.onchip + 2 * y.onchip + 4 * (residual is not None and residual.onchip),
    )  # fmt: skip
    if tile_tokens(device, chin, weights.kept, argmax=False) < 1:
        words = ceil_div(chin, device.parameters["Tin"])
        raise refused(
            call, f"{chin} input channels take {words} words, the buffer holds {device.parameters['DatDepth']} (DatDepth)"
        )
    emit_product(context, whole)


def tile_tokens(device: Device, chin: int, kept: int = 0, *, argmax: bool) -> int:
    """Return the maximum tokens of one instruction; 0 if not even one fits. kept: stored weights of 8, 0 for all."""
    p = device.parameters
    tile = min(p["MaxToken"], p["DatDepth"] * p["Tin"] // BEAT_CODES // row_words(chin, kept))
    return tile // _ARGMAX_TOKENS * _ARGMAX_TOKENS if argmax else tile


def emit_product(context: TaskContext, whole: MvmFields) -> None:
    """Emit a product of all tokens: one instruction for each tile that the data buffer holds."""
    device = context.device
    instruction = "mvm" if whole.bn is None else "mvm_bn" if whole.residual is None else "mvm_bn_res"
    at_most = tile_tokens(device, whole.chin, whole.kept, argmax=False)
    if whole.argmax is not None and most(device, whole.tokens) > at_most:
        at_most = tile_tokens(device, whole.chin, whole.kept, argmax=True) or at_most
    with tiles(context, whole.tokens, at_most) as tile:
        part = replace(
            whole,
            tokens=as_int(tile.size),
            input=tile.moved(whole.input),
            output=tile.moved(whole.output),
            residual=None if whole.residual is None else tile.moved(whole.residual),
            argmax=None if whole.argmax is None else tile.moved(whole.argmax, INDEX_BYTES),
        )
        context.emit(instruction, part.encode(device), tile.tokens)


def _check(call: TaskCall, x: FeatureOperand, y: FeatureOperand, residual: FeatureOperand | None, chin: int, chout: int) -> None:
    if x.lines != 1:
        raise refused(call, f"its input has {x.lines} heads, expected (1, tokens, {chin}); reshape it first")
    if known(x.channels, call, "the number of input channels") != chin:
        raise refused(call, f"its input has {x.channels} channels, its weights {chin} inputs")
    if residual is not None and (residual.lines != 1 or not same(residual.channels, chout) or not same(residual.tokens, x.tokens)):
        shape = f"({residual.lines}, {residual.tokens}, {residual.channels})"
        raise refused(call, f"its residual is {shape}, its result (1, {y.tokens}, {chout})")
    if residual is not None and y.surfaces > 1 and not same(residual.surface, y.surface):
        what = f"its residual has {residual.surface} bytes between groups of channels, its result {y.surface}: the device knows one"
        raise refused(call, what, "take the last token behind the residual instead of before")
