"""Integers with scales: QuantizeLinear, DequantizeLinear, and products of integers.

A product of int8 or uint8 is computed in int32, where no sum of it rounds; quotients round to even, as ONNX says.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fleet.frontend.onnx.array import OnnxArray, maximum, minimum, unary
from fleet.frontend.onnx.call import NodeCall
from fleet.frontend.onnx.casting import cast
from fleet.frontend.onnx.narrow import narrow_of
from fleet.frontend.onnx.operators.convolution import convolve
from fleet.frontend.onnx.operators.products import matmul
from fleet.frontend.onnx.registry import operator
from fleet.frontend.onnx.tensors import dtype_of


def spread(n: NodeCall, v: OnnxArray, x: OnnxArray, axis: int, block: int) -> OnnxArray:
    """A scale or zero point, one for the tensor, one an index of an axis, or one a block of it, as x's shape takes it."""
    if v.size == 1 and v.rank <= 1:
        return v.reshape()
    if block:
        repeated = v.unsqueeze(axis + 1)
        shape = list(repeated.shape)
        shape[axis + 1] = block
        found = repeated.broadcast_to(*shape).reshape(*v.shape[:axis], v.shape[axis] * block, *v.shape[axis + 1 :])
        return found.part(axis, 0, x.shape[axis])
    if v.rank != 1 or v.size != x.shape[axis]:
        n.refuse(f"a scale or zero point of shape {list(v.shape)} for {list(x.shape)} along axis {axis}")
    return v.reshape(*[v.size if i == axis else 1 for i in range(x.rank)])


def quantised(
    scaled: OnnxArray, zero: OnnxArray | None, dtype: np.dtype, low: float | None = None, high: float | None = None
) -> OnnxArray:
    """Rounded to even, moved by the zero point, cut off at what the dtype holds, or between `low` and `high`."""
    limits = np.iinfo(dtype)
    found = unary("rint", scaled)
    if zero is not None:
        found = found + zero.astype(scaled.dtype)
    least, most = float(limits.min) if low is None else low, float(limits.max) if high is None else high
    return minimum(maximum(found, least), most).astype(dtype)


def _axis(n: NodeCall, x: OnnxArray) -> int:
    return n.axis(n.attribute("axis", 1), x.rank) if x.rank > 1 else 0


@operator("QuantizeLinear")
def quantize_linear(n: NodeCall) -> OnnxArray:
    """Floats to codes, by a scale for all, one an index of an axis, or one a block."""
    x, scale, zero = n.array(0), n.array(1), n.optional(2)
    axis, block = _axis(n, x), n.attribute("block_size", 0)
    if zero is not None:
        dtype = zero.dtype if zero.narrow is None else zero.narrow.dtype
    else:
        code = n.attribute("output_dtype", 0)
        dtype = dtype_of(code, n.node.where) if code else np.dtype(np.uint8)
    kind = scale.dtype
    wide = np.dtype(np.float32) if kind == np.float16 else kind
    x = x.astype(wide) if x.dtype != wide else x
    scaled = x / spread(n, scale, x, axis, block).astype(wide)
    narrow = narrow_of(dtype)
    if narrow is not None and narrow.floating:  # floats have no zero point but 0
        return cast(scaled, dtype, saturate=bool(n.attribute("saturate", 1)))
    offset = None if zero is None else spread(n, zero, x, axis, block)
    if narrow is not None:
        low, high = narrow.limits
        return quantised(scaled, offset, narrow.carried, low, high).of(narrow)
    return quantised(scaled, offset, dtype)


