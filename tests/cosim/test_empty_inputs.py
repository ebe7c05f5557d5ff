"""Inputs without elements: the first step of a decoder that was exported with its past, on every engine beside NumPy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "frontend/onnx"))
from onnx_models import model, node

from fleet.cli.main import main
from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine

ENGINES = ["vm", "onnxruntime", "llvm-cpu", "riscv"]


def decoder() -> onnx.ModelProto:
    """Past keys in front of the new ones, scores of them, and what reductions and products make of the past alone."""
    nodes = [
        node("Concat", ["past", "x"], ["present"], axis=1),
        node("Transpose", ["present"], ["t"], perm=[0, 2, 1]),
        node("MatMul", ["x", "t"], ["scores"]),
        node("Softmax", ["scores"], ["p"], axis=-1),
        node("MatMul", ["p", "present"], ["y"]),
        node("ReduceSum", ["past", "axis"], ["sum"], keepdims=0),
        node("Transpose", ["past"], ["pt"], perm=[0, 2, 1]),
        node("MatMul", ["pt", "past"], ["gram"]),
        node("Relu", ["past"], ["nothing"]),
    ]
    inputs = {"past": (np.float32, "b", "p", 4), "x": (np.float32, "b", "s", 4)}
    return model(nodes, inputs, ["present", "y", "sum", "gram", "nothing"], {"axis": np.array([1])})


@pytest.mark.parametrize("name", ENGINES)
def test_an_empty_past(name: str, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(decoder().SerializeToString())
    past, x = np.zeros((2, 0, 4), np.float32), np.random.default_rng(1).standard_normal((2, 3, 4)).astype(np.float32)
    np.savez(tmp_path / "x.npz", past=past, x=x)
    engine = find_engine(name).engine
    if missing := engine.available():
        pytest.skip(missing)
    loaded = load_model(str(path), None, tmp_path / "x.npz", 0, None)
    found = engine.run(loaded.program, loaded.inputs, RunOptions(keep_tensors=False)).outputs
    scores = np.exp(x @ x.swapaxes(1, 2))
    want = {
        "present": x,
        "y": scores / scores.sum(-1, keepdims=True) @ x,
        "sum": np.zeros((2, 4), np.float32),
        "gram": np.zeros((2, 4, 4), np.float32),
        "nothing": past,
    }
    for key, array in want.items():
        assert found[key].shape == array.shape
        np.testing.assert_allclose(found[key], array, rtol=1e-5, err_msg=key)


def test_a_size_of_zero_is_taken_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.onnx").write_bytes(decoder().SerializeToString())
    monkeypatch.chdir(tmp_path)
    assert main(["cosim", "m.onnx", "--dim", "p=0", "--engines", "vm,onnxruntime"]) == 0
    assert "verdict: PASS" in capsys.readouterr().out


def test_an_empty_batch_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.onnx").write_bytes(model([node("Relu", ["x"], ["y"])], {"x": (np.float32, "N", 4)}, ["y"]).SerializeToString())
    monkeypatch.chdir(tmp_path)
    assert main(["cosim", "m.onnx", "--dim", "N=0", "--engines", "vm,onnxruntime"]) == 2
    assert 'input "x" is empty, shape [0, 4], and so are all results; give at least one row' in capsys.readouterr().err


def test_a_numpy_source_on_cpython(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    source = 'import numpy as np\n\n\ndef step(past: "f32[N, 4]", x: "f32[M, 4]"):\n    return np.concatenate([past, x]) * 2\n'
    (tmp_path / "m.py").write_text(source)
    np.savez(tmp_path / "x.npz", past=np.zeros((0, 4), np.float32), x=np.ones((3, 4), np.float32))
    monkeypatch.chdir(tmp_path)
    assert main(["cosim", "m.py:step", "--input", "x.npz", "--engines", "vm,cpython,llvm-cpu"]) == 0
    assert "verdict: PASS" in capsys.readouterr().out
