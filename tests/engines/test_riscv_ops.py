"""Every operation on the `riscv` engine against NumPy: equal bits wherever both round each step once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import BroadcastableShapes, mutually_broadcastable_shapes
from riscv_models import result, run

from fleet.ir.types import element_type, tensor_type

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
FLOATS = ("float32", "float64")
DTYPES = (*FLOATS, "int32", "int64")
QUICK = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
SPECIALS = (0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 3e38, 1e-45)


def draw(shape: tuple[int, ...], dtype: str, seed: int, *, special: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "i":
        wild = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.5, wild, rng.integers(-9, 9, shape)).astype(dtype)
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    if special:
        values = np.where(rng.random(shape) < 0.4, rng.choice(SPECIALS, shape), values)
    return values.astype(dtype)


def same(got: np.ndarray, want: np.ndarray) -> None:
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    np.testing.assert_array_equal(got, want)  # equal bits, all NaN alike


@QUICK
@given(
    shapes=mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=6),
    dtypes=st.tuples(st.sampled_from(DTYPES), st.sampled_from(DTYPES)),
    seed=st.integers(0, 99),
)
def test_arithmetic_with_broadcasting_and_promotion(shapes: BroadcastableShapes, dtypes: tuple[str, str], seed: int) -> None:
    x, y = (draw(s, t, seed + i, special=True) for i, (s, t) in enumerate(zip(shapes.input_shapes, dtypes, strict=True)))
    names = ("add", "sub", "mul", "div", "maximum", "minimum")
    trace = run({"x": x, "y": y}, lambda m, a, b: [m(name, a, b) for name in names])
    functions = (np.add, np.subtract, np.multiply, np.true_divide, np.maximum, np.minimum)
    for got, function in zip(trace.outputs.values(), functions, strict=True):
        same(got, np.asarray(function(x, y)))


@pytest.mark.parametrize("shape", [(0,), (3, 0, 2), (), (1,), (1, 1)])
def test_empty_and_single_shapes(shape: tuple[int, ...]) -> None:
    x = draw(shape, "float32", 1)
    trace = run({"x": x}, lambda m, a: [m("add", a, a), m("exp", a), m("reshape", a, shape=[x.size])])
    same(trace.outputs["out0"], np.asarray(x + x))
    assert trace.outputs["out1"].shape == shape
    same(trace.outputs["out2"], x.reshape(-1))


@pytest.mark.parametrize("dtype", DTYPES)
def test_neg_abs_and_casts(dtype: str) -> None:
    x = draw((4, 5), dtype, 3, special=True)
    others = [t for t in DTYPES if t != dtype]
    trace = run({"x": x}, lambda m, a: [m("neg", a), m("abs", a), *(m("cast", a, dtype=t) for t in others)])
    same(trace.outputs["out0"], np.negative(x))
    same(trace.outputs["out1"], np.abs(x))
    for got, other in zip(list(trace.outputs.values())[2:], others, strict=True):
        if x.dtype.kind == "f" and other.startswith("int"):
            # C leaves what does not fit open; the target defines it as the smallest integer.
            limits = np.iinfo(other)
            fits = (x.astype(np.float64) > limits.min - 1.0) & (x.astype(np.float64) < limits.max + 1.0)
            want = np.where(fits, np.where(fits, x, 0).astype(other), limits.min).astype(other)
        else:
            want = x.astype(other)
        same(got, want)


def test_float_to_int32_at_the_edges() -> None:
    x = np.array([2147483647.5, 2147483648.0, -2147483648.9, -2147483649.0, -1.9, 1.9], np.float64)
    low = -(2**31)
    same(result(lambda m, a: m("cast", a, dtype="int32"), x), np.array([2147483647, low, low, low, -1, 1], np.int32))


@pytest.mark.parametrize("dtype", FLOATS)
def test_sqrt_is_correctly_rounded(dtype: str) -> None:
    x = draw((50,), dtype, 4, special=True)
    same(result(lambda m, a: m("sqrt", a), x), np.sqrt(x))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_integer_power_wraps_like_numpy(dtype: str) -> None:
    x = np.array([0, 1, -1, 2, 3, -7, 10, 2**31 - 1, 5], dtype)
    y = np.array([0, 9, 31, 62, 40, 5, 0, 2, 1], dtype)
    same(result(lambda m, a, b: m("pow", a, b), x, y), np.power(x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_array_to_the_number_one_half_is_its_root(dtype: str) -> None:
    x = np.array([-np.inf, -0.0, np.inf, 4.0, -1.0], dtype)
    same(result(lambda m, a: m("pow", a, m.constant(0.5, element_type("float64"))), x), x**0.5)
    for shape in ((5,), (1,), (1, 1), (2, 5)):
        got = result(lambda m, a, shape=shape: m("pow", a, m.constant(0.5, tensor_type(shape, dtype))), x)
        same(got, np.power(x, np.full(shape, 0.5, dtype)))
    same(result(lambda m, a: m("pow", a, m.constant(0.5, tensor_type((1,), dtype))), x[:1]), x[:1] ** np.full(1, 0.5, dtype))


def test_python_scalars_take_the_arrays_dtype() -> None:
    x = draw((3, 3), "float32", 5)
    got = result(lambda m, a: m("maximum", a, m.constant(0, element_type("int64"))), x)
    same(got, np.maximum(x, 0))
    filled = result(lambda m, a: m("add", a, m.constant(0.1, tensor_type((3,), "float32"))), x)
    same(filled, x + np.full(3, 0.1, np.float32))


def exact_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a @ b and |a| @ |b| in extended precision."""
    wide = np.longdouble
    return a.astype(wide) @ b.astype(wide), np.abs(a).astype(wide) @ np.abs(b).astype(wide)