@operator("DequantizeLinear")
def dequantize_linear(n: NodeCall) -> OnnxArray:
    """Codes to floats, as `quantize_linear` has them."""
    x, scale, zero = n.array(0), n.array(1), n.optional(2)
    if x.known is not None and x.rank > 1:
        x = x.unfolded()  # the program keeps the codes of a quantised weight, and its scales
    axis, block = _axis(n, x), n.attribute("block_size", 0)
    code = n.attribute("output_dtype", 0)
    dtype = dtype_of(code, n.node.where) if code else scale.dtype if scale.narrow is None else scale.narrow.dtype
    if x.dtype.kind == "f":
        wide = x  # floats of 8 or 4 bits, whose zero point is 0
    else:
        wide = x.astype(np.int64) if x.dtype == np.uint32 else x.astype(np.int32)
        if zero is not None:
            wide = wide - spread(n, zero, x, axis, block).astype(wide.dtype)
    return cast(wide.astype(scale.dtype) * spread(n, scale, x, axis, block), dtype)


def dynamic_codes(x: OnnxArray) -> tuple[OnnxArray, OnnxArray, OnnxArray]:
    """uint8 codes of floats, with the scale and the zero point that their least and greatest give."""
    axes = list(range(x.rank))
    low, high = minimum(x.min(axes), 0), maximum(x.max(axes), 0)
    scale = (high - low) / 255
    scale = scale + scale.equal(0).astype(scale.dtype)
    zero = minimum(maximum(unary("rint", -low / scale), 0), 255)
    return quantised(x / scale, zero, np.dtype(np.uint8)), scale, zero.astype(np.uint8)


@operator("DynamicQuantizeLinear")
def _dynamic_quantize_linear(n: NodeCall) -> Sequence[OnnxArray]:
    return dynamic_codes(n.x)


def centred(x: OnnxArray, zero: OnnxArray | None, rows: bool) -> OnnxArray:
    """x - zero as int32; a zero point of one dimension is one a row, or one a column."""
    wide = x.astype(np.int32)
    if zero is None:
        return wide
    zero = zero.astype(np.int32)
    if zero.size == 1:
        return wide - zero.reshape()
    if zero.rank == 1:
        zero = zero.reshape(zero.size, 1) if rows else zero
    return wide - zero


@operator("MatMulInteger")
def _matmul_integer(n: NodeCall) -> OnnxArray:
    a, b = n.array(0), n.array(1)
    return matmul(centred(a, n.optional(2), rows=True), centred(b, n.optional(3), rows=False))


def _column(scale: OnnxArray, rows: bool) -> OnnxArray:
    if scale.size == 1:
        return scale.reshape()
    return scale.reshape(scale.size, 1) if rows and scale.rank == 1 else scale


@operator("QLinearMatMul")
def _qlinear_matmul(n: NodeCall) -> OnnxArray:
    a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero = (n.array(i) for i in range(8))
    found = matmul(centred(a, a_zero, rows=True), centred(b, b_zero, rows=False))
    factor = _column(a_scale, True) * _column(b_scale, False) / _column(y_scale, True)
    wide = np.dtype(np.float64)
    return quantised(found.astype(wide) * factor.astype(wide), _column(y_zero, True), y_zero.dtype)


@operator("QLinearConv")
def _qlinear_conv(n: NodeCall) -> OnnxArray:
    return qlinear_conv(n, n.x)


def qlinear_conv(n: NodeCall, x: OnnxArray) -> OnnxArray:
    """A convolution of codes, x [N, C, ...]."""
    x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero = (n.array(i) for i in range(1, 8))
    lead = [1] * (w.rank - 1)
    w_zero = w_zero if w_zero.size == 1 else w_zero.reshape(w_zero.size, *lead)
    found = convolve(n, centred(x, x_zero, rows=False), centred(w, w_zero, rows=False))
    per_channel = [1] * (w.rank - 2)
    if (bias := n.optional(8)) is not None:
        found = found + bias.reshape(bias.size, *per_channel)
    w_scale = w_scale.reshape() if w_scale.size == 1 else w_scale.reshape(w_scale.size, *per_channel)
    factor = x_scale.reshape() * w_scale / y_scale.reshape()
    wide = np.dtype(np.float64)
    return quantised(found.astype(wide) * factor.astype(wide), y_zero.reshape(), y_zero.dtype)
