"""Reductions with `dtype`, `where`, `initial` and ignored NaNs, running products, quantiles: as sequences of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fleet.ir.expansion import Expansion
from fleet.ir.library.arrays import Array, concat, filled, iota, select, sorted_along, stack, take_along
from fleet.ir.library.ufuncs import scan
from fleet.ir.shapes import InferenceError


def _axes(x: Array, axis: Any) -> list[int]:
    given = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    return sorted(a % x.ndim for a in given) if x.ndim else []


def _count(x: Array, axes: list[int]) -> int:
    return math.prod(x.shape[a] for a in axes)


def _kept(x: Array, like: Array) -> Array:
    """Broadcast a mask or weights to the array's shape."""
    return x.broadcast(*like.shape)


def _seen(a: Array, where: Any, neutral: float) -> Array:
    if not isinstance(where, Array) and where is not True:
        raise InferenceError(f"where={where!r}")
    return select(_kept(where, a), a, filled(a.s, (), neutral, a.dtype)) if isinstance(where, Array) else a


def _accumulating(a: Array, name: str, dtype: Any) -> Array:
    """Cast to the dtype in which NumPy adds and multiplies."""
    function: Callable[..., Any] = {"reduce_sum": np.sum, "reduce_prod": np.prod}[name]
    return a.astype(dtype or function(np.ones(1, a.dtype)).dtype)


def _total(name: str, operation: str, neutral: int) -> Callable[..., Array]:
    def rule(
        _s: Expansion, a: Array, axis: Any = None, dtype: Any = None, keepdims: bool = False,
        initial: float | None = None, where: Any = True,
    ) -> Array:  # fmt: skip
        x = _accumulating(a, name, dtype)
        found = _seen(x, where, neutral).reduce(name, _axes(a, axis), keepdims=keepdims)
        found = found.astype(x.dtype)
        return found if initial is None else found.op(operation, initial)

    return rule


def _extreme(name: str, operation: str) -> Callable[..., Array]:
    def rule(
        s: Expansion, a: Array, axis: Any = None, keepdims: bool = False, initial: float | None = None,
        where: Any = True,
    ) -> Array:  # fmt: skip
        if initial is None:
            return a.reduce(name, _axes(a, axis), keepdims=keepdims)
        axes = _axes(a, axis)
        first = filled(s, (), initial, a.dtype)
        if _count(a, axes) == 0:
            kept = [1 if i in axes else d for i, d in enumerate(a.shape) if keepdims or i not in axes]
            return first.broadcast(*kept)
        x = select(_kept(where, a), a, first) if isinstance(where, Array) else a
        return x.reduce(name, axes, keepdims=keepdims).op(operation, first)

    return rule


def _quantified(name: str, neutral: bool) -> Callable[..., Array]:
    def rule(_s: Expansion, a: Array, axis: Any = None, keepdims: bool = False, where: Any = True) -> Array:
        truths = a if a.dtype.kind == "b" else a.op("not_equal", 0)
        return _seen(truths, where, neutral).reduce(name, _axes(a, axis), keepdims=keepdims)

    return rule


def _float(a: Array, dtype: Any = None) -> Array:
    return a.astype(dtype or (a.dtype if a.dtype.kind == "f" else np.float64))


def _divided(total: Array, a: Array, axes: list[int], where: Any, less: float, keepdims: bool) -> Array:
    if not isinstance(where, Array):
        return total / max(float(_count(a, axes)) - less, 0.0)
    seen = _kept(where, a).reduce("reduce_sum", axes, keepdims=keepdims).astype(total.dtype)
    return total / ((seen - less).op("maximum", 0.0) if less else seen)


def _mean(
    _s: Expansion,
    a: Array,
    axis: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    where: Any = True,
) -> Array:
    x, axes = _float(a, dtype), _axes(a, axis)
    narrow = x.dtype == np.float16
    x = x.astype(np.float32) if narrow else x
    total = _seen(x, where, 0.0).reduce("reduce_sum", axes, keepdims=keepdims)
    return _divided(total, a, axes, where, 0.0, keepdims)


