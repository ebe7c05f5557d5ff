"""NumPy's elementwise calls that take several operations, in NumPy's own steps where it has them."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import numpy as np

from fleet.frontend.arrays.arguments import Arguments, Handler, axis_of, keeps, reduced_axes
from fleet.frontend.arrays.emitting import cast, emit
from fleet.frontend.arrays.functions.layout import fresh
from fleet.frontend.arrays.functions.shapes import parts_of
from fleet.frontend.arrays.operands import array, bitwise, convert, elementwise, joined, loop, numeric, select
from fleet.frontend.arrays.parts import piece
from fleet.frontend.arrays.sizes import broadcasted, dims_of, flat, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import NumberValue, TracedArray, Value, ValueOperand
from fleet.frontend.reading.wording import words


def _angle(ufunc: np.ufunc) -> Handler:
    """np.deg2rad, np.rad2deg: a factor of the dtype in which NumPy computes, which for float16 is float32."""

    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        (x,) = loop(ev, node, ufunc, args["x"])
        wide = cast(ev, node, x, np.promote_types(x.dtype, np.float32))
        half, turn = wide.dtype.type(180), wide.dtype.type(math.pi)
        factor = turn / half if ufunc is np.deg2rad else half / turn
        return cast(ev, node, elementwise(ev, node, "mul", wide, NumberValue(float(factor))), x.dtype)

    return handler


def _fabs(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return elementwise(ev, node, "abs", *loop(ev, node, np.fabs, args["x"]))


def _trunc(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        return TracedArray(x.ssa)
    down, up = elementwise(ev, node, "floor", x), elementwise(ev, node, "ceil", x)
    return select(ev, node, elementwise(ev, node, "less", x, NumberValue(0)), up, down)


def _heaviside(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, middle = loop(ev, node, np.heaviside, args["x1"], args["x2"])
    one = select(ev, node, elementwise(ev, node, "less", x, NumberValue(0)), NumberValue(0.0), NumberValue(1.0))
    step = select(ev, node, elementwise(ev, node, "equal", x, NumberValue(0)), middle, cast(ev, node, one, x.dtype))
    return select(ev, node, elementwise(ev, node, "isnan", x), x, step)


def _nan_to_num(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        return TracedArray(x.ssa)
    limit = float(np.finfo(x.dtype).max)
    found = select(ev, node, elementwise(ev, node, "isnan", x), args.get("nan", NumberValue(0.0)), x)  # pyright: ignore[reportArgumentType]
    for name, bound, usual in (("posinf", math.inf, limit), ("neginf", -math.inf, -limit)):
        given = args.get(name)
        value = NumberValue(usual) if given is None else ev.operand(node, given)
        found = select(ev, node, elementwise(ev, node, "equal", x, NumberValue(bound)), value, found)
    return found


def _isclose(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """The steps that NumPy takes: `b` becomes a float, so that the difference does not wrap."""
    a, b = numeric(ev, node, args["a"]), numeric(ev, node, args["b"])
    rtol, atol = (ev.static(args.get(n, NumberValue(usual))) for n, usual in (("rtol", 1e-5), ("atol", 1e-8)))
    if rtol is None or atol is None:
        ev.fail("F404", node, "rtol and atol must be numbers known from the source")
    if isinstance(b, NumberValue):
        b = array(ev, node, b) if b.symbolic else NumberValue(float(b.value))
    if isinstance(b, TracedArray):
        b = cast(ev, node, b, np.result_type(b.dtype, 1.0))
        scaled: ValueOperand = elementwise(ev, node, "mul", elementwise(ev, node, "abs", b), NumberValue(rtol))
        scaled = elementwise(ev, node, "add", scaled, NumberValue(atol))
        finite: TracedArray | None = _finite(ev, node, b)
    else:
        scaled = NumberValue(atol + rtol * abs(b.value))
        finite = None if math.isfinite(b.value) else array(ev, node, NumberValue(False))
    off = elementwise(ev, node, "abs", elementwise(ev, node, "sub", a, b))
    found = elementwise(ev, node, "less_equal", off, scaled)
    found = found if finite is None else elementwise(ev, node, "logical_and", found, finite)
    found = elementwise(ev, node, "logical_or", found, elementwise(ev, node, "equal", a, b))
    if "equal_nan" in args and ev.flag(node, args["equal_nan"], "equal_nan"):
        nans = [elementwise(ev, node, "isnan", v) for v in (a, b)]
        found = elementwise(ev, node, "logical_or", found, elementwise(ev, node, "logical_and", *nans))
    return found


def _finite(ev: Evaluator, node: ast.AST, x: TracedArray) -> TracedArray:
    return elementwise(ev, node, "less", elementwise(ev, node, "abs", x), NumberValue(math.inf))


def _allclose(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    close = _isclose(ev, node, args)
    assert isinstance(close, TracedArray)
    return emit(ev, node, "reduce_all", [close], axes=list(range(len(close.shape))), keepdims=False)


def _array_equal(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    a, b = array(ev, node, args["a1"]), array(ev, node, args["a2"])
    if a.shape != b.shape:
        return NumberValue(False)
    same = elementwise(ev, node, "equal", a, b)
    return emit(ev, node, "reduce_all", [same], axes=list(range(len(same.shape))), keepdims=False)


# ---- along an axis


def _diff(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    if not x.shape:
        ev.fail("F305", node, f"diff of {words(x)}", "it takes arrays of rank 1 or more")
    axis = axis_of(ev, node, len(x.shape), args.get("axis", NumberValue(-1)))
    order = ev.integer(node, args.get("n", NumberValue(1)), "n")
    if order < 0:
        ev.fail("F703", node, f"diff of order {order}", "the order must not be negative")
    for _ in range(order):
        ev.step(node)
        size = x.shape[axis]
        if size < 0:
            ev.unknown(node, "diff along a dimension whose size only the run knows")
        later, earlier = piece(ev, node, x, axis, min(1, size), size), piece(ev, node, x, axis, 0, max(size - 1, 0))
        x = elementwise(ev, node, "not_equal" if x.dtype.kind == "b" else "sub", later, earlier)
    return x


def _nan_sum(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """np.nansum and np.nanmean: NaN is left out."""
    x, op = array(ev, node, args["a"]), str(args[""])
    axes, keep = reduced_axes(ev, node, op, x, args), keeps(ev, node, args)
    if x.dtype.kind != "f":
        return emit(ev, node, op, [x], axes=axes, keepdims=keep)
    absent = elementwise(ev, node, "isnan", x)
    total = emit(ev, node, "reduce_sum", [select(ev, node, absent, NumberValue(0.0), x)], axes=axes, keepdims=keep)
    if op == "reduce_sum":
        return total
    there = elementwise(ev, node, "logical_not", absent)
    count = emit(ev, node, "reduce_sum", [there], axes=axes, keepdims=keep)
    return elementwise(ev, node, "div", total, cast(ev, node, count, x.dtype))


def _append(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = [array(ev, node, args[n]) for n in ("arr", "values")]
    if args.get("axis") is None:
        return joined(ev, node, [flat(ev, node, p) for p in parts], 0)
    return joined(ev, node, parts, axis_of(ev, node, len(parts[0].shape), args["axis"]))


def _dstack(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    found: list[TracedArray] = []
    for p in parts_of(ev, node, args["arrays"]):
        dims = dims_of(p)
        shape = [1, *dims, 1] if len(dims) == 1 else [1, 1, 1] if not dims else [*dims, 1] if len(dims) == 2 else dims
        found.append(reshaped(ev, node, p, shape))
    return joined(ev, node, found, 2)


def _meshgrid(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    given = args.get("xi", ())
    assert isinstance(given, tuple)
    rows = [flat(ev, node, array(ev, node, v)) for v in given]
    indexing = args.get("indexing", "xy")
    if indexing not in ("xy", "ij"):
        ev.fail("F506", node, "meshgrid's indexing is 'xy' or 'ij'")
    order = list(range(len(rows)))
    if indexing == "xy" and len(rows) > 1:
        order[:2] = [1, 0]
    shape: list[int | NumberValue] = [1] * len(rows)
    for row, at in zip(rows, order, strict=True):
        shape[at] = dims_of(row)[0]
    found: list[Value] = []
    sparse = ev.flag(node, args.get("sparse", NumberValue(False)), "sparse")
    for row, at in zip(rows, order, strict=True):
        own = reshaped(ev, node, row, [d if i == at else 1 for i, d in enumerate(shape)])
        if sparse:
            found.append(own)
            continue
        known = [d for d in shape if isinstance(d, int)]
        wide = emit(ev, node, "broadcast_to", [own], shape=known) if len(known) == len(shape) else TracedArray(
            broadcasted(ev, node, own, shape)
        )  # fmt: skip
        found.append(fresh(ev, node, wide))
    return tuple(found)


def _select(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """Each element from the first choice whose condition is true."""
    conditions, choices = (ev.sequence(args[n]) for n in ("condlist", "choicelist"))
    if conditions is None or choices is None or len(conditions) != len(choices) or not conditions:
        ev.fail("F506", node, "select takes two lists of one length", "np.select([x < 0, x > 1], [a, b])")
    values = [numeric(ev, node, v) for v in (*choices, args.get("default", NumberValue(0)))]
    types = [v.dtype if isinstance(v, TracedArray) else v.value for v in values if isinstance(v, TracedArray) or not v.symbolic]
    dtype = np.result_type(*types)
    *chosen, found = (convert(ev, node, v, dtype) for v in values)
    for condition, choice in zip(reversed(conditions), reversed(chosen), strict=True):
        mask = array(ev, node, condition)
        if mask.dtype.kind != "b":
            ev.fail("F401", node, f"a condition of select is {words(mask)}", "compare first")
        found = select(ev, node, mask, choice, found)
    return TracedArray(found.ssa, scalar=False)


# ---- methods of ufuncs


def _ufunc_reduce(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """np.add.reduce and its like: unlike np.sum over axis 0 by default."""
    x, op = array(ev, node, args["array"]), str(args[""])
    axes = reduced_axes(ev, node, op, x, {"axis": args.get("axis", NumberValue(0))})
    if op in ("reduce_any", "reduce_all") and x.dtype.kind != "b":
        x = elementwise(ev, node, "not_equal", x, NumberValue(0))
    return emit(ev, node, op, [x], axes=axes, keepdims=keeps(ev, node, args))


def _ufunc_accumulate(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["array"])
    if not x.shape:
        ev.fail("F305", node, f"accumulate of {words(x)}", "it takes arrays of rank 1 or more")
    return emit(ev, node, "cumsum", [x], axis=axis_of(ev, node, len(x.shape), args.get("axis", NumberValue(0))))


def _ufunc_outer(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    a, b = array(ev, node, args["A"]), array(ev, node, args["B"])
    op = bitwise(ev, node, str(args[""]), a, b)
    return elementwise(ev, node, op, reshaped(ev, node, a, [*dims_of(a), *[1] * len(b.shape)]), b)


HANDLERS: Mapping[str, Handler] = {
    "trunc": _trunc, "fabs": _fabs, "deg2rad": _angle(np.deg2rad), "rad2deg": _angle(np.rad2deg), "heaviside": _heaviside,
    "nan_to_num": _nan_to_num, "isclose": _isclose, "allclose": _allclose, "array_equal": _array_equal, "diff": _diff,
    "nan_sum": _nan_sum, "append": _append, "dstack": _dstack, "meshgrid": _meshgrid, "select": _select,
    "ufunc_reduce": _ufunc_reduce, "ufunc_accumulate": _ufunc_accumulate, "ufunc_outer": _ufunc_outer,
}  # fmt: skip
