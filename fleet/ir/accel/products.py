"""Products of features with weights: mvm, mvm_bn, mvm_bn_res, conv2d; and the leaves of a graph.

`bn` is one pair of numbers per channel: result * weight + bias. Its constant has shape (2 * CHout,); an array for it holds the
CHout weights, then the CHout biases, in any shape of so many elements.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol

import numpy as np
from xdsl.irdl import operand_def

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.inference import Inference, same_dim
from fleet.ir.accel.nodes import ConstantNode, Node, OperatorCall, VarNode, call, register
from fleet.ir.accel.types import HBM, Accelerator, AccelTensor, DataType, Dim, Held, Type, show_shape
from fleet.ir.types import Attributes
from fleet.symbols.expr import dim

INDEX = DataType("int32", "ddr")
"""Element type and memory of an argmax's result."""


class HasName(Protocol):
    """A device object whose name is the kind of accelerator, as in dlavm."""

    @property
    def name(self) -> str:
        """ "hbm"."""
        ...


def _accelerator(device: Accelerator | HasName) -> Accelerator:
    if not isinstance(device, Accelerator) and not isinstance(getattr(device, "name", None), str):
        raise GraphError(f"device is {device!r}, expected an accelerator, as device.hbm_accel has them")
    return device if isinstance(device, Accelerator) else Accelerator(device.name)


def var_ddr(name: str, shape: Sequence[Dim], dtype: str = "float16", device: Accelerator | HasName = HBM) -> VarNode:
    """An input (1, tokens, channels) or (heads, tokens, channels) in DDR."""
    return VarNode(name, shape, DataType(dtype, "ddr"), _accelerator(device), "runtime")


def const_ddr(
    name: str, data: Held = None, shape: Sequence[Dim] | None = None, dtype: str = "float16", device: Accelerator | HasName = HBM
) -> ConstantNode:
    """Coefficients in DDR: of norms, of bn, tables. See `fleet.ir.accel.types.Held` for what `data` may be."""
    return ConstantNode(name, data, shape, DataType(dtype, "ddr"), _accelerator(device), "weight")


def const_hbm(
    name: str, data: Held = None, shape: Sequence[Dim] | None = None, dtype: str = "int4", device: Accelerator | HasName = HBM
) -> ConstantNode:
    """Weights (CHin, CHout) in HBM."""
    return ConstantNode(name, data, shape, DataType(dtype, "hbm"), _accelerator(device), "hbm")


def mvm(data: Node, weight: Node, *more: Node, skip: int = 1, log2_step: int = 28, **attrs: Any) -> OperatorCall:
    """data (1, T, CHin) times weight (CHin, CHout): (1, T, CHout)."""
    _one_weight(skip, more)
    return call("accel.hbm.mvm", (data, weight), {"skip": skip, "log2_step": log2_step, **attrs})


def mvm_bn(
    data: Node, weight: Node, wt_and_bias: Node, padding: int = 0, skip: int = 1, log2_step: int = 28, *,
    arg_max: int = 0, relu: int = 0, **attrs: Any,
) -> OperatorCall:  # fmt: skip
    """`mvm` times the bn's weights plus its biases. arg_max: two results, [0] the logits and [1] the index of the largest."""
    _one_weight(skip, ())
    given = {"skip": skip, "padding": padding, "log2_step": log2_step, "arg_max": arg_max, "relu": relu, **attrs}
    return call("accel.hbm.mvm_bn", (data, weight, wt_and_bias), given)


def mvm_bn_res(
    data: Node, weight: Node, wt_and_bias: Node, residual: Node, *more: Node, skip: int = 1, res_mul: int = 0, arg_max: int = 0,
    relu: int = 0, log2_step: int = 28, **attrs: Any,
) -> OperatorCall:  # fmt: skip
    """`mvm_bn` plus a residual, or times it (res_mul); relu: then the positive part."""
    _one_weight(skip, more)
    given = {"skip": skip, "res_mul": res_mul, "relu": relu, "log2_step": log2_step, "arg_max": arg_max, **attrs}
    return call("accel.hbm.mvm_bn_res", (data, weight, wt_and_bias, residual), given)


def conv2d(
    data: Node, weight: Node, strides: Sequence[int] = (1, 1), padding: Sequence[int] = (0, 0), **attrs: Any
) -> OperatorCall:
    """data (H, W, C) with weights (KH, KW, C, CHout). strides, padding: (of H, of W)."""
    given = {"strides": _of_two("strides", strides, 1), "padding": _of_two("padding", padding, 0)}
    return call("accel.hbm.conv2d", (data, weight), {**given, **attrs})


def _of_two(name: str, values: Any, least: int) -> tuple[int, int]:
    found = tuple(values) if isinstance(values, tuple | list) else ()
    if len(found) != 2 or not all(isinstance(v, int) and v >= least for v in found):
        raise GraphError(f"{name} of conv2d is {values!r}, expected (of H, of W), ints of at least {least}")
    return found


def _one_weight(skip: int, more: Sequence[Node]) -> None:
    if skip != 1 or more:
        raise GraphError(f"skip = {skip} and {len(more)} arguments too many: a product takes one weight, skip = 1")


_COMMON = {"skip": "weights of a product; 1", "log2_step": "log2 of the bytes between HBM ports' banks"}
_EPILOGUE = {"relu": "1: the positive part of the result", "arg_max": "1: a second result, the index of the largest channel"}


