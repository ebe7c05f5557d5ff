"""Error rules of functions, of step functions (comparisons, rounding to integers), of choices and of products (see `table`).

A step function has error zero if no operand within its error reaches the other side of a step, else the step's height.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fleet.compare.rules.arithmetic import axes_of, monotone, quotient_error, reduced_count
from fleet.compare.rules.steps import EPS, Array, BoundStep, Rule, clean, gamma, no_overflow, rounded_store, unit
from fleet.ir import dialect as d
from fleet.ir.dialect import FleetOp
from fleet.targets.bytecode.erf import erf
from fleet.targets.bytecode.evaluate import apply


def _rsqrt(s: BoundStep) -> Array:
    """Bound a decreasing function. Default: a square root and a division, each correctly rounded, so at most 1.5 ULP."""
    value = 1 / np.sqrt(s.x[0])
    low = s.low(0)
    top = np.where(low > 0, 1 / np.sqrt(np.maximum(low, 0)), np.inf)
    spread = np.maximum(top - value, value - 1 / np.sqrt(s.x[0] + s.e[0])) + 8 * EPS * top
    spread = np.where(s.e[0] == 0, 0.0, spread)
    return rounded_store(value, clean(spread), s.dtype, s.how.ulp.get("rsqrt", 1.5))


def _wave(name: str, f: Callable[[Array], Array]) -> Rule:
    """Return the rule of sin or cos: a slope of at most 1, values between -1 and 1."""

    def rule(s: BoundStep) -> Array:
        value = f(s.x[0])
        return rounded_store(value, np.minimum(s.e[0], 2.0), s.dtype, s.how.ulp.get(name, 0.5))

    return rule


def _staircase(f: Callable[[Array], Array]) -> Rule:
    """Return the rule of floor, ceil, rint or sign: non-decreasing and exact."""

    def rule(s: BoundStep) -> Array:
        value = f(s.x[0])
        spread = np.maximum(f(s.x[0] + s.e[0]) - value, value - f(s.x[0] - s.e[0]))
        return np.where(s.e[0] == 0, 0.0, clean(spread))

    return rule


def _compare(s: BoundStep) -> Array:
    """Bound a boolean: 1 where the operands' errors may change it."""
    reach = s.e[0] + s.e[1]
    return np.where((reach > 0) & (np.abs(s.x[0] - s.x[1]) <= reach), 1.0, 0.0)


def _truth(x: Array, e: Array) -> Array:
    return np.where((e > 0) & (np.abs(x) <= e), 1.0, 0.0)


def _logical(s: BoundStep) -> Array:
    doubts = [_truth(x, e) for x, e in zip(s.x, s.e, strict=True)]
    return doubts[0] if len(doubts) == 1 else np.maximum(doubts[0], doubts[1])


def _isnan(s: BoundStep) -> Array:
    return np.where(np.isinf(s.e[0]), 1.0, 0.0)


def _quantified(s: BoundStep) -> Array:
    """Bound reduce_any and reduce_all."""
    axes, keep = axes_of(s.op)
    return np.max(_truth(s.x[0], s.e[0]), axis=axes, keepdims=keep, initial=0.0)


def _floor_div(s: BoundStep) -> Array:
    """Bound the floor of the exact quotient (NumPy's definition), rounded if it is too large for the dtype."""
    value = np.floor_divide(s.x[0], s.x[1])
    e = quotient_error(s)
    quotient = s.x[0] / s.x[1]
    spread = np.where(np.floor(quotient - e) == np.floor(quotient + e), 0.0, np.ceil(e) + 1.0)
    spread = np.where((s.e[0] == 0) & (s.e[1] == 0), 0.0, spread)
    return rounded_store(value, clean(spread), s.dtype)


def _mod(s: BoundStep) -> Array:
    """Bound lhs - floor(lhs / rhs) rhs: one rounding; a jump by the divisor where the floor may change."""
    value = np.remainder(s.x[0], s.x[1])
    e = quotient_error(s)
    quotient = s.x[0] / s.x[1]
    steady = np.floor(quotient - e) == np.floor(quotient + e)
    smooth = s.e[0] + np.abs(np.floor(quotient)) * s.e[1]
    spread = np.where(steady, smooth, np.abs(s.x[1]) + s.e[1])
    spread = np.where((s.e[0] == 0) & (s.e[1] == 0), 0.0, spread)
    return rounded_store(value, clean(spread), s.dtype)


