"""The error function on arrays. NumPy has none, and libm's results depend on the machine.

In float64 erf is expanded in a Taylor series around the nearest k / 16. In float32 and float16 it is x times a cubic: the Taylor
series of erf(x) / x, which is even and never near 0, around the nearest k / 256; it is evaluated in float64 and rounded once.
Coefficients are computed once, from integers, so that the bits are the same wherever IEEE 754 double precision is available.
Evaluation is Horner's scheme of multiplications and additions.

Error, measured against mpmath (tests/targets/bytecode/test_erf.py checks it): float64 at most `ULP` units in the last place;
float32 and float16 at most 0.501.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from fleet.sdk.native import target
from fleet.targets.bytecode.kernels.erf_kernel import library

ULP = 2.0
"""Largest error of float64, in units in the last place; narrower results have less than 0.51."""

_PER_UNIT = 16
_END = 6
"""erf(6) is 1 - 2e-17, which rounds to 1 in float64."""
_DEGREE = 11
_CHUNK = 1 << 15
"""Elements evaluated together, so that temporaries stay in the cache."""
_NARROW_PER_UNIT = 256
_NARROW_END = 4
"""erf(4) is 1 - 1.5e-8, which rounds to 1 in float32."""
_NARROW_CHUNK = 1 << 13
_LEAST_COMPILED = 1 << 9
"""Elements for which the call of compiled code pays off."""
_BITS = 400


def erf(x: Any) -> Any:
    """Return erf of every element; float16, float32 and float64 keep their dtype.

    Integers and bools become what `numpy.tanh` would return; a Python number gives a float64 scalar. NaN stays NaN, the limits are
    -1 and 1, -0.0 stays -0.0.
    """
    array = np.asarray(x)
    dtype = np.tanh.resolve_dtypes((array.dtype, None))[-1]
    flat = array.reshape(-1)
    out = np.empty(flat.shape, dtype)
    if dtype.itemsize <= 4:
        if not _compiled(flat, out):
            _narrow(flat, out)
    else:
        for start in range(0, flat.size, _CHUNK):
            out[start : start + _CHUNK] = _evaluate(flat[start : start + _CHUNK].astype(np.float64))
    shaped = out.reshape(array.shape)
    return shaped if isinstance(x, np.ndarray) else shaped[()]


def _compiled(x: np.ndarray, out: np.ndarray) -> bool:
    """Compute erf of many float32 into `out` by compiled code; False if it is `_narrow`'s to compute."""
    if x.size < _LEAST_COMPILED or x.dtype != np.float32 or not (x.flags.c_contiguous and x.flags.aligned and x.dtype.isnative):
        return False
    for_target = target()
    if for_target is None:
        return False
    table = _narrow_coefficients()
    arrays = x.ctypes.data, out.ctypes.data, x.size, table.ctypes.data, table.shape[1]
    return not library(for_target)["narrow"](*arrays, _NARROW_PER_UNIT, _NARROW_END)


def _narrow(x: np.ndarray, out: np.ndarray) -> None:
    """Compute erf of float32 and narrower dtypes into `out`."""
    table = _narrow_coefficients()
    size = min(x.size, _NARROW_CHUNK)
    arguments, places, value, factor = (np.empty(size) for _ in range(4))
    cells = np.empty(size, np.intp)
    with np.errstate(invalid="ignore"):  # NaN as a table index does not matter: h is NaN as well
        for start in range(0, x.size, _NARROW_CHUNK):
            part = x[start : start + _NARROW_CHUNK]
            n = part.size
            a, h, v, f, cell = arguments[:n], places[:n], value[:n], factor[:n], cells[:n]
            np.clip(part, -_NARROW_END, _NARROW_END, out=a, casting="unsafe")
            np.abs(a, out=h)
            h *= _NARROW_PER_UNIT
            np.add(h, 0.5, out=v)
            cell[:] = v  # truncates to the nearest place
            h -= cell
            np.take(table[3], cell, out=v, mode="clip")
            for row in (table[2], table[1], table[0]):
                v *= h
                np.take(row, cell, out=f, mode="clip")
                v += f
            v *= a
            out[start : start + n] = v


