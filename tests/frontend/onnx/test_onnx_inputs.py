"""Inputs of an ONNX model that have a default, an initializer of the same name; and names that it does not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_models import model, node, program, reference, run

from fleet.cli.main import main
from fleet.cosim.models.loaded import load_model
from fleet.errors import ModelError

X = np.arange(12, dtype=np.float32).reshape(3, 4) / 8
GIVEN = np.arange(8, dtype=np.float32).reshape(4, 2) - 3
DEFAULT = np.ones((4, 2), np.float32)


def product() -> onnx.ModelProto:
    """x @ w, of which w is an input with a default."""
    sizes = {"x": (np.float32, 3, 4), "w": (np.float32, 4, 2)}
    return model([node("MatMul", ["x", "w"], ["y"])], sizes, ["y"], {"w": DEFAULT})


@pytest.mark.parametrize("given", [{"x": X}, {"x": X, "w": GIVEN}])
def test_a_given_array_takes_the_place_of_the_default(given: dict[str, np.ndarray]) -> None:
    (found,), (wanted,) = run(product(), given), reference(product(), given)
    np.testing.assert_array_equal(found, wanted)
    assert {a.name: a.kind for a in program(product(), given).arguments}["w"] == ("input" if "w" in given else "weight")


def test_a_given_shape_takes_the_place_of_the_default() -> None:
    """Its values decide the shape of the result."""
    shape = np.array([2, 6], np.int64)
    sizes = {"x": (np.float32, 3, 4), "shape": (np.int64, "n")}
    made = model([node("Reshape", ["x", "shape"], ["y"])], sizes, ["y"], {"shape": np.array([12], np.int64)})
    (found,) = run(made, {"x": X, "shape": shape})
    assert found.shape == (2, 6)


def written(folder: Path) -> Path:
    path = folder / "m.onnx"
    path.write_bytes(product().SerializeToString())
    return path


def test_engines_get_the_given_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "in.npz", x=X, w=GIVEN)
    arguments = ["--input", str(tmp_path / "in.npz"), "--engines", "vm,onnxruntime", "--report", str(tmp_path / "r")]
    assert main(["cosim", str(written(tmp_path)), *arguments]) == 0
    shown = capsys.readouterr().out
    assert "verdict: PASS" in shown
    assert f"{(X @ GIVEN)[0, 0]:g}" in shown


def test_the_default_is_the_files_own_where_the_name_is_no_input(tmp_path: Path) -> None:
    made = product()
    del made.graph.input[1]
    path = tmp_path / "m.onnx"
    path.write_bytes(made.SerializeToString())
    np.savez(tmp_path / "in.npz", x=X, w=GIVEN)
    with pytest.raises(ModelError, match=r"in\.npz: holds 'w', which is no argument of the model; the model's arguments are x"):
        load_model(str(path), None, tmp_path / "in.npz", 0, None)


@pytest.mark.parametrize("kind", ["onnx", "py", "mlir"])
def test_an_array_that_the_model_has_no_argument_for_is_refused(tmp_path: Path, kind: str) -> None:
    np.savez(tmp_path / "in.npz", x=X, foo=X)
    spec = tmp_path / f"m.{kind}"
    if kind == "onnx":
        written(tmp_path)
    elif kind == "py":
        spec.write_text("def f(x):\n    return x * 2\n")
    else:
        spec.write_text("func.func @f(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {\n  return %x : tensor<3x4xf32>\n}\n")
    with pytest.raises(ModelError, match=r"in\.npz: holds 'foo', which is no argument of the model; the model's arguments are x"):
        load_model(f"{spec}:f" if kind == "py" else str(spec), None, tmp_path / "in.npz", 0, None)


def test_the_declared_type_holds_for_the_given_array() -> None:
    with pytest.raises(ModelError, match='input "w" is declared float32'):
        program(product(), {"x": X, "w": GIVEN.astype(np.float64)})