def _where(s: BoundStep) -> Array:
    doubt = _truth(s.x[0], s.e[0]) > 0
    chosen = np.where(s.x[0] != 0, s.e[1], s.e[2])
    return np.where(doubt, clean(np.abs(s.x[1] - s.x[2]) + np.maximum(s.e[1], s.e[2])), chosen)


def _cumsum(s: BoundStep) -> Array:
    assert isinstance(s.op, d.CumsumOp)
    axis = s.op.axis.value.data
    n = s.x[0].shape[axis]
    k = max(n - 1, 0) if s.how.roundings is None else s.how.roundings
    magnitudes = np.cumsum(np.abs(s.x[0]) + s.e[0], axis=axis)
    bound = np.cumsum(s.e[0], axis=axis) + gamma(k, s.dtype) * magnitudes
    return no_overflow(np.cumsum(s.x[0], axis=axis), bound, s.dtype)


def _order(s: BoundStep) -> Array:
    """Bound indices: inf if any operand is inexact, because nothing is proved of the order then."""
    return np.full(s.x[0].shape, 0.0 if not s.e[0].any() else np.inf)


def _bits(s: BoundStep) -> Array:
    """Bound operations on integers: inf where an operand is inexact."""
    inexact = (s.e[0] != 0) | (s.e[1] != 0)
    return np.where(inexact, np.inf, 0.0)


def _scatter(s: BoundStep) -> Array:
    """Move the errors; in sums and products, a row with k updates is rounded k times."""
    assert isinstance(s.op, d.ScatterOp)
    rows = np.asarray(s.x[1], np.int64)
    count = int(np.unique(rows % max(s.x[0].shape[0], 1), return_counts=True)[1].max(initial=0))
    errors, sizes = np.array(s.e[0]), np.abs(s.x[0]) + s.e[0]
    more = np.abs(s.x[2]) + s.e[2]
    match s.op.reduction.data:
        case "none":
            errors[rows] = s.e[2]
            return errors
        case "max" | "min":
            np.maximum.at(errors, rows, s.e[2])
            return errors
        case "add":
            np.add.at(errors, rows, s.e[2])
            np.add.at(sizes, rows, more)
            return no_overflow(sizes, clean(errors + gamma(count, s.dtype) * sizes), s.dtype)
        case _:
            exact = np.abs(np.array(s.x[0]))
            np.multiply.at(exact, rows, np.abs(s.x[2]))
            np.multiply.at(sizes, rows, more)
            spread = np.where(sizes > exact, sizes - exact + 8 * (count + 1) * EPS * sizes, 0.0)
            tiny = 2 * count * unit(s.dtype)[1] * np.maximum(sizes, 1.0)
            return no_overflow(sizes, clean(spread + gamma(count, s.dtype) * sizes + tiny), s.dtype)


def _reduce_prod(s: BoundStep) -> Array:
    """Bound n - 1 roundings in any order; a subnormal partial product loses half a subnormal, times the other factors."""
    axes, keep = axes_of(s.op)
    n = reduced_count(s.x[0], axes)
    k = max(n - 1, 0) if s.how.roundings is None else s.how.roundings
    size, value = np.abs(s.x[0]), np.prod(s.x[0], axis=axes, keepdims=keep)
    top = np.prod(size + s.e[0], axis=axes, keepdims=keep)
    spread = np.where(np.any(s.e[0] > 0, axis=axes, keepdims=keep), top - np.abs(value) + 8 * (n + 1) * EPS * top, 0.0)
    tiny = 2 * n * unit(s.dtype)[1] * np.prod(np.maximum(size + s.e[0], 1.0), axis=axes, keepdims=keep)
    largest = np.prod(np.maximum(size + s.e[0], 1.0), axis=axes, keepdims=keep)
    return no_overflow(largest, clean(spread + gamma(k, s.dtype) * top + tiny), s.dtype)


