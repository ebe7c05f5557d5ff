"""Differences, sums over neighbours, interpolation, statistics and polynomials as sequences of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fleet.ir.expansion import Expansion
from fleet.ir.library.arrays import Array, array_of, concat, filled, iota, select, stack, take
from fleet.ir.shapes import InferenceError


def _float(x: Array) -> Array:
    return x if x.dtype.kind == "f" else x.astype(np.float64)


def _along(x: Array, axis: int, part: slice) -> Array:
    return x[(*[slice(None)] * (axis % x.ndim), part)]


def _diff(s: Expansion, a: Array, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    axis %= a.ndim
    parts = [a]
    for value, before in ((prepend, True), (append, False)):
        if value is None:
            continue
        end = array_of(s, value)
        if end.ndim < a.ndim:
            end = end.broadcast(*(1 if i == axis else d for i, d in enumerate(a.shape)))
        parts = [end, *parts] if before else [*parts, end]
    common = np.result_type(*(p.dtype for p in parts))
    x = concat([p.astype(common) for p in parts], axis)
    for _ in range(n):
        later, earlier = _along(x, axis, slice(1, None)), _along(x, axis, slice(0, -1))
        x = later.op("not_equal", earlier) if x.dtype.kind == "b" else later - earlier
    return x


def _ediff1d(s: Expansion, ary: Array, to_end: Any = None, to_begin: Any = None) -> Array:
    x = ary.reshape(ary.size)
    found = x[1:] - x[:-1]
    ends = [None if v is None else array_of(s, v, x.dtype).astype(x.dtype).reshape(-1) for v in (to_begin, to_end)]
    return concat([p for p in (ends[0], found, ends[1]) if p is not None])


def _gradient(_s: Expansion, f: Array, **rest: Any) -> Any:
    """Central differences inside, one-sided ones at the ends."""
    x = _float(f)
    axis, edge = rest.get("axis"), rest.get("edge_order", 1)
    spacing = list(rest.get("varargs", ()))
    axes = list(range(x.ndim)) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    if edge != 1:
        raise InferenceError("gradient with edge_order=2")
    steps = spacing * len(axes) if len(spacing) == 1 else spacing or [1.0] * len(axes)
    found = [_slopes(x, a % x.ndim, h) for a, h in zip(axes, steps, strict=True)]
    return found[0] if len(found) == 1 else found


def _slopes(x: Array, axis: int, h: Any) -> Array:
    low, middle, high = (_along(x, axis, p) for p in (slice(0, -2), slice(1, -1), slice(2, None)))
    first = _along(x, axis, slice(1, 2)) - _along(x, axis, slice(0, 1))
    last = _along(x, axis, slice(-1, None)) - _along(x, axis, slice(-2, -1))
    if not isinstance(h, Array) or not h.ndim:
        return concat([first / h, (high - low) / (2.0 * h if not isinstance(h, Array) else h * 2.0), last / h], axis)
    shape = [-1 if i == axis else 1 for i in range(x.ndim)]
    d = (h[1:] - h[:-1]).astype(x.dtype)
    before, after = d[:-1].reshape(*shape), d[1:].reshape(*shape)
    a = -after / (before * (before + after))
    b = (after - before) / (before * after)
    c = before / (after * (before + after))
    ends = [e / p.reshape(*[1] * x.ndim) for e, p in ((first, d[:1]), (last, d[-1:]))]
    return concat([ends[0], a * low + b * middle + c * high, ends[1]], axis)


def _trapezoid(s: Expansion, y: Array, x: Any = None, dx: float = 1.0, axis: int = -1) -> Array:
    axis %= y.ndim
    width: Any = dx
    if x is not None:
        points = array_of(s, x)
        d = points[1:] - points[:-1] if points.ndim == 1 else _diff(s, points, axis=axis)
        width = d.reshape(*(-1 if i == axis else 1 for i in range(y.ndim))) if points.ndim == 1 else d
    pairs = _along(y, axis, slice(1, None)) + _along(y, axis, slice(0, -1))
    scaled = width * pairs if isinstance(width, Array) else pairs * width
    return (scaled / 2.0).reduce("reduce_sum", axis)


# ---- neighbours


def _correlated(s: Expansion, a: Array, v: Array, mode: str) -> Array:
    """Sums of products of `v` with every window of the longer `a`; the windows are the rows of a matrix."""
    dtype = np.result_type(a.dtype, v.dtype)
    a, v = a.astype(dtype), v.astype(dtype)
    n, m = a.size, v.size
    zeros = filled(s, (m - 1,), 0, dtype)
    wide = concat([zeros, a, zeros]) if m > 1 else a
    rows = take(wide, iota(s, n + m - 1)[:, None] + iota(s, m)[None, :])
    found = (rows * v[None, :]).reduce("reduce_sum", 1).astype(dtype) if dtype.kind != "f" else rows.op("matmul", v[:, None])[:, 0]
    first, last = {"full": (0, n + m - 1), "same": ((m - 1) // 2, (m - 1) // 2 + n)}.get(mode, (m - 1, n))
    return found[first:last]


def _convolve(s: Expansion, a: Any, v: Any, mode: str = "full") -> Array:
    first, second = array_of(s, a), array_of(s, v)
    if second.size > first.size:
        first, second = second, first
    return _correlated(s, first, second[::-1], mode)


def _correlate(s: Expansion, a: Any, v: Any, mode: str = "valid") -> Array:
    first, second = array_of(s, a), array_of(s, v)
    if second.size > first.size:
        raise InferenceError("correlate with a longer second array")
    return _correlated(s, first, second, mode)


def places_among(sorted_: Array, values: Array, *, right: bool) -> Array:
    """`numpy.searchsorted`: the count of elements that are less (or equal). NaN sorts after all numbers."""
    row, column = sorted_.reshape(*[1] * values.ndim, sorted_.size), values[..., None]
    before = row <= column if right else row < column
    if values.dtype.kind == "f" or sorted_.dtype.kind == "f":
        late = column.isnan() if values.dtype.kind == "f" else filled(values.s, (), False, bool)
        number = ~row.isnan() if sorted_.dtype.kind == "f" else filled(values.s, (), True, bool)
        before = before | (late if right else late & number)
    return before.broadcast(*values.shape, sorted_.size).reduce("reduce_sum", -1).astype(np.int64)


def _searchsorted(s: Expansion, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    row, values = array_of(s, a), array_of(s, v)
    if isinstance(sorter, Array):
        row = take(row, sorter)
    common = np.promote_types(row.dtype, values.dtype)
    return places_among(row.astype(common), values.astype(common), right=side == "right")


def _digitize(s: Expansion, x: Any, bins: Any, right: bool = False) -> Array:
    edges = bins if isinstance(bins, list | tuple) else None
    if edges is None or list(edges) != sorted(edges):
        raise InferenceError("digitize into bins that only the run knows")
    return _searchsorted(s, bins, x, "left" if right else "right")


def _interp(s: Expansion, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Array:
    if period is not None:
        raise InferenceError("interp with a period")
    at, points, values = (array_of(s, v).astype(np.float64) for v in (x, xp, fp))
    n = points.size
    place = places_among(points, at, right=True)
    low = (place - 1).op("maximum", 0).op("minimum", max(n - 2, 0))
    x0, y0 = take(points, low), take(values, low)
    x1, y1 = (take(v, low + min(1, n - 1)) for v in (points, values))
    gap = x1 - x0
    slope = (y1 - y0) / select(gap.equal(0.0), 1.0, gap)
    found = slope * (at - x0) + y0
    again = slope * (at - x1) + y1
    found = select(found.isnan(), again, found)
    found = select(at.equal(x1), y1, found)
    ends = [values[i] if v is None else array_of(s, v, np.float64) for v, i in ((left, 0), (right, n - 1))]
    found = select(at < points[0], ends[0], select(at > points[n - 1], ends[1], found))
    return select(at.isnan(), at, found)


def _unwrap(s: Expansion, p: Array, discont: Any = None, axis: int = -1, *, period: float = 2 * math.pi) -> Array:
    x = _float(p)
    axis %= x.ndim
    dd = _diff(s, x, axis=axis)
    low, high = -period / 2, period / 2
    turned = (dd - low) % period + low
    turned = select(turned.equal(low) & (dd > 0), high, turned)
    correct = turned - dd
    correct = select(dd.op("abs") < (high if discont is None else max(discont, high)), 0.0, correct)
    return concat([_along(x, axis, slice(0, 1)), _along(x, axis, slice(1, None)) + correct.op("cumsum", axis=axis)], axis)


def _histogram(s: Expansion, a: Array, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> list[Array]:
    """Counts between edges; the last bin includes its right edge."""
    x = a.reshape(a.size)
    edges = _edges(s, a, bins, range)
    if isinstance(weights, Array):
        raise InferenceError("a histogram with weights")
    common = np.promote_types(x.dtype, edges.dtype)
    row = x.astype(common)
    below = places_among(row, edges.astype(common), right=False)
    upto = places_among(row, edges[-1:].astype(common), right=True)
    counts = concat([below[1:-1], upto]) - below[:-1]
    if not density:
        return [counts, edges]
    widths = edges[1:] - edges[:-1]
    return [counts.astype(np.float64) / widths / counts.reduce("reduce_sum", None).astype(np.float64), edges]


def _edges(s: Expansion, a: Array, bins: Any = 10, range: Any = None, **_weights: Any) -> Array:
    if isinstance(bins, Array):
        return bins
    if isinstance(bins, list | tuple):
        return array_of(s, bins)
    if not isinstance(bins, int):
        raise InferenceError(f"bins by the rule {bins}")
    if range is not None:
        return array_of(s, np.linspace(range[0], range[1], bins + 1).tolist())
    x = a.reshape(a.size)
    low, high = (x.reduce(n, None).astype(np.float64) for n in ("reduce_min", "reduce_max"))
    flat = low.equal(high)
    low, high = select(flat, low - 0.5, low), select(flat, high + 0.5, high)
    step = (high - low) / float(bins)
    inner = iota(s, bins).astype(np.float64) * step + low
    return concat([inner, high.reshape(1)]).astype(np.result_type(a.dtype, np.float64) if a.dtype.kind != "f" else np.float64)


# ---- statistics


def _cov(
    _s: Expansion, m: Array, y: Array | None = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None,
    fweights: Any = None, aweights: Any = None, dtype: Any = None,
) -> Array:  # fmt: skip
    if fweights is not None or aweights is not None:
        raise InferenceError("cov with weights")
    wide = np.promote_types(np.result_type(m.dtype, np.float64) if y is None else np.result_type(m.dtype, y.dtype), np.float64)
    rows = [_rows(v.astype(dtype or wide), rowvar) for v in (m, y) if v is not None]
    x = concat(rows)
    less = ddof if ddof is not None else 0 if bias else 1
    x = x - x.reduce("mean", 1, keepdims=True)
    found = x.op("matmul", x.transpose(1, 0)) / float(max(x.shape[1] - less, 0))
    return found.reshape(*[d for d in found.shape if d != 1]) if 1 in found.shape else found


def _rows(x: Array, rowvar: bool) -> Array:
    if x.ndim < 2:
        return x.reshape(1, x.size)
    return x if rowvar or x.shape[0] == 1 else x.transpose(1, 0)


def _corrcoef(s: Expansion, x: Array, y: Array | None = None, rowvar: bool = True, dtype: Any = None) -> Array:
    c = _cov(s, x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    n = c.shape[0]
    spread = take(c.reshape(n * n), iota(s, n) * (n + 1)).op("sqrt")
    return (c / spread[:, None] / spread[None, :]).op("clip", -1.0, 1.0)


# ---- polynomials


def _polyval(s: Expansion, p: Any, x: Any) -> Array:
    at = array_of(s, x)
    coefficients = p if isinstance(p, list | tuple) else [array_of(s, p)[i] for i in range(array_of(s, p).shape[0])]
    found: Array = filled(s, at.shape, 0, at.dtype)
    for c in coefficients:
        found = found * at + c
    return found


def _polyder(s: Expansion, p: Any, m: int = 1) -> Array:
    x = array_of(s, p)
    for _ in range(m):
        n = x.size - 1
        x = x[:-1] * (n - iota(s, n)).astype(x.dtype)
    return x


def _polyint(s: Expansion, p: Any, m: int = 1, k: Any = None) -> Array:
    if m != 1 or k is not None:
        raise InferenceError("polyint more than once, or with constants")
    x = _float(array_of(s, p))
    n = x.size
    return concat([x / (n - iota(s, n)).astype(x.dtype), filled(s, (1,), 0, x.dtype)])


def _polysum(sign: str) -> Callable[..., Array]:
    def rule(s: Expansion, a1: Any, a2: Any) -> Array:
        a, b = array_of(s, a1), array_of(s, a2)
        size = max(a.size, b.size)
        wide = [concat([filled(s, (size - v.size,), 0, v.dtype), v]) if v.size < size else v for v in (a, b)]
        return wide[0].op(sign, wide[1])

    return rule


def _polymul(s: Expansion, a1: Any, a2: Any) -> Array:
    return _convolve(s, a1, a2)


def _vander(s: Expansion, x: Array, N: int | None = None, increasing: bool = False) -> Array:
    size = x.size if N is None else N
    wide = x.astype(np.promote_types(x.dtype, np.int64))
    columns = [filled(s, (x.size,), 1, wide.dtype)]
    for _ in range(size - 1):
        columns.append(columns[-1] * wide)
    return stack(columns if increasing else columns[::-1], 1)


RULES: Mapping[str, Callable[..., Any]] = {
    "diff": _diff, "ediff1d": _ediff1d, "gradient": _gradient, "trapezoid": _trapezoid, "convolve": _convolve,
    "correlate": _correlate, "searchsorted": _searchsorted, "digitize": _digitize, "interp": _interp, "unwrap": _unwrap,
    "histogram": _histogram, "histogram_bin_edges": _edges, "cov": _cov, "corrcoef": _corrcoef, "polyval": _polyval,
    "polyder": _polyder, "polyint": _polyint, "polyadd": _polysum("add"), "polysub": _polysum("sub"),
    "polymul": _polymul, "vander": _vander,
}  # fmt: skip
"""Function -> its sequence, given the arguments by NumPy's names."""
