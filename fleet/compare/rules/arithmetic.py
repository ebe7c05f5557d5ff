"""Error rules of arithmetic, reductions and movement (see `table`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fleet.compare.rules.steps import (
    EPS,
    Arithmetic,
    Array,
    BoundStep,
    Rule,
    clean,
    gamma,
    no_overflow,
    none,
    rounded_store,
    some,
    total,
    unit,
)
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.ir.operations.operation import integers
from fleet.ir.types import numpy_dtype, shape_of
from fleet.targets.bytecode.evaluate import apply


def _elementwise(f: Callable[[Array, Array], Array], propagate: Callable[[BoundStep], Array]) -> Rule:
    return lambda s: rounded_store(f(s.x[0], s.x[1]), propagate(s), s.dtype)


def _sum_error(s: BoundStep) -> Array:
    return total(s.e[0], s.e[1])


def _sum(f: Callable[[Array, Array], Array]) -> Rule:
    """Return the rule of a sum or a difference. One infinity that is exact, as masks have, gives exactly that infinity."""

    def rule(s: BoundStep) -> Array:
        value = f(s.x[0], s.x[1])
        out = rounded_store(value, _sum_error(s), s.dtype)
        infinite = np.isinf(value)
        if s.dtype.kind != "f" or not infinite.any():
            return out
        largest = float(np.finfo(s.dtype).max)
        certain = [np.isinf(x) & (e == 0) for x, e in zip(s.x, s.e, strict=True)]
        limited = [np.abs(x) + e <= largest for x, e in zip(s.x, s.e, strict=True)]
        return np.where(infinite & ((certain[0] & limited[1]) | (limited[0] & certain[1])), 0.0, out)

    return rule


def _product_error(s: BoundStep) -> Array:
    """Return the error of a product."""
    (a, b), (ea, eb) = s.x, s.e
    shape = np.broadcast_shapes(a.shape, b.shape)
    if some(ea) and some(eb):
        return np.abs(a) * eb + np.abs(b) * ea + ea * eb
    return np.abs(b) * ea if some(ea) else np.abs(a) * eb if some(eb) else none(shape)


def quotient_error(s: BoundStep) -> Array:
    """Return the error of a quotient; inf where the divisor may be zero."""
    (a, b), (ea, eb) = s.x, s.e
    low = np.where(b > 0, s.low(1), np.abs(b) - eb)
    # (ea |b| + |a| eb) / (|b| low), without products that leave the range of float64
    return np.where(low > 0, (ea + np.abs(a) * (eb / np.abs(b))) / low, np.inf)


def _select(sign: float) -> Rule:
    """Return the rule of maximum (sign 1) or minimum (-1): one operand's error where the other cannot win."""

    def rule(s: BoundStep) -> Array:
        ea, eb = np.broadcast_arrays(s.e[0], s.e[1])
        gap = sign * (s.x[0] - s.x[1])
        return np.where(gap > ea + eb, ea, np.where(-gap > ea + eb, eb, np.maximum(ea, eb)))

    return rule


def _exact(s: BoundStep) -> Array:
    return s.e[0]


def _sqrt(s: BoundStep) -> Array:
    low = s.low(0)
    root = np.sqrt(s.x[0])
    spread = np.where(s.e[0] == 0, 0.0, np.where(low < 0, np.inf, s.e[0] / (root + np.sqrt(np.maximum(low, 0)))))
    return rounded_store(root, spread, s.dtype)


def monotone(name: str, f: Callable[[Array], Array]) -> Rule:
    """Return the rule of a monotone function: the ends of the interval, plus float64's own error in the differences."""

    def rule(s: BoundStep) -> Array:
        value = f(s.x[0])
        high, low = f(s.x[0] + s.e[0]), f(s.low(0))
        slack = 8 * EPS * np.maximum(np.abs(high), np.abs(low))
        spread = np.where(s.e[0] == 0, 0.0, np.maximum(high - value, value - low) + slack)
        return rounded_store(value, clean(spread), s.dtype, s.how.ulp.get(name, 0.5))

    return rule


def _pow(s: BoundStep) -> Array:
    base, exponent = np.broadcast_arrays(s.x[0], s.x[1])
    eb, ee = np.broadcast_arrays(s.e[0], s.e[1])
    value = np.power(base, exponent)
    corners = [np.power(base + i * eb, exponent + j * ee) for i in (-1, 1) for j in (-1, 1)]
    spread = np.maximum.reduce([np.abs(c - value) + 8 * EPS * np.abs(c) for c in corners])
    # If the base may be zero, x**n has its extreme at 0 for even n > 0 and a pole for n < 0; other exponents are undefined there.
    through = (np.abs(base) <= eb) & (eb > 0)
    whole = (ee == 0) & (exponent == np.floor(exponent))
    spread = np.where(through, np.where(whole & (exponent > 0), np.maximum(spread, np.abs(value)), np.inf), spread)
    spread = np.where((base - eb < 0) & ~whole, np.inf, spread)
    spread = np.where((eb == 0) & (ee == 0), 0.0, spread)
    return rounded_store(value, clean(spread), s.dtype, s.how.ulp.get("pow", 0.5))


