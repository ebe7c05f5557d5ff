"""Operators of com.microsoft that onnxruntime's quantiser writes: codes of 8 bits with scales, and weights of 2 to 8 bits.

Results that are codes are those of onnxruntime to the last one: the order of float32 operations, and where one of them is fused, is
that of its kernels. A fused product and sum is computed in float64, where the product is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, concat, minimum, unary, where
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.operators.indexing import wrapped
from fleet.frontend.onnx.operators.onnxruntime.attention import self_attention
from fleet.frontend.onnx.operators.pooling import average_pool, max_pool
from fleet.frontend.onnx.operators.products import matmul
from fleet.frontend.onnx.operators.quantisation import (
    centred,
    dequantize_linear,
    dynamic_codes,
    qlinear_conv,
    quantised,
    quantize_linear,
)
from fleet.frontend.onnx.operators.recurrent import lstm
from fleet.frontend.onnx.registry import MICROSOFT, operator

_F = np.dtype(np.float32)
_WIDE = np.dtype(np.float64)

operator("QuantizeLinear", domain=MICROSOFT)(quantize_linear)
operator("DequantizeLinear", domain=MICROSOFT)(dequantize_linear)


def _zero(n: NodeCall, index: int, like: OnnxArray) -> OnnxArray:
    """A zero point as float32 number, 0 where it is not given."""
    given = n.optional(index)
    return n.constant(0, _F) if given is None else given.astype(_F).reshape() if like.dtype.kind in "iu" else given


def _scale(n: NodeCall, index: int) -> OnnxArray:
    """A scale that is one number."""
    found = n.array(index)
    if found.size != 1:
        n.refuse(f"its input {index} has the shape {list(found.shape)}, expected one scale")
    return found.reshape()


def _fused(a: OnnxArray, b: OnnxArray, c: OnnxArray) -> OnnxArray:
    """a * b + c with one rounding to float32."""
    return (a.astype(_WIDE) * b.astype(_WIDE) + c.astype(_WIDE)).astype(_F)


# ---- elementwise


@operator("QLinearAdd", domain=MICROSOFT)
def _qlinear_add(n: NodeCall) -> OnnxArray:
    a, b = n.array(0), n.array(3)
    by_a, by_b = (_scale(n, i) / _scale(n, 6) for i in (1, 4))
    fixed = _zero(n, 7, a) - (by_a * _zero(n, 2, a) + by_b * _zero(n, 5, b))
    return quantised(_fused(a.astype(_F), by_a, _fused(b.astype(_F), by_b, fixed)), None, a.dtype)


@operator("QLinearMul", domain=MICROSOFT)
def _qlinear_mul(n: NodeCall) -> OnnxArray:
    a, b = n.array(0), n.array(3)
    product = (a.astype(_F) - _zero(n, 2, a)) * (b.astype(_F) - _zero(n, 5, b))
    return quantised(product * (_scale(n, 1) * _scale(n, 4) / _scale(n, 6)) + _zero(n, 7, a), None, a.dtype)


def _looked_up(n: NodeCall, x: OnnxArray, function: Callable[[OnnxArray], OnnxArray]) -> OnnxArray:
    """The function of each of 256 codes, which are computed once, and a gather."""
    if x.dtype.itemsize != 1:
        n.refuse(f"codes of {x.dtype}, expected int8 or uint8")
    limits = np.iinfo(x.dtype)
    table = function(n.constant(np.arange(limits.min, limits.max + 1), _F))
    return table.take(x.astype(np.int64) - int(limits.min))


def _recoded(
    n: NodeCall, x: OnnxArray, scale: int, zero: int, to_scale: int, to_zero: int, function: Callable[[OnnxArray], OnnxArray]
) -> OnnxArray:
    """Codes of one scale -> codes of the function of what they mean, of another."""

    def codes(v: OnnxArray) -> OnnxArray:
        value = function((v - _zero(n, zero, x)) * _scale(n, scale))
        return quantised(value / _scale(n, to_scale), _zero(n, to_zero, x), x.dtype)

    return _looked_up(n, x, codes)


@operator("QLinearSigmoid", domain=MICROSOFT)
def _qlinear_sigmoid(n: NodeCall) -> OnnxArray:
    return _recoded(n, n.x, 1, 2, 3, 4, lambda v: unary("sigmoid", v))


@operator("QLinearLeakyRelu", domain=MICROSOFT)
def _qlinear_leaky_relu(n: NodeCall) -> OnnxArray:
    alpha = n.attribute("alpha", 0.01)
    return _recoded(n, n.x, 1, 2, 3, 4, lambda v: where(v < 0, v * alpha, v))


@operator("QLinearConcat", domain=MICROSOFT)
def _qlinear_concat(n: NodeCall) -> OnnxArray:
    if n.count < 5 or (n.count - 2) % 3:
        n.refuse(f"{n.count} inputs, expected a scale and a zero point, then three for each tensor")
    parts = [_recoded(n, n.array(i), i + 1, i + 2, 0, 1, lambda v: v) for i in range(2, n.count, 3)]
    return concat(parts, n.axis(n.attribute("axis", 0), parts[0].rank))


@operator("QLinearWhere", domain=MICROSOFT)
def _qlinear_where(n: NodeCall) -> OnnxArray:
    yes, no = (_recoded(n, n.array(i), i + 1, i + 2, 7, 8, lambda v: v) for i in (1, 4))
    return where(n.array(0), yes, no)


@operator("QLinearSoftmax", domain=MICROSOFT)
def _qlinear_softmax(n: NodeCall) -> OnnxArray:
    """Integers throughout: exponentials of 256 differences as a table, a sum of them, a quotient."""
    x, rank = n.x, n.x.rank
    axis = n.axis(n.attribute("axis", -1 if n.attribute("opset", 13) >= 13 else 1), rank)
    if n.attribute("opset", 13) < 13:
        rows = x.reshape(int(np.prod(x.shape[:axis])), -1)
    else:
        rows = x.transpose(*(i for i in range(rank) if i != axis), axis)
    scale = float(n.known(1, "its scale").reshape(-1)[0])
    by = int(np.float32(1) / np.float32(n.known(3, "the scale of its result").reshape(-1)[0]))
    top = min((2**32 - 1) / rows.shape[-1], float(0x7FFFFF))
    table = n.constant(np.rint(top * np.exp((np.arange(256) - 255.0) * scale)), np.int64)
    wide, last = rows.astype(np.int64), rows.rank - 1
    powers = table.take(wide - wide.max([last], keepdims=True) + 255)
    total = powers.sum([last], keepdims=True)
    zero, limits = n.array(4), np.iinfo(x.dtype)
    codes = (powers * by + total // 2) // total + zero.astype(np.int64).reshape()
    codes = minimum(codes, int(limits.max)).astype(x.dtype)
    if n.attribute("opset", 13) < 13:
        return codes.reshape(*x.shape)
    order = [*(i for i in range(rank) if i != axis), axis]
    return codes.transpose(*(order.index(i) for i in range(rank)))


# ---- poolings and convolutions


def _channels_first(x: OnnxArray) -> OnnxArray:
    return x.transpose(0, x.rank - 1, *range(1, x.rank - 1))


def _channels_last(x: OnnxArray) -> OnnxArray:
    return x.transpose(0, *range(2, x.rank), 1)


@operator("QLinearAveragePool", domain=MICROSOFT)
def _qlinear_average_pool(n: NodeCall) -> OnnxArray:
    last = bool(n.attribute("channels_last", 0))
    x = _channels_first(n.x) if last else n.x
    mean = average_pool(n, (x.astype(_F) - _zero(n, 2, x)) * _scale(n, 1))
    codes = quantised(mean / _scale(n, 3) + _zero(n, 4, x), None, x.dtype)  # the zero point before rounding, unlike all others
    return _channels_last(codes) if last else codes


@operator("QLinearGlobalAveragePool", domain=MICROSOFT)
def _qlinear_global_average_pool(n: NodeCall) -> OnnxArray:
    last = bool(n.attribute("channels_last", 0))
    x = _channels_first(n.x) if last else n.x
    axes = list(range(2, x.rank))
    size = int(np.prod(x.shape[2:]))
    total = centred(x, n.optional(2), rows=False).sum(axes, keepdims=True)
    codes = quantised(total.astype(_F) * (_scale(n, 1) / (_scale(n, 3) * size)), _zero(n, 4, x), x.dtype)
    return _channels_last(codes) if last else codes


@operator("NhwcMaxPool", domain=MICROSOFT)
def _nhwc_max_pool(n: NodeCall) -> OnnxArray:
    return _channels_last(max_pool(n, _channels_first(n.x))[0])


@operator("QLinearConv", domain=MICROSOFT)
def _qlinear_conv(n: NodeCall) -> OnnxArray:
    if not n.attribute("channels_last", 0):
        return qlinear_conv(n, n.x)
    return _channels_last(qlinear_conv(n, _channels_first(n.x)))


# ---- products


def _to_float(product: OnnxArray, a_scale: OnnxArray, b_scale: OnnxArray, bias: OnnxArray | None) -> OnnxArray:
    """int32 sums with their scales; that of b may be one a column."""
    scale = a_scale.reshape() * (b_scale.reshape() if b_scale.size == 1 else b_scale)
    found = product.astype(_F)
    return found * scale if bias is None else _fused(found, scale, bias)


@operator("MatMulIntegerToFloat", domain=MICROSOFT)
def _matmul_integer_to_float(n: NodeCall) -> OnnxArray:
    a, b = centred(n.array(0), n.optional(4), rows=True), centred(n.array(1), n.optional(5), rows=False)
    return _to_float(matmul(a, b), n.array(2), n.array(3), n.optional(6))


def _dynamic_product(a: OnnxArray, b: OnnxArray, scale: OnnxArray, zero: OnnxArray | None) -> OnnxArray:
    """A matrix of floats by one of codes: the floats become codes by what they are."""
    codes, a_scale, a_zero = dynamic_codes(a)
    product = matmul(centred(codes, a_zero, rows=True), centred(b, zero, rows=False))
    return _to_float(product, a_scale, scale, None)


@operator("DynamicQuantizeMatMul", domain=MICROSOFT)
def _dynamic_quantize_matmul(n: NodeCall) -> OnnxArray:
    found, bias = _dynamic_product(n.array(0), n.array(1), n.array(2), n.optional(3)), n.optional(4)
    return found if bias is None else found + bias


@operator("QGemm", domain=MICROSOFT)
def _qgemm(n: NodeCall) -> OnnxArray:
    a, b, added = centred(n.array(0), n.array(2), rows=True), n.array(3), n.optional(6)
    b = b.swapped() if n.attribute("transB", 0) else b
    a = a.swapped() if n.attribute("transA", 0) else a
    product = a @ centred(b, n.array(5), rows=False)
    product = product if added is None else product + added
    scale = n.array(1).reshape() * n.attribute("alpha", 1.0)
    b_scale = n.array(4)
    scale = scale * (b_scale.reshape() if b_scale.size == 1 else b_scale)
    if n.optional(7) is None:
        return product.astype(_F) * scale
    zero = n.array(8)
    return quantised(product.astype(_F) * (scale / _scale(n, 7)), zero.astype(_F).reshape(), zero.dtype)


@operator("MatMulNBits", domain=MICROSOFT)
def _matmul_nbits(n: NodeCall) -> OnnxArray:
    """x by a weight of codes of 2 to 8 bits, packed, with a scale and a zero point for a block of each column."""
    x, packed, scales, zeros = n.x, n.array(1), n.array(2), n.optional(3)
    inner, outer, bits, block = (n.attribute(k, d) for k, d in (("K", 0), ("N", 0), ("bits", 4), ("block_size", 32)))
    if bits not in (2, 4, 8) or inner < 1 or outer < 1 or block < 1:
        n.refuse(f"a weight of {inner} x {outer} of {bits} bits in blocks of {block}, 2, 4 and 8 bits are read")
    if n.optional(4) is not None:
        n.refuse("its input g_idx, an order of the channels, is not supported", "quantise without it (act_order=False)")
    blocks = -(-inner // block)
    codes = _unpacked(n, n.known(1, "its weight"), bits).reshape(outer, -1)[:, : blocks * block].reshape(outer, blocks, block)
    w = n.build.kept(codes, f"{packed.name or n.node.label}.codes").astype(scales.dtype)
    if zeros is None:
        w = w - float(1 << (bits - 1))
    elif zeros.dtype == np.uint8:
        points = _unpacked(n, n.known(3, "its zero points"), bits).reshape(outer, -1)[:, :blocks]
        w = w - n.constant(points, scales.dtype).unsqueeze(2)
    else:
        w = w - zeros.reshape(outer, blocks, 1)
    w = w * scales.reshape(outer, blocks, 1)
    y = x @ w.reshape(outer, blocks * block).part(1, 0, inner).swapped()
    bias = n.optional(5)
    return y if bias is None else y + bias


def _unpacked(n: NodeCall, packed: np.ndarray, bits: int) -> np.ndarray:
    """Codes of a byte, the lowest bits first."""
    if packed.dtype != np.uint8:
        n.refuse(f"packed codes of {packed.dtype}, expected uint8")
    each = 8 // bits
    n.bounded(packed.size, each)
    parts = [(packed >> (bits * i)) & ((1 << bits) - 1) for i in range(each)]
    return np.stack(parts, axis=-1).reshape(*packed.shape[:-1], -1) if packed.ndim else packed


# ---- attention, embeddings, recurrence


@operator("QAttention", domain=MICROSOFT)
def _qattention(n: NodeCall) -> Sequence[OnnxArray]:
    x, w = centred(n.array(0), n.optional(6), rows=True), centred(n.array(1), n.optional(7), rows=False)
    projected = _to_float(x @ w, n.array(3), n.array(4), n.array(2))
    return self_attention(n, projected, n.optional(5), n.optional(8), None)


@operator("QEmbedLayerNormalization", domain=MICROSOFT)
def _qembed_layer_normalization(n: NodeCall) -> Sequence[OnnxArray]:
    ids, segments, mask = n.array(0), n.optional(1), n.optional(7)

    def decoded(codes: OnnxArray, which: int) -> OnnxArray:
        zero = n.optional(13 + which)
        value = codes.astype(_F) if zero is None else codes.astype(_F) - zero.astype(_F).reshape()
        return value * n.array(8 + which).reshape()

    words, places = n.array(2), n.array(3)
    found = decoded(words.take(wrapped(ids, words.shape[0])), 0) + decoded(places.part(0, 0, ids.shape[1]), 1)
    if segments is not None:
        kinds = n.array(4)
        found = found + decoded(kinds.take(wrapped(segments, kinds.shape[0])), 2)
    gamma, beta = decoded(n.array(5), 3), decoded(n.array(6), 4)
    y = n.build.emit("layer_norm", [found, gamma, beta], axis=2, eps=n.attribute("epsilon", 1e-12))
    counts = n.constant(np.zeros(ids.shape[0], np.int32)) if mask is None else mask.equal(1).astype(np.int32).sum([1])
    return [y, counts]


@operator("DynamicQuantizeLSTM", domain=MICROSOFT)
def _dynamic_quantize_lstm(n: NodeCall) -> list[OnnxArray]:
    """An LSTM whose products are of codes: all steps of the input at once, the state at every step."""

    def product(matrix: int) -> Callable[[OnnxArray, int], OnnxArray]:
        def apply(x: OnnxArray, direction: int) -> OnnxArray:
            codes, scale, zero = (n.array(i).part(0, direction, 1).squeeze(0) for i in (matrix, 6 + 2 * matrix, 7 + 2 * matrix))
            return _dynamic_product(x, codes, scale, zero)

        return apply

    return lstm(n.given(n.values[:8]), product(1), product(2))
