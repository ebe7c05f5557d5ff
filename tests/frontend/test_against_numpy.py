"""Front end and VM against NumPy itself: random expressions, every call of the subset, dtypes by NEP 50."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from helpers_source import run_python, run_vm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import SourceError

HEAD = "import numpy as np\nimport math\n\ndef forward(x: np.ndarray, y: np.ndarray, z: np.ndarray):\n"
SETTINGS = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
DTYPES = ("float16", "float32", "float64", "int8", "int32", "int64", "bool")


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def both(folder, body: str, arguments: Mapping[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The results of the VM, each beside CPython's."""
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = run_python(text, **arguments)
        found = list(run_vm(folder, text, **arguments).values())
    assert len(found) == len(expected)
    return list(zip(found, expected, strict=True))


def check(folder, body: str, **arguments: np.ndarray) -> None:
    """Same values bit for bit (NaN equals NaN), same dtypes, same shapes."""
    for f, e in both(folder, body, arguments):
        assert f.shape == e.shape
        assert f.dtype == e.dtype, body
        np.testing.assert_array_equal(f, e, err_msg=body)


def data(shape, dtype: str, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind == "i":
        return rng.integers(-5, 6, shape).astype(dtype)
    return rng.uniform(-3, 3, shape).astype(dtype)


numbers = st.one_of(
    st.integers(-3, 4).map(str),
    st.sampled_from(["0.5", "-1.25", "1e-3", "2.0", "True", "math.sqrt(2)", "np.pi"]),
    st.sampled_from(["np.float32(0.1)", "np.float64(0.1)", "np.int8(3)"]),
)
leaves = st.one_of(st.sampled_from(["x", "y", "z"]), numbers)


BINARY = [f"({{}} {sign} {{}})" for sign in "+-*/"]
BINARY += [f"np.{name}({{}}, {{}})" for name in ("maximum", "minimum", "add", "multiply", "divide", "subtract")]
UNARY = [f"np.{name}({{}})" for name in ("exp", "tanh", "abs", "sqrt", "log", "negative")]
UNARY += ["(-{})", "({} ** 2)", "np.power({}, 3)", "abs({})"]


def grow(children):
    binary = st.tuples(st.sampled_from(BINARY), children, children).map(lambda t: t[0].format(t[1], t[2]))
    unary = st.tuples(st.sampled_from(UNARY), children).map(lambda t: t[0].format(t[1]))
    return st.one_of(binary, unary)


expressions = st.recursive(leaves, grow, max_leaves=8)
shapes = st.sampled_from([((3, 4), (3, 4), (4,)), ((2, 3, 4), (3, 1), ()), ((1,), (5,), (1, 5)), ((0, 3), (3,), (1, 3))])


@SETTINGS
@given(expressions, shapes, st.tuples(*[st.sampled_from(DTYPES)] * 3), st.integers(0, 3))
def test_elementwise_expressions_compute_what_numpy_computes(folder, expression, shapes, dtypes, seed) -> None:
    arguments = {n: data(s, d, seed + i) for i, (n, s, d) in enumerate(zip("xyz", shapes, dtypes, strict=True))}
    text = HEAD + f"    return {expression}\n"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = run_python(text, **arguments)[0]
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        with pytest.raises(SourceError):
            run_vm(folder, text, **arguments)
        return
    try:
        (found,) = run_vm(folder, text, **arguments).values()
    except SourceError as error:  # the only thing refused here that NumPy takes: dtypes and numbers that fleet does not carry
        assert any(w in str(error) for w in ("supported are float16", "is not supported", "complex")), (text, str(error))  # noqa: PT017
        return
    scalar = not isinstance(expected, np.ndarray) or expected.dtype != found.dtype
    if scalar and found.dtype == np.int32 and expected.dtype == np.int64 and not expected.shape:
        expected = expected.astype(np.int32)  # a Python int that fits is an i32 scalar
    assert found.dtype == expected.dtype, text
    np.testing.assert_array_equal(found, expected, err_msg=text)


CASES = [
    "return x @ y",
    "return np.matmul(x, y), np.dot(x, y), x.dot(y)",
    "return x @ y @ np.transpose(y) @ y",
    "return np.sum(x), x.sum(axis=0), np.sum(x, axis=-1, keepdims=True), x.sum(axis=(0, 1))",
    "return np.mean(x), x.mean(axis=1), np.var(x, axis=-1, keepdims=True), x.var()",
    "return np.max(x), x.max(axis=0, keepdims=True), np.argmax(x), np.argmax(x, axis=-1), x.argmax(axis=0)",
    "return np.argmax(x, axis=1, keepdims=True), np.argmax(x, keepdims=True)",
    "return x.T, np.transpose(x), x.transpose(1, 0), x.transpose((0, 1)), np.transpose(x, axes=(1, 0))",
    "return x.reshape(-1), x.reshape(2, -1), np.reshape(x, (3, 2, 2)), x.reshape((4, 3))",
    "return np.concatenate([x, y.T]), np.concatenate((x, y.T), axis=1), np.hstack([x, y.T])",
    "return x[0], x[-1, 1:3], x[:, 2], x[..., -1], x[:2], x[None, :, 1:], x[1:-1, ...], x[5:], x[:, np.newaxis, 3]",
    "return x[z], x[z, :], x[np.argmax(x[:, 0])]",
    "return x.astype(np.float64), x.astype(np.int32), x.astype('float16'), np.float32(x), x.astype(float), x.astype(bool)",
    "return np.float32(3), np.float16(0.1), np.int64(7) * 2, np.float32(2) * 0.1, x * np.float64(0.1), np.asarray(2.5)",
    "a, b = x, 2\nn, d = x.shape\nreturn a * b + n / d, len(x) + x.ndim + x.size",
    "h = x - np.max(x, axis=-1, keepdims=True)\ne = np.exp(h)\nreturn e / np.sum(e, axis=-1, keepdims=True)",
    "m = np.mean(x, axis=-1, keepdims=True)\nv = np.var(x, axis=-1, keepdims=True)\nreturn (x - m) / np.sqrt(v + 1e-5)",
    "return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))",
    "return x / math.sqrt(x.shape[-1]), x ** -1, 2 ** x",
    "return 7 // 2, 7 % 4, 2 ** 10, -3 + 1, 2 ** -1, 7 / 2, 2 ** 40, 3.5 - 1, abs(-4), -True, True + 1, float(3), int(2.7)",
    "return np.zeros((2, 3), dtype=np.float32) + x[:2, :3], np.ones(3), np.full((2, 2), 7), np.full(2, 1.5, np.float32)",
    "return x[0] @ y, y.T @ x[0], x[0] @ x[0], x[None] @ y",
    "s = x.shape[0] - 1\nreturn x[:s], x[s], x.reshape(x.shape[0], 2, -1)",
    "return np.maximum(x, 0), np.minimum(0.5, x), np.maximum(3, 4), np.sqrt(64), np.exp(1), np.abs(-3), np.add(1, 2)",
]  # fmt: skip


COMBINATIONS = [
    (body, dtype)
    for body in CASES
    for dtype in ("float32", "float64", "float16", "int32")
    if dtype != "int32" or "x ** -1" not in body  # NumPy refuses negative powers of integers
]


@pytest.mark.parametrize(("body", "dtype"), COMBINATIONS)
def test_calls_of_the_subset(folder, body: str, dtype: str) -> None:
    arguments = {"x": data((3, 4), dtype, 1), "y": data((4, 3), dtype, 2), "z": np.array([2, 0, 1, 1])}
    for i, (f, e) in enumerate(both(folder, body, arguments)):
        number = e.dtype == np.int64 and f.dtype == np.int32 and e.shape == ()  # a Python int
        assert f.dtype == e.dtype or number, i
        assert f.shape == e.shape
        if "x[0] @" in body:  # a vector goes through the matrix routine: other summation order
            np.testing.assert_allclose(f, e, rtol=3e-3 if dtype == "float16" else 1e-5)
        else:
            np.testing.assert_array_equal(f, e, err_msg=f"value {i}")


def test_nan_and_infinity_travel(folder) -> None:
    x = np.array([[np.nan, 1, np.inf], [-np.inf, -0.0, 2]], np.float32)
    check(folder, "return np.maximum(x, 0), np.argmax(x, axis=1), x.max(), x + np.inf, -x, x * -0.0", x=x, y=x, z=x)


def test_batched_matmul_broadcasts(folder) -> None:
    x, y = data((2, 1, 3, 4), "float32"), data((5, 4, 2), "float32")
    check(folder, "return x @ y, np.transpose(x, (0, 1, 3, 2)), x.sum(axis=(0, -1))", x=x, y=y, z=y)


def test_functions_of_the_file_are_inlined(folder) -> None:
    text = """import numpy as np
EPS = 1e-5
SCALE = EPS * 2

def norm(v, g, *, eps=EPS):
    m = np.mean(v, axis=-1, keepdims=True)
    return (v - m) / np.sqrt(v.var(axis=-1, keepdims=True) + eps) * g

def twice(v, f=2.0):
    w = norm(v, f)
    return w, norm(w, g=f, eps=SCALE)

def forward(x: np.ndarray, y: np.ndarray = 3, z: np.ndarray = 0):
    a, b = twice(x)
    c = twice(b, 0.5)[1]
    return a, b, c
"""
    x = data((3, 8), "float32")
    expected = run_python(text, x=x)
    for f, e in zip(run_vm(folder, text, x=x).values(), expected, strict=True):
        np.testing.assert_array_equal(f, e)
        assert f.dtype == np.float32


NORMS = ("A", "A.T", "A[1:, 1]", "A[:, ::2]", "A[::-1, 2]", "A[1:, 1:].T", "A[:, 1:2]", "A.reshape(3, 8)[:, 1]", "A[:, None, ::3]")


@pytest.mark.parametrize("part", NORMS)
def test_a_norm_adds_as_numpy_does(tmp_path: Path, part: str) -> None:
    """NumPy copies strided elements before BLAS adds them."""
    text = f"import numpy as np\ndef forward(A):\n    return np.linalg.norm({part})\n"
    for seed in range(20):
        A = np.random.default_rng(seed).normal(size=(6, 4))
        (found,) = run_vm(tmp_path, text, A=A).values()
        assert found == run_python(text, A=A)[0]