def coefficients(c: Inference, index: int, channels: Dim, alone: bool = False) -> None:
    """Check that argument `index` has two numbers for each of the channels; alone: or only the weight."""
    found = c.typed(index, ("float16",), ("ddr",))
    count: Dim = 1
    for d in found.shape:
        count = count * d
    if not same_dim(count, channels * 2) and not (alone and same_dim(count, channels)):
        c.fail(f"{c.role(index)} has shape {show_shape(found.shape)}, expected ({dim(channels * 2)},): "
               f"a weight and a bias for each of {channels} channels")  # fmt: skip


def _product(c: Inference) -> tuple[Dim, Dim, Dim]:
    data, weight = c.feature(0), c.typed(1, ("int4",), ("hbm",))
    if len(weight.shape) != 2:
        c.fail(f"{c.role(1)} has shape {show_shape(weight.shape)}, expected (CHin, CHout)")
    (h, tokens, channels), (chin, chout) = data.shape, weight.shape
    c.agree(f"CHin of {c.role(0)} {show_shape(data.shape)} and of {c.role(1)} {show_shape(weight.shape)}", channels, chin)
    return h, tokens, chout


def _ends(c: Inference, shape: tuple[Dim, Dim, Dim]) -> Type:
    out = c.result(shape)
    if not c.attrs.get("arg_max"):
        return out
    if not same_dim(shape[0], 1):
        c.fail(f"argmax of {shape[0]} lines, expected 1")
    return out, c.result(shape[:2], INDEX)


def pair(array: np.ndarray, channels: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and biases; missing biases are 0."""
    rows = array.reshape(-1, channels).astype(dtype)
    return rows[0], rows[1] if len(rows) > 1 else np.zeros_like(rows[0])


def _finish(y: np.ndarray, attrs: Attributes) -> np.ndarray | tuple[np.ndarray, ...]:
    if attrs.get("relu"):
        y = np.where(y > 0, y, np.where(np.isnan(y), y, 0)).astype(y.dtype)
    return (y, np.argmax(y, axis=-1).astype(np.int32)) if attrs.get("arg_max") else y


# Operators.


class ProductCall(OperatorCall, ABC):
    """Features (1, T, CHin) by weights (CHin, CHout), the first two operands."""


@register
class MvmCall(ProductCall):
    """data (1, T, CHin) times weight (CHin, CHout)."""

    name = "accel.hbm.mvm"
    data = operand_def()
    weight = operand_def()
    ATTRS: ClassVar = {**_COMMON, "relu": _EPILOGUE["relu"]}

    @classmethod
    def infer(cls, c: Inference) -> Type:
        if c.attrs.get("arg_max"):
            c.fail("mvm has no argmax", hint="use mvm_bn(..., arg_max=1)")
        return c.result(_product(c))

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray | tuple[np.ndarray, ...]:
        return _finish(args[0] @ args[1], attrs)


@register
class MvmBnCall(ProductCall):
    """mvm, times bn's weights plus its biases."""

    name = "accel.hbm.mvm_bn"
    data = operand_def()
    weight = operand_def()
    bn = operand_def()
    ATTRS: ClassVar = {**_COMMON, **_EPILOGUE}

    @classmethod
    def infer(cls, c: Inference) -> Type:
        shape = _product(c)
        coefficients(c, 2, shape[2])
        return _ends(c, shape)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray | tuple[np.ndarray, ...]:
        weight, bias = pair(args[2], args[1].shape[1], args[0].dtype)
        return _finish(args[0] @ args[1] * weight + bias, attrs)


@register
class MvmBnResCall(ProductCall):
    """mvm_bn, plus or times a residual of the result's shape."""

    name = "accel.hbm.mvm_bn_res"
    data = operand_def()
    weight = operand_def()
    bn = operand_def()
    residual = operand_def()
    ATTRS: ClassVar = {**_COMMON, "res_mul": "1: times the residual, else plus", **_EPILOGUE}

    @classmethod
    def infer(cls, c: Inference) -> Type:
        shape = _product(c)
        coefficients(c, 2, shape[2])
        residual = c.feature(3)
        if not all(map(same_dim, residual.shape, shape)):
            c.fail(f"{c.role(3)} has shape {show_shape(residual.shape)}, expected that of the product, {show_shape(shape)}")
        return _ends(c, shape)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray | tuple[np.ndarray, ...]:
        weight, bias = pair(args[2], args[1].shape[1], args[0].dtype)
        y = args[0] @ args[1] * weight + bias
        return _finish(y * args[3] if attrs.get("res_mul") else y + args[3], attrs)


@register
class Conv2dCall(OperatorCall):
    """convolution of (H, W, CHin) with (KH, KW, CHin, CHout)."""

    name = "accel.hbm.conv2d"
    data = operand_def()
    weight = operand_def()
    ATTRS: ClassVar = {"strides": "(of H, of W)", "padding": "(of H, of W)"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        data, weight = c.feature(0), c.typed(1, ("int4",), ("hbm",))
        if len(weight.shape) != 4:
            c.fail(f"{c.role(1)} has shape {show_shape(weight.shape)}, expected (KH, KW, CHin, CHout)")
        c.agree(f"CHin of {c.role(0)} {show_shape(data.shape)} and of {c.role(1)} {show_shape(weight.shape)}",
                data.shape[2], weight.shape[2])  # fmt: skip
        sizes = [
            (size + 2 * pad - kernel) // stride + 1
            for size, kernel, stride, pad in zip(
                data.shape[:2], weight.shape[:2], c.attrs["strides"], c.attrs["padding"], strict=True
            )
        ]
        return c.result((*sizes, weight.shape[3]))

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        (x, w), (sy, sx), (py, px) = args, attrs["strides"], attrs["padding"]
        x = np.pad(x, ((py, py), (px, px), (0, 0)))
        windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[:2], (0, 1))[::sy, ::sx]
        return np.einsum("hwcyx,yxco->hwo", windows, w)
