"""Engine `opencl`: the bits of `llvm-cpu`, whose kernels it has, of the VM where no function is computed; what the host does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_models import program_of, random_runs
from riscv_models import Maker, model

import fleet
from fleet.cosim.comparisons import ComparisonSession
from fleet.engines.base import RunOptions
from fleet.engines.gpu.opencl import ENGINE
from fleet.engines.llvm_cpu import ENGINE as LLVM
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError, FleetError, ModelError
from fleet.ir import dialect as d
from fleet.ir.build import make
from fleet.ir.dialect import kind_of
from fleet.ir.operations.spaces import is_elementwise
from fleet.ir.program import Program
from fleet.ir.shapes import InferenceError

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.skipif(
        ENGINE.available() is not None and os.environ.get("FLEET_REQUIRE_OPENCL") != "1", reason=str(ENGINE.available())
    ),
]

DTYPES = ("bool", *(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64)), "float32", "float64")
SPECIAL = {
    "f": (0.0, -0.0, 1.0, -1.5, 0.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 3e38, -1e-40, 7.0, -3.0, 2.0**31, 1e19),
    "i": (0, 1, -1, 2, 7, -7, 127, -128, 32767, -32768, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 5, -5),
    "u": (0, 1, 2, 3, 7, 255, 254, 65535, 2**32 - 1, 2**31, 2**63, 2**64 - 1, 100, 5, 6, 9),
    "b": (False, True) * 8,
}
FUNCTIONS = frozenset(["exp", "log", "tanh", "erf", "log1p", "expm1", "sigmoid", "sin", "cos", "pow", "rsqrt", "gelu", "silu"])
"""What libm computes for NumPy: compared within bounds, by the tests of riscv, whose bits `llvm-cpu` has."""


def same(found: np.ndarray, expected: np.ndarray, what: str) -> None:
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape), what
    if found.tobytes() != expected.tobytes():
        np.testing.assert_array_equal(found, expected, err_msg=what)  # all NaNs are equal
        if found.dtype.kind == "f":
            known = ~np.isnan(found)
            np.testing.assert_array_equal(np.signbit(found[known]), np.signbit(expected[known]), err_msg=what)


def values(dtype: str) -> np.ndarray:
    kind = np.dtype(dtype)
    numbers = SPECIAL[kind.kind]
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        numbers = tuple(min(max(n, limits.min), limits.max) for n in numbers)
    with np.errstate(all="ignore"):
        return np.array(numbers, kind)


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.meshgrid(values(dtype), values(dtype))
    return first.ravel().copy(), second.ravel().copy()


def operations(dtype: str) -> tuple[Program, dict[str, np.ndarray], list[str]]:
    """Every elementwise operation that takes this dtype, on all pairs of special values; and casts to every other dtype."""
    x, y = pairs(dtype)
    # What a float beyond the integers of a dtype becomes is open in NumPy: its loops differ.
    fits = np.linspace(0, 120, x.size).astype(dtype) if np.dtype(dtype).kind == "f" else x
    arrays = {"x": x, "y": y, "c": np.arange(x.size) % 3 == 0, "fits": fits}
    names: list[str] = []

    def body(m: Maker, *given: Any) -> list[Any]:
        results: list[Any] = []
        for name, kind in sorted((kind_of(op), op) for op in d.OPERATIONS.values()):
            if name in FUNCTIONS or not issubclass(kind, d.ElementwiseOp) or name == "clip":
                continue
            for operands in ([given[0]], [given[0], given[1]], [given[2], given[0], given[1]]):
                attributes: dict[str, Any] = {"dtype": "float64"} if name == "cast" else {}
                try:
                    op = make(name, operands, **attributes)
                    op.verify_()
                except (InferenceError, FleetError, TypeError, ValueError, KeyError):
                    continue
                except Exception as error:
                    if "operand" in str(error) or "Expected" in str(error):
                        continue
                    raise
                if is_elementwise(op):
                    names.append(name)
                    results.append(m.add(op, f"{name}.{len(names)}"))
        for other in DTYPES:
            if other != dtype:
                names.append(f"cast to {other}")
                integer = np.dtype(other).kind in "iu"
                results.append(m("cast", given[3 if integer else 0], dtype=other, id=f"cast.{len(names)}"))
        return results

    return model(arrays, body), arrays, names


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_elementwise_operation_has_the_bits_of_the_vm(dtype: str) -> None:
    program, arrays, names = operations(dtype)
    assert len(names) > 20
    found, expected = ENGINE.run(program, arrays, RunOptions()), VM.run(program, arrays, RunOptions())
    for i, name in enumerate(names):
        ours, theirs = found.outputs[f"out{i}"], expected.outputs[f"out{i}"]
        if name in ("maximum", "minimum") and ours.dtype.kind == "f":
            ours, theirs = ours + 0.0, theirs + 0.0  # which of two zeros is open in NumPy, too
        same(ours, theirs, f"{name} of {dtype}")


def test_every_operation_has_the_bits_of_llvm() -> None:
    from test_cvm_all_operations import arguments, body

    arrays = arguments(turned=True)
    program = model(arrays, lambda m, *given: body(m, given, turned=True))
    found, expected = ENGINE.run(program, arrays, RunOptions()), LLVM.run(program, arrays, RunOptions())
    assert found.complete
    assert found.counters["launches"] > 100
    assert expected.tensors.keys() <= found.tensors.keys()
    for id_, tensor in expected.tensors.items():
        same(found.tensors[id_], tensor, id_)


def both(folder: Path, text: str, **inputs: np.ndarray) -> tuple[Trace, Trace]:
    program = program_of(folder, text, inputs)
    return ENGINE.run(program, inputs, RunOptions()), VM.run(program, inputs, RunOptions())


def test_random_programs_agree_with_the_vm(tmp_path: Path) -> None:
    """Programs of `fleet fuzz`, compared as it compares riscv: bits, else derived bounds."""
    agreed = 0
    for source, program, inputs, expected in random_runs(tmp_path, 5, 24, VM):
        try:
            found = ENGINE.run(program, inputs, RunOptions())
        except DeviceError as error:
            assert "has no kernel" in str(error) or "a kernel has no place" in str(error)  # noqa: PT017
            continue
        comparison, _ = ComparisonSession(program, inputs, expected, {}, tmp_path).against_golden(expected, found)
        assert comparison.verdict == "pass", (source, comparison.reasons)
        agreed += 1
    assert agreed > 12


def test_the_host_computes_what_has_no_kernel(tmp_path: Path) -> None:
    text = """y = (x * 2).reshape(3, 4)
