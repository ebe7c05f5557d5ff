"""NumPy's elementwise calls that are several operations of the IR, in the steps that NumPy takes where it has any."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from fleet.frontend._numpy import Arguments, Handler, array, axes_of, axis_of, cast, elementwise, emit, select
from fleet.frontend._shapes import joined, piece
from fleet.frontend._sizes import broadcasted, dims_of, flat, reshaped
from fleet.frontend._values import List, Number, Operand, Tensor, Value, words

if TYPE_CHECKING:
    from fleet.frontend._evaluator import Evaluator


def _float(ev: Evaluator, node: ast.AST, value: Value) -> Tensor:
    """`value` as an array of floats, of the dtype in which a ufunc of floats computes."""
    x = array(ev, node, value)
    if x.dtype.kind == "f":
        return x
    small = {1: np.float16, 2: np.float32}.get(x.dtype.itemsize if x.dtype.kind == "i" else 1, np.float64)
    return cast(ev, node, x, np.dtype(small))


def _scaled_log(base: float) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        x = elementwise(ev, node, "log", _float(ev, node, args["x"]))
        return elementwise(ev, node, "div", x, Number(math.log(base)))

    return handler


def _exp2(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return elementwise(ev, node, "pow", Number(2.0), _float(ev, node, args["x"]))


def _scaled(factor: float) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        return elementwise(ev, node, "mul", _float(ev, node, args["x"]), Number(factor))

    return handler


def _sinh(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """(e + e / (e + 1)) / 2 with e = expm1(|x|), which loses nothing near zero; beyond 20 the quotient is 1."""
    x = _float(ev, node, args["x"])
    e = elementwise(ev, node, "expm1", elementwise(ev, node, "abs", x))
    ratio = elementwise(ev, node, "div", e, elementwise(ev, node, "add", e, Number(1.0)))
    ratio = select(ev, node, elementwise(ev, node, "greater", e, Number(1e4)), Number(1.0), ratio)
    half = elementwise(ev, node, "mul", elementwise(ev, node, "add", e, ratio), Number(0.5))
    return elementwise(ev, node, "mul", half, elementwise(ev, node, "sign", x))


def _cosh(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    e = elementwise(ev, node, "exp", elementwise(ev, node, "abs", _float(ev, node, args["x"])))
    return elementwise(ev, node, "mul", elementwise(ev, node, "add", e, elementwise(ev, node, "div", Number(1.0), e)), Number(0.5))


def _tan(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = _float(ev, node, args["x"])
    return elementwise(ev, node, "div", elementwise(ev, node, "sin", x), elementwise(ev, node, "cos", x))


def _fabs(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    return elementwise(ev, node, "abs", _float(ev, node, args["x"]))


def _trunc(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        return Tensor(x.ssa, scalar=x.scalar)
    down, up = elementwise(ev, node, "floor", x), elementwise(ev, node, "ceil", x)
    return select(ev, node, elementwise(ev, node, "less", x, Number(0)), up, down)


def _pair(ev: Evaluator, node: ast.AST, args: Arguments) -> tuple[Operand, Operand]:
    a, b = (v if isinstance(v, Number) else array(ev, node, v) for v in (args["x1"], args["x2"]))
    return (array(ev, node, a), b) if isinstance(a, Number) and isinstance(b, Number) else (a, b)


def _hypot(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """The larger one times the root of 1 and the quotient's square, so that no square leaves the range."""
    given = _pair(ev, node, args)
    a, b = (Number(abs(v.value)) if isinstance(v, Number) else elementwise(ev, node, "abs", v) for v in given)
    if all(isinstance(v, Number) or v.dtype.kind != "f" for v in (a, b)):
        a = elementwise(ev, node, "mul", a, Number(1.0))
    high, low = elementwise(ev, node, "maximum", a, b), elementwise(ev, node, "minimum", a, b)
    safe = select(ev, node, elementwise(ev, node, "equal", high, Number(0)), Number(1.0), high)
    q = elementwise(ev, node, "div", low, safe)
    root = elementwise(ev, node, "sqrt", elementwise(ev, node, "add", elementwise(ev, node, "mul", q, q), Number(1.0)))
    found = elementwise(ev, node, "mul", high, root)
    ends = [elementwise(ev, node, "equal", v, Number(math.inf)) for v in (a, b) if isinstance(v, Tensor)]
    far = ends[0] if len(ends) == 1 else elementwise(ev, node, "logical_or", *ends)
    return select(ev, node, far, Number(math.inf), found)


