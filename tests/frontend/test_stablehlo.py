"""StableHLO as JAX prints it: results are JAX's own, on vm and on a device; what is not read is refused with its line."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from fleet.cli.main import main
from fleet.engines.base import Engine, RunOptions
from fleet.engines.llvm_cpu import ENGINE as LLVM_CPU
from fleet.engines.vm import ENGINE as VM
from fleet.errors import ModelError
from fleet.frontend.mlir.stablehlo.control import READ
from fleet.frontend.source import load
from fleet.ir.dialect import kind_of

JAX = os.environ.get("FLEET_JAX") or (sys.executable if find_spec("jax") else None)
FOLDER = Path(__file__).with_name("stablehlo")
SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LOOSE = {"half": (1e-2, 2e-3), "bfloat16_sums": (1e-2, 5e-2)}
"""Case -> relative and absolute tolerance. A sum of bfloat16 is rounded after each addition by XLA, once at the end by fleet."""
NAMES = sorted(p.stem for p in FOLDER.glob("*.mlir"))


@cache
def arrays() -> dict[str, np.ndarray]:
    with np.load(FOLDER / "arrays.npz") as stored:
        return dict(stored)


def of(name: str, kind: str) -> list[np.ndarray]:
    return [array for key, array in arrays().items() if key.startswith(f"{name}/{kind}")]


def run(path: Path, arguments: list[np.ndarray], engine: Engine = VM) -> list[np.ndarray]:
    given = {f"arg{n}": a for n, a in enumerate(arguments)}
    program = load(str(path), {}, given)
    fed = {a.name: given[a.name] for a in program.inputs}
    return list(engine.run(program, fed, RunOptions(keep_tensors=False)).outputs.values())


@pytest.mark.parametrize("name", NAMES)
def test_what_jax_computes(name: str) -> None:
    found, wanted = run(FOLDER / f"{name}.mlir", of(name, "arg")), of(name, "out")
    for got, want in zip(found, wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if got.dtype.kind == "f":
            rtol, atol = LOOSE.get(name, (2e-4, 2e-5))
            np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "name",
    [
        *("divided_by_zero", "divided_unsigned", "top_k_in_total_order", "complement", "neighbours", "leading_zeros"),
        *("scatter_truths", "scatter_own", "reduced_bits", "bits_of_other_sizes"),
        *("bfloat16_layers", "bfloat16_slope", "bfloat16_bits", "bfloat16_convolution"),
    ],
)
def test_what_jax_computes_is_compiled(name: str) -> None:
    """What needs no function of NumPy itself is the same where kernels are compiled."""
    found, wanted = run(FOLDER / f"{name}.mlir", of(name, "arg"), LLVM_CPU), of(name, "out")
    for got, want in zip(found, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5)


def test_there_are_as_many_texts_as_results() -> None:
    assert len(NAMES) >= 50
    assert {key.partition("/")[0] for key in arrays()} == set(NAMES)


@pytest.mark.skipif(JAX is None, reason="JAX is not installed; FLEET_JAX names a Python that has it")
def test_texts_are_what_jax_prints() -> None:
    done = subprocess.run([str(JAX), SCRIPTS / "stablehlo_texts.py", "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_device_runs_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FOLDER / "attention.mlir"
    assert main(["cosim", str(path), "--engines", "vm,iss,riscv", "--device", "hbm_small", "--report", str(tmp_path / "r")]) == 0
    assert "verdict: PASS" in capsys.readouterr().out


def written(tmp_path: Path, body: str, types: str = "tensor<4xf32>") -> Path:
    path = tmp_path / "m.mlir"
    path.write_text(f"func.func public @main(%arg0: {types}) -> tensor<4xf32> {{\n{body}\n}}\n")
    return path


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("  %0 = stablehlo.custom_call @lapack(%arg0) : (tensor<4xf32>) -> tensor<4xf32>\n", "a call of lapack"),
        ("  %0 = stablehlo.einsum2 %arg0 : tensor<4xf32>\n", "stablehlo.einsum2 is not read"),
        (
            "  %0 = stablehlo.slice %arg0 [0:3] : (tensor<4xf32>) -> tensor<4xf32>\n",
            r"stablehlo.slice gives float32\[3\]; its text says tensor<4xf32>",
        ),
        ("  %0 = stablehlo.transpose %arg0, dims = [3] : (tensor<4xf32>) -> tensor<4xf32>\n", "transpose of shape"),
        ("  %0 = stablehlo.add %arg0 : tensor<4xf32>\n", "add of 4xf32"),
        (
            "  %c = stablehlo.constant dense<(0.0, 1.0)> : tensor<complex<f32>>\n  %0 = stablehlo.abs %arg0 : tensor<4xf32>\n",
            "values of type complex<f32>; f16",
        ),
    ],
)
def test_what_is_not_read_is_named_with_its_line(tmp_path: Path, body: str, message: str) -> None:
    path = written(tmp_path, f"{body}  return %0 : tensor<4xf32>")
    with pytest.raises(ModelError, match=f"m.mlir:2: {message}"):
        run(path, [np.ones(4, np.float32)])


def test_loops_that_data_end_and_long_ones_are_loops_of_the_run() -> None:
    for name, most in (("until", 30), ("many_rounds", 40), ("kalman", 2000)):
        given = {f"arg{n}": a for n, a in enumerate(of(name, "arg"))}
        kinds = [kind_of(op) for op in load(str(FOLDER / f"{name}.mlir"), {}, given).operations()]
        assert ("while" in kinds) is (name != "kalman")
        assert len(kinds) < most, name


def test_a_region_outside_of_the_short_forms(tmp_path: Path) -> None:
    """A sort of two arrays by the second one, in the generic form."""
    body = """  %c = stablehlo.constant dense<[3.0, 0xFF800000, 1.0, 2.0]> : tensor<4xf32>
  %0:2 = "stablehlo.sort"(%arg0, %c) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %k: tensor<f32>, %l: tensor<f32>):
    %1 = stablehlo.compare GT, %k, %l, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %0#0 : tensor<4xf32>"""
    (found,) = run(written(tmp_path, body), [np.array([10, 20, 30, 40], np.float32)])
    assert found.tolist() == [10, 40, 30, 20]


