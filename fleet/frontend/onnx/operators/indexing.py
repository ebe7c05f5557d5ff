"""Gathers and scatters: indices of many shapes are made flat ones, as the IR's gather and scatter take."""

from __future__ import annotations

import math

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, concat, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.registry import LEARNING, operator


def wrapped(indices: OnnxArray, size: int) -> OnnxArray:
    """Indices as int64 that count from the front."""
    indices = indices.astype(np.int64)
    return where(indices < 0, indices + size, indices)


@operator("Gather")
def _gather(n: NodeCall) -> OnnxArray:
    axis = n.axis(n.attribute("axis", 0), n.x.rank)
    return n.x.take(wrapped(n.array(1), n.x.shape[axis]), axis)


def along(n: NodeCall, indices: OnnxArray, shape: tuple[int, ...], axis: int) -> OnnxArray:
    """Indices along an axis of a tensor of this shape, each in its own place of the other axes -> flat ones."""
    n.bounded(*indices.shape)
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    base = np.zeros(indices.shape, np.int64)
    for i, size in enumerate(indices.shape):
        if i != axis:
            base += (np.arange(size) * strides[i]).reshape([-1 if j == i else 1 for j in range(indices.rank)])
    return wrapped(indices, shape[axis]) * strides[axis] + indices.build.known(base)


def take_along(n: NodeCall, x: OnnxArray, indices: OnnxArray, axis: int) -> OnnxArray:
    """`np.take_along_axis`, of indices that may be fewer than x in every dimension."""
    return x.reshape(x.size).take(along(n, indices, x.shape, axis))


@operator("GatherElements")
def _gather_elements(n: NodeCall) -> OnnxArray:
    return take_along(n, n.x, n.array(1), n.axis(n.attribute("axis", 0), n.x.rank))


def _flat_rows(indices: OnnxArray, shape: tuple[int, ...]) -> OnnxArray:
    """[..., k] of indices into the first k dimensions -> [...] of rows of these dimensions flattened."""
    found: OnnxArray | None = None
    for i in range(indices.shape[-1]):
        column = wrapped(indices.part(-1, i, 1).squeeze(indices.rank - 1), shape[i])
        found = column if found is None else found * shape[i] + column
    assert found is not None
    return found


@operator("GatherND")
def _gather_nd(n: NodeCall) -> OnnxArray:
    x, indices, batch = n.x, n.array(1), n.attribute("batch_dims", 0)
    depth = indices.shape[-1]
    if batch + depth > x.rank or depth == 0:
        n.refuse(f"indices of shape {list(indices.shape)} into {list(x.shape)}")
    lead, rest = x.shape[:batch], x.shape[batch + depth :]
    rows = _flat_rows(indices, x.shape[batch : batch + depth])
    inner = math.prod(x.shape[batch : batch + depth])
    if batch:
        first = np.arange(math.prod(lead), dtype=np.int64).reshape(*lead, *[1] * (rows.rank - batch)) * inner
        rows = rows + n.constant(first)
    return x.reshape(math.prod(lead) * inner, *rest).take(rows)


_REDUCTIONS = frozenset({"none", "add", "mul", "max", "min"})


def scatter(n: NodeCall, x: OnnxArray, rows: OnnxArray, updates: OnnxArray) -> OnnxArray:
    """x [rows, ...] with `updates` [k, ...] put at, or combined into, the rows [k]."""
    reduction = n.attribute("reduction", "none")
    if reduction not in _REDUCTIONS:
        n.refuse(f"the reduction {reduction!r}", f"there are {', '.join(sorted(_REDUCTIONS))}")
    if x.dtype != updates.dtype:
        n.refuse(f"updates of {updates.dtype} into {x.dtype}, which must be one type")
    return x.build.emit("scatter", [x, rows, updates], reduction=reduction)


@operator("ScatterElements", "Scatter")
def _scatter_elements(n: NodeCall) -> OnnxArray:
    x, indices, updates = n.x, n.array(1), n.array(2)
    axis = n.axis(n.attribute("axis", 0), x.rank)
    if indices.shape != updates.shape:
        n.refuse(f"indices of shape {list(indices.shape)} and updates of shape {list(updates.shape)}")
    rows = along(n, indices, x.shape, axis).reshape(indices.size)
    return scatter(n, x.reshape(x.size), rows, updates.reshape(updates.size)).reshape(*x.shape)


@operator("ScatterND")
def _scatter_nd(n: NodeCall) -> OnnxArray:
    x, indices, updates = n.x, n.array(1), n.array(2)
    depth = indices.shape[-1]
    rows = _flat_rows(indices, x.shape[:depth])
    rest = x.shape[depth:]
    found = scatter(n, x.reshape(math.prod(x.shape[:depth]), *rest), rows.reshape(rows.size), updates.reshape(rows.size, *rest))
    return found.reshape(*x.shape)


@operator("TensorScatter")
def _tensor_scatter(n: NodeCall) -> OnnxArray:
    """A cache with new entries written from a position of each sequence on."""
    cache, update = n.array(0), n.array(1)
    axis = n.axis(n.attribute("axis", -2), cache.rank)
    places = n.integers(2, "where it writes") if n.optional(2) is not None else [0] * cache.shape[0]
    size, length = cache.shape[axis], update.shape[axis]
    circular = n.attribute("mode", "linear") == "circular"
    rows: list[OnnxArray] = []
    for b, place in enumerate(places):
        to = (place + np.arange(length)) % size if circular else place + np.arange(length)
        if to.size and (to.max() >= size or to.min() < 0):
            n.refuse(f"writes {length} entries at {place} of {size}")
        source = np.arange(size)
        source[to] = size + np.arange(length)
        both = concat([cache.part(0, b, 1), update.part(0, b, 1)], axis)
        rows.append(both.take(n.constant(source, np.int64), axis))
    return concat(rows, 0)


@operator("OneHot")
def _one_hot(n: NodeCall) -> OnnxArray:
    indices, depth, values = n.array(0), int(n.known(1, "its depth").reshape(-1)[0]), n.array(2)
    axis = n.axis(n.attribute("axis", -1), indices.rank + 1)
    n.bounded(max(depth, 0))
    kind = indices.dtype if indices.dtype.kind == "f" else np.dtype(np.int64)
    found = indices.astype(kind)
    found = where(found < 0, found + depth, found).unsqueeze(axis)
    shape = [1] * found.rank
    shape[axis] = depth
    hot = n.constant(np.arange(depth).reshape(shape).astype(kind)).equal(found)
    return where(hot, values.part(0, 1, 1).reshape(), values.part(0, 0, 1).reshape())


@operator("ArrayFeatureExtractor", domain=LEARNING)
def _array_feature_extractor(n: NodeCall) -> OnnxArray:
    found = n.x.take(n.array(1).reshape(n.array(1).size).astype(np.int64), n.x.rank - 1)
    return found.unsqueeze(0) if n.x.rank == 1 else found