z = np.linalg.solve(y[:, :3].T + a, y[::-1, 1]) * 2
big = z[z > 0]
w = np.fft.fft(x) + 1
print("found", len(big), z)
return z, np.median(y[::-2, ::-1], axis=0) + 1, big, np.abs(w)"""
    found, expected = both(tmp_path, text, x=np.linspace(-2.0, 2.0, 12), a=np.eye(3))
    assert found.meta["stdout"] == expected.meta["stdout"]
    for ours, theirs in zip(found.outputs.values(), expected.outputs.values(), strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert np.allclose(ours, theirs, rtol=1e-12)
    reasons = found.meta["host_reasons"]
    assert isinstance(reasons, Mapping)
    assert reasons["solve.0"] == "numpy.linalg.solve of these arrays has no kernel"
    assert found.placement["solve.0"] == "host"
    assert "opencl" in found.placement.values()


def test_decisions_of_the_run_are_the_hosts(tmp_path: Path) -> None:
    text = """n = 0
while np.abs(x).sum() > 1:
    x = x * 0.5
    n += 1
    print("round", n)
return x @ x, n"""
    found, expected = both(tmp_path, text, x=np.arange(6.0).reshape(6))
    assert found.meta["stdout"] == expected.meta["stdout"]
    for ours, theirs in zip(found.outputs.values(), expected.outputs.values(), strict=True):
        same(ours, theirs, "output")
    assert "the host decides what runs" in str(found.meta["host_reasons"])


def test_half_is_storage(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((5, 7)).astype(np.float16) for _ in range(2))
    found, expected = both(tmp_path, "return x * y + x, np.maximum(x, y) / 3, x.astype(np.float32) - 1", x=x, y=y)
    for name, ours in found.outputs.items():
        same(ours, expected.outputs[name], name)


def test_a_bad_index_is_told_by_the_first_item(tmp_path: Path) -> None:
    inputs = {"x": np.ones(500, np.float32), "i": np.r_[np.zeros(300, np.int64), 777, 888]}
    program = program_of(tmp_path, "return x[i] * 2", inputs)
    with pytest.raises(ModelError, match=r"index 777 is out of bounds for axis 0 with size 500"):
        ENGINE.run(program, inputs, RunOptions())


def test_a_program_of_the_host_alone_is_refused(tmp_path: Path) -> None:
    program = program_of(tmp_path, "return np.linalg.inv(a)", {"a": np.eye(3)})
    with pytest.raises(DeviceError, match=r"on opencl: numpy\.linalg\.inv of these arrays has no kernel"):
        ENGINE.run(program, {"a": np.eye(3)}, RunOptions())


def test_without_the_package_one_line_says_what_to_install() -> None:
    """In a process where pyopencl cannot be imported."""
    code = (
        "import sys; sys.modules['pyopencl'] = None\n"
        "from fleet.engines.registry import find_engine; print(find_engine('opencl').engine.available())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    expected = "the package pyopencl is not installed; install fleet-cosim[opencl], which brings pyopencl and pocl, an OpenCL for "
    assert done.stdout.startswith(f"{expected}processors")
    assert done.stdout.count("\n") == 1


def test_digits_through_cosim() -> None:
    compiled = fleet.compile(
        "examples/digits/model.py:forward", weights="examples/digits/weights.npz", inputs="examples/digits/test.npz"
    )
    found = compiled.run("opencl")
    expected = compiled.run("llvm-cpu")
    for name, ours in found.outputs.items():
        same(ours, expected.outputs[name], name)
