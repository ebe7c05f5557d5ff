"""Operations of StableHLO that compute each element on its own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fleet.frontend.mlir import scalars
from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import as_element, dtype_of, rounded, same_bits, viewed
from fleet.frontend.mlir.stablehlo.text import StableOperation, words


def _same(kind: str, truths: str = "") -> scalars.Rule:
    """The operation of this kind; `truths` where the operands are truth values."""
    return lambda b, _op, *operands: b.emit(truths if truths and operands[0].dtype.kind == "b" else kind, *operands)


def _divide(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """Integers are divided towards zero. As XLA has it, a quotient by 0 has all bits set, and the least one by -1 is itself."""
    if x.dtype.kind == "f":
        return b.emit("div", x, y)
    safe, none, minus = _divisors(b, x, y)
    found = b.emit("floor_div", x, safe) if x.dtype.kind == "u" else scalars.truncated(b, op, x, safe)
    if minus is not None:
        found = b.emit("where", minus, b.emit("neg", x), found)
    if none is None:
        return found
    return b.emit("where", none, b.known(-1 if x.dtype.kind == "i" else np.iinfo(x.dtype).max, x.dtype), found)


def _remainder(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """With the sign of the dividend; by 0 the dividend."""
    if x.dtype.kind == "f":
        return b.emit("numpy", x, y, call="fmod(x0, x1)")
    safe, none, _ = _divisors(b, x, y)
    found = b.emit("mod", x, safe) if x.dtype.kind == "u" else scalars.remainder(b, op, x, safe)
    return found if none is None else b.emit("where", none, x, found)


def _divisors(b: MlirBuild, x: MlirArray, y: MlirArray) -> tuple[MlirArray, MlirArray | None, MlirArray | None]:
    """Return (divisors with 1 in place of 0 and -1, mask of those that are 0, mask of those that are -1).

    Targets differ in dividing by 0 and -1. A mask is None where no known divisor needs it: a division by a constant stays one
    operation.
    """
    signed, known = x.dtype.kind == "i", y.known
    none = b.emit("equal", y, b.known(0, y.dtype)) if known is None or (known == 0).any() else None
    minus = b.emit("equal", y, b.known(-1, y.dtype)) if signed and (known is None or (known == -1).any()) else None
    for condition in (none, minus):
        if condition is not None:
            y = b.emit("where", condition, b.known(1, y.dtype), y)
    return y, none, minus


_ORDERS = {"EQ": "equal", "NE": "not_equal", "LT": "less", "LE": "less_equal", "GT": "greater", "GE": "greater_equal"}


def ordered(b: MlirBuild, x: MlirArray) -> MlirArray:
    """Integers in the total order of IEEE 754 of floats: their bits, all but the sign turned in negative ones."""
    dtype = np.dtype(f"i{x.dtype.itemsize}")
    bits = viewed(b, x, dtype)
    turned = b.emit("bitwise_xor", bits, b.known(np.iinfo(dtype).max, dtype))
    return b.emit("where", b.emit("less", bits, b.known(0, dtype)), turned, bits)


def _compare(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    if "TOTALORDER" in words(op, "compare_type") and x.dtype.kind == "f":
        x, y = ordered(b, x), ordered(b, y)
    direction = words(op, "comparison_direction").rstrip(">").split()[-1:]
    kind = _ORDERS.get(direction[0] if direction else "")
    if kind is None:
        b.refuse(f"a comparison {words(op, 'comparison_direction')}")
    return b.emit(kind, x, y)


def _select(b: MlirBuild, _op: StableOperation, condition: MlirArray, x: MlirArray, y: MlirArray) -> MlirArray:
    return b.emit("where", b.broadcast(condition, x.shape) if condition.rank < x.rank else condition, x, y)


def _clamp(b: MlirBuild, _op: StableOperation, low: MlirArray, x: MlirArray, high: MlirArray) -> MlirArray:
    return b.emit("minimum", b.emit("maximum", x, b.broadcast(low, x.shape)), b.broadcast(high, x.shape))


def _convert(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    dtype = dtype_of(b, op.results[0].type)
    if dtype.kind == "b" != x.dtype.kind:
        return b.emit("not_equal", x, b.known(0, x.dtype))
    return as_element(b, x, op.results[0].type)


def _not(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    if x.dtype.kind == "b":
        return b.emit("logical_not", x)
    return b.emit("bitwise_xor", x, b.known(-1 if x.dtype.kind == "i" else np.iinfo(x.dtype).max, x.dtype))


def _right(b: MlirBuild, _op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """Zeros come in."""
    bits = np.dtype(f"u{x.dtype.itemsize}")
    return b.cast(b.emit("numpy", b.cast(x, bits), b.cast(y, bits), call="right_shift(x0, x1)"), x.dtype)


def _same_bits(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    return same_bits(b, op, x, _resized)


def _resized(b: MlirBuild, x: MlirArray, dtype: np.dtype) -> MlirArray:
    """Elements of another size are the parts of one, or one of the parts, along the last dimension: the lowest part first."""
    if dtype.itemsize == x.dtype.itemsize:
        return viewed(b, x, dtype)
    wide, narrow = (np.dtype(f"u{size(dtype.itemsize, x.dtype.itemsize)}") for size in (max, min))
    count, base = wide.itemsize // narrow.itemsize, 8 * narrow.itemsize
    if dtype.itemsize < x.dtype.itemsize:
        whole = b.reshape(viewed(b, x, wide), (*x.shape, 1))
        shifts = b.known([1 << base * n for n in range(count)], wide)
        parts = b.emit("mod", b.emit("floor_div", whole, shifts), b.known(1 << base, wide))
        return viewed(b, b.cast(parts, narrow), dtype)
    parts = b.cast(viewed(b, x, narrow), wide)
    places = b.emit("mul", parts, b.known([1 << base * n for n in range(count)], wide))
    return viewed(b, b.cast(b.emit("reduce_sum", places, axes=(x.rank - 1,), keepdims=False), wide), dtype)


def _square(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    return b.emit("mul", x, x)


def _finite(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    return b.emit("numpy", x, call="isfinite(x0)")


def _away(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    """Round half away from zero. The fraction is exact; a half added before cutting would round up 0.49999997."""
    whole = b.emit("numpy", x, call="trunc(x0)")
    half = b.emit("greater_equal", b.emit("abs", b.emit("sub", x, whole)), b.known(0.5, x.dtype))
    return b.emit("add", whole, b.emit("numpy", b.cast(half, x.dtype), x, call="copysign(x0, x1)"))


def _less_precise(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    if words(op, "format") == "e8m7":
        return b.cast(rounded(b, x if x.dtype == np.float64 else b.cast(x, np.float32)), x.dtype)
    kept = {"e5m10": np.float16, "e8m23": np.float32, "e11m52": np.float64}.get(words(op, "format"))
    if kept is None:
        b.refuse(f"a precision of {words(op, 'format') or 'its own'}", "e5m10, e8m7, e8m23 and e11m52 are read")
    return b.cast(b.cast(x, kept), x.dtype) if np.dtype(kept).itemsize < x.dtype.itemsize else x


RULES: Mapping[str, scalars.Rule] = {
    "add": _same("add", "logical_or"), "subtract": _same("sub"), "multiply": _same("mul", "logical_and"), "divide": _divide,
    "remainder": _remainder, "power": _same("pow"), "maximum": _same("maximum", "logical_or"),
    "minimum": _same("minimum", "logical_and"), "and": _same("bitwise_and", "logical_and"), "or": _same("bitwise_or", "logical_or"),
    "xor": _same("bitwise_xor", "not_equal"), "not": _not, "negate": _same("neg"), "abs": _same("abs"), "sign": _same("sign"),
    "exponential": _same("exp"), "exponential_minus_one": _same("expm1"), "log": _same("log"), "log_plus_one": _same("log1p"),
    "sqrt": _same("sqrt"), "rsqrt": _same("rsqrt"), "cbrt": scalars.calls("cbrt"), "logistic": _same("sigmoid"),
    "tanh": _same("tanh"), "sine": _same("sin"), "cosine": _same("cos"), "tan": _same("tan"), "atan2": scalars.calls("arctan2"),
    "floor": _same("floor"), "ceil": _same("ceil"), "round_nearest_even": _same("rint"), "round_nearest_afz": _away,
    "is_finite": _finite, "compare": _compare, "select": _select, "clamp": _clamp, "convert": _convert,
    "bitcast_convert": _same_bits, "shift_left": scalars.calls("left_shift"), "shift_right_logical": _right,
    "shift_right_arithmetic": scalars.calls("right_shift"),
    # CHLO
    "erf": _same("erf"), "square": _square, "sinh": _same("sinh"), "cosh": _same("cosh"), "asin": scalars.calls("arcsin"),
    "acos": scalars.calls("arccos"), "atan": scalars.calls("arctan"), "asinh": scalars.calls("arcsinh"),
    "acosh": scalars.calls("arccosh"), "atanh": scalars.calls("arctanh"), "is_inf": scalars.calls("isinf"),
    "reduce_precision": _less_precise,
}  # fmt: skip
"""Operation without its dialect -> what computes it."""
