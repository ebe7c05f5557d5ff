"""Operators that work on every token or every element: add, sub, mul, norms, activations.

A norm's constant is like a bn's: shape (2 * C,), an array holds the C weights, then the C biases; or (C,), without biases. An
activation's table has at least 48 elements; an array for it holds x[16], k[16], b[16] of a piecewise linear function. Without
data, attribute `function` names the function ("silu", "gelu", ...), and the graph compiler provides the device's own table.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from math import erf
from typing import Any, ClassVar

import numpy as np
from xdsl.irdl import operand_def

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.inference import Inference, same_dim
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, call, register
from fleet.ir.accel.products import INDEX, coefficients, const_ddr, pair
from fleet.ir.accel.types import AccelTensor, show_shape
from fleet.ir.accel.views import gather
from fleet.ir.types import Attributes
from fleet.symbols.expr import as_expr

SEGMENTS = 16


def add(data0: Node, data1: Node, **attrs: Any) -> OperatorCall:
    """data0 + data1, of one shape. data1 may be a constant (1, 1, C), as of `sub` and `mul`: `fuse` puts it into a product's bn."""
    return call("accel.hbm.add", (data0, data1), attrs)


def sub(data0: Node, data1: Node, **attrs: Any) -> OperatorCall:
    """data0 - data1, of one shape."""
    return call("accel.hbm.sub", (data0, data1), attrs)


def mul(data0: Node, data1: Node, **attrs: Any) -> OperatorCall:
    """data0 * data1, of one shape."""
    return call("accel.hbm.mul", (data0, data1), attrs)


def layer_norm(data: Node, weight: Node, *, kvcache_token: bool = False, **attrs: Any) -> OperatorCall:
    """(x - mean) / sqrt(variance + eps) * weight + bias over the channels. kvcache_token: of the last token only."""
    return _norm(data, weight, 0, kvcache_token, attrs)


def rms_norm(data: Node, weight: Node, *, kvcache_token: bool = False, **attrs: Any) -> OperatorCall:
    """x / sqrt(mean of squares + eps) * weight + bias over the channels. kvcache_token: of the last token only."""
    return _norm(data, weight, 1, kvcache_token, attrs)


def _norm(data: Node, weight: Node, rms: int, last_only: bool, attrs: Attributes) -> OperatorCall:
    return call("accel.hbm.layer_norm", (gather(data) if last_only else data, weight), {"rms": rms, **attrs})


def activate(data: Node, weight: Node, out_and_in_mode: int = 0, **attrs: Any) -> OperatorCall:
    """A function of every element, by the table `weight`."""
    return call("accel.hbm.activate", (data, weight), {"out_and_in_mode": out_and_in_mode, **attrs})


def silu(data: Node, out_and_in_mode: int = 0, weight: Node | None = None) -> OperatorCall:
    """x * sigmoid(x). weight: the table, where several calls share one."""
    return activate(data, weight or table("silu"), out_and_in_mode, function="silu")


def gelu(data: Node, out_and_in_mode: int = 0, weight: Node | None = None, *, approximate: bool = False) -> OperatorCall:
    """GELU. approximate: the form with tanh. weight: the table, where several calls share one."""
    function = "gelu_tanh" if approximate else "gelu"
    return activate(data, weight or table(function), out_and_in_mode, function=function)


def table(function: str) -> ConstantNode:
    """Return the constant for a function's segments, which packing fills in."""
    made = const_ddr(f"{function}_weight", None, (3, SEGMENTS))
    made.prefix = "global"
    return made


def argmax(data: Node, **attrs: Any) -> OperatorCall:
    """Index of the largest channel of every token: (1, T, C) to (1, T) int32. `fuse` puts it into the product before it."""
    return call("accel.hbm.argmax", (data,), attrs)


FUNCTIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "silu": lambda x: x / (1 + np.exp(-x)),
    "gelu": lambda x: x / 2 * (1 + np.vectorize(erf, otypes=[np.float64])(x / np.sqrt(2))),
    "gelu_tanh": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
}
"""Functions that a table without data may name."""


# Operators.