def _einsum(s: BoundStep) -> Array:
    """Bound products of p factors, summed over the missing axes: p - 1 roundings of products, and one fewer than terms for sums."""
    assert isinstance(s.op, d.EinsumOp)
    subscripts = s.op.subscripts.data
    left, _, right = subscripts.partition("->")
    sizes: dict[str, int] = {}
    for term, x in zip(left.split(","), s.x, strict=True):
        for letter, size in zip(term, x.shape, strict=True):
            sizes[letter] = max(sizes.get(letter, 1), size)
    terms = int(np.prod([size for letter, size in sizes.items() if letter not in right], dtype=np.int64))
    k = max(terms - 1, 0) + len(s.x) - 1 if s.how.roundings is None else s.how.roundings
    high = [np.abs(x) + e for x, e in zip(s.x, s.e, strict=True)]
    spread = np.zeros(())
    for i, e in enumerate(s.e):
        if e.any():
            spread = spread + np.einsum(subscripts, *[*high[:i], e, *high[i + 1 :]])
    bound = spread + gamma(k, s.dtype) * np.einsum(subscripts, *high) + terms * len(s.x) * unit(s.dtype)[1]
    return no_overflow(np.einsum(subscripts, *s.x), bound, s.dtype)


def _moved(s: BoundStep) -> Array:
    return apply(s.op, [s.e[0]])


def _pad(s: BoundStep) -> Array:
    assert isinstance(s.op, d.PadOp)
    # Only the widths matter: the error of the padding is the error of the pad value.
    return apply(s.op, [s.e[0], np.asarray(s.e[1])])


def _sized(s: BoundStep) -> Array:
    """Move the errors as the sizes say; sizes are exact."""
    return apply(s.op, [s.e[0], *(np.asarray(x, np.int64) for x in s.x[1:])])


def _made(s: BoundStep) -> Array:
    """Return zero errors: the values are small integers, the same on both sides."""
    return np.zeros(apply(s.op, [np.asarray(x, np.int64) for x in s.x]).shape)


def _clipped(x: Array) -> Array:
    """Return log1p, NaN where the argument may be below -1; `clean` turns that into inf."""
    return np.log1p(np.where(x < -1, np.nan, x))


FUNCTIONS: Mapping[type[FleetOp], Rule] = {
    d.ErfOp: monotone("erf", erf),
    d.Expm1Op: monotone("expm1", np.expm1),
    d.Log1pOp: monotone("log1p", _clipped),
    d.RsqrtOp: _rsqrt,
    d.SinOp: _wave("sin", np.sin),
    d.CosOp: _wave("cos", np.cos),
    d.FloorOp: _staircase(np.floor),
    d.CeilOp: _staircase(np.ceil),
    d.RintOp: _staircase(np.rint),
    d.SignOp: _staircase(np.sign),
    **dict.fromkeys((d.LessOp, d.LessEqualOp, d.GreaterOp, d.GreaterEqualOp, d.EqualOp, d.NotEqualOp), _compare),
    **dict.fromkeys((d.LogicalAndOp, d.LogicalOrOp, d.LogicalNotOp), _logical),
    d.IsnanOp: _isnan,
    **dict.fromkeys((d.ReduceAnyOp, d.ReduceAllOp), _quantified),
    d.FloorDivOp: _floor_div,
    d.ModOp: _mod,
    d.WhereOp: _where,
    d.CumsumOp: _cumsum,
    d.ArgsortOp: _order,
    d.ScatterOp: _scatter,
    **dict.fromkeys((d.BitwiseAndOp, d.BitwiseOrOp, d.BitwiseXorOp), _bits),
    d.ReduceProdOp: _reduce_prod,
    d.EinsumOp: _einsum,
    d.BroadcastToOp: _moved,
    d.PadOp: _pad,
    **dict.fromkeys((d.DynamicReshapeOp, d.DynamicBroadcastOp, d.DynamicSliceOp), _sized),
    **dict.fromkeys((d.ArangeOp, d.TriOp), _made),
    d.DimOp: lambda _s: np.zeros(()),
}
