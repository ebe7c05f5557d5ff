"""Engine `aarch64`: the bits of `riscv`, whose kernels it has; the host's computations; errors of the data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from drawn_models import program_of, random_runs
from riscv_models import model
from test_cvm_all_operations import arguments, body

import fleet
from fleet.engines.aarch64.engine import ENGINE
from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError, ModelError
from fleet.frontend.source import load

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(ENGINE.available() is not None, reason=str(ENGINE.available())),
]


def same_traces(found: Trace, expected: Trace) -> None:
    assert found.tensors.keys() == expected.tensors.keys()
    for id_, tensor in expected.tensors.items():
        np.testing.assert_array_equal(found.tensors[id_], tensor, err_msg=id_, strict=True)
    for name, output in expected.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], output, err_msg=name, strict=True)
    assert found.meta["stdout"] == expected.meta["stdout"]


@pytest.mark.parametrize(("turned", "keep"), [(False, False), (True, True)], ids=["in shared memory", "views, kept"])
def test_every_operation_has_the_bits_of_riscv(turned: bool, keep: bool) -> None:
    arrays = arguments(turned=turned)
    program = model(arrays, lambda m, *values: body(m, values, turned=turned))
    options = RunOptions(keep_tensors=keep)
    found, expected = ENGINE.run(program, arrays, options), RISCV.run(program, arrays, options)
    assert found.complete
    assert len(found.outputs) > 100
    same_traces(found, expected)
    # Another instruction set, as many operations; each that has code retires instructions.
    counted = {name for name, n in expected.counters.items() if n}
    assert counted == {name for name, n in found.counters.items() if n}
    assert found.counters["instructions"] != expected.counters["instructions"]


def test_random_programs_have_the_bits_of_riscv(tmp_path: Path) -> None:
    agreed = 0
    for _, program, inputs, expected in random_runs(tmp_path, 64, 30, RISCV):
        same_traces(ENGINE.run(program, inputs, RunOptions()), expected)
        agreed += 1
    assert agreed > 15


def test_the_host_is_called_from_inside_a_loop(tmp_path: Path) -> None:
    text = """y = np.zeros(3)
n = 0
while np.abs(a @ y - x).max() > 1e-9:
    y = y + np.linalg.solve(a, x - a @ y) * 0.75
    n += 1
    print("round", n, y)
return y, n, np.abs(np.fft.fft(x)), x[x > 2]"""
    inputs = {"a": np.diag([2.0, 3.0, 4.0]), "x": np.array([1.0, 2.0, 3.0])}
    program = program_of(tmp_path, text, inputs)
    found, expected = ENGINE.run(program, inputs, RunOptions()), VM.run(program, inputs, RunOptions())
    assert found.meta["stdout"] == expected.meta["stdout"]
    for name, output in expected.outputs.items():
        np.testing.assert_allclose(found.outputs[name], output, rtol=1e-12)
    reasons, calls = found.meta["host_reasons"], found.meta["host_calls"]
    assert isinstance(reasons, Mapping)
    assert isinstance(calls, Mapping)
    assert calls["solve.0"] == int(expected.outputs["n"])
    assert reasons["solve.0"] == "aarch64 has no code for numpy.linalg.solve of these arrays"
    assert found.placement["solve.0"] == "host"
    assert "aarch64" in found.placement.values()


def test_prints_and_halves(tmp_path: Path) -> None:
    x = np.random.default_rng(3).standard_normal((4, 5)).astype(np.float16)
    program = program_of(tmp_path, 'y = x * x + 1\nprint("y", y[0])\nreturn y, y.astype(np.float64).mean()', {"x": x})
    found, expected = ENGINE.run(program, {"x": x}, RunOptions()), VM.run(program, {"x": x}, RunOptions())
    assert found.meta["stdout"] == expected.meta["stdout"]
    for name, output in expected.outputs.items():
        np.testing.assert_array_equal(found.outputs[name], output, err_msg=name, strict=True)


def test_a_bad_index_is_an_error_of_the_data(tmp_path: Path) -> None:
    inputs = {"x": np.ones(5, np.float32), "i": np.array([0, 7])}
    program = program_of(tmp_path, "return x[i] * 2", inputs)
    with pytest.raises(ModelError, match=r"operation gather\.0: index 7 is out of bounds for axis 0 with size 5"):
        ENGINE.run(program, inputs, RunOptions())


def test_a_program_of_the_host_alone_is_refused(tmp_path: Path) -> None:
    program = program_of(tmp_path, "return np.linalg.inv(a)", {"a": np.eye(3)})
    with pytest.raises(DeviceError, match=r"numpy\.linalg\.inv\) on aarch64: not supported"):
        ENGINE.run(program, {"a": np.eye(3)}, RunOptions())


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    program = program_of(tmp_path, "return a + 1", {"a": np.eye(3)})
    with pytest.raises(ModelError, match="input 'a' is missing"):
        ENGINE.run(program, {}, RunOptions())


def test_digits() -> None:
    compiled = fleet.compile(
        "examples/digits/model.py:forward", weights="examples/digits/weights.npz", inputs="examples/digits/test.npz"
    )
    same_traces(compiled.run("aarch64"), compiled.run("riscv"))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "input 'x' is missing"),
        ({"x": np.ones((2, 3))}, r"input 'x' is float64\[2, 3\]; expected float32\[2, 3\]"),
        ({"x": np.ones((3, 2), np.float32)}, r"input 'x' is float32\[3, 2\]; expected float32\[2, 3\]"),
    ],
)
def test_an_input_that_is_not_the_declared_one_is_refused(tmp_path: Path, given: dict[str, np.ndarray], says: str) -> None:
    path = tmp_path / "m.py"
    path.write_text('def f(x: "float32[2, 3]"):\n    return x * 2 + 1\n')
    program = load(f"{path}:f", {}, {"x": np.ones((2, 3), np.float32)})
    with pytest.raises(ModelError, match=f"engine aarch64: {says}"):
        ENGINE.run(program, given, RunOptions())
