"""Attention with a cache of keys and values: rotary embedding, cache writes, scores, softmax, weighted values.

A cache is functional: `dat_hbm` returns the tensor (kv_heads, last_token + T, D) of all positions so far. The last T are the
argument's; former steps wrote the earlier ones. Its memory is the graph's state.

A rotary table has shape (..., 2 * positions, pairs), or (2, positions, pairs); an array for it holds the cosines of all positions,
then the sines. Row `last_token + t` rotates token t.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from math import sqrt
from typing import Any, ClassVar

import numpy as np
from xdsl.irdl import operand_def

from fleet.ir.accel.inference import Inference, same_dim
from fleet.ir.accel.nodes import Node, OperatorCall, call, register
from fleet.ir.accel.types import AccelTensor, DataType, Dim, show_shape
from fleet.ir.types import Attributes
from fleet.symbols.expr import as_expr, dim

CACHE = DataType("float16", "hbm")


def pos_emb(data: Node, weight: Node, padding: int = 0, out_and_in_mode: int = 0, **attrs: Any) -> OperatorCall:
    """Rotary embedding of data (heads, T, D): adjacent channels (2i, 2i + 1) rotated by pair i of the table."""
    given = {"padding": padding, "out_and_in_mode": out_and_in_mode, **attrs}
    return call("accel.hbm.pos_emb", (data, weight), given)


def rope_glm(data: Node, weight: Node, **attrs: Any) -> OperatorCall:
    """Partial rotary embedding: the first 2 * pairs channels in adjacent pairs, the others unchanged."""
    return call("accel.hbm.rope", (data, weight), {"mode": "glm", **attrs})


def rope_qwen(data: Node, weight: Node, **attrs: Any) -> OperatorCall:
    """Rotary embedding of halves: channels i and i + D / 2 rotated by pair i of the table."""
    return call("accel.hbm.rope", (data, weight), {"mode": "qwen", **attrs})


def dat_hbm(data: Node, trp: int, last_token: Dim | None = None, **attrs: Any) -> OperatorCall:
    """Appends (kv_heads, T, D) to a cache in HBM at position last_token. trp: 1 for keys (`trp_mvm`), 0 for values (`f2w_mvm`)."""
    return call("accel.hbm.dat_hbm", (data,), {"trp": trp, "last_token": last_token, **attrs}, "hbm_cache")


dat2hbm = dat_hbm


def kcache2hbm(data: Node, **attrs: Any) -> OperatorCall:
    """`dat_hbm` of keys."""
    return dat_hbm(data, 1, **attrs)


def vcache2hbm(data: Node, **attrs: Any) -> OperatorCall:
    """`dat_hbm` of values."""
    return dat_hbm(data, 0, **attrs)


def transpose(data: Node, out_and_in_mode: int = 0, log2_step: int = 28) -> OperatorCall:
    """Keys of these tokens only, in HBM for `trp_mvm`: no state is kept between steps."""
    given = {"trp": 1, "out_and_in_mode": out_and_in_mode, "log2_step": log2_step}
    return call("accel.hbm.transpose", (data,), given, "hbm_rt")


def feature2weight(data: Node, out_and_in_mode: int = 0, log2_step: int = 28) -> OperatorCall:
    """Values of these tokens only, in HBM for `f2w_mvm`: no state is kept between steps."""
    given = {"trp": 0, "out_and_in_mode": out_and_in_mode, "log2_step": log2_step}
    return call("accel.hbm.feature2weight", (data,), given, "hbm_rt")


def trp_mvm(data: Node, weight: Node, **attrs: Any) -> OperatorCall:
    """Scores: queries (heads, T, D) by keys (kv_heads, S, D), times 1 / sqrt(D): (heads, T, S)."""
    return call("accel.hbm.trp_mvm", (data, weight), attrs)


def f2w_mvm(data: Node, weight: Node, **attrs: Any) -> OperatorCall:
    """Weights (heads, T, S) by values (kv_heads, S, D): (heads, T, D)."""
    return call("accel.hbm.f2w_mvm", (data, weight), attrs)


def mvm_afterTRP(data: Node, weight: Node, padding: int = 0, **attrs: Any) -> OperatorCall:
    """`trp_mvm` under its older name; keys that are not in HBM yet are written there first."""
    return trp_mvm(data, _cached(weight, 1), padding=padding, **attrs)


def mvm_afterF2W(data: Node, weight: Node, padding: int = 0, **attrs: Any) -> OperatorCall:
    """`f2w_mvm` under its older name; values that are not in HBM yet are written there first."""
    return f2w_mvm(data, _cached(weight, 0), padding=padding, **attrs)


def cache(expr: OperatorCall) -> OperatorCall:
    """Marks a call's result for storage in the cache (older form, with `mvm_afterTRP` and `mvm_afterF2W`)."""
    expr.prefix = "cache"
    expr.set(padding=1)
    return expr


