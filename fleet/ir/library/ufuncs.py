"""Ufuncs as sequences of operations: with `dtype`, `out` and `where`, their reductions, and ufuncs without their own operation."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from fleet.ir.library import angles
from fleet.ir.library.arrays import Array, concat, filled, select, stack
from fleet.ir.library.call import LibraryCall
from fleet.ir.operations import elementwise, functions
from fleet.ir.operations.operation import ElementwiseOp, kind_of

_MODULES = (elementwise, functions)
_OPERATIONS: Mapping[str, str] = {
    op.NUMPY.__name__: kind_of(op)
    for module in _MODULES
    for op in (getattr(module, name) for name in module.__all__)
    if issubclass(op, ElementwiseOp) and isinstance(op.NUMPY, np.ufunc)
}
"""NumPy's name -> the operation."""
_REDUCTIONS: Mapping[str, str] = {
    "add": "reduce_sum", "multiply": "reduce_prod", "maximum": "reduce_max", "minimum": "reduce_min", "fmax": "nan_max",
    "fmin": "nan_min", "logical_and": "reduce_all", "logical_or": "reduce_any",
}  # fmt: skip


def _fmod(a: Array, b: Array) -> Array:
    """The remainder of the magnitudes, with the sign of the dividend."""
    if a.dtype.kind != "f":
        return select(a < 0, -(a.op("abs") % b.op("abs")), a.op("abs") % b.op("abs")) if a.dtype.kind == "i" else a % b
    return angles.copysign(a.op("abs") % b.op("abs"), a)


def _logaddexp2(a: Array, b: Array) -> Array:
    tail = (-((a - b).op("abs"))).op("exp2").op("log1p") / math.log(2)
    high = a.op("maximum", b)
    return select(a.equal(b), high + 1.0, high + tail)


def _ldexp(x: Array, n: Array) -> Array:
    """In two steps, so that no power of two overflows unless the result does."""
    half = n.astype(x.dtype) * 0.5
    first = half.op("floor")
    return x * first.op("exp2") * (n.astype(x.dtype) - first).op("exp2")


def _reciprocal(x: Array) -> Array:
    """Return 1 / x; for integers rounded towards zero, and for 0 the processor's cast of an infinity."""
    if x.dtype.kind == "f":
        return 1.0 / x
    with np.errstate(divide="ignore", invalid="ignore"):
        of_zero = int(np.reciprocal(np.zeros((), x.dtype)))
    return select(x.equal(0), of_zero, select(x.op("abs").equal(1) if x.dtype.kind == "i" else x.equal(1), x, 0))


def _bitwise_count(x: Array) -> Array:
    rest = x.op("abs") if x.dtype.kind == "i" else x
    found = rest % 2
    for _ in range(8 * x.dtype.itemsize - 1):
        rest = rest // 2
        found = found + rest % 2
    return found


def _modf(x: Array) -> list[Array]:
    whole = angles.copysign(x.op("abs").op("floor"), x)
    rest = select(x.op("abs").equal(math.inf), 0.0, x - whole)
    return [angles.copysign(rest, x), whole]


def vecdot(a: Array, b: Array) -> Array:
    """Sums of products along the last dimension."""
    return (a[..., None, :].op("matmul", b[..., :, None]))[..., 0, 0]


