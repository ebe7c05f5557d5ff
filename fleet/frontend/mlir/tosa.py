"""Operations of TOSA 1.0 on tensors, as MLIR 22 writes them: what each means in NumPy's operations.

Numbers that TOSA gives as tensors (zero points, shifts, shapes, margins) must be known. Quantised arithmetic (zero points and
shifts other than 0, `rescale`) is refused.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, TensorType
from xdsl.ir import Operation

from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import dtype_of
from fleet.frontend.mlir.scalars import constant

Rule = Callable[..., MlirArray]


def attribute(op: Operation, name: str) -> Any:
    """Return a property or attribute of an operation, None if it has none of this name."""
    return op.properties.get(name, op.attributes.get(name))


def _numbers(b: MlirBuild, op: Operation, name: str) -> list[int]:
    found = attribute(op, name)
    if not isinstance(found, DenseArrayBase):
        b.refuse(f"{op.name} without {name}, a list of numbers", "TOSA 1.0 is read, as MLIR 22 writes it")
    return [int(v) for v in found.get_values()]


def _number(b: MlirBuild, op: Operation, name: str) -> Any:
    found = attribute(op, name)
    data = getattr(getattr(found, "value", None), "data", None)
    if data is None:
        b.refuse(f"{op.name} without {name}, a number", "TOSA 1.0 is read, as MLIR 22 writes it")
    return data


def _known(b: MlirBuild, array: MlirArray, what: str) -> np.ndarray:
    if array.known is None:
        b.refuse(f"{what} depends on data")
        raise AssertionError
    return array.known


def _zeros(b: MlirBuild, arrays: Sequence[MlirArray], what: str) -> None:
    """Refuse zero points and shifts other than 0."""
    if any(np.any(_known(b, a, what) != 0) for a in arrays):
        b.refuse(f"{what} other than 0", "quantised arithmetic is not read")


def _propagates(b: MlirBuild, op: Operation) -> None:
    if "IGNORE" in str(attribute(op, "nan_mode")):
        b.refuse("nan_mode IGNORE", "NaN goes on here, as in NumPy")


def _same(kind: str, b: MlirBuild, op: Operation, *operands: MlirArray) -> MlirArray:
    _propagates(b, op)
    return b.emit(kind, *operands)


def _mul(b: MlirBuild, _op: Operation, x: MlirArray, y: MlirArray, *shift: MlirArray) -> MlirArray:
    _zeros(b, shift, "a shift")
    return b.emit("mul", x, y)


def _negate(b: MlirBuild, _op: Operation, x: MlirArray, *points: MlirArray) -> MlirArray:
    _zeros(b, points, "a zero point")
    return b.emit("neg", x)


def _reciprocal(b: MlirBuild, _op: Operation, x: MlirArray) -> MlirArray:
    return b.emit("div", b.known(1, x.dtype), x)


def _bitwise_not(b: MlirBuild, _op: Operation, x: MlirArray) -> MlirArray:
    return b.emit("bitwise_xor", x, b.known(-1, x.dtype))


def _intdiv(b: MlirBuild, _op: Operation, x: MlirArray, y: MlirArray) -> MlirArray:
    """Divide towards zero."""
    size = b.emit("floor_div", b.emit("abs", x), b.emit("abs", y))
    return b.emit("mul", size, b.emit("mul", b.emit("sign", x), b.emit("sign", y)))


def _clamp(b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    _propagates(b, op)
    low, high = (b.known(_number(b, op, name), x.dtype) for name in ("min_val", "max_val"))
    return b.emit("minimum", b.emit("maximum", x, low), high)


def _cast(b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    """To integers the nearest one, the even one between two."""
    dtype = dtype_of(b, op.results[0].type)
    if x.dtype.kind == "f" and dtype.kind in "iu":
        x = b.emit("rint", x)
    return b.emit("not_equal", x, b.known(0, x.dtype)) if dtype.kind == "b" else b.cast(x, dtype)


# ---- shapes


def _constant(b: MlirBuild, op: Operation) -> MlirArray:
    return constant(b, attribute(op, "values"))


def _shape(b: MlirBuild, array: MlirArray, what: str) -> list[int]:
    return [int(v) for v in _known(b, array, what).reshape(-1)]


def _reshape(b: MlirBuild, _op: Operation, x: MlirArray, shape: MlirArray) -> MlirArray:
    sizes = _shape(b, shape, "a shape")
    rest = math.prod(s for s in sizes if s != -1)
    sizes = [x_size // max(rest, 1) if s == -1 else s for s in sizes for x_size in (math.prod(x.shape),)]
    if math.prod(sizes) != math.prod(x.shape):
        b.refuse(f"a tensor of shape {list(x.shape)} as one of shape {sizes}")
    return b.reshape(x, sizes)


def _transpose(b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    return b.transpose(x, _numbers(b, op, "perms"))


def _concat(b: MlirBuild, op: Operation, *parts: MlirArray) -> MlirArray:
    return b.concat(parts, _number(b, op, "axis"))


def _slice(b: MlirBuild, _op: Operation, x: MlirArray, start: MlirArray, size: MlirArray) -> MlirArray:
    sizes = _shape(b, size, "a size")
    return b.window(x, _shape(b, start, "a start"), sizes, [1] * len(sizes))


def _pad(b: MlirBuild, _op: Operation, x: MlirArray, margins: MlirArray, value: MlirArray) -> MlirArray:
    ends = _shape(b, margins, "a margin")
    return b.emit("pad", x, b.reshape(value, ()), low=ends[::2], high=ends[1::2])


def _tile(b: MlirBuild, _op: Operation, x: MlirArray, multiples: MlirArray) -> MlirArray:
    for axis, times in enumerate(_shape(b, multiples, "a multiple")):
        x = b.concat([x] * times, axis)
    return x


def _reverse(b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    axis = _number(b, op, "axis")
    start, step = [0] * x.rank, [1] * x.rank
    start[axis], step[axis] = x.shape[axis] - 1, -1
    return b.window(x, start, x.shape, step)


def _gather(b: MlirBuild, _op: Operation, values: MlirArray, indices: MlirArray) -> MlirArray:
    """Take rows: out[n, w] = values[n, indices[n, w]]."""
    parts = []
    for n in range(values.shape[0]):
        rows = b.reshape(b.window(values, [n, 0, 0], [1, *values.shape[1:]], [1] * 3), values.shape[1:])
        which = b.reshape(b.window(indices, [n, 0], [1, indices.shape[1]], [1] * 2), indices.shape[1:])
        parts.append(b.reshape(b.emit("gather", rows, which, axis=0), (1, indices.shape[1], values.shape[2])))
    return b.concat(parts, 0)


# ---- reductions and products


def _reduced(kind: str, b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    _propagates(b, op)
    found = b.emit(kind, x, axes=(_number(b, op, "axis"),), keepdims=True)
    return b.cast(found, x.dtype)


def _argmax(b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    _propagates(b, op)
    return b.cast(b.emit("argmax", x, axis=_number(b, op, "axis"), keepdims=False), dtype_of(b, op.results[0].type))


def _matmul(b: MlirBuild, op: Operation, x: MlirArray, y: MlirArray, *points: MlirArray) -> MlirArray:
    _zeros(b, points, "a zero point")
    dtype = dtype_of(b, op.results[0].type)
    return b.emit("matmul", b.cast(x, dtype), b.cast(y, dtype))


def _windows(b: MlirBuild, x: MlirArray, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int]) -> list[MlirArray]:
    """Return x[n, oy * stride + ky * dilation, ox * stride + kx * dilation, c] for every ky, kx."""
    rows, columns = ((x.shape[n + 1] - (kernel[n] - 1) * dilation[n] - 1) // stride[n] + 1 for n in range(2))
    size = [x.shape[0], rows, columns, x.shape[3]]
    places = itertools.product(*(range(k) for k in kernel))
    return [b.window(x, [0, ky * dilation[0], kx * dilation[1], 0], size, [1, *stride, 1]) for ky, kx in places]


def _padded(b: MlirBuild, x: MlirArray, pad: Sequence[int], value: float) -> MlirArray:
    """Return an image with margins: above, below, left, right."""
    if not any(pad):
        return x
    return b.emit("pad", x, b.known(value, x.dtype), low=[0, pad[0], pad[2], 0], high=[0, pad[1], pad[3], 0])


def _sum(b: MlirBuild, parts: Sequence[MlirArray]) -> MlirArray:
    found = parts[0]
    for part in parts[1:]:
        found = b.emit("add", found, part)
    return found


def _conv2d(
    b: MlirBuild, op: Operation, x: MlirArray, weight: MlirArray, bias: MlirArray, *points: MlirArray, depthwise: bool = False
) -> MlirArray:
    """Sum the products of all places of the kernel, and the bias. Weights are [out, y, x, in], depthwise [y, x, in, multiplier]."""
    _zeros(b, points, "a zero point")
    dtype = dtype_of(b, op.results[0].type)
    x, weight = b.cast(x, dtype), b.cast(weight, dtype)
    x = _padded(b, x, _numbers(b, op, "pad"), 0)
    kernel = weight.shape[:2] if depthwise else weight.shape[1:3]
    windows = _windows(b, x, kernel, _numbers(b, op, "stride"), _numbers(b, op, "dilation"))
    parts: list[MlirArray] = []
    for (ky, kx), window in zip(itertools.product(*(range(k) for k in kernel)), windows, strict=True):
        if depthwise:
            inner, times = weight.shape[2:]
            one = b.reshape(b.window(weight, [ky, kx, 0, 0], [1, 1, inner, times], [1] * 4), (inner, times))
            product = b.emit("mul", b.reshape(window, (*window.shape, 1)), one)
            parts.append(b.reshape(product, (*window.shape[:3], inner * times)))
        else:
            out, inner = weight.shape[0], weight.shape[3]
            one = b.reshape(b.window(weight, [0, ky, kx, 0], [out, 1, 1, inner], [1] * 4), (out, inner))
            rows = b.reshape(window, (math.prod(window.shape[:3]), inner))
            parts.append(b.reshape(b.emit("matmul", rows, b.transpose(one, (1, 0))), (*window.shape[:3], out)))
    return b.emit("add", _sum(b, parts), b.cast(bias, dtype))


def _max_pool(b: MlirBuild, op: Operation, x: MlirArray) -> MlirArray:
    _propagates(b, op)
    least = -math.inf if x.dtype.kind == "f" else int(np.iinfo(x.dtype).min)
    x = _padded(b, x, _numbers(b, op, "pad"), least)
    found, *rest = _windows(b, x, _numbers(b, op, "kernel"), _numbers(b, op, "stride"), (1, 1))
    for window in rest:
        found = b.emit("maximum", found, window)
    return found


def _avg_pool(b: MlirBuild, op: Operation, x: MlirArray, *points: MlirArray) -> MlirArray:
    """Divide by the elements of the image; margins do not count."""
    _zeros(b, points, "a zero point")
    if x.dtype.kind != "f":
        b.refuse(f"{op.name} of {x.dtype}", "quantised arithmetic is not read")
    pad, (kernel, stride) = _numbers(b, op, "pad"), (_numbers(b, op, name) for name in ("kernel", "stride"))
    inside = b.known(np.ones((1, *x.shape[1:3], 1), x.dtype))
    sums, counts = (_sum(b, _windows(b, _padded(b, a, pad, 0), kernel, stride, (1, 1))) for a in (x, inside))
    return b.emit("div", sums, counts)


_SAME = {
    "add": "add", "sub": "sub", "maximum": "maximum", "minimum": "minimum", "pow": "pow", "equal": "equal", "greater": "greater",
    "greater_equal": "greater_equal", "logical_and": "logical_and", "logical_or": "logical_or", "logical_xor": "not_equal",
    "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "abs": "abs", "ceil": "ceil",
    "floor": "floor", "exp": "exp", "log": "log", "rsqrt": "rsqrt", "sigmoid": "sigmoid", "tanh": "tanh", "erf": "erf",
    "sin": "sin", "cos": "cos", "logical_not": "logical_not", "select": "where",
}  # fmt: skip
"""Operation of TOSA -> fleet's of the same meaning."""
_REDUCED = {
    "reduce_sum": "reduce_sum", "reduce_max": "reduce_max", "reduce_min": "reduce_min", "reduce_product": "reduce_prod",
    "reduce_all": "reduce_all", "reduce_any": "reduce_any",
}  # fmt: skip
_OWN: Mapping[str, Rule] = {
    "const": _constant, "const_shape": _constant, "identity": lambda _b, _op, x: x, "mul": _mul, "negate": _negate,
    "reciprocal": _reciprocal, "bitwise_not": _bitwise_not, "intdiv": _intdiv, "clamp": _clamp, "cast": _cast, "reshape": _reshape,
    "transpose": _transpose, "concat": _concat, "slice": _slice, "pad": _pad, "tile": _tile, "reverse": _reverse,
    "gather": _gather, "argmax": _argmax, "matmul": _matmul, "conv2d": _conv2d,
    "depthwise_conv2d": partial(_conv2d, depthwise=True), "max_pool2d": _max_pool, "avg_pool2d": _avg_pool,
}  # fmt: skip
RULES: Mapping[str, Rule] = {
    f"tosa.{name}": rule
    for name, rule in (
        *((name, partial(_same, kind)) for name, kind in _SAME.items()),
        *((name, partial(_reduced, kind)) for name, kind in _REDUCED.items()),
        *_OWN.items(),
    )
}
"""Operation -> what computes it."""


def compute(b: MlirBuild, op: Operation, operands: Sequence[MlirArray]) -> MlirArray:
    """Emit an operation, which nothing has verified yet. Raises ModelError if it is not supported or if its parts do not fit."""
    rule = RULES.get(op.name)
    if rule is None:
        b.refuse(f"{op.name} is not read", "`fleet help mlir` lists what is")
    try:
        found = rule(b, op, *operands)
        type_ = op.results[0].type
        if not isinstance(type_, TensorType):
            return found
        sizes = type_.get_shape()
        fits = len(sizes) == found.rank and all(d in (s, DYNAMIC_INDEX) for d, s in zip(sizes, found.shape, strict=True))
        if not fits or dtype_of(b, type_) != found.dtype:
            b.refuse(f"{op.name} gives {found.dtype}{list(found.shape)}; its text says {type_}", "mlir-opt says more")
        return found
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        b.refuse(f"{op.name} does not verify: its operands and attributes do not fit ({error})", "mlir-opt says more")
