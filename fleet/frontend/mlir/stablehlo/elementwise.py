"""Operations of StableHLO that compute each element on its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from fleet.frontend.mlir import scalars
from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.stablehlo.text import StableOperation, words

Rule = Callable[..., MlirArray]


def _same(kind: str, truths: str = "") -> Rule:
    """The operation of this kind; `truths` where the operands are truth values."""
    return lambda b, _op, *operands: b.emit(truths if truths and operands[0].dtype.kind == "b" else kind, *operands)


def _divide(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """Integers are divided towards zero."""
    if x.dtype.kind == "f":
        return b.emit("div", x, y)
    return b.emit("floor_div", x, y) if x.dtype.kind == "u" else scalars.truncated(b, op, x, y)


def _remainder(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """With the sign of the dividend."""
    if x.dtype.kind == "f":
        return b.emit("numpy", x, y, call="fmod(x0, x1)")
    return b.emit("mod", x, y) if x.dtype.kind == "u" else scalars.remainder(b, op, x, y)


_ORDERS = {"EQ": "equal", "NE": "not_equal", "LT": "less", "LE": "less_equal", "GT": "greater", "GE": "greater_equal"}


def _ordered(b: MlirBuild, x: MlirArray) -> MlirArray:
    """Integers in the total order of IEEE 754 of floats: their bits, all but the sign turned in negative ones."""
    dtype = np.dtype(f"i{x.dtype.itemsize}")
    if x.known is not None:
        known = np.asarray(x.known).view(dtype)
        return b.known(known ^ ((known >> (8 * dtype.itemsize - 1)) & np.iinfo(dtype).max))
    flat = b.reshape(x, x.shape or (1,))
    bits = b.reshape(b.emit("numpy", flat, call=f"ndarray.view(x0, dtype='{dtype.name}')"), x.shape)
    signs = b.emit("numpy", bits, b.known(8 * dtype.itemsize - 1, dtype), call="right_shift(x0, x1)")
    return b.emit("bitwise_xor", bits, b.emit("bitwise_and", signs, b.known(np.iinfo(dtype).max, dtype)))


def _compare(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    if "TOTALORDER" in words(op, "compare_type") and x.dtype.kind == "f":
        x, y = _ordered(b, x), _ordered(b, y)
    direction = words(op, "comparison_direction").rstrip(">").split()[-1:]
    kind = _ORDERS.get(direction[0] if direction else "")
    if kind is None:
        b.refuse(f"a comparison {words(op, 'comparison_direction')}")
        raise AssertionError
    return b.emit(kind, x, y)


def _select(b: MlirBuild, _op: StableOperation, condition: MlirArray, x: MlirArray, y: MlirArray) -> MlirArray:
    return b.emit("where", b.broadcast(condition, x.shape), x, y)


def _clamp(b: MlirBuild, _op: StableOperation, low: MlirArray, x: MlirArray, high: MlirArray) -> MlirArray:
    return b.emit("minimum", b.emit("maximum", x, b.broadcast(low, x.shape)), b.broadcast(high, x.shape))


def _convert(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    dtype = scalars.dtype_of(b, op.results[0].type)
    return b.emit("not_equal", x, b.known(0, x.dtype)) if dtype.kind == "b" != x.dtype.kind else b.cast(x, dtype)


def _not(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    if x.dtype.kind == "b":
        return b.emit("logical_not", x)
    return b.emit("bitwise_xor", x, b.known(-1 if x.dtype.kind == "i" else np.iinfo(x.dtype).max, x.dtype))


def _right(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    if x.dtype.kind == "u":
        return b.emit("numpy", x, y, call="right_shift(x0, x1)")
    return scalars.shifted_right(b, op, x, y)


def _square(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    return b.emit("mul", x, x)


def _finite(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    return b.emit("numpy", x, call="isfinite(x0)")


def _away(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    """Round half away from zero."""
    size = b.emit("floor", b.emit("add", b.emit("abs", x), b.known(0.5, x.dtype)))
    return b.emit("numpy", size, x, call="copysign(x0, x1)")


RULES: Mapping[str, Rule] = {
    "add": _same("add", "logical_or"), "subtract": _same("sub"), "multiply": _same("mul", "logical_and"), "divide": _divide,
    "remainder": _remainder, "power": _same("pow"), "maximum": _same("maximum", "logical_or"),
    "minimum": _same("minimum", "logical_and"), "and": _same("bitwise_and", "logical_and"), "or": _same("bitwise_or", "logical_or"),
    "xor": _same("bitwise_xor", "not_equal"), "not": _not, "negate": _same("neg"), "abs": _same("abs"), "sign": _same("sign"),
    "exponential": _same("exp"), "exponential_minus_one": _same("expm1"), "log": _same("log"), "log_plus_one": _same("log1p"),
    "sqrt": _same("sqrt"), "rsqrt": _same("rsqrt"), "cbrt": scalars.calls("cbrt"), "logistic": _same("sigmoid"),
    "tanh": _same("tanh"), "sine": _same("sin"), "cosine": _same("cos"), "tan": _same("tan"), "atan2": scalars.calls("arctan2"),
    "floor": _same("floor"), "ceil": _same("ceil"), "round_nearest_even": _same("rint"), "round_nearest_afz": _away,
    "is_finite": _finite, "compare": _compare, "select": _select, "clamp": _clamp, "convert": _convert,
    "bitcast_convert": scalars.same_bits, "shift_left": scalars.calls("left_shift"), "shift_right_logical": _right,
    "shift_right_arithmetic": scalars.calls("right_shift"),
    # CHLO
    "erf": _same("erf"), "square": _square, "sinh": _same("sinh"), "cosh": _same("cosh"), "asin": scalars.calls("arcsin"),
    "acos": scalars.calls("arccos"), "atan": scalars.calls("arctan"), "asinh": scalars.calls("arcsinh"),
    "acosh": scalars.calls("arccosh"), "atanh": scalars.calls("arctanh"), "is_inf": scalars.calls("isinf"),
}  # fmt: skip
"""Operation without its dialect -> what computes it."""
