"""ONNX models on the command line: the same commands as for NumPy sources."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from command_line import ROOT, environment
from onnx import TensorProto, helper, numpy_helper

from fleet.cli.main import main


def save(path: str, nodes: list, inputs: dict[str, tuple], outputs: list[str], weights: dict[str, np.ndarray]) -> None:
    declared = [helper.make_tensor_value_info(n, code, list(dims)) for n, (code, *dims) in inputs.items()]
    results = [helper.make_empty_tensor_value_info(o) for o in outputs]
    graph = helper.make_graph(nodes, "g", declared, results, [numpy_helper.from_array(a, n) for n, a in weights.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    weights = {"w": np.eye(4, 3, dtype=np.float32), "b": np.arange(3, dtype=np.float32)}
    nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["h"], "dense"), helper.make_node("Relu", ["h"], ["y"], "act")]
    save("m.onnx", nodes, {"x": (TensorProto.FLOAT, "N", 4)}, ["y"], weights)
    np.savez("x.npz", x=np.arange(-4, 4, dtype=np.float32).reshape(2, 4))
    return tmp_path


def test_run_writes_the_outputs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "m.onnx", "--input", "x.npz", "-o", "y.npz"]) == 0
    assert capsys.readouterr().out.startswith("y float32[2, 3]")
    with np.load("y.npz") as found:
        np.testing.assert_array_equal(found["y"], [[0, 0, 0], [0, 2, 4]])


def test_without_inputs_they_are_drawn(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "m.onnx", "--batch", "3"]) == 0
    found = capsys.readouterr()
    assert "y float32[3, 3]" in found.out
    assert "seeded random data" in found.err


def test_cosim_compares_vm_and_riscv(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cosim", "m.onnx", "--input", "x.npz", "--engines", "vm,interp,riscv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "pass"


def test_compile_to_bytecode_and_ir(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "--emit", "ir", "m.onnx"]) == 0
    assert 'at = "m.onnx:node 0 (Gemm dense)"' in capsys.readouterr().out
    assert main(["compile", "--emit", "bytecode", "m.onnx", "--input", "x.npz", "-o", "m.fbc"]) == 0
    assert main(["run", "m.fbc", "--input", "x.npz"]) == 0
    assert "y float32[2, 3]" in capsys.readouterr().out
    assert main(["compile", "--emit", "ast", "m.onnx"]) == 2
    assert "an ONNX model has no ast" in capsys.readouterr().err


def test_an_input_that_decides_a_shape_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reshape = [helper.make_node("Reshape", ["x", "shape"], ["y"], "turn")]
    save("r.onnx", reshape, {"x": (TensorProto.FLOAT, "N", 4), "shape": (TensorProto.INT64, 2)}, ["y"], {})
    np.savez("r.npz", x=np.ones((2, 4), np.float32), shape=np.array([4, 2]))
    assert main(["run", "r.onnx", "--input", "r.npz"]) == 0
    found = capsys.readouterr()
    assert "y float32[4, 2]" in found.out
    assert "compiled for these values, which decide shapes or branches: shape" in found.err


def test_a_case_names_an_onnx_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("c.toml").write_text('name = "c"\nmodel = "m.onnx"\ninput = "x.npz"\nengines = ["vm", "interp"]\ngolden = false\n')
    assert main(["case", "run", "c.toml"]) == 0


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["run", "none.onnx"], "cannot be read"),
        (["run", "bad.onnx"], "is no ONNX model"),
        (["run", "m.onnx", "--weights", "x.npz"], "weights in it"),
        (["compile", "--emit", "ir", "--dynamic", "Q", "m.onnx"], "no dimension of an input is called 'Q'"),
        (["run", "m.onnx", "--engines", "cpython"], "no Python source"),
        (["run", "m.onnx", "--input", "wrong.npz"], "the model's arguments are x"),
    ],
)
def test_what_is_wrong_is_said(folder: Path, arguments: list[str], what: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.onnx").write_bytes(b"not a model")
    np.savez("wrong.npz", z=np.ones(3))
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert what in error
    assert "Traceback" not in error


def test_help_does_not_import_onnx() -> None:
    code = "import sys; from fleet.cli.main import main; main(['run', '--help']); sys.exit('onnx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0


def test_without_the_package_it_is_said(folder: Path) -> None:
    code = "import importlib.util as u, sys; f = u.find_spec; u.find_spec = lambda n, *a: None if n == 'onnx' else f(n, *a)\n"
    code += "from fleet.cli.main import main; sys.exit(main(['run', 'm.onnx']))"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "the package onnx is missing" in done.stderr
    assert "fleet-cosim[onnx]" in done.stderr
