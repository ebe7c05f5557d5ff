"""NumPy's calls that make arrays: filled ones are constants of the program, the others recipes of weights."""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

import numpy as np

from fleet.frontend.arrays import sizes
from fleet.frontend.arrays.arguments import Arguments, Handler, dtype_of
from fleet.frontend.arrays.emitting import builder_of, cast, emit
from fleet.frontend.arrays.functions.layout import arranged, fresh, ordered
from fleet.frontend.arrays.making import check_size, static
from fleet.frontend.arrays.operands import array, convert, stacked, whole
from fleet.frontend.arrays.sizes import ArraySizes, broadcasted, dims_of, filled, given_sizes, reshaped
from fleet.frontend.reading.evaluator import Evaluator
from fleet.frontend.reading.values import List, NumberValue, RangeValue, TracedArray, Value
from fleet.frontend.reading.wording import words
from fleet.ir.weights import Creation


def _dtype(ev: Evaluator, node: ast.AST, args: Arguments) -> np.dtype | None:
    return None if args.get("dtype") is None else dtype_of(ev, node, args["dtype"])


# ---- filled


def _filling(ev: Evaluator, node: ast.expr, given: ArraySizes, value: Value, dtype: np.dtype | None) -> TracedArray:
    shape = [d for d in given if isinstance(d, int)]
    check_size(ev, node, tuple(shape), dtype or np.dtype(float))
    if isinstance(value, NumberValue) and value.symbolic:
        value = array(ev, node, value)
    if isinstance(value, tuple | List | RangeValue):
        value = array(ev, node, value)
    if isinstance(value, TracedArray):
        source = value if dtype is None else cast(ev, node, value, dtype)
        if len(shape) < len(given):
            return TracedArray(broadcasted(ev, node, source, given), scalar=False)
        return fresh(ev, node, emit(ev, node, "broadcast_to", [source], shape=list(shape)))
    if not isinstance(value, NumberValue):
        ev.fail("F408", node, f"full with {words(value)} is not supported", "fill with a number")
    chosen = dtype or np.asarray(value.value).dtype
    if len(shape) < len(given):
        return TracedArray(filled(ev, node, given, whole(ev, node, value.value, chosen), chosen), scalar=False)
    made = builder_of(ev).filled(node, tuple(shape), whole(ev, node, value.value, chosen), chosen)
    return TracedArray(made.ssa, scalar=False)