def _cached(node: Node, trp: int) -> Node:
    return node if isinstance(node, OperatorCall) and node.op in _IN_HBM else dat_hbm(node, trp)


def softmax(data: Node, padding: int = 0, onchip: int = 0, **attrs: Any) -> OperatorCall:
    """Softmax over the positions of (heads, T, S). mask (attribute, default 1): token t sees the first S - T + t + 1."""
    return call("accel.hbm.softmax", (data,), {"padding": padding, "onchip": onchip, **attrs})


def attention(q_data: Node, k_data: Node, v_data: Node, **attrs: Any) -> OperatorCall:
    """Attention of queries (heads, T, D) with cached keys and values (kv_heads, T, D): (heads, T, D)."""
    scores = softmax(trp_mvm(q_data, dat_hbm(k_data, 1, **attrs), **attrs), **attrs)
    return f2w_mvm(scores, dat_hbm(v_data, 0, **attrs), **attrs)


_IN_HBM = {"accel.hbm.dat_hbm": "a cache", "accel.hbm.transpose": "a transpose", "accel.hbm.feature2weight": "a feature2weight"}
_LAST = {"last_token": "position of the first token; usually given to `infer_type` for all calls"}


def _pairs(c: Inference) -> tuple[AccelTensor, Dim]:
    data, table = c.feature(0), c.typed(1, ("float16",), ("ddr",))
    if len(table.shape) not in {2, 3}:
        c.fail(f"{c.role(1)} has shape {show_shape(table.shape)}, expected (1, 2 * positions, pairs)")
    return data, table.shape[-1]


def _cache_argument(c: Inference, keys: bool) -> tuple[AccelTensor, AccelTensor]:
    data, cached = c.feature(0), c.typed(1, ("float16",), ("hbm",))
    if len(cached.shape) != 3:
        c.fail(f"{c.role(1)} has shape {show_shape(cached.shape)}, expected (kv_heads, positions, channels)")
    source = c.nodes[1]
    if isinstance(source, OperatorCall) and source.op in _IN_HBM and bool(source.attrs.get("trp")) != keys:
        use, trp = ("keys", 1) if keys else ("values", 0)
        c.fail(f"{c.role(1)} is {_IN_HBM[source.op]} with trp = {source.attrs.get('trp')}, {use} need trp = {trp}")
    if not same_dim(data.shape[0] % cached.shape[0], 0):
        c.fail(f"{data.shape[0]} heads cannot share {cached.shape[0]} key/value heads")
    return data, cached


