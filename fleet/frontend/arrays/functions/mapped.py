"""NumPy's calls that take a function: apply_along_axis, apply_over_axes, fromfunction, piecewise and vectorize."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.frontend.arrays import foreign
from fleet.frontend.arrays.arguments import dtype_of, to_array
from fleet.frontend.arrays.truths import kind_of_number, number_of
from fleet.frontend.reading.errors import as_call
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.plain import known, value_of
from fleet.frontend.reading.values import (
    ForeignArray,
    Library,
    List,
    Method,
    NumberValue,
    Partial,
    Slice,
    SourceFunction,
    TracedArray,
    Value,
)
from fleet.frontend.reading.wording import words

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
    """A later condition counts before an earlier one; a function sees the elements that its condition chooses."""
    x = _tensor(ev, node, args[0])
    conditions, functions = (list(ev.sequence(a) or ()) for a in args[1:3])
    if len(functions) not in (len(conditions), len(conditions) + 1) or not conditions:
        ev.fail(
            "F506", node, "piecewise takes conditions, and one function or number for each", "np.piecewise(x, [x < 0], [-1, 1])"
        )
    if any(not isinstance(f, NumberValue) for f in functions):
        return _piecewise_called(ev, node, x, [_tensor(ev, node, c) for c in conditions], functions, args[3:], keywords)
    found: Value = _call(ev, node, "numpy.zeros_like", [x])
    if len(functions) > len(conditions):
        found = _call(ev, node, "numpy.full_like", [x, functions[-1]])
    for condition, number in zip(conditions, functions, strict=False):
        mask = _tensor(ev, node, condition)
        if mask.dtype.kind != "b" or mask.shape != x.shape:
            ev.fail("F408", node, f"a condition of piecewise is {words(mask)}", "compare the array's elements")
        found = _call(ev, node, "numpy.where", [mask, _call(ev, node, "numpy.full_like", [x, number]), found])
    return found


def _piecewise_called(
    ev: Evaluator,
    node: ast.Call,
    x: TracedArray,
    conditions: list[TracedArray],
    functions: Sequence[Value],
    args: Sequence[Value],
    keywords: Mapping[str, Value],
) -> Value:
    if len(functions) > len(conditions):
        either = _call(ev, node, "numpy.logical_or.reduce", [List(list(conditions))])
        conditions.append(_tensor(ev, node, _call(ev, node, "numpy.logical_not", [either])))
    found = _tensor(ev, node, _call(ev, node, "numpy.zeros_like", [x]))
    for mask, function in zip(conditions, functions, strict=True):
        if mask.dtype.kind != "b" or mask.shape != x.shape or not x.shape:
            ev.fail("F408", node, f"a condition of piecewise is {words(mask)}", "compare the elements of an array")
        value = function
        if not isinstance(function, NumberValue):
            chosen = ev.domain.load(ev, _subscript(node), x, [mask])
            value = ev.call(node, function, [chosen, *args], keywords)
        ev.domain.store(ev, _subscript(node), found, [mask], value)
    return found


# ---- vectorize


def _vectorize(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    function = args[0]
    if not isinstance(function, SourceFunction | Library) or keywords.keys() - {"otypes", "doc", "cache"} or len(args) > 1:
        ev.fail("F506", node, f"vectorize of {words(function)} with these arguments", "give a function, and otypes")
    types = ev.sequence(keywords.get("otypes"))
    if keywords.get("otypes") is not None and (types is None or len(types) != 1):
        ev.fail("F506", node, "vectorize with these otypes", "give a list of one dtype")
    if types is None:
        return Method(function, "vectorized")
    return Partial(Method(function, "vectorized"), keywords={"otypes": dtype_of(ev, node, types[0])})


def _frompyfunc(ev: Evaluator, node: ast.Call, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """`np.frompyfunc(f, nin, 1)`: as vectorize, with an array of objects as its result."""
    if keywords or ev.integer(node, args[2], "the number of results") != 1:
        ev.fail("F506", node, "frompyfunc of several results", "use one")
    return Partial(Method(args[0], "vectorized"), keywords={"otypes": np.dtype(object)})


_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.USub, ast.UAdd)
_LEAVES = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.Name, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context)


def vectorized(
    ev: Evaluator, node: ast.Call, function: SourceFunction | Library, args: Sequence[Value], keywords: Mapping[str, Value]
) -> Value:
    """`np.vectorize(f)(x)`: Python computes with each element as a number of its own. Arithmetic of float64 gives the
    same for all elements at once."""
    dtype = keywords.get("otypes")
    if isinstance(function, Library) or dtype is not None or keywords or any(foreign.holds(a) for a in args):
        if keywords.keys() - {"otypes"} or not (dtype is None or isinstance(dtype, np.dtype)):
            ev.fail("F506", node, f"a function of vectorize with `{next(iter(keywords))}=`", "give arrays by their positions")
        return _each(ev, node, function, args, dtype)
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
    if not plain or not parts or any(a.dtype.kind != "f" for a in arrays):
        return _each(ev, node, function, arrays, None)
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


def _each(
    ev: Evaluator, node: ast.Call, function: SourceFunction | Library, args: Sequence[Value], dtype: np.dtype | None
) -> Value:
    """The function of each element, as Python's number or text. dtype: of the result; None: what the first one gives says it."""
    rows = [_elements(ev, node, a) for a in args]
    try:
        places = np.broadcast_arrays(*(np.arange(len(r)).reshape(shape) for r, shape in rows))
    except ValueError as error:
        ev.fail("F301", node, f"vectorize: {error}")
    if not 0 < places[0].size <= _MOST_CALLS:
        ev.fail("F506", node, f"vectorize of {places[0].size} elements", f"at most {_MOST_CALLS}, and one; use arrays")
    each = [[r[int(k)] for (r, _), k in zip(rows, at, strict=True)] for at in zip(*(p.ravel() for p in places), strict=True)]
    calls = each if dtype is not None else [each[0], *each]  # NumPy asks for the first twice: once to see what it gives
    found = [ev.call(node, function, list(given), {}) for given in calls][len(calls) - len(each) :]
    shape = tuple(NumberValue(n) for n in places[0].shape)
    if dtype is not None and dtype.kind == "O":
        held = np.empty(len(found), object)
        held[:] = [known(ev, node, f, "what a function of frompyfunc gives") for f in found]
        return ForeignArray(held.reshape(places[0].shape)) if places[0].shape else found[0]
    if all(isinstance(f, str) for f in found):
        return ForeignArray(np.array(found).reshape(places[0].shape))
    kinds = {kind_of_number(f) if isinstance(f, NumberValue) else f.dtype if isinstance(f, TracedArray) else None for f in found}
    plain = [ev.static(f) for f in found]
    if None not in plain and (dtype is not None or not any(isinstance(f, TracedArray) for f in found)):
        wanted = np.asarray(plain[0]).dtype if dtype is None else dtype
        try:
            return ev.domain.literal(ev, node, np.array(np.array(plain, object), wanted).reshape(places[0].shape))
        except (TypeError, ValueError, OverflowError) as error:
            ev.fail("F703", node, f"vectorize: {error}")
    if None in kinds or (len(kinds) > 1 and dtype is None):
        what = f"vectorize of a function that gives {' or '.join(dict.fromkeys(words(f) for f in found))}"
        ev.fail("F506", node, what, "let it give numbers of one type, or write it with np.where and arrays")
    joined = _call(ev, node, "numpy.array", [List(found)], {} if dtype is None else {"dtype": dtype})
    return _call(ev, node, "numpy.reshape", [joined, shape])


