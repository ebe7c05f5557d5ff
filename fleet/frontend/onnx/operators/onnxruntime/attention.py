"""Attention as com.microsoft has it: one product for queries, keys and values, masks of several kinds, what came before."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, binary, concat, unary, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.indexing import wrapped
from fleet.frontend.onnx.registry import MICROSOFT, operator


def _heads(x: OnnxArray, count: int) -> OnnxArray:
    """[B, S, N * d] -> [B, N, S, d]."""
    batch, length, width = x.shape
    return x.reshape(batch, length, count, width // count).transpose(0, 2, 1, 3)


def _joined(x: OnnxArray) -> OnnxArray:
    """[B, N, S, d] -> [B, S, N * d]."""
    batch, heads, length, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, heads * width)


def _mask(n: NodeCall, given: OnnxArray | None, batch: int, queries: int, keys: int) -> OnnxArray | None:
    """What a mask adds to the scores, as [B, 1, 1 or S, T]: 0 for keys that are seen."""
    if given is None or (given.rank == 2 and given.shape[1] == 1 and keys != 1):
        return None
    if given.rank == 1 and given.size in (batch, 2 * batch):
        at = n.constant(np.arange(keys).astype(given.dtype).reshape(1, keys))
        seen = at < given.part(0, 0, batch).reshape(batch, 1)
        if given.size == 2 * batch:
            seen = binary("logical_and", seen, at >= given.part(0, batch, batch).reshape(batch, 1))
        seen = seen.reshape(batch, 1, 1, keys)
    elif given.rank == 2 and given.shape == (batch, keys):
        seen = (given > 0).reshape(batch, 1, 1, keys)
    elif given.rank == 3 and given.shape == (batch, queries, keys):
        seen = (given > 0).reshape(batch, 1, queries, keys)
    else:
        n.refuse(f"a mask of shape {list(given.shape)} is not supported for {queries} queries and {keys} keys")
    kind = np.dtype(np.float32)
    hidden = n.constant(n.attribute("mask_filter_value", -10000.0), kind)
    return where(seen, n.constant(0, kind), hidden)


def _attend(n: NodeCall, q: OnnxArray, k: OnnxArray, v: OnnxArray, mask: OnnxArray | None, bias: OnnxArray | None) -> OnnxArray:
    """softmax(q k' scale + mask + bias) v, of [B, N, S, d]."""
    queries, keys, width = q.shape[2], k.shape[2], q.shape[3]
    scale = n.attribute("scale", 0.0) or 1 / math.sqrt(width)
    scores = (q @ k.swapped()) * scale
    scores = scores if mask is None else scores + mask.astype(scores.dtype)
    scores = scores if bias is None else scores + bias
    if n.attribute("unidirectional", 0):
        n.bounded(queries, keys)
        seen = np.tri(queries, keys, keys - queries, dtype=bool)
        scores = where(n.constant(seen), scores, scores.like(float(np.finfo(scores.dtype).min)))
    return unary("softmax", scores, axis=3) @ v


def self_attention(
    n: NodeCall, projected: OnnxArray, mask: OnnxArray | None, past: OnnxArray | None, bias: OnnxArray | None
) -> list[OnnxArray]:
    """[B, S, q + k + v] -> [B, S, v] and, where it is wanted, keys and values [2, B, N, T, d]."""
    for name in ("do_rotary", "past_present_share_buffer"):
        if n.attribute(name, 0):
            n.refuse(f"its attribute {name} is not supported", "write the model without it (onnxruntime.transformers)")
    batch, queries, width = projected.shape
    heads = n.attribute("num_heads", 0)
    sizes = n.attribute("qkv_hidden_sizes", [width // 3] * 3)
    if heads < 1 or len(sizes) != 3 or sum(sizes) != width or any(s % heads for s in sizes) or sizes[0] != sizes[1]:
        n.refuse(f"{heads} heads of {width} channels, split into {sizes}")
    starts = (0, sizes[0], sizes[0] + sizes[1])
    q, k, v = (_heads(projected.part(2, start, size), heads) for start, size in zip(starts, sizes, strict=True))
    if past is not None:
        k, v = (concat([past.part(0, i, 1).squeeze(0), x], 2) for i, x in enumerate((k, v)))
    out = _joined(_attend(n, q, k, v, _mask(n, mask, batch, queries, k.shape[2]), bias))
    return [out, concat([k.unsqueeze(0), v.unsqueeze(0)], 0)] if n.wants(1) else [out]


@operator("Attention", domain=MICROSOFT)
def _attention(n: NodeCall) -> Sequence[OnnxArray]:
    if n.optional(6) is not None:
        n.refuse("its input past_sequence_length is not supported", "write the model without it (onnxruntime.transformers)")
    projected = n.x @ n.array(1)
    bias = n.optional(2)
    return self_attention(n, projected if bias is None else projected + bias, n.optional(3), n.optional(4), n.optional(5))


@operator("MultiHeadAttention", domain=MICROSOFT)
def _multi_head_attention(n: NodeCall) -> Sequence[OnnxArray]:
    heads = n.attribute("num_heads", 0)
    if heads < 1 or n.optional(8) is not None or n.optional(9) is not None or n.wants(3):
        n.refuse(f"{heads} heads, or an input or output for decoding in a buffer, which are not supported")
    q, k, v = _separate(n, heads)
    past_k, past_v = n.optional(6), n.optional(7)
    if past_k is not None and past_v is not None:
        k, v = concat([past_k, k], 2), concat([past_v, v], 2)
    mask = _mask(n, n.optional(4), q.shape[0], q.shape[2], k.shape[2])
    out = _joined(_attend(n, q, k, v, mask, n.optional(5)))
    return [out, k, v]


def _separate(n: NodeCall, heads: int) -> tuple[OnnxArray, OnnxArray, OnnxArray]:
    """Queries, keys and values as [B, N, S, d], of the ways in which they may be packed."""
    q, k, v, bias = n.array(0), n.optional(1), n.optional(2), n.optional(3)
    if k is None:  # [B, S, N, 3, d]
        if q.rank != 5:
            n.refuse(f"queries of shape {list(q.shape)} without keys")
        parts = [q.part(3, i, 1).squeeze(3) for i in range(3)]
        q, k, v = (p.reshape(*p.shape[:2], -1) for p in parts)
    elif k.rank == 5:  # [B, L, N, 2, d]
        parts = [k.part(3, i, 1).squeeze(3) for i in range(2)]
        k, v = (p.reshape(*p.shape[:2], -1) for p in parts)
    if v is None:
        n.refuse("its values are missing")
    if bias is not None:
        sizes = [q.shape[2], q.shape[2]]
        q = q + bias.part(0, 0, sizes[0])
        if k.rank == 3:
            k, v = k + bias.part(0, sizes[0], sizes[1]), v + bias.part(0, sum(sizes), v.shape[2])
    k, v = (_heads(x, heads) if x.rank == 3 else x for x in (k, v))
    return _heads(q, heads), k, v


@operator("RotaryEmbedding", domain=MICROSOFT)
def _rotary_embedding(n: NodeCall) -> OnnxArray:
    x, positions, cos, sin = (n.array(i) for i in range(4))
    turned, heads = n.attribute("rotary_embedding_dim", 0), n.attribute("num_heads", 0)
    if n.attribute("is_packed_batching", 0):
        n.refuse("packed batches are not supported", "export it without is_packed_batching")
    flat = x.rank == 3
    if flat:
        width = x.shape[2] // heads if heads else 2 * cos.shape[1]
        x = _heads(x, x.shape[2] // width)
    length, width = x.shape[2:]
    turned = turned or width
    if positions.size == 1:
        positions = wrapped(positions.reshape(1, 1), cos.shape[0]) + n.constant(np.arange(length).reshape(1, length))
    found = _turned(x, wrapped(positions, cos.shape[0]), cos, sin, turned, bool(n.attribute("interleaved", 0)))
    return _joined(found) if flat else found


def _turned(x: OnnxArray, rows: OnnxArray, cos: OnnxArray, sin: OnnxArray, turned: int, interleaved: bool) -> OnnxArray:
    """x [B, N, S, d] with its first `turned` channels rotated by the angles of the tables' rows [B or 1, S]."""
    length, width = x.shape[2:]
    c, s = (v.take(rows).reshape(rows.shape[0], 1, length, turned // 2) for v in (cos, sin))
    first, rest = x.part(3, 0, turned), x.part(3, turned, width - turned)
    if interleaved:
        pairs = first.reshape(*first.shape[:3], turned // 2, 2)
        a, b = pairs.part(4, 0, 1).squeeze(4), pairs.part(4, 1, 1).squeeze(4)
        found = concat([(a * c - b * s).unsqueeze(4), (b * c + a * s).unsqueeze(4)], 4).reshape(*first.shape)
    else:
        a, b = first.part(3, 0, turned // 2), first.part(3, turned // 2, turned // 2)
        found = concat([a * c - b * s, b * c + a * s], 3)
    return concat([found, rest], 3) if width > turned else found


@operator("GroupQueryAttention", domain=MICROSOFT)
def _group_query_attention(n: NodeCall) -> Sequence[OnnxArray]:
    """A decoder's attention: groups of query heads share keys and values, which are joined to those of the past."""
    for name in ("smooth_softmax", "qk_output"):
        if n.attribute(name, 0):
            n.refuse(f"its attribute {name} is not supported", "write the model without it")
    if n.optional(11) is not None:
        n.refuse("its input head_sink is not supported", "write the model without it")
    heads, groups = n.attribute("num_heads", 0), n.attribute("kv_num_heads", 0)
    if groups < 1 or heads % groups:
        n.refuse(f"{heads} heads of queries for {groups} of keys and values")
    q, k, v = n.array(0), n.optional(1), n.optional(2)
    if k is None or v is None:
        each = q.shape[2] // (heads + 2 * groups)
        starts = (0, heads * each, (heads + groups) * each)
        q, k, v = (q.part(2, at, count * each) for at, count in zip(starts, (heads, groups, groups), strict=True))
    q, k, v = _heads(q, heads), _heads(k, groups), _heads(v, groups)
    batch, _, queries, width = q.shape
    past_k, past_v = n.optional(3), n.optional(4)
    before = 0 if past_k is None else past_k.shape[2]
    lengths = {last + 1 for last in n.integers(5, "how many keys there are")}
    if lengths != {before + queries}:
        said = (
            f"{sorted(lengths)} keys of {before} before and {queries} new ones: sequences of one length, without a buffer, are read"
        )
        n.refuse(said, "give a past of the length that has been seen, and no padding")
    if n.attribute("do_rotary", 0):
        cos, sin = n.array(7), n.array(8)
        rows = n.optional(9)
        if rows is None:
            rows = n.constant(np.arange(before, before + queries).reshape(1, queries), np.int64)
        interleaved = bool(n.attribute("rotary_interleaved", 0))
        q, k = (_turned(x, wrapped(rows, cos.shape[0]), cos, sin, 2 * cos.shape[1], interleaved) for x in (q, k))
    if past_k is not None and past_v is not None:
        k, v = concat([past_k, k], 2), concat([past_v, v], 2)
    keys = before + queries
    scale = n.attribute("scale", 0.0) or 1 / math.sqrt(width)
    shared = heads // groups
    scores = (q.reshape(batch, groups, shared * queries, width) @ k.swapped()) * scale
    scores = scores.reshape(batch, heads, queries, keys)
    if cap := n.attribute("softcap", 0.0):
        scores = unary("tanh", scores / cap) * cap
    if (bias := n.optional(10)) is not None:
        scores = scores + bias
    n.bounded(queries, keys)
    seen, window = np.tri(queries, keys, before, dtype=bool), n.attribute("local_window_size", -1)
    if window >= 0:
        seen &= ~np.tri(queries, keys, before - window, dtype=bool)
    scores = where(n.constant(seen), scores, scores.like(float(np.finfo(scores.dtype).min)))
    out = unary("softmax", scores, axis=3).reshape(batch, groups, shared * queries, keys) @ v
    return [_joined(out.reshape(batch, heads, queries, width)), k, v]