def _evaluate(x: np.ndarray) -> np.ndarray:
    table = _coefficients()
    size = np.abs(x)
    near = np.where(size < _END, size, 0.0)  # NaN and values beyond the table are restored below
    cell = np.rint(near * _PER_UNIT).astype(np.intp)
    cell[cell == 1] = 0  # the constant term of cell 1 would cancel with the rest at the cell's smallest argument
    h = near - cell / _PER_UNIT
    value = table[_DEGREE][cell]
    for row in table[_DEGREE - 1 :: -1]:
        value *= h
        value += row[cell]
    value = np.where(size < _END, value, np.where(np.isnan(x), x, 1.0))
    return np.copysign(value, x)


@lru_cache(maxsize=1)
def _narrow_coefficients() -> np.ndarray:
    """Return [degree, place]: g^(n)(k / 256) / n! / 256^n of g(x) = erf(x) / x, each rounded once from 400 bits."""
    one, n = 1 << _BITS, _NARROW_PER_UNIT
    scale = _two_over_root_pi()
    table = np.zeros((4, _NARROW_END * n + 1))
    table[0, 0], table[2, 0] = scale / one, -scale / one / 3 / n**2  # g is 2 / sqrt(pi) (1 - x^2 / 3 + ...)
    for k in range(1, table.shape[1]):
        value = _series(k, n) * scale >> _BITS
        first = scale * _exp_minus(k * k, n * n) >> _BITS
        second = -2 * k * first // n
        third = -2 * (k * second // n + first)
        # erf = x g, so erf^(m) = x g^(m) + m g^(m - 1)
        g = value * n // k
        for degree, derivative in enumerate((first, second, third), 1):
            table[degree - 1, k] = g / one / (1, 1, 2)[degree - 1] / n ** (degree - 1)
            g = (derivative - degree * g) * n // k
        table[3, k] = g / one / 6 / n**3
    return table


@lru_cache(maxsize=1)
def _coefficients() -> np.ndarray:
    """Return [degree, cell]: erf^(n)(k / 16) / n!, each rounded once from 400 bits."""
    one = 1 << _BITS
    scale = _two_over_root_pi()
    cells = range(_END * _PER_UNIT + 1)
    table = np.empty((_DEGREE + 1, len(cells)))
    for k in cells:
        # d/dx erf = c exp(-x^2); its derivatives over n! follow from f' = -2 x f, that is (n + 1) f_(n+1) = -2 (x f_n + f_(n-1)).
        derivative = [scale * _exp_minus(k * k, _PER_UNIT * _PER_UNIT) >> _BITS, 0]
        derivative[1] = -2 * k * derivative[0] // _PER_UNIT
        for n in range(1, _DEGREE):
            derivative.append(-2 * (k * derivative[n] // _PER_UNIT + derivative[n - 1]) // (n + 1))
        table[0, k] = _series(k) * scale / one / one
        table[1:, k] = [derivative[n] / one / (n + 1) for n in range(_DEGREE)]
    return table


def _series(k: int, per_unit: int = _PER_UNIT) -> int:
    """Return the sum of (-1)^n x^(2n+1) / (n! (2n+1)) at x = k / per_unit, in units of 2^-400."""
    term = (k << _BITS) // per_unit
    total, n = term, 0
    while term:
        n += 1
        term = -term * k * k // (n * per_unit * per_unit)
        if abs(term) <= 1:
            break
        total += term // (2 * n + 1)
    return total


def _exp_minus(numerator: int, denominator: int) -> int:
    """Return exp(-numerator / denominator) in units of 2^-400."""
    term = total = 1 << _BITS
    n = 0
    while abs(term) > 1:
        n += 1
        term = -term * numerator // (n * denominator)
        total += term
    return total


def _two_over_root_pi() -> int:
    """Return 2 / sqrt(pi) in units of 2^-400, by Machin's formula for pi."""
    from math import isqrt

    bits = _BITS + 32

    def arctan_inverse(m: int) -> int:
        term = (1 << bits) // m
        total, n = term, 1
        while term:
            term //= -m * m
            n += 2
            total += term // n
            if abs(term) <= 1:
                break
        return total

    pi = 4 * (4 * arctan_inverse(5) - arctan_inverse(239))
    return isqrt((4 << (bits + 2 * _BITS)) // pi)
