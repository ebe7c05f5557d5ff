"""Views: no instruction, the result shares the argument's memory.

A view keeps tokens in place: features are stored in groups of 32 channels of all tokens, so heads and channels can be divided and
joined without moving data if a head consists of whole groups.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.irdl import operand_def, var_operand_def

from fleet.ir.accel.errors import GraphError
from fleet.ir.accel.inference import Inference, same_dim
from fleet.ir.accel.nodes import Node, OperatorCall, TupleNode, call, register, sizes
from fleet.ir.accel.types import AccelTensor, Dim, show_shape
from fleet.ir.types import Attributes
from fleet.symbols.expr import as_expr, dim

LANES = 32
"""Contiguous channels of one token in memory."""

_AXES = {0: 0, 1: 1, 2: 2, -1: 2, -2: 1, -3: 0}


def reshape(data: Node, new_shape: Sequence[Dim], force: int = 0) -> OperatorCall:
    """(1, T, heads * D) as (heads, T, D) or back: channel h * D + d is channel d of head h. One size may be -1.

    This is not NumPy's reshape: the tokens stay the middle dimension.
    """
    return call("accel.reshape", (data,), {"new_shape": sizes("new_shape", new_shape), "force": force})


def split(data: Node, axis: int, new_chs: Sequence[Dim] = (), dynamic: bool = True) -> OperatorCall:
    """Parts along heads (0), tokens (1) or channels (2 or -1), of sizes new_chs; taken by [0], [1], ..."""
    return call("accel.split", (data,), {"axis": axis, "new_chs": sizes("new_chs", new_chs), "dynamic": dynamic})


def realloc(data: Node, new_shape: Sequence[Dim]) -> OperatorCall:
    """Return the same tensor with memory reserved for `new_shape`."""
    return call("accel.realloc", (data,), {"new_shape": sizes("new_shape", new_shape)})


def concat(exprs: Sequence[Node], dim: int = 0, **attrs: Any) -> OperatorCall:
    """Tensors side by side along heads (0), tokens (1) or channels (2 or -1): they are written into one storage."""
    if isinstance(exprs, Node):
        raise GraphError("arguments of accel.concat are one node, expected a list of nodes")
    return call("accel.concat", builtins.tuple(exprs), {"dim": dim, **attrs})


def gather(data: Node, index: Dim | None = None) -> OperatorCall:
    """One token of (heads, T, C): (heads, 1, C); by default the last."""
    return call("accel.gather", (data,), {"index": index})


def tuple(exprs: Sequence[Node]) -> TupleNode:
    """Several results of a graph."""
    return TupleNode(exprs)


def _whole_groups(c: Inference, shape: Sequence[Dim]) -> None:
    if not same_dim(shape[0], 1) and not same_dim(shape[2] % LANES, 0):
        c.fail(f"{show_shape(shape)}: channels of a head must be a multiple of {LANES}, or they do not stand apart in memory")


def _sizes(c: Inference, name: str) -> builtins.tuple[Dim, ...]:
    if name not in c.attrs:
        c.fail(f"attribute {name} is missing")
    return sizes(name, c.attrs[name])


def _new_shape(c: Inference) -> list[Dim]:
    new = list(_sizes(c, "new_shape"))
    if len(new) != 3:
        c.fail(f"new shape {show_shape(new)}, expected (heads, tokens, channels)")
    return new


def _axis(c: Inference, name: str) -> int:
    axis = c.attrs.get(name)
    if not isinstance(axis, int) or axis not in _AXES:
        c.fail(f"{name} is {axis!r}, expected 0 (heads), 1 (tokens) or 2 (channels)")
    return _AXES[axis]


# Operators.


@register
class ReshapeCall(OperatorCall):
    """heads and channels divided or joined, tokens kept."""

    name = "accel.reshape"
    data = operand_def()
    VIEW: ClassVar = True
    ATTRS: ClassVar = {"new_shape": "one size may be -1", "force": "there for the name"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        old = c.feature(0).shape
        new = _new_shape(c)
        unknown = [i for i, d in enumerate(new) if isinstance(d, int) and d == -1]
        if len(unknown) > 1:
            c.fail(f"new shape {show_shape(new)}: only one size may be -1")
        if unknown == [1]:
            new[1] = old[1]
        elif unknown:
            (at,) = unknown
            other = new[2 - at]
            if isinstance(other, int) and other < 1:
                c.fail(f"new shape {show_shape(new)}: sizes are above 0")
            new[at] = as_expr(old[0]) * old[2] // other
        if not same_dim(old[1], new[1]):
            c.fail(f"{show_shape(old)} to {show_shape(new)}: a view keeps the tokens, {old[1]} and {new[1]} differ")
        if not same_dim(as_expr(old[0]) * old[2], as_expr(new[0]) * new[2]):
            c.fail(f"{show_shape(old)} to {show_shape(new)}: {dim(as_expr(old[0]) * old[2])} channels of all heads "
                   f"do not become {dim(as_expr(new[0]) * new[2])}")  # fmt: skip
        if not same_dim(old[0], new[0]):
            _whole_groups(c, old)
            _whole_groups(c, new)
        return c.result(new, c.types[0].dtype)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        x = args[0]
        heads, tokens, channels = (int(d) for d in attrs["new_shape"])
        flat = x.transpose(1, 0, 2).reshape(x.shape[1], -1)
        if heads == -1:
            heads = flat.shape[1] // channels
        return flat.reshape(tokens if tokens != -1 else x.shape[1], heads, channels).transpose(1, 0, 2)


@register
class SplitCall(OperatorCall):
    """parts along one dimension, as several results."""

    name = "accel.split"
    data = operand_def()
    VIEW: ClassVar = True
    ATTRS: ClassVar = {"axis": "0 heads, 1 tokens, 2 channels", "new_chs": "sizes"}

    @classmethod
    def infer(cls, c: Inference) -> builtins.tuple[AccelTensor, ...]:
        shape = c.feature(0).shape
        axis = _axis(c, "axis")
        parts = _sizes(c, "new_chs")
        if not parts or not same_dim(sum(parts, start=as_expr(0)), shape[axis]):
            c.fail(f"parts {show_shape(parts)} of {show_shape(shape)}: their sum must be {shape[axis]}")
        for part in parts[:-1] if axis == 2 else ():
            if not same_dim(as_expr(part) % LANES, 0):
                c.fail(f"parts {show_shape(parts)}: all but the last must be multiples of {LANES} channels")
        return builtins.tuple(c.result((*shape[:axis], p, *shape[axis + 1 :]), c.types[0].dtype) for p in parts)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> builtins.tuple[np.ndarray, ...]:
        ends = np.cumsum([int(p) for p in attrs["new_chs"]])[:-1]
        return builtins.tuple(np.split(args[0], ends, axis=_AXES[attrs["axis"]]))


@register
class ReallocCall(OperatorCall):
    """the same tensor in larger memory."""

    name = "accel.realloc"
    data = operand_def()
    VIEW: ClassVar = True
    ATTRS: ClassVar = {"new_shape": "what memory is reserved for"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        new = _new_shape(c)
        for size in new:
            if as_expr(size).upper() < 1:
                c.fail(f"new shape {show_shape(new)}: a size is {size}, expected at least 1")
        return c.result(c.feature(0).shape, c.types[0].dtype)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        return args[0]


@register
class ConcatCall(OperatorCall):
    """tensors side by side in one storage."""

    name = "accel.concat"
    data = var_operand_def()
    VIEW: ClassVar = True
    ATTRS: ClassVar = {"dim": "0 heads, 1 tokens, 2 channels"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        shapes = [c.feature(i).shape for i in range(len(c.types))]
        axis = _axis(c, "dim")
        first = shapes[0]
        for i, shape in enumerate(shapes):
            if not all(same_dim(a, b) for k, (a, b) in enumerate(zip(shape, first, strict=True)) if k != axis):
                c.fail(
                    f"argument {i} has shape {show_shape(shape)}, the first {show_shape(first)}: "
                    f"they may differ in dimension {axis}"
                )
        joined = list(first)
        joined[axis] = sum((s[axis] for s in shapes), start=as_expr(0))
        return c.result(joined, c.types[0].dtype)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        return np.concatenate(args, axis=_AXES[attrs["dim"]])


@register
class GatherCall(OperatorCall):
    """one token of all."""

    name = "accel.gather"
    data = operand_def()
    VIEW: ClassVar = True
    ATTRS: ClassVar = {"index": "which token; default the last"}

    @classmethod
    def infer(cls, c: Inference) -> AccelTensor:
        heads, tokens, channels = c.feature(0).shape
        if c.attrs.get("index") is not None:
            index = as_expr(c.number("index"))
            if index.upper() < 0 or (as_expr(tokens) - index).upper() < 1:
                c.fail(f"index is {index}, expected a token of {show_shape(c.types[0].shape)}")
        return c.result((heads, 1, channels), c.types[0].dtype)

    @classmethod
    def compute(cls, args: Sequence[np.ndarray], attrs: Attributes) -> np.ndarray:
        index = attrs.get("index")
        at = args[0].shape[1] - 1 if index is None else int(index)
        return args[0][:, at : at + 1]