def _logaddexp(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """max + log1p(exp(-|a - b|)), and a + log 2 where both are equal (infinite ones included): NumPy's own steps."""
    a, b = _pair(ev, node, args)
    high, off = elementwise(ev, node, "maximum", a, b), elementwise(ev, node, "sub", a, b)
    if high.dtype.kind != "f":
        high = cast(ev, node, high, np.dtype(float))
    small = elementwise(ev, node, "exp", elementwise(ev, node, "neg", elementwise(ev, node, "abs", off)))
    tail = elementwise(ev, node, "log1p", small)
    equal = elementwise(ev, node, "equal", a, b)
    both = elementwise(ev, node, "add", high, Number(math.log(2)))
    return select(ev, node, equal, both, elementwise(ev, node, "add", high, tail))


def _heaviside(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x, middle = _float(ev, node, args["x1"]), args["x2"]
    mid = ev.operand(node, middle) if isinstance(middle, Number) else _float(ev, node, middle)
    one = select(ev, node, elementwise(ev, node, "less", x, Number(0)), Number(0.0), Number(1.0))
    step = select(ev, node, elementwise(ev, node, "equal", x, Number(0)), mid, cast(ev, node, one, x.dtype))
    return select(ev, node, elementwise(ev, node, "isnan", x), x, step)


def _quiet(op: str) -> Handler:
    """np.fmax and np.fmin: of a NaN and a number the number."""

    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        a, b = _pair(ev, node, args)
        found = elementwise(ev, node, op, a, b)
        if found.dtype.kind != "f":
            return found
        for side, other in ((a, b), (b, a)):
            if isinstance(side, Tensor) and side.dtype.kind == "f":
                found = select(ev, node, elementwise(ev, node, "isnan", side), other, found)
        return cast(ev, node, found, found.dtype)

    return handler


def _nan_to_num(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["x"])
    if x.dtype.kind != "f":
        return Tensor(x.ssa, scalar=x.scalar)
    limit = float(np.finfo(x.dtype).max)
    found = select(ev, node, elementwise(ev, node, "isnan", x), args.get("nan", Number(0.0)), x)  # pyright: ignore[reportArgumentType]
    for name, bound, usual in (("posinf", math.inf, limit), ("neginf", -math.inf, -limit)):
        given = args.get(name)
        value = Number(usual) if given is None else ev.operand(node, given)
        found = select(ev, node, elementwise(ev, node, "equal", x, Number(bound)), value, found)
    return found


def _isclose(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    a, b = array(ev, node, args["a"]), array(ev, node, args["b"])
    rtol, atol = (ev.static(args.get(n, Number(usual))) for n, usual in (("rtol", 1e-5), ("atol", 1e-8)))
    if rtol is None or atol is None:
        ev.fail("F404", node, "rtol and atol must be numbers known from the source")
    off = elementwise(ev, node, "abs", elementwise(ev, node, "sub", a, b))
    bound = elementwise(ev, node, "add", elementwise(ev, node, "mul", elementwise(ev, node, "abs", b), Number(rtol)), Number(atol))
    near = elementwise(ev, node, "less_equal", off, bound)
    finite = elementwise(ev, node, "less", elementwise(ev, node, "abs", b), Number(math.inf)) if b.dtype.kind == "f" else None
    near = near if finite is None else elementwise(ev, node, "logical_and", near, finite)
    found = elementwise(ev, node, "logical_or", near, elementwise(ev, node, "equal", a, b))
    if "equal_nan" in args and ev.flag(node, args["equal_nan"], "equal_nan") and "f" in (a.dtype.kind + b.dtype.kind):
        nans = [elementwise(ev, node, "not_equal", v, v) for v in (a, b)]
        found = elementwise(ev, node, "logical_or", found, elementwise(ev, node, "logical_and", *nans))
    return found


def _allclose(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    close = _isclose(ev, node, args)
    assert isinstance(close, Tensor)
    return emit(ev, node, "reduce_all", [close], axes=list(range(len(close.shape))), keepdims=False)


def _array_equal(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    a, b = array(ev, node, args["a1"]), array(ev, node, args["a2"])
    if a.shape != b.shape:
        return Number(False)
    same = elementwise(ev, node, "equal", a, b)
    return emit(ev, node, "reduce_all", [same], axes=list(range(len(same.shape))), keepdims=False)


# ---- along an axis


def _diff(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    if not x.shape:
        ev.fail("F305", node, f"diff of {words(x)}", "it takes arrays of rank 1 or more")
    axis = axis_of(ev, node, len(x.shape), args.get("axis", Number(-1)))
    for _ in range(ev.integer(node, args.get("n", Number(1)), "n")):
        ev.step(node)
        size = x.shape[axis]
        if size < 0:
            ev.unknown(node, "diff along a dimension whose size only the run knows")
        later, earlier = piece(ev, node, x, axis, min(1, size), size), piece(ev, node, x, axis, 0, max(size - 1, 0))
        x = elementwise(ev, node, "not_equal" if x.dtype.kind == "b" else "sub", later, earlier)
    return x


def _nan_reduction(op: str) -> Handler:
    """np.nansum, nanmax, nanmin, nanmean: as if what is NaN were not there."""

    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        x = array(ev, node, args["a"])
        axes = axes_of(ev, node, len(x.shape), args.get("axis"))
        keep = ev.flag(node, args["keepdims"], "keepdims") if "keepdims" in args else False
        if x.dtype.kind != "f":
            return emit(ev, node, op, [x], axes=axes, keepdims=keep)
        absent = elementwise(ev, node, "isnan", x)
        if op in ("reduce_sum", "mean"):
            total = emit(ev, node, "reduce_sum", [select(ev, node, absent, Number(0.0), x)], axes=axes, keepdims=keep)
            if op == "reduce_sum":
                return total
            there = elementwise(ev, node, "logical_not", absent)
            count = emit(ev, node, "reduce_sum", [there], axes=axes, keepdims=keep)
            return elementwise(ev, node, "div", total, cast(ev, node, count, x.dtype))
        far = -math.inf if op == "reduce_max" else math.inf
        found = emit(ev, node, op, [select(ev, node, absent, Number(far), x)], axes=axes, keepdims=keep)
        nothing = emit(ev, node, "reduce_all", [absent], axes=axes, keepdims=keep)
        return select(ev, node, nothing, Number(math.nan), found)

    return handler


def _append(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    parts = [array(ev, node, args[n]) for n in ("arr", "values")]
    if args.get("axis") is None:
        return joined(ev, node, [flat(ev, node, p) for p in parts], 0)
    return joined(ev, node, parts, axis_of(ev, node, len(parts[0].shape), args["axis"]))


def _dstack(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    from fleet.frontend._shapes import parts_of

    found: list[Tensor] = []
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
    shape: list[int | Number] = [1] * len(rows)
    for row, at in zip(rows, order, strict=True):
        shape[at] = dims_of(row)[0]
    found: list[Value] = []
    for row, at in zip(rows, order, strict=True):
        own = reshaped(ev, node, row, [d if i == at else 1 for i, d in enumerate(shape)])
        known = [d for d in shape if isinstance(d, int)]
        wide = emit(ev, node, "broadcast_to", [own], shape=known) if len(known) == len(shape) else Tensor(
            broadcasted(ev, node, own, shape)
        )  # fmt: skip
        found.append(wide)
    return List(found)


HANDLERS: Mapping[str, Handler] = {
    "log2": _scaled_log(2), "log10": _scaled_log(10), "exp2": _exp2, "sinh": _sinh, "cosh": _cosh, "tan": _tan, "trunc": _trunc,
    "fabs": _fabs, "deg2rad": _scaled(math.pi / 180), "rad2deg": _scaled(180 / math.pi), "hypot": _hypot, "logaddexp": _logaddexp,
    "heaviside": _heaviside, "fmax": _quiet("maximum"), "fmin": _quiet("minimum"), "nan_to_num": _nan_to_num, "isclose": _isclose,
    "allclose": _allclose, "array_equal": _array_equal, "diff": _diff, "nansum": _nan_reduction("reduce_sum"),
    "nanmax": _nan_reduction("reduce_max"), "nanmin": _nan_reduction("reduce_min"), "nanmean": _nan_reduction("mean"),
    "append": _append, "dstack": _dstack, "meshgrid": _meshgrid,
}  # fmt: skip