def _angles(table: np.ndarray, attrs: Attributes, tokens: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    cos, sin = table.reshape(2, -1, table.shape[-1]).astype(dtype)
    rows = slice(int(attrs.get("last_token") or 0), int(attrs.get("last_token") or 0) + tokens)
    return cos[rows], sin[rows]


def _adjacent(args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
    x = args[0].copy()
    cos, sin = _angles(args[1], attrs, x.shape[1], x.dtype)
    turned = 2 * cos.shape[1]
    even, odd = args[0][..., :turned:2], args[0][..., 1:turned:2]
    x[..., :turned:2], x[..., 1:turned:2] = even * cos - odd * sin, even * sin + odd * cos
    return x


def _shared(cached: np.ndarray, heads: int) -> np.ndarray:
    return np.repeat(cached, heads // cached.shape[0], axis=0)


# Operators. `last_token` is a number when they compute.


class RotaryCall(OperatorCall, ABC):
    """Rotary embedding; of adjacent channels by default."""

    data = operand_def()
    table = operand_def()
    ATTRS: ClassVar = _LAST

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        data, pairs = _pairs(c)
        c.agree(f"channels of {c.role(0)} {show_shape(data.shape)} and twice the pairs of {c.role(1)}", data.shape[2], pairs * 2)
        return c.result(data.shape)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        return _adjacent(args, attrs)


@register
class PosEmbCall(RotaryCall):
    """rotary embedding of adjacent channels."""

    name = "accel.hbm.pos_emb"


@register
class RopeCall(RotaryCall):
    """rotary embedding of the newer family."""

    name = "accel.hbm.rope"
    ATTRS: ClassVar = {"mode": "glm: the first 2 * pairs channels, adjacent; qwen: halves", **_LAST}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        if c.attrs.get("mode") == "qwen":
            return super().infer(c)
        data, pairs = _pairs(c)
        if (as_expr(data.shape[2]) - pairs * 2).simplify().lower() < 0:
            c.fail(f"{c.role(1)} turns {dim(pairs * 2)} channels, {c.role(0)} has {data.shape[2]}")
        return c.result(data.shape)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        if attrs.get("mode") != "qwen":
            return _adjacent(args, attrs)
        cos, sin = _angles(args[1], attrs, args[0].shape[1], args[0].dtype)
        first, second = np.split(args[0], 2, axis=-1)
        return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


@register
class DatHbmCall(OperatorCall):
    """appends T positions to a cache and returns all of them."""

    name = "accel.hbm.dat_hbm"
    data = operand_def()
    ATTRS: ClassVar = {
        "trp": "1: keys, 0: values", **_LAST, "name": "the cache's name; else cache0, cache1, ...",
    }  # fmt: skip

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        heads, tokens, channels = c.feature(0).shape
        if c.attrs.get("trp", 0) not in (0, 1):
            c.fail(f"trp is {c.attrs['trp']!r}, expected 1 (keys) or 0 (values)")
        return c.result((heads, tokens + c.number("last_token"), channels), CACHE)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        past = attrs["past"]
        return args[0] if past is None else np.concatenate([past, args[0]], axis=1)


class MovedCall(OperatorCall, ABC):
    """This step's own keys or values in HBM."""

    data = operand_def()

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        return c.result(c.feature(0).shape, CACHE)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        return args[0]


@register
class TransposeCall(MovedCall):
    """keys of these tokens into HBM, kept for this step."""

    name = "accel.hbm.transpose"
    ATTRS: ClassVar = {"trp": "1"}


@register
class Feature2WeightCall(MovedCall):
    """values of these tokens into HBM, kept for this step."""

    name = "accel.hbm.feature2weight"
    ATTRS: ClassVar = {"trp": "0"}


@register
class TrpMvmCall(OperatorCall):
    """scores of queries and cached keys."""

    name = "accel.hbm.trp_mvm"
    data = operand_def()
    cache = operand_def()
    ATTRS: ClassVar = {"scale": "of the scores; default 1 / sqrt(D)"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        data, cached = _cache_argument(c, True)
        c.real("scale")
        c.agree(f"channels of {c.role(0)} and {c.role(1)}", data.shape[2], cached.shape[2])
        return c.result((*data.shape[:2], cached.shape[1]))

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        scale = attrs.get("scale")
        keys = _shared(args[1], args[0].shape[0]).swapaxes(1, 2)
        return args[0] @ keys * args[0].dtype.type(1 / sqrt(args[0].shape[2]) if scale is None else scale)


@register
class SoftmaxCall(OperatorCall):
    """softmax over positions."""

    name = "accel.hbm.softmax"
    data = operand_def()
    ATTRS: ClassVar = {"mask": "1 (default): causal"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        return c.result(c.feature(0).shape)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        x = args[0]
        if attrs.get("mask", 1):
            seen = np.arange(x.shape[2]) <= np.arange(x.shape[1])[:, None] + (x.shape[2] - x.shape[1])
            x = np.where(seen, x, -np.inf)
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        return (e / e.sum(axis=-1, keepdims=True)).astype(args[0].dtype)


@register
class F2wMvmCall(OperatorCall):
    """cached values weighted by softmax."""

    name = "accel.hbm.f2w_mvm"
    data = operand_def()
    cache = operand_def()

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        data, cached = _cache_argument(c, False)
        c.agree(f"positions of {c.role(0)} and {c.role(1)}", data.shape[2], cached.shape[1])
        return c.result((*data.shape[:2], cached.shape[2]))

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        return args[0] @ _shared(args[1], args[0].shape[0])
