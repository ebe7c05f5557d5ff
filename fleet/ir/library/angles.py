"""Inverse trigonometric and hyperbolic functions, signs and cube roots as sequences of operations.

The arc tangent is that of the Cephes library (S. L. Moshier): two reductions of the argument and a rational function, within 2
units in the last place of float64. The others use it and logarithms, in forms that are accurate near their zeros.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from fleet.ir.library.arrays import Array, select

_P = (-8.750608600031904122785e-1, -1.615753718733365076637e1, -7.500855792314704667340e1, -1.228866684490136173410e2,
      -6.485021904942025371773e1)  # fmt: skip
_Q = (1.0, 2.485846490142306297962e1, 1.650270098316988542046e2, 4.328810604912902668951e2, 4.853903996359136964868e2,
      1.945506571482613964425e2)  # fmt: skip
_TAN_3PI_8 = 2.41421356237309504880
_MORE = 6.123233995736765886130e-17
"""pi / 2 minus its float64 value."""


def _polynomial(x: Array, coefficients: Sequence[float]) -> Array:
    found = x * coefficients[0] + coefficients[1]
    for c in coefficients[2:]:
        found = found * x + c
    return found


def _wide(x: Array) -> Array:
    return x.astype(np.float64)


def signbit(x: Array) -> Array:
    """`numpy.signbit` of values that are not NaN."""
    if x.dtype.kind != "f":
        return x < 0
    return (x < 0) | (x.equal(0.0) & ((1.0 / x) < 0))


def copysign(x: Array, sign: Array) -> Array:
    """`numpy.copysign`."""
    size = x.op("abs")
    return select(signbit(sign), -size, size)


def _positive_arctan(x: Array) -> Array:
    """Return the arctangent of non-negative float64 values."""
    large, middle = x > _TAN_3PI_8, x > 0.66
    reduced = select(large, -1.0 / x, select(middle, (x - 1.0) / (x + 1.0), x))
    offset = select(large, math.pi / 2, select(middle, math.pi / 4, 0.0))
    more = select(large, _MORE, select(middle, 0.5 * _MORE, 0.0))
    z = reduced * reduced
    return offset + (reduced * (z * _polynomial(z, _P) / _polynomial(z, _Q)) + reduced + more)


def _arctan(x: Array) -> Array:
    wide = _wide(x)
    return copysign(_positive_arctan(wide.op("abs")), wide).astype(x.dtype)


def _arctan2(y: Array, x: Array) -> Array:
    """By quadrants, from the angle of the magnitudes; of two zeros and two infinities a quarter and an eighth turn."""
    a, b = _wide(y), _wide(x)
    up, across = a.op("abs"), b.op("abs")
    infinite = up.equal(math.inf) & across.equal(math.inf)
    angle = select(infinite, math.pi / 4, _positive_arctan(up / select(up.equal(0.0), 1.0, across)))
    angle = select(across.equal(0.0) & (up > 0.0), math.pi / 2, angle)
    angle = select(signbit(b), math.pi - angle, angle)
    angle = select(a.isnan() | b.isnan(), math.nan, angle)
    return copysign(angle, a).astype(y.dtype)


def _arcsin(x: Array) -> Array:
    wide = _wide(x)
    size = wide.op("abs")
    angle = _positive_arctan(size / ((1.0 - size) * (1.0 + size)).op("sqrt"))
    return copysign(angle, wide).astype(x.dtype)


def _arccos(x: Array) -> Array:
    wide = _wide(x)
    angle = 2.0 * _positive_arctan(((1.0 - wide) / (1.0 + wide)).op("sqrt"))
    return angle.astype(x.dtype)


def _arcsinh(x: Array) -> Array:
    wide = _wide(x)
    a = wide.op("abs")
    near = (a + a * a / (1.0 + (a * a + 1.0).op("sqrt"))).op("log1p")
    return copysign(select(a > 1e8, a.op("log") + math.log(2), near), wide).astype(x.dtype)


def _arccosh(x: Array) -> Array:
    wide = _wide(x)
    t = wide - 1.0
    near = (t + (2.0 * t + t * t).op("sqrt")).op("log1p")
    found = select(wide > 1e8, wide.op("log") + math.log(2), near)
    return select(wide < 1.0, math.nan, found).astype(x.dtype)


def _arctanh(x: Array) -> Array:
    wide = _wide(x)
    a = wide.op("abs")
    return copysign(0.5 * (2.0 * a / (1.0 - a)).op("log1p"), wide).astype(x.dtype)


def _cbrt(x: Array) -> Array:
    """A power, and one Newton step."""
    wide = _wide(x)
    a = wide.op("abs")
    plain = a.equal(0.0) | a.equal(math.inf)
    safe = select(plain, 1.0, a)
    root = (safe.op("log") / 3.0).op("exp")
    root = root - (root - safe / (root * root)) / 3.0
    return copysign(select(plain, a, root), wide).astype(x.dtype)


RULES: Mapping[str, Callable[..., Array]] = {
    "arctan": _arctan,
    "arctan2": _arctan2,
    "arcsin": _arcsin,
    "arccos": _arccos,
    "arcsinh": _arcsinh,
    "arccosh": _arccosh,
    "arctanh": _arctanh,
    "cbrt": _cbrt,
    "signbit": signbit,
    "copysign": copysign,
    "deg2rad": lambda x: x * (math.pi / 180),
    "rad2deg": lambda x: x * (180 / math.pi),
    "radians": lambda x: x * (math.pi / 180),
    "degrees": lambda x: x * (180 / math.pi),
}
"""Ufunc -> its sequence, for operands in the dtype in which NumPy computes."""