def test_the_page_names_what_is_read() -> None:
    page = (SCRIPTS.parent / "docs/mlir.md").read_text()
    table = page.partition("<!-- stablehlo -->")[2].partition("<!-- end of stablehlo -->")[0]
    assert sorted(word.strip("`,.") for word in table.split() if word.startswith("`")) == list(READ)


def test_a_convolution_by_weights_turned_round(tmp_path: Path) -> None:
    """Windows are reversed in the first dimension; JAX reverses the weights itself, other writers do not."""
    body = """  %c = stablehlo.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %x = stablehlo.reshape %arg0 : (tensor<4xf32>) -> tensor<1x2x2x1xf32>
  %0 = stablehlo.convolution(%x, %c) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [true, false]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x2x1xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x2x1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x2x2x1xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>"""
    (found,) = run(written(tmp_path, body), [np.array([1, 10, 100, 1000], np.float32)])
    assert found.tolist() == [3 + 40 + 100 + 2000, 30 + 1000, 300 + 4000, 3000]


def test_the_command_names_the_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "  %0 = stablehlo.einsum2 %arg0 : tensor<4xf32>\n  return %0 : tensor<4xf32>")
    np.savez(tmp_path / "in.npz", arg0=np.ones(4, np.float32))
    assert main(["run", str(path), "--input", str(tmp_path / "in.npz")]) != 0
    assert f"{path}:2 and {tmp_path / 'in.npz'}: stablehlo.einsum2 is not read" in capsys.readouterr().err


def test_a_scatter_whose_function_has_its_operands_exchanged(tmp_path: Path) -> None:
    """Of two updates of an element the second sees what the first has made: 2 - (1 - 0.5)."""
    body = """  %i = stablehlo.constant dense<[[1], [1], [3]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %0 = "stablehlo.scatter"(%arg0, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
    scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.FUNCTION %b, %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>"""
    for function, wanted in (("subtract", [5, 1.5, 5, -1]), ("add", [5, 3.5, 5, 9]), ("maximum", [5, 2, 5, 5])):
        (found,) = run(written(tmp_path, body.replace("FUNCTION", function)), [np.array([5, 0.5, 5, 5], np.float32)])
        assert found.tolist() == wanted, function
