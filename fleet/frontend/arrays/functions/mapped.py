"""NumPy's calls that take a function: apply_along_axis, apply_over_axes, fromfunction, piecewise and vectorize."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.frontend.arrays.arguments import to_array
from fleet.frontend.reading.errors import as_call
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import value_of
from fleet.frontend.reading.values import (
    ForeignArray,
    Library,
    List,
    Method,
    NumberValue,
    Slice,
    SourceFunction,
    TracedArray,
    Value,
    words,
)

__all__ = ["MAPPED", "call", "vectorized"]

_MOST_PARTS = 256


def _call(ev: Evaluator, node: ast.expr, path: str, args: list[Value], keywords: dict[str, Value] | None = None) -> Value:
    return ev.domain.call(ev, as_call(node), path, args, keywords or {})


def _tensor(ev: Evaluator, node: ast.Call, value: Value) -> TracedArray:
    found = to_array(ev, node, value)
    if isinstance(found, NumberValue):
        found = _call(ev, node, "numpy.asarray", [found])
    if not isinstance(found, TracedArray):
        ev.fail("F408", node, f"expected an array, found {words(value)}")
    return found


def _apply_along_axis(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """The function of every row along an axis, in NumPy's order."""
    function, x = args[0], _tensor(ev, node, args[2])
    rank = len(x.shape)
    axis = ev.integer(node, args[1], "axis")
    if not -rank <= axis < rank:
        ev.fail("F305", node, f"axis {axis} is out of bounds for an array of rank {rank}")
    axis %= rank
    around = [d for i, d in enumerate(x.shape) if i != axis]
    if min(around, default=1) < 0 or not 0 < math.prod(around) <= _MOST_PARTS:
        ev.fail("F506", node, f"apply_along_axis over {around} rows", f"at most {_MOST_PARTS}, known before the run; use axis=")
    found: list[Value] = []
    for place in itertools.product(*map(range, around)):
        items: list[Value] = [NumberValue(i) for i in place]
        items.insert(axis, Slice(None, None))
        row = ev.domain.load(ev, _subscript(node), x, items)
        found.append(_call(ev, node, "numpy.asarray", [ev.call(node, function, [row, *args[3:]], keywords)]))
    shapes = {v.shape for v in found if isinstance(v, TracedArray)}
    if len(shapes) != 1:
        ev.fail("F408", node, "apply_along_axis of a function whose results have several shapes")
    (inner,) = shapes
    joined = _call(ev, node, "numpy.stack", [List(found)])
    shaped = _call(ev, node, "numpy.reshape", [joined, tuple(NumberValue(d) for d in (*around, *inner))])
    order = [*range(axis), *range(len(around), len(around) + len(inner)), *range(axis, len(around))]
    if order == sorted(order):
        return shaped
    return _call(ev, node, "numpy.transpose", [shaped, tuple(NumberValue(o) for o in order)])


def _subscript(node: ast.expr) -> ast.Subscript:
    return ast.copy_location(ast.Subscript(node, node, ast.Load()), node)


