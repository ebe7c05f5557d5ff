"""The front end's tensors: known now, or a value of the program. They compute as NumPy's do, and never change a dtype.

ONNX has no promotion: both sides of an operator have one dtype, and Python numbers take that of the array beside them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NoReturn, Protocol

import numpy as np
import numpy.typing as npt
from xdsl.ir import SSAValue

from fleet.frontend.onnx.narrow import Narrow
from fleet.ir.types import numpy_dtype, shape_of


class Maker(Protocol):
    """What arrays ask of the program in the making (`Build`)."""

    def emit(self, name: str, operands: Sequence[OnnxArray], **attributes: object) -> OnnxArray:
        """One operation; computed now if all of its operands are known and small. Raises ModelError at the node."""
        ...

    def known(self, array: np.ndarray, name: str | None = None) -> OnnxArray:
        """An array that is known now."""
        ...

    def value(self, array: OnnxArray) -> SSAValue:
        """The value of the program behind an array."""
        ...

    def refuse(self, what: str, hint: str | None = None) -> NoReturn:
        """Raises ModelError at the present node."""
        ...


class OnnxArray:
    """One tensor.

    Attributes:
        known: its elements, where they are known. ssa: its value in the program, once there is one.
        name: of an initializer. narrow: its type, where that is narrower than the one that carries it.
    """

    __slots__ = ("build", "known", "name", "narrow", "ssa")

    def __init__(
        self,
        build: Maker,
        known: np.ndarray | None,
        ssa: SSAValue | None,
        name: str | None = None,
        narrow: Narrow | None = None,
    ) -> None:
        self.build, self.known, self.ssa, self.name, self.narrow = build, known, ssa, name, narrow

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape."""
        if self.known is not None:
            return self.known.shape
        assert self.ssa is not None
        return shape_of(self.ssa.type)

    @property
    def dtype(self) -> np.dtype:
        """Element type."""
        if self.known is not None:
            return self.known.dtype
        assert self.ssa is not None
        return numpy_dtype(self.ssa.type)

    @property
    def rank(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def like(self, number: float) -> OnnxArray:
        """A number as a scalar of this dtype."""
        with np.errstate(all="ignore"):
            return self.build.known(np.asarray(number).astype(self.dtype))

    def of(self, narrow: Narrow | None) -> OnnxArray:
        """The same values marked as of a narrow type, or of none. They must be exact in it."""
        return self if self.narrow is narrow else OnnxArray(self.build, self.known, self.ssa, self.name, narrow)

    # ---- arithmetic

    def unfolded(self) -> OnnxArray:
        """The same value as if it were unknown while the model is read: what is computed of it stays in the program."""
        return OnnxArray(self.build, None, self.build.value(self), narrow=self.narrow)

    def __add__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("add", self, other)

    def __radd__(self, other: float) -> OnnxArray:
        return binary("add", other, self)

    def __sub__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("sub", self, other)

    def __rsub__(self, other: float) -> OnnxArray:
        return binary("sub", other, self)

    def __mul__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("mul", self, other)

    def __rmul__(self, other: float) -> OnnxArray:
        return binary("mul", other, self)

    def __truediv__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("div", self, other)

    def __rtruediv__(self, other: float) -> OnnxArray:
        return binary("div", other, self)

    def __floordiv__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("floor_div", self, other)

    def __mod__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("mod", self, other)

    def __pow__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("pow", self, other)

    def __neg__(self) -> OnnxArray:
        return unary("neg", self)

    def __matmul__(self, other: OnnxArray) -> OnnxArray:
        return self.build.emit("matmul", [self, other])

    def __lt__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("less", self, other)

    def __le__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("less_equal", self, other)

    def __gt__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("greater", self, other)

    def __ge__(self, other: OnnxArray | float) -> OnnxArray:
        return binary("greater_equal", self, other)

    def equal(self, other: OnnxArray | float) -> OnnxArray:
        """`self == other`, elementwise."""
        return binary("equal", self, other)

    # ---- movement

    def astype(self, dtype: npt.DTypeLike) -> OnnxArray:
        """`x.astype(dtype)`; itself where it has it."""
        dtype = np.dtype(dtype)
        return self if self.dtype == dtype else self.build.emit("cast", [self], dtype=dtype)

    def reshape(self, *shape: int) -> OnnxArray:
        """`x.reshape(shape)`; one dimension may be -1."""
        if -1 in shape:
            rest = math.prod(d for d in shape if d != -1)
            if rest == 0 or self.size % rest:
                self.build.refuse(f"a reshape of {list(self.shape)} to {list(shape)}")
            shape = tuple(self.size // rest if d == -1 else d for d in shape)
        return self if shape == self.shape else self.build.emit("reshape", [self], shape=shape)

    def transpose(self, *permutation: int) -> OnnxArray:
        """`x.transpose(permutation)`."""
        if permutation == tuple(range(self.rank)):
            return self
        return self.build.emit("transpose", [self], permutation=permutation)

    def broadcast_to(self, *shape: int) -> OnnxArray:
        """`np.broadcast_to(x, shape)`."""
        return self if shape == self.shape else self.build.emit("broadcast_to", [self], shape=shape)

    def window(self, start: Sequence[int], size: Sequence[int], step: Sequence[int] | None = None) -> OnnxArray:
        """`size` elements from `start` by `step`, for every dimension."""
        step = step or [1] * self.rank
        if list(size) == list(self.shape) and not any(start) and all(s == 1 for s in step):
            return self
        return self.build.emit("slice", [self], start=list(start), size=list(size), step=list(step))

    def part(self, axis: int, start: int, size: int, step: int = 1) -> OnnxArray:
        """As `window`, along one axis."""
        axis %= self.rank
        starts, sizes, steps = [0] * self.rank, list(self.shape), [1] * self.rank
        starts[axis], sizes[axis], steps[axis] = start, size, step
        return self.window(starts, sizes, steps)

    def take(self, indices: OnnxArray, axis: int = 0) -> OnnxArray:
        """`np.take(x, indices, axis)`; axis not negative."""
        return self.build.emit("gather", [self, indices], axis=axis)

    def pad(self, low: Sequence[int], high: Sequence[int], value: float | OnnxArray = 0) -> OnnxArray:
        """`np.pad` with a constant."""
        if not any(low) and not any(high):
            return self
        filler = value if isinstance(value, OnnxArray) else self.like(value)
        return self.build.emit("pad", [self, filler], low=list(low), high=list(high))

    def squeeze(self, *axes: int) -> OnnxArray:
        """Without these dimensions of size 1."""
        return self.reshape(*(d for i, d in enumerate(self.shape) if i not in axes))

    def unsqueeze(self, *axes: int) -> OnnxArray:
        """With dimensions of size 1 at these places of the result."""
        dims = iter(self.shape)
        rank = self.rank + len(axes)
        return self.reshape(*(1 if i in axes else next(dims) for i in range(rank)))

    def swapped(self) -> OnnxArray:
        """The last two dimensions exchanged."""
        return self.transpose(*range(self.rank - 2), self.rank - 1, self.rank - 2)

    # ---- reductions

    def reduce(self, name: str, axes: Sequence[int], keepdims: bool) -> OnnxArray:
        """An operation "reduce_sum", "mean" ... over these axes (any order, not negative)."""
        if not axes:
            return self
        return self.build.emit(name, [self], axes=sorted(axes), keepdims=keepdims)

    def sum(self, axes: Sequence[int], keepdims: bool = False) -> OnnxArray:
        """`x.sum(axes)` in x's dtype."""
        wide = self.astype(np.int64) if self.dtype.kind in "iub" else self
        return wide.reduce("reduce_sum", axes, keepdims).astype(self.dtype)

    def mean(self, axes: Sequence[int], keepdims: bool = False) -> OnnxArray:
        """`x.mean(axes)`, of floats."""
        return self.reduce("mean", axes, keepdims)

    def max(self, axes: Sequence[int], keepdims: bool = False) -> OnnxArray:
        """`x.max(axes)`."""
        return self.reduce("reduce_max", axes, keepdims)

    def min(self, axes: Sequence[int], keepdims: bool = False) -> OnnxArray:
        """`x.min(axes)`."""
        return self.reduce("reduce_min", axes, keepdims)


def binary(name: str, a: OnnxArray | float, b: OnnxArray | float) -> OnnxArray:
    """An elementwise operation of two; a Python number takes the other's dtype. Raises ModelError where the dtypes differ."""
    if not isinstance(a, OnnxArray):
        assert isinstance(b, OnnxArray)
        a = b.like(a)
    elif not isinstance(b, OnnxArray):
        b = a.like(b)
    if a.dtype != b.dtype:
        a.build.refuse(f"{name} of {a.dtype} and {b.dtype}, which must be one type")
    return a.build.emit(name, [a, b])


def unary(name: str, a: OnnxArray, **attributes: object) -> OnnxArray:
    """An operation of one operand."""
    return a.build.emit(name, [a], **attributes)


def maximum(a: OnnxArray, b: OnnxArray | float) -> OnnxArray:
    """`np.maximum`."""
    return binary("maximum", a, b)


def minimum(a: OnnxArray, b: OnnxArray | float) -> OnnxArray:
    """`np.minimum`."""
    return binary("minimum", a, b)


def where(condition: OnnxArray, a: OnnxArray | float, b: OnnxArray | float) -> OnnxArray:
    """`np.where`; a Python number takes the other's dtype."""
    if not isinstance(a, OnnxArray):
        assert isinstance(b, OnnxArray)
        a = b.like(a)
    elif not isinstance(b, OnnxArray):
        b = a.like(b)
    if a.dtype != b.dtype:
        a.build.refuse(f"a choice between {a.dtype} and {b.dtype}, which must be one type")
    return a.build.emit("where", [condition, a, b])


def concat(parts: Sequence[OnnxArray], axis: int) -> OnnxArray:
    """`np.concatenate`."""
    return parts[0] if len(parts) == 1 else parts[0].build.emit("concat", list(parts), axis=axis)


def einsum(subscripts: str, *operands: OnnxArray) -> OnnxArray:
    """`np.einsum` with explicit subscripts."""
    return operands[0].build.emit("einsum", list(operands), subscripts=subscripts)
