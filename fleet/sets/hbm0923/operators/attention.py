"""Attention in a graph: a write into the cache, scores, softmax, weights by values."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple, cast

import numpy as np

from fleet.sdk import Device
from fleet.sdk.symbols import Number, as_expr, dim
from fleet.sdk.tasks import OnChipRoom, TaskCall, TaskContext, TaskOperand
from fleet.sets.hbm0923.mvm_operands import BEAT_BYTES, PIXEL_LANES, ceil_div
from fleet.sets.hbm0923.numerics.float32 import fp20_word
from fleet.sets.hbm0923.operators.operands import FeatureOperand, argument, as_int, feature, known, last_token, refused, same
from fleet.sets.hbm0923.units.attention import F2wMvmTensors, TrpMvmTensors, with_bank_step
from fleet.sets.hbm0923.units.dat2hbm import Dat2HbmOperands
from fleet.sets.hbm0923.units.pos_emb import HEAD_CHANNELS
from fleet.sets.hbm0923.units.refusals import MOST_LINES
from fleet.sets.hbm0923.units.softmax import SoftmaxTensors

POSITIONS = "positions (tokens before and in this step)"


def cache_operand(call: TaskCall, what: str) -> TaskOperand:
    """Return the second operand as a cache. Raises DeviceError if it is not one."""
    cache = argument(call, 1, what)
    if cache.space != "hbm" or cache.dtype != "float16" or len(cache.shape) != 3:
        raise refused(
            call, f"its second operand is {cache.dtype} in {cache.space}, expected {what} (heads, positions, channels) in hbm"
        )
    return cache


def head_channels(call: TaskCall, channels: Number) -> int:
    """Return the channels of a head. Raises DeviceError if the device does not support the number."""
    number = known(channels, call, "the number of channels of a head")
    if number not in HEAD_CHANNELS:
        raise refused(call, f"a head has {number} channels, the device takes 64 or 128")
    return number


def dat_hbm(context: TaskContext, call: TaskCall) -> None:
    """Write keys or values of this step's tokens after the earlier ones; a `transpose` or `feature2weight` has no earlier ones."""
    x, cache = feature(call, argument(call, 0, "keys or values"), "the input"), call.results[0]
    if x.onchip:
        raise refused(call, "its input is on chip, the device writes the cache from DDR")
    last, most = last_token(call) if call.op.endswith("dat_hbm") else 0, context.device.parameters["MaxToken"]
    context.require(as_expr(last) + x.tokens, most, POSITIONS)
    place = CachePlace(as_int(cache.address), as_int(cache.line), as_int(cache.surface))
    emit_cache(context, x, place, keys=bool(call.attrs.get("trp", 0)), channels=head_channels(call, x.channels), last=as_int(last))


class CachePlace(NamedTuple):
    """A cache in HBM: address, bytes between heads, bytes between lines of a head."""

    address: int
    head: int
    line: int


def cache_room(device: Device, keys: bool, heads: int, positions: int, channels: int) -> OnChipRoom:
    """Return the bytes of a cache of keys or values in every port, and its strides (surface: of lines, line: of heads)."""
    vectors, length = (positions, channels) if keys else (channels, positions)
    line = ceil_div(2 * length, BEAT_BYTES) * BEAT_BYTES
    head = ceil_div(vectors, device.parameters["HbmPorts"]) * line
    return OnChipRoom(heads * head, line, head)


def emit_cache(
    context: TaskContext, x: FeatureOperand, cache: CachePlace, *, keys: bool, channels: int, last: int,
    tokens: tuple[Number, Number] | None = None,
) -> None:  # fmt: skip
    """Emit the write of keys or values behind `last` earlier ones."""
    operands = Dat2HbmOperands(
        keys=keys, channels=channels, heads=x.lines, tokens=as_int(x.tokens), last=last, in_addr=x.address, in_surface=x.surface,
        in_line=x.line, out_addr=cache.address, wt_head=cache.head, wt_line=cache.line,
    )  # fmt: skip
    context.emit("dat2hbm", operands.encode(), tokens)


def trp_mvm(context: TaskContext, call: TaskCall) -> None:
    """Multiply queries (heads, tokens, D) by keys: scores (heads, tokens, positions)."""
    q, y = feature(call, argument(call, 0, "queries"), "the queries"), feature(call, call.results[0], "the scores")
    cache = cache_operand(call, "keys")
    channels = head_channels(call, q.channels)
    given = call.real("scale")
    scale = 1 / math.sqrt(channels) if given is None else given
    if reason := beyond_scale(scale):
        raise refused(call, reason)
    emit_heads(context, q, y, _cached(context, call, q, y, cache, scores=True), channels, scale=scale)


