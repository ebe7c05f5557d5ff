"""Traces movements: represents a value as a strided window on the value that it came from, like NumPy's views.

`qkv[:, 64:128]`, `qkv.reshape(n, 3, h, d)[:, 0]` and `np.split(qkv, 3, axis=1)[1]` are all windows on `qkv`, described by base,
offset and strides, independent of the spelling.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from fleet.ir import dialect as d
from fleet.ir.operations.operation import attributes_of
from fleet.ir.shapes import contiguous
from fleet.ir.types import is_tensor, shape_of


class BaseView(NamedTuple):
    """Element i of the view is base.reshape(-1)[offset + sum(i * strides)]; strides and offset in elements."""

    base: SSAValue
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def axes(self, order: Sequence[int]) -> BaseView:
        """Return the view with its axes in another order."""
        return self._replace(shape=tuple(self.shape[a] for a in order), strides=tuple(self.strides[a] for a in order))


_Axis = tuple[tuple[int, int], ...]
"""An axis as (size, stride) of what it runs through, outermost first: several where a reshape has merged axes that are apart."""


class _SplitView(NamedTuple):
    """A view whose axes may be merged from others, as PyTorch turns keys as [batch * heads, ...] and splits them again."""

    base: SSAValue
    axes: tuple[_Axis, ...]
    offset: int

    def plain(self) -> BaseView | None:
        """Return the view, or None if one of its axes has no single stride."""
        if any(len(axis) > 1 for axis in self.axes):
            return None
        sizes, strides = zip(*(axis[0] for axis in self.axes), strict=True) if self.axes else ((), ())
        return BaseView(self.base, sizes, strides, self.offset)


def view_of(value: SSAValue) -> BaseView:
    """Trace a value back through reshapes, transposes and slices as far as it stays a window on its base."""
    chain = [value]
    while _moved_out_of(chain[-1]) is not None:
        chain.append(_moved_out_of(chain[-1]) or value)
    view = _followed(chain, merged=True) or _followed(chain, merged=False)
    assert view is not None
    return view


def _followed(chain: Sequence[SSAValue], *, merged: bool) -> BaseView | None:
    """Return the view of chain[0], each value a movement of the next one.

    merged: keep axes that are apart merged until they are split again, and return None if they are not; without it, a reshape that
    merges such axes is a copy, where the view begins.
    """
    view = _whole(chain[-1])
    for one in reversed(chain[:-1]):
        seen = _seen_through(one, view)
        if seen is None and merged and view.plain() is None:
            return None
        view = _whole(one) if seen is None or not (merged or seen.plain()) else seen
    return view.plain()


def _whole(value: SSAValue) -> _SplitView:
    shape = shape_of(value.type)
    return _SplitView(value, tuple((pair,) for pair in zip(shape, contiguous(shape), strict=True)), 0)


def _moved_out_of(value: SSAValue) -> SSAValue | None:
    """Return the operand of a movement with known sizes; None for other values."""
    op = value.owner
    if not isinstance(op, d.ReshapeOp | d.TransposeOp | d.SliceOp) or -1 in shape_of(value.type) or not is_tensor(op.operand.type):
        return None
    return None if -1 in shape_of(op.operand.type) else op.operand


def _seen_through(value: SSAValue, inner: _SplitView) -> _SplitView | None:
    """Return the view of a movement's result, given its operand's; None if the elements must be copied."""
    op = value.owner
    assert isinstance(op, d.ReshapeOp | d.TransposeOp | d.SliceOp)
    a = attributes_of(op)
    if isinstance(op, d.TransposeOp):
        return inner._replace(axes=tuple(inner.axes[i] for i in a["permutation"]))
    if isinstance(op, d.ReshapeOp):
        axes = _regrouped(inner.axes, shape_of(value.type))
        return None if axes is None else inner._replace(axes=axes)
    view = inner.plain()
    if view is None:
        return None
    steps = a.get("step") or [1] * len(a["start"])
    offset = view.offset + sum(s * stride for s, stride in zip(a["start"], view.strides, strict=True))
    strides = [s * t for s, t in zip(view.strides, steps, strict=True)]
    return _SplitView(inner.base, tuple((pair,) for pair in zip(a["size"], strides, strict=True)), offset)


def _regrouped(axes: Sequence[_Axis], into: tuple[int, ...]) -> tuple[_Axis, ...] | None:
    """Return the axes of a reshape; None if a new axis ends inside what an old one runs through."""
    if 0 in into:
        return None
    left: list[tuple[int, int]] = []
    for size, stride in (pair for axis in axes for pair in axis):
        if left and left[-1][1] == size * stride:
            left[-1] = (left[-1][0] * size, stride)
        elif size != 1:
            left.append((size, stride))
    left.reverse()
    made: list[_Axis] = []
    for wanted in into:
        axis: list[tuple[int, int]] = []
        missing = wanted
        while missing > 1:
            size, stride = left.pop()
            if missing % size and size % missing:
                return None
            taken = min(size, missing)
            if size > taken:
                left.append((size // taken, stride))
            axis.append((taken, stride * (size // taken)))
            missing //= taken
        made.append(tuple(axis) or ((1, 1),))
    return tuple(made)
