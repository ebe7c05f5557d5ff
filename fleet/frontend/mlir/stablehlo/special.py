"""Special functions of CHLO as sequences of operations: erf's relatives, gamma's, and what counts or steps bits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from fleet.frontend.mlir import scalars
from fleet.frontend.mlir.build import MlirArray, MlirBuild
from fleet.frontend.mlir.element_types import is_bfloat16, viewed
from fleet.frontend.mlir.stablehlo.text import StableOperation


def _polynomial(b: MlirBuild, at: MlirArray, factors: Sequence[float]) -> MlirArray:
    """Horner's scheme, the factor of the highest power first."""
    found = b.broadcast(b.known(factors[0], at.dtype), at.shape)
    for factor in factors[1:]:
        found = b.emit("add", b.emit("mul", found, at), b.known(factor, at.dtype))
    return found


def _in_float32(rule: scalars.Rule) -> scalars.Rule:
    """Compute a function of float16 in float32, as XLA does: the result is rounded once."""

    def widened(b: MlirBuild, op: StableOperation, x: MlirArray) -> MlirArray:
        return b.cast(rule(b, op, b.cast(x, np.float32)), x.dtype) if x.dtype == np.float16 else rule(b, op, x)

    return widened


def _erf_inv(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    """The polynomials of M. Giles, "Approximating the erfinv function" (2010), as XLA computes it in single precision."""
    if x.dtype != np.float32:
        b.refuse(f"erf_inv of {x.dtype}", "it is read in float32")
    w = b.emit("neg", b.emit("log1p", b.emit("neg", b.emit("mul", x, x))))
    inner = _polynomial(b, b.emit("sub", w, b.known(2.5, x.dtype)), _INNER)
    tail = _polynomial(b, b.emit("sub", b.emit("sqrt", w), b.known(3, x.dtype)), _TAIL)
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


def _erfc(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    """1 - erf(x) to 1; beyond it exp(-x^2) times what Cephes (S. L. Moshier) has for it, in single or in double precision.

    x^2 is summed of two parts, of which the larger is exact: rounded to a few bits, its error would multiply the result by
    exp(x^2 eps), 80 units in the last place at 9 of float32. Against mpmath the error is at most 7 units in the last place of
    float32 and 8 of float64, 1 in the mean, where the result is a normal number.
    """
    size = b.emit("minimum", b.emit("abs", x), b.known(_ERFC_END[x.dtype.itemsize], x.dtype))  # behind it the result is 0
    far = b.emit("maximum", size, b.known(1, x.dtype))  # in front of it this branch is not taken
    steps = b.known(_ERFC_STEPS[x.dtype.itemsize], x.dtype)
    head = b.emit("div", b.emit("rint", b.emit("mul", far, steps)), steps)
    rest = b.emit("mul", b.emit("sub", far, head), b.emit("add", far, head))
    scale = b.emit("mul", b.emit("exp", b.emit("neg", b.emit("mul", head, head))), b.emit("exp", b.emit("neg", rest)))
    if x.dtype == np.float32:
        inverse = b.emit("div", b.known(1, x.dtype), far)
        square = b.emit("mul", inverse, inverse)
        inner, outer = (_polynomial(b, square, factors) for factors in (_ERFC_TO_2, _ERFC_FROM_2))
        factor, end = inverse, 2
    else:
        inner, outer = (b.emit("div", _polynomial(b, far, p), _polynomial(b, far, q)) for p, q in (_ERFC_TO_8, _ERFC_FROM_8))
        factor, end = None, 8
    tail = b.emit("where", b.emit("less", far, b.known(end, x.dtype)), inner, outer)
    tail = b.emit("mul", scale, tail if factor is None else b.emit("mul", factor, tail))
    beyond = b.emit("where", b.emit("less", x, b.known(0, x.dtype)), b.emit("sub", b.known(2, x.dtype), tail), tail)
    near = b.emit("sub", b.known(1, x.dtype), b.emit("erf", x))
    found = b.emit("where", b.emit("greater", size, b.known(1, x.dtype)), beyond, near)
    return b.emit("where", b.emit("isnan", x), x, found)


_ERFC_END = {4: 11.0, 8: 28.0}
"""Bytes of a float -> where erfc has become 0: half of the least number of that size is larger."""
_ERFC_STEPS = {4: 256.0, 8: 1 << 21}
"""Bytes of a float -> parts of 1 to which x is rounded, so that the square is exact."""
_ERFC_TO_2 = (
    2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1, 6.210004621745983e-1,
    -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1, 5.638259427386472e-1,
)  # fmt: skip
_ERFC_FROM_2 = (
    -1.047766399936249e1, 1.297719955372516e1, -7.495518717768503e0, 2.921019019210786e0, -1.015265279202700e0,
    4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1,
)  # fmt: skip
_ERFC_TO_8 = (
    (
        2.46196981473530512524e-10, 5.64189564831068821977e-1, 7.46321056442269912687e0, 4.86371970985681366614e1,
        1.96520832956077098242e2, 5.26445194995477358631e2, 9.34528527171957607540e2, 1.02755188689515710272e3,
        5.57535335369399327526e2,
    ),
    (
        1.0, 1.32281951154744992508e1, 8.67072140885989742329e1, 3.54937778887819891062e2, 9.75708501743205489753e2,
        1.82390916687909736289e3, 2.24633760818710981792e3, 1.65666309194161350182e3, 5.57535340817727675546e2,
    ),
)  # fmt: skip
_ERFC_FROM_8 = (
    (
        5.64189583547755073984e-1, 1.27536670759978104416e0, 5.01905042251180477414e0, 6.16021097993053585195e0,
        7.40974269950448939160e0, 2.97886665372100240670e0,
    ),
    (
        1.0, 2.26052863220117276590e0, 9.39603524938001434673e0, 1.20489539808096656605e1, 1.70814450747565897222e1,
        9.60896809063285878198e0, 3.36907645100081516050e0,
    ),
)  # fmt: skip


# ---- the logarithm of gamma and its derivative: Lanczos' series, g = 7, as XLA has it

_LANCZOS = (
    676.520368121885098567009190444019, -1259.13921672240287047156078755283, 771.3234287776530788486528258894,
    -176.61502916214059906584551354, 12.507343278686904814458936853, -0.13857109526572011689554706984971,
    9.984369578019570859563e-6, 1.50563273514931155834e-7,
)  # fmt: skip
_LANCZOS_FIRST, _LANCZOS_G = 0.99999999999980993227684700473478, 7.0


def _reflected(b: MlirBuild, x: MlirArray) -> tuple[MlirArray, MlirArray]:
    """Return (x < 1/2, z), where gamma(z + 1) is in the series' range: z = x - 1, or -x, by the reflection formula, for x < 1/2."""
    low = b.emit("less", x, b.known(0.5, x.dtype))
    return low, b.emit("where", low, b.emit("neg", x), b.emit("sub", x, b.known(1, x.dtype)))


def _series(b: MlirBuild, z: MlirArray) -> tuple[MlirArray, MlirArray]:
    """Lanczos' sum at z, and its derivative."""
    total = b.broadcast(b.known(_LANCZOS_FIRST, z.dtype), z.shape)
    slope = b.broadcast(b.known(0, z.dtype), z.shape)
    for n, factor in enumerate(_LANCZOS, 1):
        place = b.emit("add", z, b.known(n, z.dtype))
        term = b.emit("div", b.known(factor, z.dtype), place)
        total = b.emit("add", total, term)
        slope = b.emit("sub", slope, b.emit("div", term, place))
    return total, slope


def _log_ahead(b: MlirBuild, z: MlirArray) -> tuple[MlirArray, MlirArray]:
    """z + 7.5 and its logarithm."""
    ahead = b.known(_LANCZOS_G + 0.5, z.dtype)
    log = b.emit("add", b.emit("log1p", b.emit("div", z, ahead)), b.known(math.log(_LANCZOS_G + 0.5), z.dtype))
    return b.emit("add", z, ahead), log


def _lgamma(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    low, z = _reflected(b, x)
    ahead, log = _log_ahead(b, z)
    power = b.emit("sub", b.emit("add", z, b.known(0.5, x.dtype)), b.emit("div", ahead, log))
    rest = b.emit("add", b.known(math.log(2 * math.pi) / 2, x.dtype), b.emit("log", _series(b, z)[0]))
    found = b.emit("add", b.emit("mul", power, log), rest)
    size = b.emit("abs", x)
    part = b.emit("sub", size, b.emit("floor", size))
    near = b.emit("where", b.emit("greater", part, b.known(0.5, x.dtype)), b.emit("sub", b.known(1, x.dtype), part), part)
    sine = b.emit("log", b.emit("sin", b.emit("mul", near, b.known(math.pi, x.dtype))))
    other = b.emit("sub", b.emit("sub", b.known(math.log(math.pi), x.dtype), sine), found)
    other = b.emit("where", b.emit("less", b.emit("abs", sine), b.known(np.inf, x.dtype)), other, b.emit("neg", sine))
    infinite = b.emit("equal", size, b.known(np.inf, x.dtype))
    return b.emit("where", infinite, size, b.emit("where", low, other, found))


def _digamma(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    low, z = _reflected(b, x)
    (ahead, log), (total, slope) = _log_ahead(b, z), _series(b, z)
    found = b.emit("add", log, b.emit("div", slope, total))
    found = b.emit("sub", found, b.emit("div", b.known(_LANCZOS_G, x.dtype), ahead))
    whole = b.emit("floor", b.emit("add", x, b.known(0.5, x.dtype)))
    angle = b.emit("mul", b.emit("add", x, b.emit("abs", whole)), b.known(math.pi, x.dtype))
    cosine = b.emit("mul", b.emit("cos", angle), b.known(math.pi, x.dtype))
    other = b.emit("sub", found, b.emit("div", cosine, b.emit("sin", angle)))
    pole = b.emit("logical_and", b.emit("less_equal", x, b.known(0, x.dtype)), b.emit("equal", x, b.emit("floor", x)))
    undefined = b.broadcast(b.known(np.nan, x.dtype), x.shape)
    return b.emit("where", pole, undefined, b.emit("where", low, other, found))


# ---- bits


def _next_after(b: MlirBuild, op: StableOperation, x: MlirArray, y: MlirArray) -> MlirArray:
    """The neighbour of x towards y: floats of one sign are ordered as their bits are."""
    dtype = np.dtype(f"i{x.dtype.itemsize}")
    zero, one = b.known(0, x.dtype), b.known(1 << 16 if is_bfloat16(op.results[0].type) else 1, dtype)
    bits = viewed(b, x, dtype)
    away = b.emit("equal", b.emit("less", x, y), b.emit("greater", x, zero))
    moved = b.emit("add", bits, b.emit("where", away, b.broadcast(one, x.shape), b.emit("neg", one)))
    sign = b.emit("bitwise_and", viewed(b, y, dtype), b.known(np.iinfo(dtype).min, dtype))
    from_zero = b.emit("bitwise_or", sign, one)
    found = viewed(b, b.emit("where", b.emit("equal", x, zero), from_zero, moved), x.dtype)
    found = b.emit("where", b.emit("equal", x, y), y, found)
    undefined = b.emit("logical_or", b.emit("isnan", x), b.emit("isnan", y))
    return b.emit("where", undefined, b.emit("add", x, y), found)


def _leading_zeros(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    """Halves of the bits that are left, one after the other: an empty one is counted, and the next one comes in its place."""
    bits, dtype = 8 * x.dtype.itemsize, np.dtype(f"u{x.dtype.itemsize}")
    left = b.cast(x, dtype)
    found = b.broadcast(b.known(0, dtype), x.shape)
    step = bits // 2
    while step:
        empty = b.emit("less", left, b.known(1 << (bits - step), dtype))
        found = b.emit("add", found, b.emit("where", empty, b.broadcast(b.known(step, dtype), x.shape), b.known(0, dtype)))
        left = b.emit("where", empty, b.emit("mul", left, b.known(1 << step, dtype)), left)
        step //= 2
    none = b.emit("equal", b.cast(x, dtype), b.known(0, dtype))
    return b.cast(b.emit("where", none, b.broadcast(b.known(bits, dtype), x.shape), found), x.dtype)


def _bit_count(b: MlirBuild, _op: StableOperation, x: MlirArray) -> MlirArray:
    bits = np.dtype(f"u{x.dtype.itemsize}")
    return b.cast(b.emit("numpy", b.cast(x, bits), call="bitwise_count(x0)"), x.dtype)


RULES: Mapping[str, scalars.Rule] = {
    "erf_inv": _erf_inv, "erfc": _in_float32(_erfc), "lgamma": _in_float32(_lgamma), "digamma": _in_float32(_digamma),
    "next_after": _next_after, "count_leading_zeros": _leading_zeros, "popcnt": _bit_count,
}  # fmt: skip
"""Operation without its dialect -> what computes it."""
