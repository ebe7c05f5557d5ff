"""Functions of NumPy that are several operations, indices by several arrays, masks: against NumPy, on vm and riscv."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from helpers_source import program_of, run_python
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.vm import ENGINE as VM_ENGINE
from fleet.errors import ModelError, SourceError
from fleet.frontend.interpreter import run

SETTINGS = settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
HEAD = "import numpy as np\n\ndef forward(x: np.ndarray, y: np.ndarray, n: np.ndarray):\n"
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, 1e-3, -7.25, 30.0]
NANS = [*SPECIAL, float("nan"), float("inf"), -float("inf")]

EXACT = [
    "return np.sort(x), np.sort(x, axis=0), np.sort(x, axis=None)",
    "return np.argsort(x, kind='stable'), np.argsort(x, axis=0, kind='stable')[::-1], x.argsort(axis=0, kind='stable')[:, :2]",
    "i = np.argsort(-x, axis=-1, kind='stable')[:, :2]\nreturn np.take_along_axis(x, i, axis=-1), np.take_along_axis(y, i, axis=1)",
    "i = np.argmax(x, axis=-1)\nreturn x[np.arange(x.shape[0]), i], np.take_along_axis(x, i[:, None], axis=1)",
    "z = np.zeros_like(x)\nz[np.arange(3), n] = 1\nz[n[:2], 0] = x[:2, 1]\nreturn z, x[n, n], x[[0, 2], [1, -1]]",
    "z = x.copy()\nnp.put_along_axis(z, n[:, None], 9, axis=1)\nw = y.copy()\nw[n] = x[0]\nreturn z, w",
    "return np.median(x), np.median(x, axis=1), np.median(x, axis=0)",
    "z = x.copy()\nz[x > 0.5] = 2\nw = y.copy()\nw[n > 0] = 0\nreturn z, w",
    "m = np.arange(4) % 2 == 0\nz = x.copy()\nz[:, m] = 5\nreturn x[:, m], x[~m[:3]], z, x[np.tri(3, 4) > 0]",
    "return np.flatnonzero(np.arange(6) > 3), np.nonzero(np.eye(3))[1], np.where(np.arange(4) < 2)[0], x[[True, False, True]]",
    "z = x.copy()\nz.sort()\nreturn z, z[0]",
    "return np.round(x, 1), np.round(y, decimals=-1), y.round(2), np.round(x[0, 0], 1), np.round(n, 3)",
    "return np.diff(x), np.diff(x, axis=0), np.diff(x, n=2), np.diff(x, 5)",
    "return np.trunc(x), np.fix(y), np.fabs(x), np.fmax(x, y), np.fmin(x, 0.25), np.heaviside(x, 0.5), np.heaviside(x, y)",
    "return np.isclose(x, y), np.allclose(x, x + 1e-9), np.array_equal(x, x), np.array_equal(x, x.T), np.isclose(x, 0.5, atol=0.1)",
    "return np.clip(x, a_min=0, a_max=1), np.append(x, y, axis=0), np.append(x, 1), np.dstack([x, y])",
    "a, b = np.meshgrid(np.arange(3), x[0])\nc, d = np.meshgrid(x[0], y[:, 1], indexing='ij')\nreturn a, b, c, d",
]  # fmt: skip
CLOSE = [
    "return np.log2(x * x + 1), np.log10(x * x + 1), np.exp2(x), np.sinh(x), np.cosh(x), np.tan(x / 20)",
    "return np.deg2rad(x), np.degrees(x), np.radians(y)",
    "return np.hypot(x, y), np.hypot(x, 3), np.logaddexp(x, y), np.logaddexp(x, 0.0)",
]
WITH_NAN = [
    "return np.nansum(x), np.nanmax(x, axis=1), np.nanmin(x, axis=0, keepdims=True), np.nansum(x, axis=-1)",
    "return np.nan_to_num(x), np.nan_to_num(x, nan=1.0, posinf=7.0, neginf=-7.0), np.fmax(x, y), np.fmin(x, y), np.isclose(x, y)",
    "return np.isclose(x, y, equal_nan=True), np.heaviside(x, 0.5), np.trunc(x), np.median(x, axis=1), np.sort(x)",
    "return np.hypot(x, y), np.logaddexp(x, y)",
    "return np.round(x, 1), np.round(y, -2)",
]
N = np.array([2, 0, 1])


def arrays(values: list[float]) -> st.SearchStrategy:
    return st.sampled_from(["float32", "float64"]).flatmap(
        lambda d: st.tuples(*[hnp.arrays(d, (3, 4), elements=st.sampled_from([float(v) for v in values]))] * 2)
    )


def expected_of(text: str, **inputs: np.ndarray) -> list[np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return run_python(text, **inputs)


def check(folder, body: str, x: np.ndarray, y: np.ndarray, *, engine=VM_ENGINE, rtol: float = 0.0) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    inputs = {"x": x, "y": y, "n": N}
    expected = expected_of(text, **{k: v.copy() for k, v in inputs.items()})
    program = program_of(folder, text, **inputs)
    program.module.verify()
    found = list(engine.run(program, inputs, RunOptions()).outputs.values())
    assert len(found) == len(expected)
    for i, (f, e) in enumerate(zip(found, expected, strict=True)):
        assert (f.shape, f.dtype.kind) == (e.shape, e.dtype.kind), i
        assert f.dtype == e.dtype, (i, f.dtype, e.dtype)
        if rtol:
            np.testing.assert_allclose(f, e, rtol=rtol if f.dtype == np.float64 else max(rtol, 1e-6), err_msg=str(i))
        else:
            np.testing.assert_array_equal(f, e, err_msg=str(i))


@pytest.mark.parametrize("body", EXACT)
@SETTINGS
@given(data=arrays(SPECIAL))
def test_what_is_composed_exactly_is_what_numpy_gives(tmp_path, body: str, data) -> None:
    check(tmp_path, body, *data)


@pytest.mark.parametrize("body", CLOSE)
@SETTINGS
@given(data=arrays(SPECIAL))
def test_what_is_composed_otherwise_is_close_to_what_numpy_gives(tmp_path, body: str, data) -> None:
    check(tmp_path, body, *data, rtol=1e-14)


@pytest.mark.parametrize("body", WITH_NAN)
@SETTINGS
@given(data=arrays(NANS))
def test_nan_and_infinity_go_where_numpy_lets_them_go(tmp_path, body: str, data) -> None:
    check(tmp_path, body, *data, rtol=1e-14)


@pytest.mark.parametrize("body", [*EXACT, *CLOSE])
def test_riscv_computes_the_same(tmp_path, body: str) -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 3, 4)).astype(np.float32)
    check(tmp_path, body, x, y, engine=RISCV, rtol=2e-6)


@pytest.mark.parametrize("body", [*EXACT, *CLOSE, *WITH_NAN])
def test_the_interpreter_takes_the_same(tmp_path, body: str) -> None:
    x, y = np.random.default_rng(4).standard_normal((2, 3, 4))
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    (tmp_path / "model.py").write_text(text)
    found = run(f"{tmp_path / 'model.py'}:forward", {"x": x, "y": y, "n": N}).returned
    for f, e in zip(found, expected_of(text, x=x, y=y, n=N), strict=True):
        np.testing.assert_array_equal(f, e)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("return x[np.array([True, False])]", "F306 a mask of shape (2,) for dimensions of shape (3,)"),
        ("return x[x[:, :3] > 0]", "F306 a mask of shape (3, 3) for dimensions of shape (3, 4)"),
        ("z = x.copy()\nz[x > 0] = y[0]\nreturn z", "F504 an array of shape (4,) cannot be assigned where a mask is true"),
        ("z = x.copy()\nz[x[0] > 0] = 1\nreturn z", "F306 a mask of shape (4,)"),
        ("return x[[0, 3], [0, 0]]", "F306 index 3 is out of bounds for a dimension of size 3"),
        ("return np.take_along_axis(x, n, axis=1)", "F405 indices an array int64[3] along an axis"),
        ("return np.argsort(x, kind='odd')", "F506"),
        ("return np.split([1.0, 2.0], 2)[0]", "F206 a list of 2 has no ndim"),
        ("return np.expand_dims(x, 0, order=None)", "F506 np.expand_dims with `order=`"),
    ],
)
def test_what_needs_values_is_refused(tmp_path, body: str, says: str) -> None:
    text = HEAD + "".join(f"    {line}\n" for line in body.splitlines())
    x = np.ones((3, 4))
    with pytest.raises(SourceError) as caught:
        program_of(tmp_path, text, x=x, y=x, n=N)
    assert says in str(caught.value)


def test_an_index_out_of_range_in_the_run_is_an_error_and_not_another_element(tmp_path) -> None:
    x, n = np.arange(12.0).reshape(3, 4), np.array([0, 4, 0])
    for body in ("return x[np.arange(3), n]", "z = x.copy()\n    z[np.arange(3), n] = 1\n    return z"):
        program = program_of(tmp_path, f"{HEAD}    {body}\n", x=x, y=x, n=n)
        with pytest.raises((ModelError, IndexError)):
            VM_ENGINE.run(program, {"x": x, "y": x, "n": n}, RunOptions())