def _filled(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    shape = given_sizes(ev, node, args["shape"])
    made = _filling(ev, node, shape, NumberValue(int(str(args[""]))), _dtype(ev, node, args) or np.dtype(float))
    return _laid_out(ev, node, made, args)


def _full(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    made = _filling(ev, node, given_sizes(ev, node, args["shape"]), args["fill_value"], _dtype(ev, node, args))
    return _laid_out(ev, node, made, args)


def _laid_out(ev: Evaluator, node: ast.expr, made: TracedArray, args: Arguments) -> TracedArray:
    """In the order that the call asks for."""
    return TracedArray(ordered(ev, node, made, args["order"]).ssa, scalar=False) if "order" in args else made


def _like(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["a"])
    value = args.get("fill_value", NumberValue(int(str(args[""]) or 0)))
    shape = dims_of(x) if args.get("shape") is None else given_sizes(ev, node, args["shape"])
    return _filling(ev, node, shape, value, _dtype(ev, node, args) or x.dtype)


# ---- recipes


def triangle(
    ev: Evaluator, node: ast.AST, rows: int | NumberValue, columns: int | NumberValue, k: int, dtype: np.dtype
) -> TracedArray:
    """`np.tri`."""
    if isinstance(rows, NumberValue) or isinstance(columns, NumberValue):
        return sizes.triangle(ev, node, rows, columns, k, dtype)
    return static(ev, node, Creation("tri", (rows, columns, k), (rows, columns), dtype), "tri")


def _square(ev: Evaluator, node: ast.AST, args: Arguments) -> tuple[int | NumberValue, int | NumberValue]:
    """Rows and columns; as many columns as rows by default."""
    (rows,) = given_sizes(ev, node, (args["N"],), "N")
    return rows, rows if args.get("M") is None else given_sizes(ev, node, (args["M"],), "M")[0]


def _tri(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    rows, columns = _square(ev, node, args)
    k = ev.integer(node, args.get("k", NumberValue(0)), "k")
    return triangle(ev, node, rows, columns, k, _dtype(ev, node, args) or np.dtype(float))


def _eye(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    rows, columns = _square(ev, node, args)
    k = ev.integer(node, args.get("k", NumberValue(0)), "k")
    dtype = _dtype(ev, node, args) or np.dtype(float)
    if isinstance(rows, NumberValue) or isinstance(columns, NumberValue):
        below, above = (sizes.triangle(ev, node, rows, columns, n, dtype) for n in (k, k - 1))
        return builder_of(ev).elementwise(node, "not_equal" if dtype.kind == "b" else "sub", [below, above])
    return static(ev, node, Creation("eye", (rows, columns, k), (rows, columns), dtype), "eye")


def _known(ev: Evaluator, node: ast.AST, value: Value, what: str) -> Any:
    number = ev.static(value)
    if number is None:
        ev.fail("F404", node, f"{what} must be a number known from the source, found {words(value)}")
    return number


def _arange(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    asked = [args[n] for n in ("start", "stop", "step") if args.get(n) is not None]
    if any(isinstance(a, NumberValue) and a.symbolic for a in asked):
        bounds = given_sizes(ev, node, tuple(asked), "a bound of arange")
        start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1) if len(bounds) == 2 else bounds
        counted = sizes.arange(ev, node, [start, stop, step])
        return cast(ev, node, counted, _dtype(ev, node, args) or np.dtype(np.int64))
    given = [_known(ev, node, args[n], n) for n in ("start", "stop", "step") if args.get(n) is not None]
    dtype = _dtype(ev, node, args) or np.result_type(np.int64, *(np.asarray(g).dtype for g in given))
    start, stop, step = (0, given[0], 1) if len(given) == 1 else (*given, 1) if len(given) == 2 else given
    try:
        count = max(0, math.ceil((stop - start) / step))
    except (ArithmeticError, ValueError) as error:
        ev.fail("F703", node, f"arange: {error}")
    check_size(ev, node, (count,), dtype)
    if any(isinstance(g, int) and g.bit_length() > 63 for g in given):
        ev.fail("F605", node, "arange beyond 64 bits")
    return static(ev, node, Creation("arange", tuple(given), (count,), dtype), "arange")


def _linspace(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    start, stop = (float(_known(ev, node, args[n], n)) for n in ("start", "stop"))
    count = ev.integer(node, args.get("num", NumberValue(50)), "num")
    endpoint = ev.flag(node, args.get("endpoint", NumberValue(True)), "endpoint")
    dtype = _dtype(ev, node, args) or np.dtype(float)
    made = static(ev, node, Creation("linspace", (start, stop, count), (count,), dtype, (("endpoint", endpoint),)), "linspace")
    if not ev.flag(node, args.get("retstep", NumberValue(False)), "retstep"):
        return made
    step = np.linspace(start, stop, count, endpoint, retstep=True)[1]
    return made, static(ev, node, np.array(step), "step", scalar=True)


GAUSS = ("polynomial.chebyshev.chebgauss", "polynomial.hermite.hermgauss", "polynomial.hermite_e.hermegauss",
         "polynomial.laguerre.laggauss", "polynomial.legendre.leggauss")  # fmt: skip
"""Functions that give points and weights of a quadrature."""
MADE_SIZE: Mapping[str, Callable[[Mapping[str, Any]], int]] = {
    **dict.fromkeys(("hamming", "hanning", "blackman", "bartlett", "kaiser"), lambda v: v["M"]),
    **dict.fromkeys(("logspace", "geomspace"), lambda v: v.get("num", 50)),
    **dict.fromkeys(("tril_indices", "triu_indices"), lambda v: 2 * v["n"] * v.get("m", v["n"])),
    "diag_indices": lambda v: v["n"] * v.get("ndim", 2),
    **dict.fromkeys(("fft.fftfreq", "fft.rfftfreq"), lambda v: v["n"]),
    **dict.fromkeys(GAUSS, lambda v: v["deg"] ** 2),
    "indices": lambda v: math.prod(v["dimensions"]) * len(v["dimensions"]),
}
"""Functions that NumPy calls while the source is read, since all of their arguments are numbers: elements of the result."""


def made_size(name: str, given: Mapping[str, object]) -> int:
    """Elements that such a function makes of these arguments; 0 for those that it refuses."""
    try:
        return abs(int(MADE_SIZE[name](given)))
    except (KeyError, TypeError, ValueError, OverflowError):
        return 0


def _made(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    name = str(args[""])
    given: dict[str, Any] = {}
    for key, value in args.items():
        if key == "dtype":
            given[key] = _dtype(ev, node, args)
        elif key and value is not None:
            parts = ev.sequence(value)
            given[key] = _known(ev, node, value, key) if parts is None else tuple(_known(ev, node, p, key) for p in parts)
    check_size(ev, node, (made_size(name, given),), np.dtype(float))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            found = attrgetter(name)(np)(**given)
    except (ValueError, TypeError, ArithmeticError) as error:
        ev.fail("F703", node, f"{name}: {error}")
    made = [static(ev, node, np.array(f, order="C"), name, scalar=False) for f in (found if isinstance(found, tuple) else (found,))]
    return tuple(made) if isinstance(found, tuple) else made[0]


# ---- out of lists


def _asarray(copy: bool) -> Handler:
    def handler(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        found = of(ev, node, args)
        assert isinstance(found, TracedArray)
        if "ndmin" in args and (more := ev.integer(node, args["ndmin"], "ndmin") - len(found.shape)) > 0:
            found = reshaped(ev, node, found, [*[1] * more, *dims_of(found)])
        if "order" not in args:
            return found
        return _laid_out(ev, node, found, args) if copy else arranged(ev, node, found, args["order"])

    def of(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
        value, dtype = args["a"], _dtype(ev, node, args)
        if isinstance(value, tuple | List | RangeValue):
            return stacked(ev, node, value, dtype)
        if not isinstance(value, TracedArray | NumberValue):
            parts = ev.sequence(value)
            if parts is None:
                ev.fail("F408", node, f"an array made of {words(value)} is not supported", "its parts must be numbers or arrays")
            return stacked(ev, node, parts, dtype)
        if isinstance(value, TracedArray) and (dtype is None or dtype == value.dtype):
            kept = ordered(ev, node, value, None) if copy else value
            return TracedArray(kept.ssa, scalar=False) if copy or value.scalar else value
        found = convert(ev, node, value, dtype) if dtype is not None else array(ev, node, value)
        return TracedArray(found.ssa, scalar=False)

    return handler


def _contiguous(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """np.ascontiguousarray, whose result has at least one dimension."""
    found = _asarray(False)(ev, node, args)
    assert isinstance(found, TracedArray)
    found = arranged(ev, node, found, "C")
    return found if found.shape else reshaped(ev, node, found, [1])


def _indices_from(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    x = array(ev, node, args["arr"])
    if len(x.shape) != 2:
        ev.fail("F305", node, f"indices of a triangle of {words(x)}", "it takes matrices")
    if min(x.shape) < 0:
        ev.unknown(node, "indices of a triangle of a matrix whose size only the run knows")
    rows, columns = (NumberValue(n) for n in x.shape)
    return _made(ev, node, {"n": rows, "m": columns, "k": args.get("k", NumberValue(0)), "": f"{args['']}_indices"})


def _ix(ev: Evaluator, node: ast.Call, args: Arguments) -> Value:
    """Rows and columns of indices that pair every one with every other."""
    given = args["args"]
    assert isinstance(given, tuple)
    found: list[Value] = []
    for i, value in enumerate(given):
        x = array(ev, node, value)
        if len(x.shape) != 1 or x.dtype.kind == "b":
            ev.fail("F506", node, f"ix_ of {words(x)}", "give lists of indices")
        found.append(reshaped(ev, node, x, [dims_of(x)[0] if j == i else 1 for j in range(len(given))]))
    return tuple(found)


HANDLERS: Mapping[str, Handler] = {
    "filled": _filled, "full": _full, "like": _like, "full_like": _like, "tri": _tri, "eye": _eye, "arange": _arange, "made": _made,
    "linspace": _linspace, "indices_from": _indices_from, "ix": _ix, "asarray": _asarray(False), "array": _asarray(True),
    "ascontiguousarray": _contiguous,
}  # fmt: skip
