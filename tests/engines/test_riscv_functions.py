"""The functions on the `riscv` engine against mpmath (independent) and, for special values, NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from riscv_models import result

from fleet.errors import ModelError
from fleet.targets.riscv.arithmetic import MAX_ULP

POINTS = 250
FLOATS = ("float32", "float64")


def arguments(name: str, dtype: str) -> list[np.ndarray]:
    """Arguments over the whole range and where cancellation bites."""
    rng = np.random.default_rng(20)
    single = dtype == "float32"
    n, top, low = POINTS, (88.7, 709.7)[not single], (-103.9, -745.1)[not single]
    tiny = rng.standard_normal(n) * 10.0 ** rng.uniform(-38 if single else -300, 0, n)
    if name == "exp":
        found = [[rng.uniform(low, top, n), rng.uniform(-1, 1, n), tiny, [top, low]]]
    elif name == "log":
        near = 1 + rng.standard_normal(n) * 10.0 ** rng.uniform(-16, -1, n)
        subnormal = rng.uniform(0, 1, n) * float(np.finfo(dtype).tiny)
        found = [[10.0 ** rng.uniform(-37 if single else -307, 38 if single else 308, n), near, rng.uniform(0.3, 3, n), subnormal]]
    elif name in ("tanh", "erf"):
        found = [[rng.uniform(-25, 25, n), rng.uniform(-7, 7, n), rng.uniform(-1, 1, n), tiny]]
    elif name in ("sin", "cos"):
        turns = rng.integers(-(2**20), 2**20, n) * (np.pi / 2)  # next to a zero of one of them
        found = [[turns, rng.uniform(-10, 10, n), rng.uniform(-(2.0**30), 2.0**30, n), tiny]]
    elif name == "rsqrt":
        found = [[10.0 ** rng.uniform(-37 if single else -307, 38 if single else 308, n), rng.uniform(0.3, 3, n)]]
    elif name == "log1p":
        found = [[10.0 ** rng.uniform(-30, 30, n), rng.uniform(-1, 1, n), tiny, rng.uniform(-1, -0.999, n)]]
    elif name == "expm1":
        found = [[rng.uniform(-50, top, n), rng.uniform(-1, 1, n), tiny, [top, low]]]
    elif name == "silu" and not single:  # far below 0 it is x e**x, and an argument of e that is rounded twice shows
        found = [[rng.uniform(-700, 60, n), rng.uniform(-1, 1, n), rng.uniform(-5, 5, n), tiny]]
    elif name in ("sigmoid", "silu", "gelu"):
        found = [[rng.uniform(-60, 60, n), rng.uniform(-1, 1, n), rng.uniform(-5, 5, n), tiny]]
    else:
        x, near = rng.uniform(0.3, 3, n), 1 + rng.standard_normal(n) * 1e-3
        found = [
            [x, near, 10.0 ** rng.uniform(-5, 5, n)],
            [rng.uniform(low, top, n) / np.log(x), rng.uniform(low, top, n) / np.log(near), rng.uniform(-8, 8, n)],
        ]
    arrays = [np.concatenate(parts).astype(dtype) for parts in found]
    return [np.abs(arrays[0]), *arrays[1:]] if name in ("log", "pow", "rsqrt") else arrays


def ulps(got: np.ndarray, exact: list[Any]) -> np.ndarray:
    """Distance in ULPs of the exact value; a value beyond the largest finite number may round to infinity."""
    info = np.finfo(got.dtype)
    found: list[float] = []
    for value, want in zip(got.tolist(), exact, strict=True):
        exponent = int(mpmath.frexp(want)[1]) - 1 if want else -9999
        unit = mpmath.ldexp(1, max(exponent, int(info.minexp)) - int(info.nmant))
        if np.isinf(value):
            found.append(0.0 if abs(want) > mpmath.mpf(float(info.max)) else np.inf)
        else:
            found.append(float(abs(mpmath.mpf(value) - want) / unit))
    return np.array(found)


def gelu(x: Any) -> Any:
    return x / (1 + mpmath.exp(-2 * mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf("0.044715") * x**3)))


EXACT: dict[str, Callable[..., Any]] = {
    "pow": mpmath.power,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": gelu,
}


def test_every_stated_function_is_tested() -> None:
    assert {name for names in MAX_ULP.values() for name in names} == {n for n, _ in NAMES}


NAMES = [(n, d) for d in FLOATS for n in MAX_ULP[d]]


@pytest.mark.parametrize(("name", "dtype"), NAMES)
def test_error_is_as_stated(name: str, dtype: str) -> None:
    xs = arguments(name, dtype)
    got = result(lambda m, *v: m(name, *v, **({"approximate": "tanh"} if name == "gelu" else {})), *xs)
    assert got.dtype == dtype
    function: Callable[..., Any] = EXACT.get(name) or getattr(mpmath, name)
    with mpmath.workprec(160):
        exact = [function(*(mpmath.mpf(float(v)) for v in values)) for values in zip(*xs, strict=True)]
        errors = ulps(got, exact)
    if name in ("silu", "gelu") and dtype == "float32":
        errors = errors[np.abs(got) > 1e-30]
    worst = int(np.argmax(errors))
    assert errors[worst] <= MAX_ULP[dtype][name], f"{name}({[x[worst] for x in xs]}) is off by {errors[worst]} ULP"
    assert errors.max() > 0.3, "no rounding at all: these points test nothing"


@pytest.mark.parametrize("dtype", FLOATS)
def test_special_values_are_numpys(dtype: str) -> None:
    info = np.finfo(dtype)
    special = np.array(
        [
            0.0,
            -0.0,
            1,
            -1,
            2,
            -2,
            0.5,
            -0.5,
            3,
            -3,
            np.inf,
            -np.inf,
            np.nan,
            info.max,
            -info.max,
            info.tiny,
            info.smallest_subnormal,
            2.0**53,
            1e30,
        ],
        dtype,
    )
    x, y = (a.ravel() for a in np.meshgrid(special, special))
    small = special[~(np.abs(special) > 2.0**30) | np.isinf(special)]
    with np.errstate(all="ignore"):
        pairs = [
            (result(lambda m, a, b: m("pow", a, b), x, y), np.power(x, y)),
            *(
                (result(lambda m, a, n=n: m(n, a), special), getattr(np, n)(special))
                for n in ("exp", "log", "tanh", "log1p", "expm1", "floor", "ceil", "rint", "sign")
            ),
            *((result(lambda m, a, n=n: m(n, a), small), getattr(np, n)(small)) for n in ("sin", "cos")),
            (result(lambda m, a: m("rsqrt", a), special), 1 / np.sqrt(special)),
            (result(lambda m, a: m("erf", a), special), np.vectorize(math.erf)(special).astype(dtype)),
            (result(lambda m, a: m("sigmoid", a), special), 1 / (1 + np.exp(-special))),
            (result(lambda m, a, b: m("floor_div", a, b), x, y), np.floor_divide(x, y)),
            (result(lambda m, a, b: m("mod", a, b), x, y), np.remainder(x, y)),
        ]
    for got, want in pairs:
        np.testing.assert_allclose(got, want, rtol=4 * info.eps, atol=0)  # infinities and NaN must be in the same places
        number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))


def test_an_angle_out_of_range_stops_the_program() -> None:
    with pytest.raises(ModelError, match="argument of sin or cos"):
        result(lambda m, a: m("cos", a), np.array([1.0, 2e9]))


@pytest.mark.parametrize("name", ["exp", "erf", "tanh", "expm1", "sigmoid"])
def test_a_binade_of_float32_against_float64(name: str) -> None:
    """131,072 arguments, evenly over [1, 2), NumPy's float64 as reference: an error of 1e-8 ULP beside ours."""
    x = np.arange(0x3F800000, 0x40000000, 64, dtype=np.uint32).view(np.float32)
    got = result(lambda m, a: m(name, a), x)
    wide = x.astype(np.float64)
    exact = {
        "erf": np.vectorize(math.erf),
        "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
    }.get(name, getattr(np, name, None))(wide)
    error = np.abs(got - exact) / np.spacing(exact.astype(np.float32))
    assert error.max() <= MAX_ULP["float32"][name]