def _apply_over_axes(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    if keywords:
        ev.fail("F506", node, f"apply_over_axes with {', '.join(keywords)}")
    x = _tensor(ev, node, args[1])
    for axis in ev.integers(node, args[2], "axes"):
        found = _tensor(ev, node, ev.call(node, args[0], [x, NumberValue(axis)], {}))
        x = (
            found
            if len(found.shape) == len(x.shape)
            else _tensor(ev, node, _call(ev, node, "numpy.expand_dims", [found, NumberValue(axis)]))
        )
    return x


def _fromfunction(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    dtype = keywords.get("dtype", np.dtype(float))
    grids = _call(ev, node, "numpy.indices", [args[1]], {"dtype": dtype})
    assert isinstance(grids, TracedArray)
    parts: list[Value] = [ev.domain.load(ev, _subscript(node), grids, [NumberValue(i)]) for i in range(grids.shape[0])]
    return ev.call(node, args[0], parts, {k: v for k, v in keywords.items() if k != "dtype"})


def _piecewise(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """A later condition counts before an earlier one; functions are called on all elements, which they must not mix."""
    x = _tensor(ev, node, args[0])
    conditions, functions = (list(ev.sequence(a) or ()) for a in args[1:3])
    if len(functions) not in (len(conditions), len(conditions) + 1) or not conditions or keywords:
        ev.fail(
            "F506", node, "piecewise takes conditions, and one function or number for each", "np.piecewise(x, [x < 0], [-1, 1])"
        )
    if any(not isinstance(f, NumberValue) for f in functions):
        ev.fail("F506", node, "piecewise with functions, which see chosen elements alone", "use np.where or np.select")
    found: Value = _call(ev, node, "numpy.zeros_like", [x])
    if len(functions) > len(conditions):
        found = _call(ev, node, "numpy.full_like", [x, functions[-1]])
    for condition, number in zip(conditions, functions, strict=False):
        mask = _tensor(ev, node, condition)
        if mask.dtype.kind != "b" or mask.shape != x.shape:
            ev.fail("F408", node, f"a condition of piecewise is {words(mask)}", "compare the array's elements")
        found = _call(ev, node, "numpy.where", [mask, _call(ev, node, "numpy.full_like", [x, number]), found])
    return found


# ---- vectorize


def _vectorize(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    function = args[0]
    if not isinstance(function, SourceFunction) or keywords or len(args) > 1:
        ev.fail("F506", node, f"vectorize of {words(function)} with these arguments", "give a function of the file alone")
    return Method(function, "vectorized")


_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.USub, ast.UAdd)
_LEAVES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.Name, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context)


def vectorized(
    ev: Evaluator, node: ast.Call, function: SourceFunction, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """`np.vectorize(f)(x)`: Python computes with each element as a number of its own. Arithmetic of float64 gives the
    same for all elements at once."""
    body = function.node.body
    if isinstance(body, list):
        body = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    parts = list(ast.walk(body)) if isinstance(body, ast.expr) else []
    plain = all(isinstance(p, _LEAVES) for p in parts) and all(
        isinstance(p, _ARITHMETIC) for p in parts if isinstance(p, ast.operator | ast.unaryop)
    )
    arrays = [_tensor(ev, node, a) for a in args]
    own = {a.arg for a in function.node.args.args}
    plain = plain and all(p.id in own for p in parts if isinstance(p, ast.Name))
    if not plain or not parts or keywords or any(a.dtype.kind != "f" for a in arrays):
        if not keywords and (found := _one_by_one(ev, node, function, arrays)) is not None:
            return found
        hint = "np.vectorize is a loop of Python's; write the function with np.where and arrays"
        ev.fail("F506", node, "vectorize of a function that is more than + - * / and comparisons of floats", hint)
    if any(0 in a.shape for a in arrays):
        ev.fail("F301", node, "vectorize of no elements: NumPy asks the function of the first")
    wide = [_call(ev, node, "numpy.asarray", [a], {"dtype": np.dtype(float)}) for a in arrays]
    kind = ev.call(node, function, list[Value](arrays), {})  # what NumPy asks of the first elements
    found = ev.call(node, function, wide, {})
    if (
        not isinstance(kind, TracedArray)
        or not isinstance(found, TracedArray)
        or found.shape != np.broadcast_shapes(*(a.shape for a in arrays))
    ):
        ev.fail("F506", node, "vectorize of a function that does not use each of its arguments")
    return _call(ev, node, "numpy.asarray", [found], {"dtype": kind.dtype})


def _one_by_one(ev: Evaluator, node: ast.Call, function: SourceFunction, arrays: Sequence[TracedArray]) -> Value:
    """The function of each element, where all are known; None where they, or what it gives, are not."""
    known = [ev.domain.elements_of(a) for a in arrays]
    given = [k for k in known if k is not None]
    if len(given) < len(known) or any(k.size == 0 for k in given):
        return None
    rows = np.broadcast_arrays(*given)
    if rows[0].size > _MOST_CALLS:
        return None
    found: list[bool | int | float | str] = []
    each = list(zip(*(r.ravel().tolist() for r in rows), strict=True))
    for elements in (each[0], *each):  # NumPy asks for the first twice: once to see what it gives
        value = ev.call(node, function, [value_of(e) for e in elements], {})
        number = value if isinstance(value, str) else ev.static(value)
        if number is None or isinstance(value, TracedArray):
            return None
        found.append(number)
    if any(isinstance(f, str) for f in found):
        return ForeignArray(np.array(found[1:]).reshape(rows[0].shape)) if all(isinstance(f, str) for f in found) else None
    dtype = np.asarray(found[0]).dtype
    try:
        return ev.domain.literal(ev, node, np.array(np.array(found[1:], object), dtype).reshape(rows[0].shape))
    except (TypeError, ValueError, OverflowError):
        return None


_MOST_CALLS = 1 << 12

MAPPED: Mapping[str, tuple[Callable[..., Value], tuple[str, ...]]] = {
    "numpy.apply_along_axis": (_apply_along_axis, ("func1d", "axis", "arr")),
    "numpy.apply_over_axes": (_apply_over_axes, ("func", "a", "axes")),
    "numpy.fromfunction": (_fromfunction, ("function", "shape")),
    "numpy.piecewise": (_piecewise, ("x", "condlist", "funclist")),
    "numpy.vectorize": (_vectorize, ("pyfunc",)),
}
"""Function -> what it does, and its parameters."""


def call(ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Read a call."""
    function, parameters = MAPPED[path]
    rest = dict(keywords)
    given = list(args)
    for name in parameters[len(args) :]:
        if name not in rest:
            ev.fail("F208", node, f"{path.replace('numpy', 'np', 1)} needs {name}")
        given.append(rest.pop(name))
    callee = given[0]
    if path not in ("numpy.piecewise",) and not isinstance(callee, SourceFunction | Library | Method):
        ev.fail("F408", node, f"{words(callee)} cannot be called")
    return function(ev, node, given, rest)
