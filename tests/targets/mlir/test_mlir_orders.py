"""Sorting, scattering and bits through mlir-opt against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from mlir_models import draw, model, needs_tools, results, same

from fleet.errors import DeviceError
from fleet.targets.mlir.export import export_mlir

pytestmark = [needs_tools, pytest.mark.filterwarnings("ignore::RuntimeWarning")]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "int32", "int64", "bool"])
def test_argsort(dtype: str) -> None:
    x = draw((4, 9, 3), dtype, 1, special=True)
    x[:, 3:5] = x[:, :1]  # ties
    found = results(lambda m, a: [m("argsort", a, axis=n) for n in range(3)], x)
    for axis, got in enumerate(found):
        same(got, x.argsort(axis, kind="stable"))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "bool"])
def test_bitwise(dtype: str) -> None:
    x, y = draw((3, 1, 4), dtype, 2), draw((5, 4), dtype, 3)
    found = results(lambda m, a, b: [m(f"bitwise_{n}", a, b) for n in ("and", "or", "xor")], x, y)
    for f, got in zip((np.bitwise_and, np.bitwise_or, np.bitwise_xor), found, strict=True):
        same(got, f(x, y))


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("indices", ["int32", "int64"])
def test_scatter(dtype: str, indices: str) -> None:
    x, updates = draw((6, 5), dtype, 4), draw((7, 5), dtype, 5)
    places = np.asarray([0, -1, 3, 3, 0, 2, -6], indices)
    kinds = ("none", "add", "mul", "max", "min")
    found = results(lambda m, a, p, u: [m("scatter", a, p, u, reduction=k) for k in kinds], x, places, updates)
    for kind, got in zip(kinds, found, strict=True):
        want = x.copy()
        for place, row in zip(places, updates, strict=True):
            ufunc = {"add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}.get(kind)
            want[place] = row if ufunc is None else ufunc(want[place], row)
        same(got, want)


def test_unknown_sizes() -> None:
    x = draw((6, 5), "float32", 6)
    shapes = [(-1, 5)]
    same(results(lambda m, a: m("argsort", a, axis=0), x, shapes=shapes)[0], x.argsort(0, kind="stable"))


def test_unsigned_integers_are_refused_by_name() -> None:
    x = np.arange(4, dtype=np.uint8)
    with pytest.raises(DeviceError, match=r"add.*uint8"):
        export_mlir(model({"x": x}, lambda m, a: m("add", a, a)))
