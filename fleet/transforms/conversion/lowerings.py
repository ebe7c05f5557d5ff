"""Lowerings of a graph's operators to float32 operations (`to_program`)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.accel import attention, pointwise, products, views
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall
from fleet.ir.types import shape_of
from fleet.transforms.conversion.emitter import GraphEmitter, Lowering

_Values = Sequence[SSAValue]
_ACTIVATIONS = {"silu": ("silu", {}), "gelu": ("gelu", {"approximate": "erf"}), "gelu_tanh": ("gelu", {"approximate": "tanh"})}


# ---- products


def _rows(e: GraphEmitter, x: SSAValue) -> SSAValue:
    """Join heads side by side, because a product takes [tokens, channels]."""
    shape = shape_of(x.type)
    if len(shape) == 2:
        return x
    heads, tokens, channels = shape
    return e.emit("reshape", e.emit("transpose", x, permutation=[1, 0, 2]), shape=[tokens, heads * channels])


def _mvm(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    return e.emit("matmul", _rows(e, values[0]), e.matrix(call.args[1]))


def _mvm_bn(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue | tuple[SSAValue, ...]:
    """x @ w, times the BN weight, plus the bias; plus or times the residual; ReLU; argmax beside it."""
    weight, bias = _pairs(e, call.args[2])
    residual = values[3] if len(values) > 3 else None
    multiplied = residual is not None and bool(call.attrs.get("res_mul", 0))
    relu = bool(call.attrs.get("relu", 0))
    name = call.args[2].label or ""
    operands = [_rows(e, values[0]), e.matrix(call.args[1])]
    plain = bool(np.all(weight == 1))
    has_bias = bool(np.any(bias)) and plain
    added = residual is not None and plain and not multiplied
    if has_bias:
        operands.append(e.weight(f"{name}.bias", bias))
    if added and residual is not None:
        operands.append(_rows(e, residual))
    y = e.emit("linear", *operands, bias=has_bias, residual=added)
    if not plain:
        y = e.emit("mul", y, e.weight(f"{name}.weight", weight))
        if np.any(bias):
            y = e.emit("add", y, e.weight(f"{name}.bias", bias))
    if residual is not None and not added:
        y = e.emit("mul" if multiplied else "add", y, _rows(e, residual))
    if relu:
        y = e.emit("maximum", y, e.number(0.0))
    return (y, e.emit("argmax", y, axis=1)) if call.attrs.get("arg_max", 0) else y


def _pairs(e: GraphEmitter, node: Node) -> np.ndarray:
    """Return two numbers per channel: [2, channels], weights and biases."""
    array = e.array(node)
    if array.size % 2:
        raise e.failed(f"constant {node.label} of shape {list(array.shape)}, expected two numbers a channel")
    return array.reshape(2, -1)


# ---- attention


def _heads(e: GraphEmitter, x: SSAValue) -> SSAValue:
    shape = shape_of(x.type)
    return e.emit("reshape", x, shape=[1, *shape]) if len(shape) == 2 else x


def _cache(e: GraphEmitter, _call: OperatorCall, values: _Values) -> SSAValue:
    return e.cached(_heads(e, values[0]))


def _own(e: GraphEmitter, _call: OperatorCall, values: _Values) -> SSAValue:
    """Keys or values of this step alone."""
    return _heads(e, values[0])


def _grouped(e: GraphEmitter, x: SSAValue, kv_heads: int) -> tuple[SSAValue, int, int]:
    """Reshape [heads, n, c] to [kv_heads, heads / kv_heads * n, c]: the rows that use one head of the cache."""
    heads, tokens, channels = shape_of(x.type)
    if heads % kv_heads:
        raise e.failed(f"{heads} heads on a cache of {kv_heads}")
    if heads == kv_heads:
        return x, heads, tokens
    return e.emit("reshape", x, shape=[kv_heads, heads // kv_heads * tokens, channels]), heads, tokens


def _scores(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    q, k = _heads(e, values[0]), _heads(e, values[1])
    kv_heads, positions, channels = shape_of(k.type)
    rows, heads, tokens = _grouped(e, q, kv_heads)
    scale = call.attrs.get("scale")
    s = e.emit("matmul", rows, e.emit("transpose", k, permutation=[0, 2, 1]))
    s = e.emit("mul", s, e.number(float(1 / math.sqrt(channels) if scale is None else scale)))
    return s if heads == kv_heads else e.emit("reshape", s, shape=[heads, tokens, positions])


def _softmax(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    x = values[0]
    if e.masked and call.attrs.get("mask", 1):
        x = e.emit("add", x, e.mask())
    return e.emit("softmax", x, axis=len(shape_of(x.type)) - 1)


def _mix(e: GraphEmitter, _call: OperatorCall, values: _Values) -> SSAValue:
    p, v = _heads(e, values[0]), _heads(e, values[1])
    kv_heads, _, channels = shape_of(v.type)
    heads, tokens, _ = shape_of(p.type)
    rows, _, _ = _grouped(e, p, kv_heads)
    y = e.emit("matmul", rows, v)
    return y if heads == kv_heads else e.emit("reshape", y, shape=[heads, tokens, channels])


def _rope(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    """Rotate pairs by the table's rows from position `past` on; the rows are an input, because the run determines past.

    Pairs are adjacent channels; for `rope` in mode "glm" only of the first channels, in mode "qwen" channels i and i + D / 2.
    """
    x, table = values[0], e.array(call.args[1])
    pairs = table.shape[-1]
    cos, sin = e.angles(call.args[1].label or "table", table.reshape(2, -1, pairs))
    shape = shape_of(x.type)
    halves = call.attrs.get("mode") == "qwen"
    if 2 * pairs == shape[-1]:
        return e.emit("rope", x, cos, sin, interleaved=not halves)
    if 2 * pairs > shape[-1] or halves:
        raise e.failed(f"a table of {pairs} pairs for {shape[-1]} channels")
    start, turned, rest = [0] * len(shape), [*shape[:-1], 2 * pairs], [*shape[:-1], shape[-1] - 2 * pairs]
    front = e.emit("rope", e.emit("slice", x, start=start, size=turned), cos, sin, interleaved=True)
    return e.emit("concat", front, e.emit("slice", x, start=[*start[:-1], 2 * pairs], size=rest), axis=len(shape) - 1)


# ---- elementwise and norms


def _binary(name: str) -> Lowering:
    def lower(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
        other = call.args[1]
        if isinstance(other, ConstantNode):  # one number a channel
            return e.emit(name, values[0], e.weight(other.label or "", e.array(other).reshape(-1)))
        return e.emit(name, values[0], values[1])

    return lower


def _argmax(e: GraphEmitter, _call: OperatorCall, values: _Values) -> SSAValue:
    return e.emit("argmax", values[0], axis=len(shape_of(values[0].type)) - 1)


def _norm(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    x = values[0]
    gamma, beta = _pairs(e, call.args[1])
    if len(gamma) != shape_of(x.type)[-1]:
        raise e.failed(f"constant {call.args[1].label} is of {len(gamma)} channels, expected {shape_of(x.type)[-1]}")
    name, eps = call.args[1].label or "", call.attrs.get("eps")
    eps = 1e-5 if eps is None else float(eps)
    scale = e.weight(f"{name}.gamma", gamma)
    if call.attrs.get("rms", 0):
        y = e.emit("rms_norm", x, scale, eps=eps)
        return e.emit("add", y, e.weight(f"{name}.beta", beta)) if np.any(beta) else y
    return e.emit("layer_norm", x, scale, e.weight(f"{name}.beta", beta), axis=len(shape_of(x.type)) - 1, eps=eps)


def _activate(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    """Lower to the function itself if the node names one, else to its table of segments."""
    function = call.attrs.get("function")
    if function in _ACTIVATIONS:
        name, attributes = _ACTIVATIONS[function]
        return e.emit(name, values[0], **attributes)
    if function == "relu":
        return e.emit("maximum", values[0], e.number(0.0))
    if function is not None:
        raise e.failed(f"no activation {function}; known are {', '.join(_ACTIVATIONS)} and relu")
    x, name = values[0], call.args[1].label or ""
    knots, slopes, offsets = e.array(call.args[1]).reshape(3, -1)
    above = e.emit(
        "greater_equal", e.emit("reshape", x, shape=[*shape_of(x.type), 1]), e.weight(f"{name}.x", knots.astype(np.float32))
    )
    found = e.emit("reduce_sum", e.emit("cast", above, dtype=np.int64), axes=[len(shape_of(x.type))], keepdims=False)
    segment = e.emit("maximum", e.emit("sub", found, e.number(1, np.int64)), e.number(0, np.int64))
    slope, offset = e.weight(f"{name}.k", slopes), e.weight(f"{name}.b", offsets)
    return e.emit("add", e.emit("mul", e.emit("gather", slope, segment), x), e.emit("gather", offset, segment))


# ---- views


def _reshape(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    """Reshape (1, token, h * D) to (h, token, D) or back: heads are groups of channels."""
    x = values[0]
    target = tuple(call.attrs["new_shape"])
    shape = shape_of(x.type)
    heads, channels = int(str(target[0])), int(str(target[-1]))
    have = 1 if len(shape) == 2 else shape[0]
    if have * shape[-1] != heads * channels:
        raise e.failed(f"{have} heads of {shape[-1]} channels into {heads} of {channels}")
    if heads == have:
        return x
    x = _rows(e, x)
    if heads == 1:
        return x
    split = e.emit("reshape", x, shape=[shape_of(x.type)[0], heads, channels])
    return e.emit("transpose", split, permutation=[1, 0, 2])


def _split(e: GraphEmitter, call: OperatorCall, values: _Values) -> tuple[SSAValue, ...]:
    x = values[0]
    shape = list(shape_of(x.type))
    axis = int(call.attrs["axis"])
    if len(shape) == 2:
        axis = {0: -1, 1: 0, 2: 1, -1: 1, -2: 0}[axis]
    if axis < 0 or axis >= len(shape):
        raise e.failed(f"it splits axis {call.attrs['axis']} of shape {shape}")
    parts: list[SSAValue] = []
    for first, size in _parts(e, call, shape[axis]):
        start, sizes = [0] * len(shape), list(shape)
        start[axis], sizes[axis] = first, size
        parts.append(e.emit("slice", x, start=start, size=sizes))
    return tuple(parts)


def _parts(e: GraphEmitter, call: OperatorCall, whole: int) -> list[tuple[int, int]]:
    sizes = [int(str(size)) for size in call.attrs["new_chs"]]
    found: list[tuple[int, int]] = []
    at = 0
    for size in sizes:
        found.append((at, size))
        at += size
    if at != whole or any(size < 1 for size in sizes):
        raise e.failed(f"parts of {sizes} out of {whole}")
    return found


def _gather(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    """Emit one token, by default the last."""
    x, index = values[0], call.attrs.get("index")
    shape = shape_of(x.type)
    start, size = [0] * len(shape), list(shape)
    start[-2], size[-2] = shape[-2] - 1 if index is None else int(str(index)), 1
    return e.emit("slice", x, start=start, size=size)


def _same(_e: GraphEmitter, _call: OperatorCall, values: _Values) -> SSAValue:
    return values[0]


def _concat(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    rank = len(shape_of(values[0].type))
    axis = int(call.attrs["dim"])
    return e.emit("concat", *values, axis=axis if rank == 3 else axis - 1 if axis > 0 else axis)


def _conv2d(e: GraphEmitter, call: OperatorCall, values: _Values) -> SSAValue:
    """Windows side by side, then one product; [W, CHout] of a single row."""
    x, name = values[0], call.args[1].label or "weight"
    height, width, channels = shape = (1, *shape_of(x.type))[-3:]
    kernel = e.array(call.args[1])
    if -1 in shape or kernel.ndim != 4:
        raise e.failed(f"a convolution of {list(shape)} with {list(kernel.shape)}, expected (H, W, CHin) and (KH, KW, CHin, CHout)")
    x = e.emit("reshape", x, shape=shape)
    for axis, pad in enumerate(call.attrs["padding"]):
        if pad:
            size = [pad if i == axis else n for i, n in enumerate(shape_of(x.type))]
            zeros = e.emit("broadcast_to", e.number(0.0), shape=size)
            x = e.emit("concat", zeros, x, zeros, axis=axis)
    (high, wide), strides, padding = kernel.shape[:2], call.attrs["strides"], call.attrs["padding"]
    sizes = zip((height, width), (high, wide), strides, padding, strict=True)
    rows, columns = ((size + 2 * pad - taps) // stride + 1 for size, taps, stride, pad in sizes)
    seen = [
        e.emit("slice", x, start=[i, j, 0], size=[rows, columns, channels], step=[*strides, 1])
        for i in range(high) for j in range(wide)
    ]  # fmt: skip
    windows = e.emit("concat", *seen, axis=2) if len(seen) > 1 else seen[0]
    windows = e.emit("reshape", windows, shape=[rows * columns, high * wide * channels])
    y = e.emit("matmul", windows, e.weight(name, kernel.reshape(-1, kernel.shape[-1])))
    return e.emit("reshape", y, shape=[*([rows] if rows > 1 else []), columns, kernel.shape[-1]])


LOWERINGS: dict[type[OperatorCall], Lowering] = {
    products.Conv2dCall: _conv2d,
    products.MvmCall: _mvm,
    products.MvmBnCall: _mvm_bn,
    products.MvmBnResCall: _mvm_bn,
    attention.TrpMvmCall: _scores,
    attention.F2wMvmCall: _mix,
    attention.DatHbmCall: _cache,
    attention.TransposeCall: _own,
    attention.Feature2WeightCall: _own,
    attention.SoftmaxCall: _softmax,
    attention.PosEmbCall: _rope,
    attention.RopeCall: _rope,
    pointwise.LayerNormCall: _norm,
    pointwise.ActivateCall: _activate,
    pointwise.AddCall: _binary("add"),
    pointwise.ArgmaxCall: _argmax,
    pointwise.SubCall: _binary("sub"),
    pointwise.MulCall: _binary("mul"),
    views.ReshapeCall: _reshape,
    views.SplitCall: _split,
    views.GatherCall: _gather,
    views.ReallocCall: _same,
    views.ConcatCall: _concat,
}
"""Operator -> its lowering. A user's operator is lowered if it has an entry here."""
