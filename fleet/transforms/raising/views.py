"""Traces movements: represents a value as a strided window on the value that it came from, like NumPy's views.

`qkv[:, 64:128]`, `qkv.reshape(n, 3, h, d)[:, 0]` and `np.split(qkv, 3, axis=1)[1]` are all windows on `qkv`, described by base,
offset and strides, independent of the spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.operations.operation import attributes_of
from fleet.ir.types import is_tensor, shape_of

__all__ = ["BaseView", "contiguous", "view_of"]


class BaseView(NamedTuple):
    """Element i of the view is base.reshape(-1)[offset + sum(i * strides)]; strides and offset in elements."""

    base: SSAValue
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def axes(self, order: Sequence[int]) -> BaseView:
        """Return the view with its axes in another order."""
        return self._replace(shape=tuple(self.shape[a] for a in order), strides=tuple(self.strides[a] for a in order))


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array."""
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def view_of(value: SSAValue) -> BaseView:
    """Trace a value back through reshapes, transposes and slices as far as it stays a window on its base."""
    chain = [value]
    while _moved_out_of(chain[-1]) is not None:
        chain.append(_moved_out_of(chain[-1]) or value)
    view = _whole(chain[-1])
    for one in reversed(chain[:-1]):
        view = _seen_through(one, view)
    return view


def _whole(value: SSAValue) -> BaseView:
    return BaseView(value, shape_of(value.type), contiguous(shape_of(value.type)), 0)


def _moved_out_of(value: SSAValue) -> SSAValue | None:
    """Return the operand of a movement with known sizes; None for other values."""
    op = value.owner
    if not isinstance(op, d.ReshapeOp | d.TransposeOp | d.SliceOp) or -1 in shape_of(value.type) or not is_tensor(op.operand.type):
        return None
    return None if -1 in shape_of(op.operand.type) else op.operand


def _seen_through(value: SSAValue, inner: BaseView) -> BaseView:
    """Return the view of a movement's result, given its operand's."""
    op = value.owner
    assert isinstance(op, d.ReshapeOp | d.TransposeOp | d.SliceOp)
    a = attributes_of(op)
    if isinstance(op, d.TransposeOp):
        return inner.axes(a["permutation"])
    if isinstance(op, d.SliceOp):
        steps = a.get("step") or [1] * len(a["start"])
        offset = inner.offset + sum(s * stride for s, stride in zip(a["start"], inner.strides, strict=True))
        return BaseView(inner.base, tuple(a["size"]), tuple(s * t for s, t in zip(inner.strides, steps, strict=True)), offset)
    shape = shape_of(value.type)
    strides = _reshaped(inner.shape, inner.strides, shape)
    return _whole(value) if strides is None else BaseView(inner.base, shape, strides, inner.offset)


def _reshaped(shape: tuple[int, ...], strides: tuple[int, ...], into: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the strides of a reshaped window; None if the elements must be copied. NumPy decides, without allocating memory."""
    if 0 in shape:
        return None
    window = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), shape, strides)
    try:
        return np.reshape(window, into, copy=False).strides
    except ValueError:
        return None
