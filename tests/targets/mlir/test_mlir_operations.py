"""Every operation through mlir-opt against NumPy: equal bits where both round each step once, a few ULPs for functions."""

from __future__ import annotations

import numpy as np
import pytest
from mlir_models import draw, near, needs_tools, results, same
from xdsl.dialects.builtin import f64, i64

from fleet.ir.types import tensor_type

pytestmark = [needs_tools, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
FLOATS = ("float16", "float32", "float64")
DTYPES = (*FLOATS, "int32", "int64", "bool")
ARITHMETIC = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.true_divide, "maximum": np.maximum, "minimum": np.minimum,
}  # fmt: skip


@pytest.mark.parametrize("left", DTYPES)
@pytest.mark.parametrize("right", ["float16", "float64", "int32", "int64", "bool"])
def test_arithmetic_with_broadcasting_and_promotion(left: str, right: str) -> None:
    names = [n for n in ARITHMETIC if not (n == "sub" and left == right == "bool")]
    x, y = draw((3, 1, 4), left, 1, special=True), draw((5, 4), right, 2, special=True)
    found = results(lambda m, a, b: [m(n, a, b) for n in names], x, y)
    for name, got in zip(names, found, strict=True):
        same(got, np.asarray(ARITHMETIC[name](x, y)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_casts_negation_and_magnitude(dtype: str) -> None:
    x = draw((4, 5), dtype, 3, special=True)
    others = [t for t in (*DTYPES, "int8") if t != dtype and not (x.dtype.kind == "f" and t in ("int8",))]
    signed = dtype != "bool"
    found = results(lambda m, a: [m("cast", a, dtype=t) for t in others] + [m(n, a) for n in ("neg", "abs") if signed], x)
    for got, other in zip(found, others, strict=False):
        if x.dtype.kind == "f" and other.startswith("int"):  # NumPy on x86-64 gives the smallest integer for what does not fit
            limits = np.iinfo(other)
            wide = x.astype(np.float64)
            fits = (wide > limits.min - 1.0) & (wide < limits.max + 1.0)
            same(got, np.where(fits, np.where(fits, x, 0).astype(other), limits.min).astype(other))
        else:
            same(got, x.astype(other))
    if signed:
        same(found[-2], np.negative(x))
        same(found[-1], np.abs(x))


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions(dtype: str) -> None:
    x = draw((64,), dtype, 4, special=True)
    names = {"sqrt": np.sqrt, "exp": np.exp, "log": np.log, "tanh": np.tanh}
    found = results(lambda m, a: [m(n, a) for n in names], x)
    for (name, function), got in zip(names.items(), found, strict=True):
        near(got, function(x), 0 if name == "sqrt" else 4)


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers(dtype: str) -> None:
    x, y = draw((40,), dtype, 5, special=True), draw((40,), dtype, 6, special=True)
    (got, squared) = results(lambda m, a, b: [m("pow", a, b), m("pow", a, m.constant(2, i64))], x, y)
    near(got, np.power(x, y), 4)
    near(squared, x**2, 1)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_powers_wrap(dtype: str) -> None:
    x, y = draw((40,), dtype, 7), np.abs(draw((40,), "int32", 8)).astype(dtype)
    same(results(lambda m, a, b: m("pow", a, b), x, y)[0], np.power(x, y))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axes", [[0], [1], [2], [0, 2], [0, 1, 2]])
def test_reductions(dtype: str, keepdims: bool, axes: list[int]) -> None:
    x = np.random.default_rng(9).integers(-8, 8, (3, 4, 5)).astype(dtype)  # sums are exact in any order
    functions = {"reduce_sum": np.sum, "reduce_max": np.max, "mean": np.mean}
    found = results(lambda m, a: [m(n, a, axes=axes, keepdims=keepdims) for n in (*functions, "var")], x)
    for function, got in zip(functions.values(), found, strict=False):
        same(got, np.asarray(function(x, axis=tuple(axes), keepdims=keepdims)))
    near(found[-1], np.asarray(np.var(x, axis=tuple(axes), keepdims=keepdims)), 8)


def test_maxima_keep_nan_and_infinities() -> None:
    x = np.array([[1, np.nan, 3], [-np.inf, -np.inf, -np.inf], [np.inf, 2, -0.0]], np.float32)
    maximum, place = results(lambda m, a: [m("reduce_max", a, axes=[1], keepdims=False), m("argmax", a, axis=1)], x)
    same(maximum, x.max(1))
    same(place, x.argmax(1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_argmax_ties_and_nan(dtype: str, axis: int) -> None:
    x = draw((5, 6), dtype, 10, special=True)
    if x.dtype.kind == "i":
        x[:] = np.iinfo(dtype).min
    same(results(lambda m, a: m("argmax", a, axis=axis), x)[0], x.argmax(axis))


@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((1, 7), (7, 1)), ((2, 0), (0, 3))],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_products(dtype: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    rng = np.random.default_rng(11)
    x, y = rng.integers(-8, 8, left).astype(dtype), rng.integers(-8, 8, right).astype(dtype)
    same(results(lambda m, a, b: m("matmul", a, b), x, y)[0], x @ y)


def test_products_of_two_dtypes() -> None:
    x, y = draw((3, 4), "float32", 12), draw((4, 5), "float64", 13)
    np.testing.assert_allclose(results(lambda m, a, b: m("matmul", a, b), x, y)[0], x @ y, rtol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
def test_movement(dtype: str) -> None:
    x = draw((4, 5, 6), dtype, 14, special=True)
    found = results(
        lambda m, a: [
            m("transpose", a, permutation=[2, 0, 1]),
            m("reshape", a, shape=[10, 12]),
            m("reshape", m("transpose", a, permutation=[1, 0, 2]), shape=[120]),
            m("slice", a, start=[1, 0, 2], size=[2, 5, 3]),
            m("concat", m("slice", a, start=[1, 0, 0], size=[2, 5, 6]), a, axis=0),
            m("concat", a, a, a, axis=2),
            m("reshape", m("slice", a, start=[1, 2, 3], size=[1, 1, 1]), shape=[]),
        ],
        x,
    )
    wanted = [
        x.transpose(2, 0, 1), x.reshape(10, 12), x.transpose(1, 0, 2).reshape(-1), x[1:3, :, 2:5],
        np.concatenate([x[1:3], x]), np.concatenate([x, x, x], 2), np.asarray(x[1, 2, 3]),
    ]  # fmt: skip
    for got, want in zip(found, wanted, strict=True):
        same(got, want)


def test_concat_promotes() -> None:
    x, y = draw((2, 3), "float32", 15), draw((2, 3), "int64", 16)
    same(results(lambda m, a, b: m("concat", a, b, axis=1), x, y)[0], np.concatenate([x, y], 1))


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_gather_counts_from_the_end(index: str) -> None:
    x, places = draw((7, 3), "float32", 17), np.array([[0, 6, -1], [-7, 3, 3]], index)
    same(results(lambda m, a, b: m("gather", a, b), x, places)[0], x[places])


@pytest.mark.parametrize("dtype", DTYPES)
def test_constants_and_python_numbers(dtype: str) -> None:
    x = draw((3, 4), dtype, 18)
    full = tensor_type((3, 4), "float32")
    number = 3 if x.dtype.kind == "i" else 0.1
    type_ = i64 if x.dtype.kind == "i" else f64
    found = results(
        lambda m, a: [
            m("mul", a, m.constant(number, type_)),
            m("add", a, m.constant(0.25, full)),
            m.constant(7, tensor_type((2, 2), "int64")),
            m("sqrt", m.constant(2.0, f64)),
            m("mul", a, m("div", m.constant(1, i64), m.constant(3, i64))),
        ],
        x,
    )
    wanted = [x * number, x + np.full((3, 4), 0.25, np.float32), np.full((2, 2), 7), np.asarray(np.sqrt(2.0)), x * (1 / 3)]
    for got, want in zip(found, wanted, strict=True):
        same(got, want)


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (), (1,), (1, 1)])
def test_empty_and_single_shapes(shape: tuple[int, ...]) -> None:
    x = draw(shape, "float32", 19)
    found = results(lambda m, a: [m("add", a, a), m("reshape", a, shape=[x.size]), m("reduce_sum", a, axes=[], keepdims=False)], x)
    for got, want in zip(found, [np.asarray(x + x), x.reshape(-1), x], strict=True):
        same(got, want)
