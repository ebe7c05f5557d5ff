"""Products, norms, sets, choices and whole-number functions as sequences of operations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from fleet.ir.expansion import Expansion
from fleet.ir.library import reductions
from fleet.ir.library.arrays import Array, concat, filled, select, sorted_along, stack, take, take_along
from fleet.ir.library.ufuncs import vecdot
from fleet.ir.operations.einsum import canonical
from fleet.ir.shapes import InferenceError


def _cross(_s: Expansion, a: Array, b: Array, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    first, second, to = (axis,) * 3 if axis is not None else (axisa, axisb, axisc)
    x, y = a.moved(first, -1), b.moved(second, -1)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise InferenceError("a cross product of other than three coordinates")
    parts = [x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return stack(parts, parts[0].ndim).moved(-1, to)


def _cross_of(s: Expansion, x1: Array, x2: Array, axis: int = -1) -> Array:
    return _cross(s, x1, x2, axis=axis)


def _dot(_s: Expansion, a: Array, b: Array) -> Array:
    if not a.ndim or not b.ndim:
        return a * b
    rows, columns = a.matrix(a.ndim - 1), b.matrix(1) if b.ndim == 1 else b.moved(-2, 0).matrix(1)
    rest = () if b.ndim == 1 else (*b.shape[:-2], b.shape[-1])
    return rows.op("matmul", columns).reshape(*a.shape[:-1], *rest)


def _inner(_s: Expansion, a: Array, b: Array) -> Array:
    if not a.ndim or not b.ndim:
        return a * b
    rows, others = a.matrix(a.ndim - 1), b.matrix(b.ndim - 1)
    return rows.op("matmul", others.transpose(1, 0)).reshape(*a.shape[:-1], *b.shape[:-1])


def _vdot(_s: Expansion, a: Array, b: Array) -> Array:
    return vecdot(a.reshape(a.size), b.reshape(b.size))


def _outer(_s: Expansion, a: Array | None = None, b: Array | None = None, **named: Array) -> Array:
    first, second = (a, b) if a is not None and b is not None else (named["x1"], named["x2"])
    return first.reshape(first.size, 1) * second.reshape(1, second.size)


def _tensordot(_s: Expansion, a: Array | None = None, b: Array | None = None, axes: Any = 2, **named: Array) -> Array:
    x, y = (a, b) if a is not None and b is not None else (named["x1"], named["x2"])
    pair = (list(range(x.ndim - axes, x.ndim)), list(range(axes))) if isinstance(axes, int) else axes
    left, right = ([n % v.ndim for n in ([p] if isinstance(p, int) else p)] for p, v in zip(pair, (x, y), strict=True))
    kept = [[i for i in range(v.ndim) if i not in used] for v, used in ((x, left), (y, right))]
    rows = x.transpose(*kept[0], *left).matrix(len(kept[0]))
    columns = y.transpose(*right, *kept[1]).matrix(len(right))
    return rows.op("matmul", columns).reshape(*(x.shape[i] for i in kept[0]), *(y.shape[i] for i in kept[1]))


def _einsum(s: Expansion, *operands: Any, **rest: Any) -> Array:
    given = rest.get("operands", operands)
    text, arrays = given[0], list(given[1:])
    if not isinstance(text, str):
        raise InferenceError("einsum with lists of subscripts")
    explicit = canonical(text, [a.ndim for a in arrays])
    return Array(s, s("einsum", *(a.value for a in arrays), subscripts=explicit))


def _matrix_power(_s: Expansion, a: Array, n: int) -> Array:
    if not 0 < n <= 64:
        raise InferenceError(f"a matrix to the power {n}")
    found: Array | None = None
    while n:
        found = a if found is None and n & 1 else found.op("matmul", a) if found is not None and n & 1 else found
        n >>= 1
        a = a.op("matmul", a) if n else a
    assert found is not None
    return found


def _multi_dot(s: Expansion, arrays: list[Array]) -> Array:
    found = arrays[0]
    for other in arrays[1:]:
        found = _dot(s, found, other)
    return found


# ---- norms


def _norm(_s: Expansion, x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    if axis is None and (ord is None or (ord == "fro" and x.ndim == 2) or (ord == 2 and x.ndim == 1)):
        row = x.reshape(x.size)
        found = vecdot(row, row).op("sqrt")
        return found.reshape(*[1] * x.ndim) if keepdims else found
    axes = [a % x.ndim for a in (range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis)]
    if len(axes) == 1 or ord in (None, "fro"):
        return _vector_norm(x, 2 if ord in (None, "fro") else ord, axes, keepdims)
    return _matrix_norm(x, ord, axes, keepdims)


def _vector_norm(x: Array, order: float, axes: list[int], keepdims: bool) -> Array:
    size = x.op("abs")
    if order == math.inf:
        return size.reduce("reduce_max", axes, keepdims=keepdims)
    if order == -math.inf:
        return size.reduce("reduce_min", axes, keepdims=keepdims)
    if order == 0:
        return x.op("not_equal", 0.0).astype(x.dtype).reduce("reduce_sum", axes, keepdims=keepdims)
    if order == 1:
        return size.reduce("reduce_sum", axes, keepdims=keepdims)
    if order == 2:
        return (x * x).reduce("reduce_sum", axes, keepdims=keepdims).op("sqrt")
    return size.op("pow", float(order)).reduce("reduce_sum", axes, keepdims=keepdims).op("pow", 1.0 / order)


def _matrix_norm(x: Array, order: Any, axes: list[int], keepdims: bool) -> Array:
    sums = {1: (0, "reduce_max"), -1: (0, "reduce_min"), math.inf: (1, "reduce_max"), -math.inf: (1, "reduce_min")}
    if order not in sums:
        raise InferenceError(f"the norm {order!r} of a matrix, which singular values decide")
    place, name = sums[order]
    total = x.op("abs").reduce("reduce_sum", axes[place], keepdims=True)
    found = total.reduce(name, axes[1 - place], keepdims=True)
    return found if keepdims else found.reshape(*(d for i, d in enumerate(x.shape) if i not in axes))


def _vector_norm_of(_s: Expansion, x: Array, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    return _vector_norm(
        x if x.dtype.kind == "f" else x.astype(np.float64), ord,
        [a % x.ndim for a in (range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis)], keepdims,
    )  # fmt: skip


def _matrix_norm_of(s: Expansion, x: Array, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    return _norm(s, x, ord, (-2, -1), keepdims)


# ---- order, sets, choices


def _sort(_s: Expansion, a: Array, axis: int | None = -1, **_kind: Any) -> Array:
    return sorted_along(a.reshape(a.size), 0) if axis is None else sorted_along(a, axis)


def _lexsort(_s: Expansion, keys: Any, axis: int = -1) -> Array:
    rows = list(keys) if isinstance(keys, list | tuple) else [keys[i] for i in range(keys.shape[0])]
    order = rows[0].op("argsort", axis=axis % rows[0].ndim)
    for key in rows[1:]:
        again = take_along(key, order, axis).op("argsort", axis=axis % key.ndim)
        order = take_along(order, again, axis)
    return order


def _isin(s: Expansion, element: Any, test_elements: Any, invert: bool = False, **_how: Any) -> Array:
    x = element
    if not isinstance(x, Array):
        raise InferenceError("isin of a list")
    if isinstance(test_elements, Array):
        row = test_elements.reshape(test_elements.size)
        same = x[..., None].equal(row).broadcast(*x.shape, row.size).reduce("reduce_any", -1)
    else:
        same = filled(s, x.shape, False, bool)
        for number in test_elements if isinstance(test_elements, list | tuple) else [test_elements]:
            same = same | x.equal(number)
    return ~same if invert else same


def _choose(_s: Expansion, a: Array, choices: list[Array], **rest: Any) -> Array:
    if rest.get("mode", "raise") != "raise":
        raise InferenceError("choose with a mode")
    found = choices[-1]
    for i in range(len(choices) - 2, -1, -1):
        found = select(a.equal(i), choices[i], found)
    return found


def _take(_s: Expansion, a: Array, indices: Any, axis: int | None = None, mode: str = "raise") -> Array:
    x = a.reshape(a.size) if axis is None else a
    at = 0 if axis is None else axis
    size = x.shape[at]
    if not isinstance(indices, Array):
        raise InferenceError("take of a list")
    places = indices % size if mode == "wrap" else indices.op("maximum", 0).op("minimum", size - 1) if mode == "clip" else indices
    return take(x, places.astype(np.int64), at)


def _unravel_index(s: Expansion, indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    rest = indices if isinstance(indices, Array) else filled(s, (), indices, np.int64)
    found: list[Array] = []
    for size in sizes[::-1] if order == "C" else sizes:
        found.append(rest % size)
        rest = rest // size
    return tuple(found[::-1] if order == "C" else found)


def _ravel_multi_index(s: Expansion, multi_index: Any, dims: Any, mode: str = "raise", order: str = "C") -> Array:
    if mode != "raise" or order != "C":
        raise InferenceError("ravel_multi_index with a mode or an order")
    parts = list(multi_index) if isinstance(multi_index, list | tuple) else [multi_index[i] for i in range(multi_index.shape[0])]
    found: Any = filled(s, (), 0, np.int64)
    for part, size in zip(parts, dims, strict=True):
        found = found * size + (part if isinstance(part, Array) else filled(s, (), part, np.int64))
    return found


def _array_equal(s: Expansion, a1: Array, a2: Array, equal_nan: bool = False) -> Array:
    if a1.shape != a2.shape:
        return filled(s, (), False, bool)
    same = a1.equal(a2)
    if equal_nan and a1.dtype.kind == "f" and a2.dtype.kind == "f":
        same = same | (a1.isnan() & a2.isnan())
    return same.reduce("reduce_all", None)


def _array_equiv(s: Expansion, a1: Array, a2: Array) -> Array:
    try:
        np.broadcast_shapes(a1.shape, a2.shape)
    except ValueError:
        return filled(s, (), False, bool)
    return a1.equal(a2).reduce("reduce_all", None)


def _round(_s: Expansion, a: Array, decimals: int = 0) -> Array:
    scale = 10 ** abs(decimals)
    if a.dtype.kind in "iu":
        if decimals >= 0:
            return a
        wide = a.astype(np.float64)  # as in NumPy: divided, rounded to even, multiplied
        return ((wide / float(scale)).op("rint") * float(scale)).astype(a.dtype)
    if not decimals:
        return a.op("rint")
    return (a * float(scale)).op("rint") / float(scale) if decimals > 0 else (a / float(scale)).op("rint") * float(scale)


def _clip(_s: Expansion, a: Array, a_min: Any = None, a_max: Any = None, **bounds: Any) -> Array:
    if unknown := bounds.keys() - {"min", "max"}:
        raise InferenceError(f"clip with {', '.join(sorted(unknown))}")
    low, high = (x if x is not None else bounds.get(name) for x, name in ((a_min, "min"), (a_max, "max")))
    found = a if low is None else a.op("maximum", low)
    return found if high is None else found.op("minimum", high)


# ---- bits


def _packbits(s: Expansion, a: Array, axis: int | None = None, bitorder: str = "big") -> Array:
    x = a if a.dtype.kind == "b" else a.op("not_equal", 0)
    if axis is not None and x.ndim != 1:
        raise InferenceError("packbits along an axis")
    row = x.reshape(x.size).astype(np.int64)
    missing = -row.size % 8
    row = concat([row, filled(s, (missing,), 0, np.int64)]) if missing else row
    groups = row.reshape(row.size // 8, 8)
    found: Array | None = None
    for i in range(8):
        bit = groups[:, i] * (1 << (7 - i if bitorder == "big" else i))
        found = bit if found is None else found + bit
    assert found is not None
    return found.astype(np.uint8)


def _unpackbits(_s: Expansion, a: Array, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    if axis is not None or count is not None:
        raise InferenceError("unpackbits along an axis, or of so many")
    row = a.reshape(a.size).astype(np.int64)
    order = range(7, -1, -1) if bitorder == "big" else range(8)
    return stack([(row // (1 << i)) % 2 for i in order], 1).reshape(8 * a.size).astype(np.uint8)


RULES: Mapping[str, Callable[..., Any]] = {
    "cross": _cross, "linalg.cross": _cross_of, "dot": _dot, "inner": _inner, "vdot": _vdot,
    "outer": _outer, "linalg.outer": _outer, "tensordot": _tensordot, "linalg.tensordot": _tensordot, "einsum": _einsum,
    "linalg.matmul": lambda _s, x1, x2: x1.op("matmul", x2),
    "linalg.vecdot": lambda _s, x1, x2, axis=-1: vecdot(x1.moved(axis, -1), x2.moved(axis, -1)),
    "linalg.trace": lambda s, x, offset=0, dtype=None: reductions.trace(s, x, offset, -2, -1, dtype),
    "linalg.matrix_power": _matrix_power, "linalg.multi_dot": _multi_dot, "linalg.norm": _norm,
    "linalg.vector_norm": _vector_norm_of,
    "linalg.matrix_norm": _matrix_norm_of, "sort": _sort, "lexsort": _lexsort, "isin": _isin, "choose": _choose, "take": _take,
    "unravel_index": _unravel_index, "ravel_multi_index": _ravel_multi_index, "array_equal": _array_equal,
    "array_equiv": _array_equiv, "round": _round, "around": _round, "clip": _clip, "packbits": _packbits,
    "unpackbits": _unpackbits,
}  # fmt: skip
"""Function -> its sequence, of arguments by NumPy's names."""