def _item(s: BoundStep) -> Array:
    """Return the error of a float itself; an integer or boolean is exact if its operand is, else nothing is proved."""
    error = s.e[0].reshape(())
    return error if numpy_dtype(s.op.results[0].type).kind == "f" else np.where(error == 0, 0.0, np.inf)


def _holds(dtype: np.dtype, source: np.dtype) -> bool:
    """Return whether a float dtype holds every value of another dtype exactly."""
    if source.kind == "f":
        return bool(np.can_cast(source, dtype))
    return source.kind in "biu" and 8 * source.itemsize - (source.kind == "i") <= np.finfo(dtype).nmant + 1


def _cast(s: BoundStep) -> Array:
    if s.dtype.kind == "f" and _holds(s.dtype, numpy_dtype(s.op.operands[0].type)):
        return s.e[0]
    if s.dtype.kind == "f":
        return rounded_store(s.x[0], s.e[0], s.dtype)
    if s.dtype.kind == "b":
        return np.where((s.e[0] > 0) & (np.abs(s.x[0]) <= s.e[0]), 1.0, 0.0)
    steady = np.trunc(s.x[0] - s.e[0]) == np.trunc(s.x[0] + s.e[0])
    return np.where((s.e[0] == 0) | steady, 0.0, s.e[0] + 1.0)


def product_parts(s: BoundStep) -> tuple[Array, Array]:
    """Return two parts of the error of x @ w: the effect of the operands' errors, and the rounding at any point within them.

    (|x| + e) @ (|w| + f) = |x| @ |w| + (e @ |w| + (|x| + e) @ f), so each product is computed once. The step keeps the first
    product for the other side, whose operands have the same values.
    """
    left, right = np.abs(s.x[0]), np.abs(s.x[1])
    sizes = s.once("sizes", lambda: left @ right)
    length = s.x[0].shape[-1]
    spread: Array = np.zeros(())
    if some(s.e[1]):
        spread = (left + s.e[0] if some(s.e[0]) else left) @ s.e[1]
    if some(s.e[0]):
        spread = spread + s.e[0] @ right
    k = length if s.how.roundings is None else s.how.roundings
    rounding = gamma(k, s.dtype) * (sizes + spread) + length * unit(s.dtype)[1]
    whole = spread + rounding
    # No result is larger than the sum of its terms' magnitudes, so these need checking only if that sum may overflow.
    if s.dtype.kind == "f" and not np.all(sizes + whole <= float(np.finfo(s.dtype).max)):
        rounding = np.where(np.isinf(no_overflow(s.x[0] @ s.x[1], whole, s.dtype)), np.inf, rounding)
    return np.broadcast_to(spread, sizes.shape), rounding


def _matmul(s: BoundStep) -> Array:
    spread, rounding = product_parts(s)
    return spread + rounding


def axes_of(op: FleetOp) -> tuple[tuple[int, ...], bool]:
    """Return axes and keepdims of a reduction."""
    assert isinstance(op, d.ReduceOp)
    return integers(op.axes), bool(op.keepdims.value.data)


def _summed(x: Array, e: Array, axes: tuple[int, ...], keep: bool, dtype: np.dtype, k: int) -> Array:
    """Return the error of a sum in which each term is rounded at most k times."""
    spread = np.sum(e, axis=axes, keepdims=keep)
    magnitudes = np.sum(np.abs(x) + e, axis=axes, keepdims=keep)
    return no_overflow(np.sum(x, axis=axes, keepdims=keep), spread + gamma(k, dtype) * magnitudes, dtype)


def reduced_count(x: Array, axes: tuple[int, ...]) -> int:
    """Return the number of elements that one result of a reduction sums."""
    return int(np.prod([x.shape[i] for i in axes], dtype=np.int64))


def _reduce_sum(s: BoundStep) -> Array:
    axes, keep = axes_of(s.op)
    n = reduced_count(s.x[0], axes)
    return _summed(s.x[0], s.e[0], axes, keep, s.dtype, max(n - 1, 0) if s.how.roundings is None else s.how.roundings)


def _mean_of(x: Array, e: Array, axes: tuple[int, ...], keep: bool, dtype: np.dtype, a: Arithmetic) -> Array:
    """Return the error of a mean: a sum, then a division by n or a product with a rounded 1 / n, which is two more roundings."""
    n = reduced_count(x, axes)
    k = (max(n - 1, 0) if a.roundings is None else a.roundings) + 2
    return _summed(x, e, axes, keep, dtype, k) / n + 2 * unit(dtype)[1]


def _mean(s: BoundStep) -> Array:
    axes, keep = axes_of(s.op)
    return _mean_of(s.x[0], s.e[0], axes, keep, s.dtype, s.how)


