"""What a rule of `table` gets and works with: one operation's values and errors, and rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fleet.ir.dialect import FleetOp

__all__ = [
    "EPS",
    "Arithmetic",
    "Array",
    "BoundStep",
    "Rule",
    "RuleSplit",
    "clean",
    "gamma",
    "no_overflow",
    "none",
    "rounded_store",
    "row_norm",
    "some",
    "unit",
]

Array = np.ndarray[Any, np.dtype[Any]]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Arithmetic:
    """How one side computes one operation.

    Attributes:
        dtype: what every step rounds to; None: the operation's own result dtype.
        roundings: most roundings that a term of the reduction meets, products and sums together; None: as many as a
            summation in any order can give.
        ulp: function ("exp", "log", "tanh", "pow") -> largest error in ULPs of the result; 0.5 where it is missing.
        store: dtype to which the result is rounded after all; None: it stays as computed.
        inner: dtype to which tensors inside a composite are stored (an attention's scores and probabilities); None: as computed.
        absolute: function -> largest absolute error of what stands for it (a table), over all inputs of the stored dtype.
        relative: "reciprocal" (of a mean's 1 / n), "scale" (of an attention's): relative error of constants that are rounded.
    """

    dtype: np.dtype | None = None
    roundings: int | None = None
    ulp: Mapping[str, float] = field(default_factory=dict[str, float])
    store: np.dtype | None = None
    inner: np.dtype | None = None
    absolute: Mapping[str, float] = field(default_factory=dict[str, float])
    relative: Mapping[str, float] = field(default_factory=dict[str, float])


@dataclass(frozen=True)
class BoundStep:
    """One operation to bound: x and e are the operands' values and errors (float64); dtype is what its steps round to.

    floor: a proven positive lower bound of each operand as either side computes it, where there is one (`floor_of`).
    norms: a bound on the Euclidean norm of every row's error (along the last axis) of each operand; what e gives by default.
    kept: what was computed of x alone, by name: steps of the same values share it (`once`).
    """

    op: FleetOp
    x: Sequence[Array]
    e: Sequence[Array]
    dtype: np.dtype
    how: Arithmetic
    floor: Sequence[Array | None] = ()
    norms: Sequence[Array] = ()
    kept: dict[str, Array] = field(default_factory=dict[str, Array])

    def once(self, name: str, compute: Callable[[], Array]) -> Array:
        """What `compute` makes of the values alone, computed by the first of the steps that share it."""
        if name not in self.kept:
            self.kept[name] = compute()
        return self.kept[name]

    def norm(self, i: int) -> Array:
        """Of operand i's rows, never more than its elements give."""
        own = row_norm(self.e[i])
        return np.fmin(own, self.norms[i]) if i < len(self.norms) else own

    def low(self, i: int) -> Array:
        """The least that operand i can be: value minus error, or its floor where that is more."""
        low = self.x[i] - self.e[i]
        floor = self.floor[i] if i < len(self.floor) else None
        return low if floor is None else np.maximum(low, floor)


class RuleSplit(NamedTuple):
    """Two parts of a bound: what the operands' errors do in real arithmetic, and what the arithmetic adds at any such point.

    row: a bound on the norm of each row of the former.
    """

    spread: Array
    rounding: Array
    row: Array


def none(shape: tuple[int, ...]) -> Array:
    """Errors of zero, in no memory."""
    return np.broadcast_to(np.zeros(()), shape)


def some(e: Array) -> bool:
    """Whether any error is above zero; of `none` that is known at once."""
    if e.ndim and not any(e.strides):
        return bool(e.size) and bool(e[(0,) * e.ndim])
    return bool(e.any())


def row_norm(e: Array) -> Array:
    """Euclidean norms along the last axis; of a number its magnitude."""
    if not some(e):
        return none(e.shape[:-1])
    return np.sqrt(np.einsum("...i,...i->...", e, e)) if e.ndim else np.abs(e)


Rule = Callable[[BoundStep], Array]
"""The bound, float64, broadcastable to the result's shape."""


def clean(bound: Array) -> Array:
    """NaN (from inf - inf and 0 * inf on the way) proves nothing: inf."""
    undefined = np.isnan(bound)
    return np.where(undefined, np.inf, bound) if undefined.any() else bound


def unit(dtype: np.dtype) -> tuple[float, float]:
    """(unit roundoff, half the smallest subnormal); zeros for integers, which do not round."""
    if dtype.kind != "f":
        return 0.0, 0.0
    info = np.finfo(dtype)
    return float(info.eps) / 2, float(info.smallest_subnormal) / 2


def gamma(k: int, dtype: np.dtype) -> float:
    """gamma_k = k u / (1 - k u); inf when k u >= 1."""
    ku = k * unit(dtype)[0]
    return ku / (1 - ku) if ku < 1 else float("inf")


def rounded_store(value: Array, error: Array, dtype: np.dtype, ulps: float = 0.5) -> Array:
    """`error` after rounding a computed value within `error` of `value` to `dtype`; inf where it may overflow."""
    if dtype.kind != "f":
        return error
    u, half = unit(dtype)
    magnitude = np.abs(value) + error
    out = error + 2 * ulps * (magnitude * u + half)
    # What is rounded correctly stays finite up to half a unit above the largest number: masks of -3.4e38, and sums with them, do.
    largest = float(np.finfo(dtype).max)
    edge = largest * (1 + u / 2) if dtype.itemsize < 8 else largest  # of float64 there is no number in between
    with np.errstate(over="ignore"):
        fits = magnitude <= edge if ulps <= 0.5 else magnitude * (1 + 2 * ulps * u) <= largest
    return np.where(fits, out, np.inf)


def no_overflow(value: Array, bound: Array, dtype: np.dtype) -> Array:
    """inf where the value within the bound may not fit the dtype."""
    if dtype.kind != "f":
        return bound
    return np.where(np.abs(value) + bound > float(np.finfo(dtype).max), np.inf, bound)
