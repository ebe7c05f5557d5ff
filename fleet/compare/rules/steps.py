"""Material of the rules of `table`: values and errors of one operation, and rounding."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from fleet.ir.dialect import FleetOp

Array = np.ndarray[Any, np.dtype[Any]]

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Arithmetic:
    """Arithmetic of one side in one operation.

    Attributes:
        dtype: dtype that each step rounds to; None: the operation's own result dtype.
        roundings: the most roundings of a term of the reduction, products and sums together; None: as many as a summation in any
            order can give.
        products: the same of the sums of products inside a composite (an attention's); None: as `roundings`.
        ulp: function ("exp", "log", "tanh", "pow") -> largest error in ULPs of the result; 0.5 if missing.
        store: dtype that the final result is rounded to; None: it stays as computed.
        inner: dtype in which tensors inside a composite are stored (an attention's scores and probabilities); None: as computed.
        absolute: function -> largest absolute error of its replacement (a table), over all inputs of the stored dtype.
        relative: "reciprocal" (1 / n of a mean) or "scale" (of an attention) -> relative error of the rounded constant.
    """

    dtype: np.dtype | None = None
    roundings: int | None = None
    ulp: Mapping[str, float] = field(default_factory=dict[str, float])
    store: np.dtype | None = None
    inner: np.dtype | None = None
    absolute: Mapping[str, float] = field(default_factory=dict[str, float])
    relative: Mapping[str, float] = field(default_factory=dict[str, float])
    products: int | None = None


@dataclass(frozen=True)
class BoundStep:
    """One operation to bound.

    x, e: the operands' values and errors (float64). dtype: dtype that its steps round to. how: arithmetic of the side.
    floor: a proven positive lower bound of each operand as either side computes it, or None (`floor_of`).
    norms: for each operand, a bound on the Euclidean norm of each row's error (along the last axis); default: derived from e.
    kept: what was computed from x alone, by name; steps with the same values share it (`once`).
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
        """Return the result of `compute`, which depends on the values alone; the first of the steps that share it computes it."""
        if name not in self.kept:
            self.kept[name] = compute()
        return self.kept[name]

    def norm(self, i: int) -> Array:
        """Return the norms of operand i's row errors, at most those of its elements."""
        own = row_norm(self.e[i])
        return np.fmin(own, self.norms[i]) if i < len(self.norms) else own

    def low(self, i: int) -> Array:
        """Return the lower bound of operand i: value minus error, or its floor if that is larger."""
        low = self.x[i] - self.e[i]
        floor = self.floor[i] if i < len(self.floor) else None
        return low if floor is None else np.maximum(low, floor)


class RuleSplit(NamedTuple):
    """Two parts of a bound.

    spread: the effect of the operands' errors in real arithmetic. rounding: what the arithmetic adds at any point within them.
    row: a bound on the norm of each row of the spread.
    """

    spread: Array
    rounding: Array
    row: Array


@lru_cache(maxsize=4096)
def none(shape: tuple[int, ...]) -> Array:
    """Return zero errors that take no memory (a broadcast scalar, which nobody can write to)."""
    return np.broadcast_to(np.zeros(()), shape)


def some(e: Array) -> bool:
    """Return whether any error is above zero; constant time for the result of `none`."""
    if e.ndim and not any(e.strides):
        return bool(e.size) and bool(e[(0,) * e.ndim])
    return bool(e.any())


def row_norm(e: Array) -> Array:
    """Return Euclidean norms along the last axis; for a scalar, its magnitude."""
    if not some(e):
        return none(e.shape[:-1])
    return np.sqrt(np.einsum("...i,...i->...", e, e)) if e.ndim else np.abs(e)


Rule = Callable[[BoundStep], Array]
"""Returns the bound: float64, broadcastable to the result's shape."""


def clean(bound: Array) -> Array:
    """Replace NaN (from inf - inf or 0 * inf) by inf: nothing is proved."""
    if not bound.size or not np.isnan(bound.max()):  # the largest of numbers of which one is NaN is NaN
        return bound
    return np.where(np.isnan(bound), np.inf, bound)


def total(*errors: Array) -> Array:
    """Return the sum of errors, without computing with those that are zero."""
    shape = np.broadcast_shapes(*(e.shape for e in errors))
    found = [e for e in errors if some(e)]
    return np.broadcast_to(sum(found[1:], found[0]), shape) if found else none(shape)


def unit(dtype: np.dtype) -> tuple[float, float]:
    """Return (unit roundoff, half the smallest subnormal); zeros for integers, which do not round."""
    if dtype.kind != "f":
        return 0.0, 0.0
    info = np.finfo(dtype)
    return float(info.eps) / 2, float(info.smallest_subnormal) / 2


def gamma(k: int, dtype: np.dtype) -> float:
    """Return gamma_k = k u / (1 - k u); inf if k u >= 1."""
    ku = k * unit(dtype)[0]
    return ku / (1 - ku) if ku < 1 else float("inf")


def rounded_store(value: Array, error: Array, dtype: np.dtype, ulps: float = 0.5) -> Array:
    """Return `error` after rounding a computed value within `error` of `value` to `dtype`; inf where it may overflow."""
    if dtype.kind != "f":
        return error
    u, half = unit(dtype)
    magnitude = total(np.abs(value), error)
    # Correct rounding keeps values finite up to half a unit above the largest number. Masks of -3.4e38, and sums with them, need
    # that.
    largest = float(np.finfo(dtype).max)
    edge = largest * (1 + u / 2) if dtype.itemsize < 8 else largest  # float64 has no number in between
    with np.errstate(over="ignore"):
        fits = magnitude <= edge if ulps <= 0.5 else magnitude * (1 + 2 * ulps * u) <= largest
    out = magnitude * u
    out += half
    out *= 2 * ulps
    if some(error):
        out += error
    return out if fits.all() else np.where(fits, out, np.inf)


def no_overflow(value: Array, bound: Array, dtype: np.dtype) -> Array:
    """Return the bound, inf where the value within the bound may exceed the dtype's range."""
    if dtype.kind != "f":
        return bound
    return np.where(np.abs(value) + bound > float(np.finfo(dtype).max), np.inf, bound)
