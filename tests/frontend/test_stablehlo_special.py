"""Special functions of StableHLO and CHLO against exact arithmetic: how many units in the last place they are off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from fleet.engines.base import RunOptions
from fleet.engines.vm import ENGINE as VM
from fleet.frontend.source import load

NAMES = {np.dtype(np.float16): "f16", np.dtype(np.float32): "f32", np.dtype(np.float64): "f64"}
EDGES = [0.0, -0.0, np.inf, -np.inf, np.nan]


def run(folder: Path, name: str, *arrays: np.ndarray) -> np.ndarray:
    """The function of arrays of one type and shape."""
    types = [f"tensor<{len(a)}x{NAMES.get(a.dtype) or str(a.dtype).replace('uint', 'ui').replace('int', 'i')}>" for a in arrays]
    given = ", ".join(f"%a{n}: {t}" for n, t in enumerate(types))
    names = ", ".join(f"%a{n}" for n in range(len(arrays)))
    body = f'  %0 = "{name}"({names}) : ({", ".join(types)}) -> {types[0]}\n  return %0 : {types[0]}'
    path = folder / "m.mlir"
    path.write_text(f"func.func public @main({given}) -> {types[0]} {{\n{body}\n}}\n")
    inputs = {f"a{n}": a for n, a in enumerate(arrays)}
    (found,) = VM.run(load(str(path), {}, inputs), inputs, RunOptions(keep_tensors=False)).outputs.values()
    return found


def units(found: np.ndarray, x: np.ndarray, exact: Callable[[Any], Any]) -> np.ndarray:
    """The error in units in the last place of the exact result, whose least one is that of normal numbers."""
    with mpmath.workprec(160):
        wanted = [exact(mpmath.mpf(float(v))) for v in x]
        size = np.maximum(np.abs([float(w) for w in wanted]).astype(x.dtype), np.finfo(x.dtype).tiny)
        return np.array(
            [abs(mpmath.mpf(float(f)) - w) / float(u) for f, w, u in zip(found, wanted, np.spacing(size), strict=True)], float
        )


@pytest.mark.parametrize(("dtype", "end", "most"), [(np.float16, 4, 0.51), (np.float32, 9.2, 7), (np.float64, 26, 8)])
def test_erfc_is_exact_to_its_last_units(tmp_path: Path, dtype: type, end: float, most: float) -> None:
    """Far out too, where 1 - erf(x) has nothing left."""
    x = np.concatenate([np.linspace(-end, end, 1501), [1, -1, np.nextafter(dtype(1), dtype(2)), 2, 8]]).astype(dtype)
    assert units(run(tmp_path, "chlo.erfc", x), x, mpmath.erfc).max() <= most


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_ends_of_erfc(tmp_path: Path, dtype: type) -> None:
    found = run(tmp_path, "chlo.erfc", np.array([*EDGES, 30], dtype))
    np.testing.assert_array_equal(found, np.array([1, 1, 0, 2, np.nan, 0], dtype))


@pytest.mark.parametrize(("name", "exact"), [("lgamma", lambda v: mpmath.loggamma(v).real), ("digamma", mpmath.digamma)])
@pytest.mark.parametrize(("dtype", "near"), [(np.float32, 3e-6), (np.float64, 5e-14)])
def test_the_logarithm_of_gamma_and_its_derivative(
    tmp_path: Path, name: str, exact: Callable[[Any], Any], dtype: type, near: float
) -> None:
    """As exact as XLA: relative, and absolute around the zeros."""
    x = np.concatenate([np.linspace(0.05, 30, 301), np.linspace(-4.9, -0.1, 50), [1e4, 1, 2]]).astype(dtype)
    found = run(tmp_path, f"chlo.{name}", x)
    with mpmath.workprec(160):
        wanted = np.array([float(exact(mpmath.mpf(float(v)))) for v in x])
    assert (np.abs(found - wanted) <= near * np.maximum(1, np.abs(wanted)) * 10).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_neighbours(tmp_path: Path, dtype: type) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.array([*EDGES, 1, -1, tiny, -tiny, np.finfo(dtype).max, 2.5], dtype)
    one, other = (a.reshape(-1) for a in np.meshgrid(x, x))
    found = run(tmp_path, "chlo.next_after", one, other)
    with np.errstate(over="ignore"):
        wanted = np.nextafter(one, other)
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted) & (wanted != other)  # of 0.0 and -0.0 C's function gives the second, NumPy's of halves the first
    np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(wanted)[numbers])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint32, np.int64, np.uint64])
def test_leading_zeros_and_ones_of_integers(tmp_path: Path, dtype: type) -> None:
    bits, info = 8 * np.dtype(dtype).itemsize, np.iinfo(dtype)
    x = np.array([0, 1, 2, 3, info.max, info.min, info.max // 2, info.max // 3, 100], dtype)
    whole = [int(v) & ((1 << bits) - 1) for v in x]
    assert run(tmp_path, "stablehlo.count_leading_zeros", x).tolist() == [bits - v.bit_length() for v in whole]
    assert run(tmp_path, "stablehlo.popcnt", x).tolist() == [v.bit_count() for v in whole]