def _var(s: BoundStep) -> Array:
    """Return the error of two passes: mean, then the mean of (x - mean)^2; the mean is the true one plus a bounded error."""
    axes, keep = axes_of(s.op)
    mean = np.mean(s.x[0], axis=axes, keepdims=True)
    e_mean = _mean_of(s.x[0], s.e[0], axes, True, s.dtype, s.how)
    centred = s.x[0] - mean
    e_centred = rounded_store(centred, s.e[0] + e_mean, s.dtype)
    square = centred * centred
    e_square = rounded_store(square, 2 * np.abs(centred) * e_centred + e_centred * e_centred, s.dtype)
    return _mean_of(square, e_square, axes, keep, s.dtype, s.how)


def _extreme(function: Callable[..., Array]) -> Rule:
    """Return the rule of reduce_max or reduce_min."""

    def rule(s: BoundStep) -> Array:
        axes, keep = axes_of(s.op)
        top = function(s.x[0], axis=axes, keepdims=keep)
        high = function(s.x[0] + s.e[0], axis=axes, keepdims=keep) - top
        low = top - function(s.x[0] - s.e[0], axis=axes, keepdims=keep)
        return clean(np.maximum(high, low))

    return rule


def _transpose(s: BoundStep) -> Array:
    assert isinstance(s.op, d.TransposeOp)
    return np.transpose(s.e[0], integers(s.op.permutation))


def _reshape(s: BoundStep) -> Array:
    return np.reshape(s.e[0], shape_of(s.op.results[0].type))


def _slice(s: BoundStep) -> Array:
    assert isinstance(s.op, d.SliceOp)
    return apply(s.op, [s.e[0]])


def _gather(s: BoundStep) -> Array:
    assert isinstance(s.op, d.GatherOp)
    axis = 0 if s.op.axis is None else s.op.axis.value.data
    rows = s.e[0][(slice(None),) * axis + (s.x[1].astype(np.int64),)]
    if not some(s.e[1]):
        return rows
    doubt = (s.e[1] > 0).reshape(s.e[1].shape + (1,) * (s.e[0].ndim - 1 - axis))
    return np.where(doubt, np.inf, rows)


def _concat(s: BoundStep) -> Array:
    assert isinstance(s.op, d.ConcatOp)
    return np.concatenate(list(s.e), axis=int(s.op.axis.value.data))


def floor_of(s: BoundStep) -> Array | None:
    """Return a positive lower bound of the result as computed from operands within e of x, or None.

    An exponential is positive however far its argument may be off, and so are sums and products of positive values. Without this,
    the denominator of a softmax would be within its error of zero, and nothing could be proved of the quotient.
    """
    u, half = unit(s.dtype)
    floor = [*s.floor, None, None]
    if isinstance(s.op, d.VarOp):
        return np.zeros(())  # a mean of squares is not negative, however they are rounded
    if isinstance(s.op, d.SqrtOp) and floor[0] is not None:
        return np.sqrt(floor[0]) * (1 - 2 * u)
    if isinstance(s.op, d.ExpOp):
        rounding = 2 * s.how.ulp.get("exp", 0.5) * u + 8 * EPS
        return np.maximum(np.exp(s.x[0] - s.e[0]) * (1 - rounding) - 2 * half, 0.0)
    if isinstance(s.op, d.ReduceSumOp) and floor[0] is not None:
        axes, keep = axes_of(s.op)
        return np.sum(floor[0], axis=axes, keepdims=keep) * (1 - gamma(reduced_count(s.x[0], axes) + 1, s.dtype))
    if isinstance(s.op, d.AddOp) and floor[0] is not None and floor[1] is not None:
        return (floor[0] + floor[1]) * (1 - 2 * u)
    if isinstance(s.op, d.MulOp) and floor[0] is not None and floor[1] is not None:
        return np.maximum(floor[0] * floor[1] * (1 - 2 * u) - 2 * half, 0.0)
    return None


ARITHMETIC: Mapping[type[FleetOp], Rule] = {
    d.AddOp: _sum(np.add),
    d.SubOp: _sum(np.subtract),
    d.MulOp: _elementwise(np.multiply, _product_error),
    d.DivOp: _elementwise(np.divide, quotient_error),
    d.PowOp: _pow,
    d.MaximumOp: _select(1.0),
    d.MinimumOp: _select(-1.0),
    d.NegOp: _exact,
    d.AbsOp: _exact,
    d.SqrtOp: _sqrt,
    d.ExpOp: monotone("exp", np.exp),
    d.LogOp: monotone("log", np.log),
    d.TanhOp: monotone("tanh", np.tanh),
    d.CastOp: _cast,
    d.CheckOp: _exact,
    d.ItemOp: _item,
    d.MatmulOp: _matmul,
    d.ReduceSumOp: _reduce_sum,
    d.ReduceMaxOp: _extreme(np.max),
    d.ReduceMinOp: _extreme(np.min),
    d.MeanOp: _mean,
    d.VarOp: _var,
    d.TransposeOp: _transpose,
    d.ReshapeOp: _reshape,
    d.SliceOp: _slice,
    d.GatherOp: _gather,
    d.ConcatOp: _concat,
}
