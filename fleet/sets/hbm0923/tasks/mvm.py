"""Products by weights: mvm, mvm_bn, mvm_bn_res. If a step has more tokens than one instruction takes, a loop runs over tiles."""

from __future__ import annotations

from dataclasses import replace

from fleet.sdk.symbols import Expr, Numb, Number, dim, minimum
from fleet.sdk.tasks import TaskCall, TaskContext, TaskOperand
from fleet.sets.hbm0923.mvm_operands import PIXEL_BYTES, MvmFields, ceil_div
from fleet.sets.hbm0923.patterns import tile_tokens
from fleet.sets.hbm0923.tasks.operands import FeatureOperand, argument, as_int, constant, feature, flag, known, refused, same
from fleet.sets.hbm0923.tasks.room import ceil_div_of, most

INDEX_BYTES = 4


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
    device = context.device
    weights = weight_operand(call)
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
    tile = tile_tokens(device, chin, weights.kept, argmax=False)
    if tile < 1:
        words = ceil_div(chin, device.parameters["Tin"])
        raise refused(
            call, f"{chin} input channels take {words} words, the buffer holds {device.parameters['DatDepth']} (DatDepth)"
        )
    if most(device, x.tokens) <= tile:
        context.emit(instruction, whole.encode(device))
        return
    tile = tile_tokens(device, chin, weights.kept, argmax=True) or tile if argmax else tile
    with context.loop("tile", ceil_div_of(x.tokens, tile)) as index:
        _emit_tile(context, instruction, whole, x.tokens, index, tile)


def _emit_tile(context: TaskContext, instruction: str, whole: MvmFields, tokens: Number, index: Expr, tile: int) -> None:
    if isinstance(index, Numb):  # without a loop every step fits
        context.emit(instruction, whole.encode(context.device))
        return
    first = index * tile
    pixels, words = as_int(dim(first * PIXEL_BYTES)), as_int(dim(first * INDEX_BYTES))
    part = replace(
        whole,
        tokens=as_int(dim(minimum(tokens - first, tile))),
        input=whole.input + pixels,
        output=whole.output + pixels,
        residual=None if whole.residual is None else whole.residual + pixels,
        argmax=None if whole.argmax is None else whole.argmax + words,
    )
    context.emit(instruction, part.encode(context.device), (first, first + part.tokens))


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