@QUICK
@given(
    m=st.integers(1, 14),
    k=st.integers(0, 19),
    n=st.integers(1, 18),
    lead=mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 99),
)
def test_matmul_of_any_shape(m: int, k: int, n: int, lead: BroadcastableShapes, dtype: str, seed: int) -> None:
    a, b = draw((*lead.input_shapes[0], m, k), dtype, seed), draw((*lead.input_shapes[1], k, n), dtype, seed + 1)
    got = result(lambda mk, x, y: mk("matmul", x, y), a, b)
    if np.dtype(dtype).kind == "i":
        same(got, a @ b)
        return
    exact, size = exact_product(a, b)
    u = float(np.finfo(dtype).eps) / 2
    assert got.dtype == dtype
    assert got.shape == exact.shape
    assert (np.abs(got - exact) <= k * u / (1 - k * u) * size).all()


@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("int32", "float32"), ("int32", "int64")])
def test_matmul_of_mixed_dtypes(dtypes: tuple[str, str]) -> None:
    rng = np.random.default_rng(6)
    a, b = rng.integers(-9, 9, (9, 5)).astype(dtypes[0]), rng.integers(-9, 9, (5, 7)).astype(dtypes[1])
    same(result(lambda m, x, y: m("matmul", x, y), a, b), a @ b)  # small integers: exact in any dtype


def test_matmul_rows_do_not_depend_on_the_batch() -> None:
    a, b = draw((23, 31), "float32", 7), draw((31, 10), "float32", 8)
    whole = result(lambda m, x, y: m("matmul", x, y), a, b)
    for rows in (slice(0, 1), slice(3, 5), slice(20, 23), slice(4, 15)):
        same(result(lambda m, x, y: m("matmul", x, y), a[rows], b), whole[rows])


def test_matmul_carries_nan_and_infinity() -> None:
    a, b = draw((9, 4), "float32", 9), draw((4, 5), "float32", 10)
    a[2, 1], a[5, 0], b[3, 4] = np.nan, np.inf, -np.inf
    got = result(lambda m, x, y: m("matmul", x, y), a, b)
    want = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(want))


