"""What the RISC-V target lacks is computed by the host, on the values of the run; nothing else is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from drawn_models import program_of

from fleet.engines.base import RunOptions
from fleet.engines.riscv import ENGINE as RISCV
from fleet.engines.trace import Trace
from fleet.engines.vm import ENGINE as VM
from fleet.errors import DeviceError, ModelError

X = np.linspace(-2.0, 2.0, 12)
Z = X[::2] + 1j * np.cos(X[1::2])


def both(folder: Path, body: str, **inputs: np.ndarray) -> tuple[Trace, Trace]:
    compiled = program_of(folder, body, inputs)
    return RISCV.run(compiled, inputs, RunOptions()), VM.run(compiled, inputs, RunOptions())


@pytest.mark.parametrize(
    "text",
    """z + 1; z * z; z - x; z / (z + 3); 1 / (z + 2); -z; z ** 2; z ** 3; np.exp(z); np.log(z + 5); np.sqrt(z); np.sin(z)
    np.abs(z) + 1; np.angle(z) * 2; np.angle(z, deg=True) + 0; z.real * z.imag; np.conj(z) * 2; z == z; z != 0; z.sum() + 1
    z @ z; z.reshape(2, 3) @ z.reshape(3, 2); z[::-1] + z[1]; z.reshape(2, 3).T * 2; np.stack([z, z * 2]); z.mean() * 2
    np.where(x > 0, z, 0); np.where(x > 0, z, 2.5); np.where(x > 0, 1j, z); np.round(z, 2) + 1; np.isnan(z) | (x > 1)
    np.real(z) - 1; np.imag(z * z); z.astype(np.complex64) * 2; np.abs(z.astype(np.complex64)); np.cumsum(z) * 2; np.prod(z) + 1
    np.outer(z, z).sum(); np.fft.fft(x) * 2; np.fft.ifft(z).real + 1; np.abs(np.fft.rfft(x)) ** 2; np.var(z) + 1; np.std(z) * 2
    np.fft.fft2(x.reshape(2, 3)).real + 1; np.polyval([1, 2j], z) * 2; np.concatenate([z, x + 0j]) * 2; np.max(np.abs(z)) * 2
    np.clip(z.real, 0, 1) * 2; np.sign(z.real) + z.imag; np.hypot(z.real, z.imag) * 2""".replace("\n", ";").split(";"),
    ids=str.strip,
)  # fmt: skip
def test_complex_numbers(tmp_path: Path, text: str) -> None:
    found, expected = both(tmp_path, f"return {text.strip()}, x * 2", x=X[::2], z=Z)
    for ours, theirs in zip(found.outputs.values(), expected.outputs.values(), strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        assert np.allclose(ours, theirs, rtol=1e-6 if ours.dtype.itemsize < 16 else 1e-12, atol=1e-12, equal_nan=True)


def test_operands_are_views(tmp_path: Path) -> None:
    body = """y = (x * 2).reshape(3, 4)
return np.linalg.solve(y[:, :3].T + a, y[::-1, 1]) * 2, np.median(y[::-2, ::-1], axis=0) + 1"""
    found, expected = both(tmp_path, body, x=X, a=np.eye(3))
    for ours, theirs in zip(found.outputs.values(), expected.outputs.values(), strict=True):
        assert np.allclose(ours, theirs, rtol=1e-12)
    assert "host" in found.placement.values()


def test_inside_a_loop_of_the_run(tmp_path: Path) -> None:
    body = """y = np.zeros(3)
n = 0
while np.abs(a @ y - x).max() > 1e-9:
    y = y + np.linalg.solve(a, x - a @ y) * 0.75
    n += 1
    print("round", n, y)
print("end", n)
return y, n"""
    a = np.diag([2.0, 3.0, 4.0])
    found, expected = both(tmp_path, body, a=a, x=X[:3])
    assert found.meta["stdout"] == expected.meta["stdout"]
    rounds = int(expected.outputs["n"])
    assert rounds > 10
    assert int(found.outputs["n"]) == rounds
    assert np.array_equal(found.outputs["y"], expected.outputs["y"])
    calls = found.meta["host_calls"]
    assert isinstance(calls, Mapping)
    assert calls == {"solve.0": rounds}
    assert found.placement["solve.0"] == "host"
    assert "riscv" in found.placement.values()


def test_sizes_that_the_run_decides(tmp_path: Path) -> None:
    body = """big = x[x > t]
print(len(big), big)
values, counts = np.unique(np.round(x), return_counts=True)
return big, big.sum() * 2, np.argsort(-big)[:2], values, counts"""
    for threshold in (-5.0, 0.3, 9.0):
        found, expected = both(tmp_path, body, x=X, t=np.asarray(threshold))
        assert found.meta["stdout"] == expected.meta["stdout"]
        for ours, theirs in zip(found.outputs.values(), expected.outputs.values(), strict=True):
            assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
            assert np.array_equal(ours, theirs)


def test_a_decision_with_a_part_that_has_no_place_is_the_hosts(tmp_path: Path) -> None:
    body = """if x.sum() > t:
    y = np.fft.fft(x)
else:
    y = x + 0j
return np.abs(y) * 2, x + 1"""
    for threshold in (-1.0, 1.0):
        found, expected = both(tmp_path, body, x=X, t=np.asarray(threshold))
        for ours, theirs in zip(found.outputs.values(), expected.outputs.values(), strict=True):
            assert np.allclose(ours, theirs, rtol=1e-12)


def test_tensors_of_the_host_are_kept(tmp_path: Path) -> None:
    found, expected = both(tmp_path, "z = np.fft.rfft(x)\nreturn np.abs(z) + x[:7]", x=X)
    assert np.array_equal(found.tensors["z"], expected.tensors["z"])
    assert found.meta["host_reasons"] == {
        "z": "riscv has no place for tensor<7xcomplex<f64>>",
        "abs.0": "riscv has no place for tensor<7xcomplex<f64>>",
    }


def test_a_program_that_needs_no_host_says_nothing_of_it(tmp_path: Path) -> None:
    found, _ = both(tmp_path, "print(x)\nreturn x * 2 + 1", x=X)
    assert not found.placement
    assert not {"host_calls", "host_reasons"} & found.meta.keys()


def test_what_numpy_refuses_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"m\.py:4:\d+: operation .*Singular matrix"):
        both(tmp_path, "return np.linalg.solve(a, x[:3]) + x[:3] * 2", a=np.zeros((3, 3)), x=X)


def test_nothing_but_the_host_is_refused(tmp_path: Path) -> None:
    inputs = {"x": X}
    with pytest.raises(DeviceError, match=r"m\.py:4:\d+: operation .*numpy\.fft\.fft\) on riscv: type tensor<12xcomplex"):
        RISCV.run(program_of(tmp_path, "return np.fft.fft(x)", inputs), inputs, RunOptions())


def test_an_emulator_without_calls_names_one_that_has_them(tmp_path: Path) -> None:
    inputs = {"a": np.eye(3), "x": X[:3]}
    compiled = program_of(tmp_path, "return np.linalg.solve(a, x) + x * 2", inputs)
    with pytest.raises(DeviceError, match=r"numpy\.linalg\.solve\) on riscv: not supported; with --riscv-emulator unicorn"):
        RISCV.run(
            compiled, inputs, RunOptions(riscv={"emulator": "rvsim"})
        )  # refused before it is started: it need not be installed
