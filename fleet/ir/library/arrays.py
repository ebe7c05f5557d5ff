"""Arrays of an expansion, with NumPy's operators and the few functions used to write sequences of operations."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from fleet.ir.expansion import Expansion, known_shape
from fleet.ir.shapes import InferenceError
from fleet.ir.types import numpy_dtype, tensor_type

Item: TypeAlias = "int | slice | EllipsisType | None"


class Array:
    """A value of the expansion; it computes like NumPy's arrays, and every step is one operation."""

    def __init__(self, s: Expansion, value: SSAValue) -> None:
        self.s, self.value = s, value
        self.shape = known_shape(value, "an array")
        self.dtype = numpy_dtype(value.type)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def op(self, name: str, *others: Some, **attributes: object) -> Array:
        """Emit an operation with this as its first operand; numbers are Python's."""
        return Array(self.s, self.s(name, self.value, *(_value(o) for o in others), **attributes))

    def __add__(self, other: Some) -> Array:
        """`self + other`."""
        return self.op("add", other)

    def __sub__(self, other: Some) -> Array:
        """`self - other`."""
        return self.op("sub", other)

    def __mul__(self, other: Some) -> Array:
        """`self * other`."""
        return self.op("mul", other)

    def __truediv__(self, other: Some) -> Array:
        """`self / other`."""
        return self.op("div", other)

    def __floordiv__(self, other: Some) -> Array:
        """`self // other`."""
        return self.op("floor_div", other)

    def __mod__(self, other: Some) -> Array:
        """`self % other`."""
        return self.op("mod", other)

    def __radd__(self, other: float) -> Array:
        """`other + self`."""
        return Array(self.s, self.s("add", other, self.value))

    def __rsub__(self, other: float) -> Array:
        """`other - self`."""
        return Array(self.s, self.s("sub", other, self.value))

    def __rmul__(self, other: float) -> Array:
        """`other * self`."""
        return Array(self.s, self.s("mul", other, self.value))

    def __rtruediv__(self, other: float) -> Array:
        """`other / self`."""
        return Array(self.s, self.s("div", other, self.value))

    def __neg__(self) -> Array:
        """`-self`."""
        return self.op("neg")

    def __lt__(self, other: Some) -> Array:
        """`self < other`."""
        return self.op("less", other)

    def __le__(self, other: Some) -> Array:
        """`self <= other`."""
        return self.op("less_equal", other)

    def __gt__(self, other: Some) -> Array:
        """`self > other`."""
        return self.op("greater", other)

    def __ge__(self, other: Some) -> Array:
        """`self >= other`."""
        return self.op("greater_equal", other)

    def __and__(self, other: Array) -> Array:
        """`self & other` of truth values."""
        return self.op("logical_and", other)

    def __or__(self, other: Array) -> Array:
        """`self | other` of truth values."""
        return self.op("logical_or", other)

    def __invert__(self) -> Array:
        """`~self` of truth values."""
        return self.op("logical_not")

    def equal(self, other: Some) -> Array:
        """`self == other`."""
        return self.op("equal", other)

    def __getitem__(self, index: Item | tuple[Item, ...]) -> Array:
        """Slices, integers, None and `...`."""
        items = list(index) if isinstance(index, tuple) else [index]
        taken = sum(i is not None and i is not Ellipsis for i in items)
        at = items.index(Ellipsis) if Ellipsis in items else len(items)
        items[at : at + 1] = [slice(None)] * (self.ndim - taken)
        start: list[int] = []
        size: list[int] = []
        step: list[int] = []
        shape: list[int] = []
        for item in items:
            if item is None:
                shape.append(1)
                continue
            dim = self.shape[len(start)]
            if isinstance(item, int):
                places = range(item % dim, item % dim + 1)
            else:
                assert isinstance(item, slice)
                places = range(dim)[item]
                shape.append(len(places))
            start.append(places.start if places else 0)
            size.append(len(places))
            step.append(places.step if places else 1)
        part = self if tuple(size) == self.shape and set(step) <= {1} else self.op("slice", start=start, size=size, step=step)
        return part.reshape(*shape)

    def reshape(self, *shape: int) -> Array:
        """Reshape in C order; -1: the remaining size."""
        if -1 in shape:
            rest = math.prod(d for d in shape if d >= 0)
            shape = tuple(self.size // rest if d < 0 else d for d in shape)
        return self if shape == self.shape else self.op("reshape", shape=list(shape))

    def matrix(self, leading: int) -> Array:
        """Return a matrix: the first `leading` dimensions are its rows, the others its columns. Any of them may be empty."""
        return self.reshape(math.prod(self.shape[:leading]), math.prod(self.shape[leading:]))

    def transpose(self, *order: int) -> Array:
        """Return the array with its dimensions in this order."""
        return self if list(order) == list(range(self.ndim)) else self.op("transpose", permutation=list(order))

    def moved(self, axis: int, to: int) -> Array:
        """`numpy.moveaxis`."""
        order = [i for i in range(self.ndim) if i != axis % self.ndim]
        order.insert(to % self.ndim, axis % self.ndim)
        return self.transpose(*order)

    def broadcast(self, *shape: int) -> Array:
        """`numpy.broadcast_to`."""
        return self if shape == self.shape else self.op("broadcast_to", shape=list(shape))

    def astype(self, dtype: np.dtype | str | type) -> Array:
        """Return the array cast to a dtype."""
        return self if np.dtype(dtype) == self.dtype else self.op("cast", dtype=np.dtype(dtype))

    def reduce(self, name: str, axes: int | Sequence[int] | None = None, *, keepdims: bool = False) -> Array:
        """`reduce_sum`, `reduce_max` ... over axes; None: all."""
        given = range(self.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
        return self.op(name, axes=sorted(a % self.ndim for a in given), keepdims=keepdims)

    def isnan(self) -> Array:
        """`numpy.isnan`."""
        return self.op("isnan")


Some: TypeAlias = "Array | float"


def _value(value: Some) -> SSAValue | float:
    return value.value if isinstance(value, Array) else value


def select(condition: Array, a: Some, b: Some) -> Array:
    """`numpy.where`."""
    return Array(condition.s, condition.s("where", condition.value, _value(a), _value(b)))


def concat(parts: Sequence[Array], axis: int = 0) -> Array:
    """`numpy.concatenate`, which skips empty arrays."""
    kept = [p for p in parts if p.shape[axis]] or list(parts[:1])
    dtype = np.result_type(*(p.dtype for p in parts))
    s = parts[0].s
    return kept[0].astype(dtype) if len(kept) == 1 else Array(s, s("concat", *(p.value for p in kept), axis=axis % kept[0].ndim))


def stack(parts: Sequence[Array], axis: int = 0) -> Array:
    """`numpy.stack`."""
    rank = parts[0].ndim + 1
    return concat([p.reshape(*_inserted(p.shape, axis % rank)) for p in parts], axis % rank)


def _inserted(shape: Sequence[int], axis: int) -> list[int]:
    return [*shape[:axis], 1, *shape[axis:]]


def filled(s: Expansion, shape: Sequence[int], value: float, dtype: np.dtype | str | type) -> Array:
    """`numpy.full`."""
    return Array(s, s.number(value, tensor_type(shape, dtype)))


def iota(s: Expansion, size: int) -> Array:
    """`numpy.arange(size)`."""
    return filled(s, (size,), 1, np.int64).op("cumsum", axis=0) - 1


def take(x: Array, indices: Array, axis: int = 0) -> Array:
    """`numpy.take` with non-negative indices."""
    return x.op("gather", indices, axis=axis % x.ndim)


def take_along(x: Array, indices: Array, axis: int) -> Array:
    """`numpy.take_along_axis` with non-negative indices; the other dimensions are x's."""
    x, indices = x.moved(axis, -1), indices.moved(axis, -1)
    rows, columns = math.prod(x.shape[:-1]), x.shape[-1]
    if not columns:
        raise InferenceError("take_along_axis of nothing")
    first = (iota(x.s, rows) * columns)[:, None]
    places = indices.reshape(rows, indices.shape[-1]) + first
    return take(x.reshape(x.size), places).reshape(*indices.shape).moved(-1, axis)


def sorted_along(x: Array, axis: int) -> Array:
    """`numpy.sort`."""
    return take_along(x, x.op("argsort", axis=axis % x.ndim), axis)


def array_of(s: Expansion, value: Any, dtype: Any = None) -> Array:
    """A number, or a list of numbers and arrays, as one array."""
    if isinstance(value, Array):
        return value
    if isinstance(value, list | tuple):
        parts: Sequence[Any] = value  # pyright: ignore[reportUnknownVariableType]
        numbers = [p for p in parts if not isinstance(p, Array)]
        common = dtype or np.result_type(*(p.dtype for p in parts if isinstance(p, Array)), *(np.asarray(n).dtype for n in numbers))
        return stack([array_of(s, p, common).astype(common) for p in parts])
    return filled(s, (), value, dtype or np.asarray(value).dtype)
