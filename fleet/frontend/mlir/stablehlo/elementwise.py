"""Operations of StableHLO that compute each element on its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fleet.frontend.mlir import scalars
from fleet.frontend.mlir.build import MlirArray, MlirBuild
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
    return (
        found
        if none is None
        else b.emit("where", none, b.known(-1 if x.dtype.kind == "i" else np.iinfo(x.dtype).max, x.dtype), found)
    )


def _remainder(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """With the sign of the dividend; by 0 the dividend."""
    if x.dtype.kind == "f":
        return b.emit("numpy", x, y, call="fmod(x0, x1)")
    safe, none, _ = _divisors(b, x, y)
    found = b.emit("mod", x, safe) if x.dtype.kind == "u" else scalars.remainder(b, op, x, safe)
    return found if none is None else b.emit("where", none, x, found)


def _divisors(b: MlirBuild, x: MlirArray, y: MlirArray) -> tuple[MlirArray, MlirArray | None, MlirArray | None]:
    """Divisors with 1 in place of 0 and -1, which not every target divides by alike; which are 0, and which are -1.

    None for what no divisor is: programs divide by constants mostly, and stay as short as they were written.
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
    if x.known is not None:
        known = np.asarray(x.known).view(dtype)
        return b.known(known ^ ((known >> (8 * dtype.itemsize - 1)) & np.iinfo(dtype).max))
    flat = b.reshape(x, x.shape or (1,))
    bits = b.reshape(b.emit("numpy", flat, call=f"ndarray.view(x0, dtype='{dtype.name}')"), x.shape)
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


def _right(b: MlirBuild, _op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """Zeros come in."""
    bits = np.dtype(f"u{x.dtype.itemsize}")
    return b.cast(b.emit("numpy", b.cast(x, bits), b.cast(y, bits), call="right_shift(x0, x1)"), x.dtype)


def _square(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    return b.emit("mul", x, x)


def _finite(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    return b.emit("numpy", x, call="isfinite(x0)")


def _away(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    """Round half away from zero. The fraction is exact; a half added before cutting would round up 0.49999997."""
    whole = b.emit("numpy", x, call="trunc(x0)")
    half = b.emit("greater_equal", b.emit("abs", b.emit("sub", x, whole)), b.known(0.5, x.dtype))
    return b.emit("add", whole, b.emit("numpy", b.cast(half, x.dtype), x, call="copysign(x0, x1)"))


def _erf_inv(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    """The polynomials of M. Giles, "Approximating the erfinv function" (2010), as XLA computes it in single precision."""
    if x.dtype != np.float32:
        b.refuse(f"erf_inv of {x.dtype}", "it is read in float32")
    w = b.emit("neg", b.emit("log1p", b.emit("neg", b.emit("mul", x, x))))

    def polynomial(at: MlirArray, factors: Sequence[float]) -> MlirArray:
        found = b.broadcast(b.known(factors[0], x.dtype), x.shape)
        for factor in factors[1:]:
            found = b.emit("add", b.emit("mul", found, at), b.known(factor, x.dtype))
        return found

    inner = polynomial(b.emit("sub", w, b.known(2.5, x.dtype)), _INNER)
    tail = polynomial(b.emit("sub", b.emit("sqrt", w), b.known(3, x.dtype)), _TAIL)
    near = b.emit("mul", b.emit("where", b.emit("less", w, b.known(5, x.dtype)), inner, tail), x)
    ends = b.emit("mul", x, b.known(np.inf, x.dtype))
    return b.emit("where", b.emit("equal", b.emit("abs", x), b.known(1, x.dtype)), ends, near)


_INNER = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727,
    1.50140941,
)  # fmt: skip
_TAIL = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406,
    2.83297682,
)  # fmt: skip


def _bit_count(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    bits = np.dtype(f"u{x.dtype.itemsize}")
    return b.cast(b.emit("numpy", b.cast(x, bits), call="bitwise_count(x0)"), x.dtype)


def _less_precise(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
    kept = {"e5m10": np.float16, "e8m23": np.float32, "e11m52": np.float64}.get(words(op, "format"))
    if kept is None:
        b.refuse(f"a precision of {words(op, 'format') or 'its own'}", "e5m10, e8m23 and e11m52 are read")
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
    "bitcast_convert": scalars.same_bits, "shift_left": scalars.calls("left_shift"), "shift_right_logical": _right,
    "shift_right_arithmetic": scalars.calls("right_shift"),
    # CHLO
    "erf": _same("erf"), "square": _square, "sinh": _same("sinh"), "cosh": _same("cosh"), "asin": scalars.calls("arcsin"),
    "acos": scalars.calls("arccos"), "atan": scalars.calls("arctan"), "asinh": scalars.calls("arcsinh"),
    "acosh": scalars.calls("arccosh"), "atanh": scalars.calls("arctanh"), "is_inf": scalars.calls("isinf"),
    "erf_inv": _erf_inv, "popcnt": _bit_count, "reduce_precision": _less_precise,
}  # fmt: skip
"""Operation without its dialect -> what computes it."""