_RULES: Mapping[str, Callable[..., Any]] = {
    **angles.RULES,
    "fmod": _fmod,
    "logaddexp2": _logaddexp2,
    "float_power": lambda a, b: a.op("pow", b),
    "square": lambda x: x * x,
    "reciprocal": _reciprocal,
    "positive": lambda x: x,
    "conjugate": lambda x: x,
    "fabs": lambda x: x.op("abs"),
    "trunc": lambda x: angles.copysign(x.op("abs").op("floor"), x) if x.dtype.kind == "f" else x,
    "isinf": lambda x: x.op("abs").equal(math.inf) if x.dtype.kind == "f" else x.op("not_equal", x),
    "isfinite": lambda x: x.op("abs") < math.inf if x.dtype.kind == "f" else x.equal(x),
    "divmod": lambda a, b: [a // b, a % b],
    "invert": lambda x: ~x if x.dtype.kind == "b" else -1 - x if x.dtype.kind == "i" else int(np.iinfo(x.dtype).max) - x,
    "bitwise_count": _bitwise_count,
    "ldexp": _ldexp,
    "modf": _modf,
    "logical_xor": lambda a, b: a.op("not_equal", b),
    "matmul": lambda a, b: a.op("matmul", b),
    "vecdot": vecdot,
    "matvec": lambda a, b: a.op("matmul", b[..., :, None])[..., 0],
    "vecmat": lambda a, b: a[..., None, :].op("matmul", b)[..., 0, :],
}


UFUNCS = frozenset(n for n, v in vars(np).items() if getattr(v, "__name__", "") in _OPERATIONS.keys() | _RULES.keys())
"""Ufuncs that have a sequence, by every name that NumPy has for them."""


def ufunc(call: LibraryCall, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    """Return the call's arrays; None for a ufunc without a sequence. Raises InferenceError for arguments without a rule."""
    name, _, method = call.function.partition(".")
    function = getattr(np, name, None)
    if not isinstance(function, np.ufunc):
        return None
    if method:
        return _method(name, method, arguments, keywords)
    if keywords.keys() - {"dtype", "out", "where", "casting", "axis"} or ("axis" in keywords and function.signature is None):
        return None
    if not isinstance(keywords.get("where", True), Array) and keywords.get("where", True) is not True:
        return None
    found = _computed(function, arguments, keywords)
    if found is None or "out" not in keywords:
        return found
    out = keywords["out"]
    made = found.astype(out.dtype).broadcast(*out.shape)
    return select(keywords["where"].broadcast(*out.shape), made, out) if isinstance(keywords.get("where"), Array) else made


def _computed(function: np.ufunc, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    name = function.__name__
    if name not in _OPERATIONS and name not in _RULES:
        return None
    keys = tuple(a.dtype if isinstance(a, Array) else np.dtype(bool) if isinstance(a, bool) else type(a) for a in arguments)
    wanted = keywords.get("dtype")
    if wanted is None:
        dtypes = function.resolve_dtypes((*keys, *[None] * function.nout))
    else:
        dtypes = (np.dtype(wanted),) * len(keys)
    s = next(a.s for a in arguments if isinstance(a, Array))
    operands = [a.astype(t) if isinstance(a, Array) else filled(s, (), a, t) for a, t in zip(arguments, dtypes, strict=False)]
    if name in _OPERATIONS:
        return operands[0].op(_OPERATIONS[name], *operands[1:])
    if "axis" in keywords:
        operands = [o.moved(int(keywords["axis"]), -1) for o in operands]
    wide = [o.astype(np.float32) if o.dtype == np.float16 else o for o in operands]
    return _RULES[name](*wide)


# ---- methods


def _method(name: str, method: str, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    x = arguments[0]
    if isinstance(x, list):
        x = stack(x)
    if not isinstance(x, Array) or keywords.keys() - {"axis", "dtype", "keepdims", "initial", "where"}:
        return None
    match method:
        case "reduce":
            return _reduced(name, x, keywords)
        case "accumulate":
            return _accumulated(name, x, int(keywords.get("axis", 0)))
        case "outer":
            other = arguments[1]
            if not isinstance(other, Array):
                return None
            return _computed(getattr(np, name), [x.reshape(*x.shape, *[1] * other.ndim), other], {})
        case _:
            places = arguments[1]
            if isinstance(places, Array) or x.ndim != 1:
                return None
            ends = [*places[1:], x.shape[0]]
            parts = [x[a:b] if a < b else x[a : a + 1] for a, b in zip(places, ends, strict=True)]
            made = [_reduced(name, p, {"keepdims": True, **keywords}) for p in parts]
            known = [m for m in made if m is not None]
            return concat(known) if len(known) == len(made) else None


def _reduced(name: str, x: Array, keywords: Mapping[str, Any]) -> Array | None:
    from_all = keywords.get("axis", 0)
    if name in _REDUCTIONS and not keywords.keys() & {"initial", "where"}:
        if name.startswith("logical"):
            x = x.op("not_equal", 0) if x.dtype.kind != "b" else x
        elif keywords.get("dtype") is not None:
            x = x.astype(keywords["dtype"])
        found = x.reduce(_REDUCTIONS[name], from_all, keepdims=bool(keywords.get("keepdims")))
        return found if keywords.get("dtype") is None else found.astype(keywords["dtype"])
    if keywords.keys() & {"initial", "where"} or not isinstance(from_all, int):
        return None
    axis = from_all % x.ndim
    total = _pieces(name, x, axis)
    if total is None:
        return None
    return total if keywords.get("keepdims") else total.reshape(*(d for i, d in enumerate(total.shape) if i != axis))


_MOST_STEPS = 256


def _pieces(name: str, x: Array, axis: int) -> Array | None:
    """A sequential reduction along an axis."""
    size = x.shape[axis]
    if not size or size > _MOST_STEPS:
        return None
    parts = [x[(*[slice(None)] * axis, slice(i, i + 1))] for i in range(size)]
    total: Array | None = parts[0]
    for part in parts[1:]:
        total = _computed(getattr(np, name), [total, part], {})
        if total is None:
            return None
    return total


def _accumulated(name: str, x: Array, axis: int) -> Array | None:
    if name == "add":
        return x.op("cumsum", axis=axis % x.ndim)
    neutral = {"multiply": 1, "maximum": None, "minimum": None}
    if name not in neutral:
        return None
    if name == "multiply" and x.dtype.kind != "f":
        x = x.astype(np.multiply.accumulate(np.ones(1, x.dtype)).dtype)
    return scan(x, axis, {"multiply": "mul"}.get(name, name))


def scan(x: Array, axis: int, operation: str) -> Array:
    """Running products, maxima or minima, in a number of steps logarithmic in the size."""
    axis %= x.ndim
    step = 1
    while step < x.shape[axis]:
        head = x[(*[slice(None)] * axis, slice(0, step))]
        late, early = x[(*[slice(None)] * axis, slice(step, None))], x[(*[slice(None)] * axis, slice(0, -step))]
        x = concat([head, late.op(operation, early)], axis)
        step *= 2
    return x