def _elements(ev: Evaluator, node: ast.Call, value: Value) -> tuple[list[Value], tuple[int, ...]]:
    """The elements of an argument, as Python's numbers and texts, and its shape."""
    if foreign.holds(value):
        value = foreign.call(ev, node, "numpy.asarray", [value], {})
        assert isinstance(value, ForeignArray)
        return [value_of(p) for p in value.array.ravel().tolist()], value.array.shape
    array = _tensor(ev, node, value)
    known = ev.domain.elements_of(array)
    if known is not None:
        return [value_of(p) for p in known.ravel().tolist()], known.shape
    if any(d < 0 for d in array.shape) or math.prod(array.shape) > _MOST_PARTS or array.dtype.kind == "c":
        hint = f"at most {_MOST_PARTS} elements, a number known before the run; np.vectorize is a loop of Python's: use np.where"
        ev.fail("F506", node, f"vectorize of {words(array)}, whose elements only the run knows", hint)
    found: list[Value] = []
    for at in itertools.product(*map(range, array.shape)):
        index: list[Value] = [NumberValue(i) for i in at]
        found.append(number_of(ev, node, ev.domain.load(ev, _subscript(node), array, index) if index else array))
    return found, array.shape


_MOST_CALLS = 1 << 12

MAPPED: Mapping[str, tuple[Callable[..., Value], tuple[str, ...]]] = {
    "numpy.apply_along_axis": (_apply_along_axis, ("func1d", "axis", "arr")),
    "numpy.apply_over_axes": (_apply_over_axes, ("func", "a", "axes")),
    "numpy.fromfunction": (_fromfunction, ("function", "shape")),
    "numpy.piecewise": (_piecewise, ("x", "condlist", "funclist")),
    "numpy.vectorize": (_vectorize, ("pyfunc",)),
    "numpy.frompyfunc": (_frompyfunc, ("func", "nin", "nout")),
}
"""Function -> what it does, and its parameters."""


def call(ev: Evaluator, node: ast.Call, path: str, args: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Emit a call of a function in `MAPPED`."""
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