class TwoFeaturesCall(OperatorCall, ABC):
    """Elementwise on two features of one shape; the second may be a constant (1, 1, C), for `fuse`."""

    data0 = operand_def()
    data1 = operand_def()
    NUMPY: ClassVar[np.ufunc]

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        a, b = c.feature(0), c.feature(1)
        channels = isinstance(c.nodes[1], ConstantNode) and b.shape[:2] == (1, 1)
        if not all(map(same_dim, a.shape[2 * channels :], b.shape[2 * channels :])):
            c.fail(f"{c.role(0)} has shape {show_shape(a.shape)}, {c.role(1)} {show_shape(b.shape)}: expected the same")
        return c.result(a.shape)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        return cls.NUMPY(args[0], args[1])


@register
class AddCall(TwoFeaturesCall):
    """elementwise add of two features of one shape; the second may be a constant (1, 1, C), for `fuse`."""

    name = "accel.hbm.add"
    NUMPY: ClassVar = np.add


@register
class SubCall(TwoFeaturesCall):
    """elementwise sub of two features of one shape; the second may be a constant (1, 1, C), for `fuse`."""

    name = "accel.hbm.sub"
    NUMPY: ClassVar = np.subtract


@register
class MulCall(TwoFeaturesCall):
    """elementwise mul of two features of one shape; the second may be a constant (1, 1, C), for `fuse`."""

    name = "accel.hbm.mul"
    NUMPY: ClassVar = np.multiply


@register
class LayerNormCall(OperatorCall):
    """layer norm or RMS norm over the channels."""

    name = "accel.hbm.layer_norm"
    data = operand_def()
    norm = operand_def()
    ATTRS: ClassVar = {"rms": "1: RMS norm, 0: layer norm", "eps": "default 1e-5"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        c.real("eps", 0)
        data = c.feature(0)
        coefficients(c, 1, data.shape[2], alone=True)
        return c.result(data.shape)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        x = args[0]
        weight, bias = pair(args[1], x.shape[-1], x.dtype)
        centred = x if attrs.get("rms") else x - x.mean(axis=-1, keepdims=True)
        eps = attrs.get("eps")
        scale = 1 / np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + (1e-5 if eps is None else eps))
        return (centred * scale * weight + bias).astype(x.dtype)


@register
class ActivateCall(OperatorCall):
    """a function of every element, piecewise linear in 16 segments."""

    name = "accel.hbm.activate"
    data = operand_def()
    act = operand_def()
    ATTRS: ClassVar = {"function": "what a table without data stands for"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        data, table = c.feature(0), c.types[1]
        if table.dtype.mapped != "ddr":
            c.fail(f"{c.role(1)} is {table.dtype}, expected a table in ddr")
        count = as_expr(1)
        for d in table.shape:
            count = count * d
        bytes_each = {"int8": 1}.get(table.dtype.dtype, 2)
        if (count.simplify() * bytes_each).upper() < 3 * SEGMENTS * 2:
            c.fail(f"{c.role(1)} has shape {show_shape(table.shape)}, expected at least {3 * SEGMENTS} elements: x, k and b of "
                   f"{SEGMENTS} segments")  # fmt: skip
        function = c.attrs.get("function")
        source = c.nodes[1]
        if isinstance(source, ConstantNode) and source.data is None and function is not None and function not in FUNCTIONS:
            c.fail(f"function {function!r} is not known", hint=f"known are {', '.join(FUNCTIONS)}")
        return c.result(data.shape)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        x = args[0]
        if len(args) < 2 or args[1].size == 0:  # no table: the function itself
            function = str(attrs.get("function"))
            if function not in FUNCTIONS:
                raise GraphError("an activation whose table has no data and whose function is not named cannot be evaluated",
                                 hint=f'give the table an array, or function="..." of {", ".join(FUNCTIONS)}')  # fmt: skip
            return FUNCTIONS[function](x).astype(x.dtype)
        starts, slopes, offsets = args[1].reshape(-1)[: 3 * SEGMENTS].reshape(3, SEGMENTS).astype(x.dtype)
        # The last segment that starts at or below x; below all of them the first.
        reached = (x[..., None] >= starts)[..., ::-1]
        segment = np.where(reached.any(axis=-1), SEGMENTS - 1 - reached.argmax(axis=-1), 0)
        return slopes[segment] * x + offsets[segment]


@register
class ArgmaxCall(OperatorCall):
    """index of the largest channel; only `fuse` finds an instruction for it."""

    name = "accel.hbm.argmax"
    data = operand_def()

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        data = c.feature(0)
        c.agree("lines of an argmax and 1", data.shape[0], 1)
        return c.result(data.shape[:2], INDEX)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        return np.argmax(args[0], axis=-1).astype(np.int32)