def flattened(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The reduced axes as one last axis, in C order."""
    kept = [d for d in range(x.ndim) if d not in axes]
    return x.transpose(*kept, *axes).reshape(*[x.shape[d] for d in kept], -1)


def sequential_sum(x: np.ndarray, dtype: Any) -> np.ndarray:
    return np.cumsum(x, axis=-1, dtype=dtype)[..., -1]


@QUICK
@given(
    shape=st.lists(st.integers(1, 6), min_size=1, max_size=4).map(tuple),
    dtype=st.sampled_from(DTYPES),
    keepdims=st.booleans(),
    data=st.data(),
)
def test_reductions(shape: tuple[int, ...], dtype: str, keepdims: bool, data: st.DataObject) -> None:
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, len(shape) - 1), min_size=1))))
    x = draw(shape, dtype, sum(shape))
    names = ("reduce_sum", "reduce_max", "mean", "var")
    trace = run({"x": x}, lambda m, a: [m(name, a, axes=list(axes), keepdims=keepdims) for name in names])
    total, largest, mean, var = trace.outputs.values()
    flat = flattened(x, axes)
    same(total, np.asarray(sequential_sum(flat, total.dtype)).reshape(total.shape))
    assert total.shape == np.sum(x, axis=axes, keepdims=keepdims).shape
    same(largest, np.asarray(np.max(x, axis=axes, keepdims=keepdims)))
    n = mean.dtype.type(flat.shape[-1])
    average = np.asarray(sequential_sum(flat, mean.dtype) / n)
    same(mean, average.reshape(mean.shape))
    distance = flat.astype(var.dtype) - average[..., None]
    same(var, np.asarray(sequential_sum(distance * distance, var.dtype) / n).reshape(var.shape))
    np.testing.assert_allclose(var, np.var(x, axis=axes, keepdims=keepdims), rtol=1e-4)


def test_sums_of_nothing() -> None:
    x = np.zeros((3, 0), np.float32)
    trace = run({"x": x}, lambda m, a: [m(n, a, axes=[1], keepdims=False) for n in ("reduce_sum", "mean")])
    same(trace.outputs["out0"], np.zeros(3, np.float32))
    assert np.isnan(trace.outputs["out1"]).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_argmax_takes_the_first_of_equals_and_the_first_nan(dtype: str, axis: int) -> None:
    x = np.random.default_rng(11).integers(-2, 2, (5, 7, 4)).astype(dtype)
    if x.dtype.kind == "f":
        x[1, 2], x[3, 4:6, 1], x[0, 0] = np.nan, np.nan, -np.inf
    same(result(lambda m, a: m("argmax", a, axis=axis), x), np.argmax(x, axis=axis))


@pytest.mark.parametrize("dtype", FLOATS)
def test_reduce_max_carries_nan(dtype: str) -> None:
    x = draw((6, 6), dtype, 12, special=True)
    same(result(lambda m, a: m("reduce_max", a, axes=[1], keepdims=False), x), np.max(x, axis=1))


@QUICK
@given(shape=st.lists(st.integers(0, 5), min_size=1, max_size=4).map(tuple), dtype=st.sampled_from(DTYPES), data=st.data())
def test_movement(shape: tuple[int, ...], dtype: str, data: st.DataObject) -> None:
    x = draw(shape, dtype, 13)
    order = data.draw(st.permutations(range(len(shape))))
    start = [data.draw(st.integers(0, s)) for s in shape]
    size = [data.draw(st.integers(0, s - b)) for s, b in zip(shape, start, strict=True)]
    axis = data.draw(st.integers(0, len(shape) - 1))

    def body(m: Any, a: Any) -> list[Any]:
        moved = m("transpose", a, permutation=list(order))
        part = m("slice", a, start=start, size=size)
        return [moved, part, m("concat", a, a, axis=axis), m("reshape", a, shape=[*reversed(shape)])]

    moved, part, joined, reshaped = run({"x": x}, body).outputs.values()
    same(moved, x.transpose(order))
    same(part, x[tuple(slice(b, b + n) for b, n in zip(start, size, strict=True))])
    same(joined, np.concatenate([x, x], axis=axis))
    same(reshaped, x.reshape(x.shape[::-1]))


@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
def test_gather_with_negative_indices(index_dtype: str) -> None:
    table, indices = draw((7, 3, 2), "float64", 14), np.array([[0, -1, 6], [-7, 3, 3]], index_dtype)
    same(result(lambda m, a, b: m("gather", a, b), table, indices), table[indices])
