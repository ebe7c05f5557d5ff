"""exp, log, tanh and pow on the `riscv` engine against mpmath (independent) and, for special values, NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from riscv_models import result

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
    elif name == "tanh":
        found = [[rng.uniform(-25, 25, n), rng.uniform(-1, 1, n), tiny]]
    else:
        x, near = rng.uniform(0.3, 3, n), 1 + rng.standard_normal(n) * 1e-3
        found = [
            [x, near, 10.0 ** rng.uniform(-5, 5, n)],
            [rng.uniform(low, top, n) / np.log(x), rng.uniform(low, top, n) / np.log(near), rng.uniform(-8, 8, n)],
        ]
    arrays = [np.concatenate(parts).astype(dtype) for parts in found]
    return [np.abs(arrays[0]), *arrays[1:]] if name in ("log", "pow") else arrays


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


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["exp", "log", "tanh", "pow"])
def test_error_is_as_stated(name: str, dtype: str) -> None:
    xs = arguments(name, dtype)
    got = result(lambda m, *v: m(name, *v), *xs)
    assert got.dtype == dtype
    function: Callable[..., Any] = mpmath.power if name == "pow" else getattr(mpmath, name)
    with mpmath.workprec(160):
        exact = [function(*(mpmath.mpf(float(v)) for v in values)) for values in zip(*xs, strict=True)]
        errors = ulps(got, exact)
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
    with np.errstate(all="ignore"):
        pairs = [
            (result(lambda m, a, b: m("pow", a, b), x, y), np.power(x, y)),
            *((result(lambda m, a, n=n: m(n, a), special), getattr(np, n)(special)) for n in ("exp", "log", "tanh")),
        ]
    for got, want in pairs:
        np.testing.assert_allclose(got, want, rtol=4 * info.eps, atol=0)  # infinities and NaN must be in the same places
        number = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))