def f2w_mvm(context: TaskContext, call: TaskCall) -> None:
    """Multiply weights (heads, tokens, positions) by values: (heads, tokens, D), or the same bytes as (1, tokens, heads * D)."""
    p, cache = feature(call, argument(call, 0, "weights"), "the weights"), cache_operand(call, "values")
    channels = head_channels(call, cache.shape[2])
    y = feature(call, call.results[0], "the result")
    if y.lines == 1 and p.lines > 1:
        if not same(y.channels, p.lines * channels):
            raise refused(call, f"its result has {y.channels} channels, {p.lines} heads of {channels} make {p.lines * channels}")
        y = replace(y, lines=p.lines, channels=channels, line=as_int(as_expr(y.surface) * (channels // PIXEL_LANES)))
    emit_heads(context, p, y, _cached(context, call, p, y, cache, scores=False), channels)


class Cached(NamedTuple):
    """Keys or values that a product reads. heads: of keys and values; total: positions."""

    place: CachePlace
    heads: int
    total: int


def _cached(
    context: TaskContext, call: TaskCall, x: FeatureOperand, y: FeatureOperand, cache: TaskOperand, *, scores: bool
) -> Cached:
    """Return the cache. Raises DeviceError if heads or positions do not fit."""
    heads = known(cache.shape[0], call, "the number of heads of the cache")
    if x.lines % heads:
        raise refused(call, f"{x.lines} query heads and {heads} key/value heads, expected a multiple")
    if x.lines > MOST_LINES:
        raise refused(call, f"{x.lines} heads, the device takes {MOST_LINES}")
    total = cache.shape[1]
    if not same(y.channels if scores else x.channels, total):
        wrong = y.channels if scores else x.channels
        raise refused(call, f"{'its result has' if scores else 'its weights are over'} {wrong} positions, the cache has {total}")
    context.require(total, context.device.parameters["MaxToken"], POSITIONS)
    place = CachePlace(as_int(cache.address), as_int(cache.line), as_int(cache.surface))
    return Cached(place, heads, as_int(total))


def emit_heads(
    context: TaskContext, x: FeatureOperand, y: FeatureOperand, cached: Cached, channels: int, *, scale: float | None = None
) -> None:
    """Emit the product of all heads: queries by keys, times `scale`; without a scale, weights by values."""
    operands, name = (F2wMvmTensors, "f2w_mvm") if scale is None else (TrpMvmTensors, "trp_mvm")
    place = cached.place
    made = operands(
        channels=channels, heads=x.lines, kv_heads=cached.heads, total=cached.total, tokens=as_int(x.tokens),
        wt_addr=place.address, wt_head=place.head, wt_line=place.line, in_addr=x.address, in_surface=x.surface, in_line=x.line,
        out_addr=y.address, out_surface=y.surface, out_line=y.line,
        scale=scale_word(context.device, 1.0 if scale is None else scale), in_onchip=x.onchip, out_onchip=y.onchip,
    )  # fmt: skip
    context.emit(name, made.encode())


def scale_word(device: Device, scale: float) -> int:
    """Return the operand `scale`. Raises DeviceError if it is outside FP20."""
    if device.parameters["ScaleFp20"]:
        return with_bank_step(device, fp20_word(Fraction(scale)))
    with np.errstate(over="ignore"):
        return with_bank_step(device, int(np.float16(scale).view(np.uint16)))


def beyond_scale(scale: float) -> str | None:
    """Return why the device's register does not hold a scale of the scores; None if it does. 2^-14 is the smallest normal FP16."""
    return None if 2.0**-14 <= abs(scale) <= 65504 else f"a scale of {scale:g}, the device's register takes 2^-14 to 65504"


def softmax(context: TaskContext, call: TaskCall) -> None:
    """Softmax over the positions of every head and token; with several tokens, each sees the positions up to itself."""
    x, y = feature(call, argument(call, 0, "scores"), "the input"), feature(call, call.results[0], "the result")
    # The device counts this step's tokens among the positions.
    last = dim(as_expr(x.channels) - x.tokens)
    if as_expr(last).lower() < 0:
        raise refused(call, f"{x.channels} positions of {x.tokens} tokens: the device counts the tokens among the positions")
    context.require(x.channels, context.device.parameters["MaxToken"], POSITIONS)
    emit_softmax(context, x, y, last=as_int(last), causal=bool(call.attrs.get("mask", 1)))


def emit_softmax(
    context: TaskContext, x: FeatureOperand, y: FeatureOperand, *, last: int, causal: bool,
    tokens: tuple[Number, Number] | None = None,
) -> None:  # fmt: skip
    """Emit the softmax of every head and token over `last` earlier positions and those of the tokens.

    causal: a token sees no position behind its own.
    """
    # 1 if there is more than one token; a single one sees all positions anyway.
    mask = cast("bool", dim(as_expr(x.tokens) > 1) if causal else 0)
    operands = SoftmaxTensors(
        heads=x.lines, tokens=as_int(x.tokens), last=last, mask=mask, in_addr=x.address, in_surface=x.surface, in_line=x.line,
        out_addr=y.address, out_surface=y.surface, out_line=y.line, in_onchip=x.onchip, out_onchip=y.onchip,
    )  # fmt: skip
    context.emit("softmax", operands.encode(), tokens)