def _var(
    _s: Expansion, a: Array, axis: Any = None, dtype: Any = None, ddof: float = 0, keepdims: bool = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Array:  # fmt: skip
    x, axes = _float(a, dtype), _axes(a, axis)
    middle = mean
    if not isinstance(middle, Array):
        middle = _divided(_seen(x, where, 0.0).reduce("reduce_sum", axes, keepdims=True), a, axes, where, 0.0, True)
    off = x - middle
    total = _seen(off * off, where, 0.0).reduce("reduce_sum", axes, keepdims=keepdims)
    return _divided(total, a, axes, where, float(correction if isinstance(correction, int | float) else ddof), keepdims)


def _std(s: Expansion, a: Array, axis: Any = None, **rest: Any) -> Array:
    return _var(s, a, axis, **rest).op("sqrt")


def _average(
    s: Expansion, a: Array, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False
) -> Array | list[Array]:
    x = _float(a)
    axes = _axes(a, axis)
    if not isinstance(weights, Array):
        found = _mean(s, x, axis, keepdims=keepdims)
        return [found, filled(s, found.shape, float(_count(a, axes)), found.dtype)] if returned else found
    if weights.shape != a.shape:
        if len(axes) != 1 or weights.ndim != 1:
            raise InferenceError("average with weights over several axes")
        weights = weights.reshape(*(-1 if i == axes[0] else 1 for i in range(a.ndim)))
    dtype = np.result_type(x.dtype, weights.dtype)
    w = weights.astype(dtype).broadcast(*a.shape)
    scale = w.reduce("reduce_sum", axes, keepdims=keepdims)
    found = (x.astype(dtype) * w).reduce("reduce_sum", axes, keepdims=keepdims) / scale
    return [found, scale.broadcast(*found.shape)] if returned else found


# ---- without NaNs


def _without(a: Array, value: float) -> Array:
    return select(a.isnan(), value, a) if a.dtype.kind == "f" else a


def _nan_total(name: str, neutral: float) -> Callable[..., Array]:
    def rule(s: Expansion, a: Array, axis: Any = None, dtype: Any = None, **rest: Any) -> Array:
        operation = {"reduce_sum": "add", "reduce_prod": "mul"}[name]
        return _total(name, operation, int(neutral))(s, _without(a, neutral), axis, dtype, **rest)

    return rule


def _present(a: Array) -> Array:
    return ~a.isnan() if a.dtype.kind == "f" else filled(a.s, a.shape, True, bool)


def _nan_mean(s: Expansion, a: Array, axis: Any = None, dtype: Any = None, **rest: Any) -> Array:
    return _mean(s, _without(a, 0.0), axis, dtype, where=_present(a), **rest)


def _nan_var(s: Expansion, a: Array, axis: Any = None, dtype: Any = None, **rest: Any) -> Array:
    there, axes = _present(a), _axes(a, axis)
    found = _var(s, _without(a, 0.0), axis, dtype, where=there, **rest)
    count = there.reduce("reduce_sum", axes, keepdims=bool(rest.get("keepdims")))
    return select(count <= int(rest.get("ddof", 0)), math.nan, found)


def _nan_std(s: Expansion, a: Array, axis: Any = None, dtype: Any = None, **rest: Any) -> Array:
    return _nan_var(s, a, axis, dtype, **rest).op("sqrt")


def _nan_place(name: str, far: float) -> Callable[..., Array]:
    def rule(_s: Expansion, a: Array, axis: int | None = None, keepdims: bool = False) -> Array:
        x = _without(a, far)
        found = x.reshape(x.size).op(name, axis=0) if axis is None else x.op(name, axis=axis % a.ndim)
        if not keepdims:
            return found
        return found.reshape(*(1 if axis is None or i == axis % a.ndim else d for i, d in enumerate(a.shape)))

    return rule


# ---- running


def _running(name: str, operation: str, absent: float | None = None) -> Callable[..., Array]:
    def rule(_s: Expansion, a: Array, axis: int | None = None, dtype: Any = None) -> Array:
        x = _accumulating(a if absent is None else _without(a, absent), name, dtype)
        x = x.reshape(x.size) if axis is None else x
        at = 0 if axis is None else axis % x.ndim
        return x.op("cumsum", axis=at) if operation == "add" else scan(x, at, operation)

    return rule


def _cumulative(name: str, operation: str, neutral: int) -> Callable[..., Array]:
    def rule(s: Expansion, x: Array, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Array:
        at = 0 if axis is None else axis % x.ndim
        found = _running(name, operation)(s, x, at, dtype)
        if not include_initial:
            return found
        first = filled(s, [1 if i == at else d for i, d in enumerate(x.shape)], neutral, found.dtype)
        return concat([first, found], at)

    return rule


# ---- quantiles


def _quantiles(a: Array, q: Any, axis: Any, method: str, keepdims: bool, skip: bool) -> Array:
    """Return quantiles of the sorted elements. skip: ignore NaN, which sort last."""
    if isinstance(q, Array):
        raise InferenceError("quantiles that only the run knows")
    x, axes = _float(a), _axes(a, axis)
    kept = [i for i in range(a.ndim) if i not in axes]
    row = x.transpose(*kept, *axes).reshape(*(x.shape[i] for i in kept), _count(x, axes))
    size = row.shape[-1]
    ordered = sorted_along(row, -1)
    last = ordered[..., size - 1 : size]
    wide = np.promote_types(x.dtype, np.float32) if x.dtype == np.float16 else x.dtype
    numbers = q if isinstance(q, list | tuple) else [q]
    found: list[Array] = []
    whole = filled(row.s, last.shape, float(size), np.float64)
    count = (~row.isnan()).reduce("reduce_sum", -1, keepdims=True).astype(np.float64) if skip else whole
    whole_numbers = all(isinstance(number, int) for number in numbers)
    for number in numbers:
        place = (count - 1.0) * float(number)
        low = place.op("floor").op("maximum", 0.0)
        between = method in ("linear", "midpoint")
        # The next element is needed even at an exact position: next to an infinity, 0 times the distance is NaN.
        high = ((low + 1.0).op("minimum", count - 1.0) if between else place.op("ceil")).op("maximum", 0.0)
        below, above = (take_along(ordered, p.astype(np.int64), -1).astype(wide) for p in (low, high))
        part = place - low
        match method:
            case "linear" | "lower" if whole_numbers or method == "lower":
                value = below
            case "linear":
                value = _between(below, above, part.astype(wide))
            case "higher":
                value = above
            case "midpoint":
                value = _between(below, above, select(part.equal(0.0), 0.0, 0.5).astype(wide))
            case "median":
                value = select(low.equal(high), below, (below + above) * 0.5)
            case "nearest":
                odd = (low % 2.0).equal(1.0)
                value = select((part > 0.5) | (part.equal(0.5) & odd), above, below)
            case _:
                raise InferenceError(f"quantiles by the method {method}")
        value = select(count.equal(0.0), math.nan, value) if skip else select(last.isnan(), last.astype(wide), value)
        found.append(value.astype(x.dtype))
    shape = [1 if i in axes else d for i, d in enumerate(a.shape) if keepdims or i not in axes]
    shaped = [v.reshape(*shape) for v in found]
    return stack(shaped) if isinstance(q, list | tuple) else shaped[0]


def _between(below: Array, above: Array, part: Array) -> Array:
    """NumPy's interpolation (`numpy.lib._function_base_impl._lerp`), from the nearer end."""
    distance = above - below
    return select(part >= 0.5, above - distance * (1.0 - part), below + distance * part)


def _quantile(scale: float, *, skip: bool = False) -> Callable[..., Array]:
    def rule(
        _s: Expansion, a: Array, q: Any, axis: Any = None, method: str = "linear", keepdims: bool = False,
        weights: Array | None = None,
    ) -> Array:  # fmt: skip
        if weights is not None:
            raise InferenceError("quantiles with weights")
        if scale != 1 and not isinstance(q, Array):
            q = [n / scale for n in q] if isinstance(q, list | tuple) else q / scale
        return _quantiles(a, q, axis, method, keepdims, skip)

    return rule


def _median(*, skip: bool) -> Callable[..., Array]:
    def rule(_s: Expansion, a: Array, axis: Any = None, keepdims: bool = False) -> Array:
        return _quantiles(a, 0.5, axis, "median", keepdims, skip)

    return rule


def _count_nonzero(_s: Expansion, a: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    return a.op("not_equal", 0).reduce("reduce_sum", _axes(a, axis), keepdims=keepdims)


def _ptp(_s: Expansion, a: Array, axis: Any = None, keepdims: bool = False) -> Array:
    return a.reduce("reduce_max", _axes(a, axis), keepdims=keepdims) - a.reduce("reduce_min", _axes(a, axis), keepdims=keepdims)


def trace(s: Expansion, a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Array:
    """`numpy.trace`."""
    rows = a.moved(axis1, -1).moved(axis2 if axis2 % a.ndim < axis1 % a.ndim else axis2 - 1, -1)  # [..., axis1, axis2]
    n, m = rows.shape[-2:]
    first = offset if offset >= 0 else -offset * m
    length = max(0, min(n, m - offset) if offset >= 0 else min(n + offset, m))
    if not length:
        raise InferenceError("a trace of nothing")
    flat = rows.reshape(*rows.shape[:-2], n * m)
    places = iota(s, length) * (m + 1) + first
    found = flat.op("gather", places, axis=flat.ndim - 1)
    return _accumulating(found, "reduce_sum", dtype).reduce("reduce_sum", -1)


_SUM, _PROD = _total("reduce_sum", "add", 0), _total("reduce_prod", "mul", 1)
_MAX, _MIN = _extreme("reduce_max", "maximum"), _extreme("reduce_min", "minimum")
RULES: Mapping[str, Callable[..., Any]] = {
    "sum": _SUM, "prod": _PROD, "max": _MAX, "amax": _MAX, "min": _MIN, "amin": _MIN, "any": _quantified("reduce_any", False),
    "all": _quantified("reduce_all", True), "mean": _mean, "var": _var, "std": _std, "average": _average,
    "nansum": _nan_total("reduce_sum", 0), "nanprod": _nan_total("reduce_prod", 1), "nanmean": _nan_mean, "nanvar": _nan_var,
    "nanstd": _nan_std, "nanargmax": _nan_place("argmax", -math.inf), "nanargmin": _nan_place("argmin", math.inf),
    "cumsum": _running("reduce_sum", "add"), "cumprod": _running("reduce_prod", "mul"),
    "nancumsum": _running("reduce_sum", "add", 0.0), "nancumprod": _running("reduce_prod", "mul", 1.0),
    "cumulative_sum": _cumulative("reduce_sum", "add", 0), "cumulative_prod": _cumulative("reduce_prod", "mul", 1),
    "quantile": _quantile(1.0), "percentile": _quantile(100.0), "nanquantile": _quantile(1.0, skip=True),
    "nanpercentile": _quantile(100.0, skip=True), "median": _median(skip=False), "nanmedian": _median(skip=True),
    "count_nonzero": _count_nonzero, "ptp": _ptp, "trace": trace,
}  # fmt: skip
"""Function -> its sequence, of arguments by NumPy's names."""
