"""Resize of onnxruntime: its stated error of places in float32 holds, is small, and hides no other place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fleet.cli.main import main
from fleet.engines.onnxruntime.engine import OnnxRuntimeEngine
from fleet.engines.onnxruntime.resizes import resizing_of
from fleet.frontend.onnx.graph import OnnxNode

RNG = np.random.default_rng(8)


def resized(mode: str, sizes: tuple[int, int], coordinates: str) -> onnx.ModelProto:
    """A Resize to these sizes between two Relu."""
    nodes = [
        helper.make_node("Relu", ["x"], ["r"], "before"),
        helper.make_node("Resize", ["r", "", "", "sizes"], ["s"], "resize", mode=mode, coordinate_transformation_mode=coordinates),
        helper.make_node("Relu", ["s"], ["y"], "after"),
    ]
    weights = [numpy_helper.from_array(np.array([1, 4, *sizes]), "sizes")]
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 13, 29])]
    graph = helper.make_graph(nodes, "g", ports, [helper.make_empty_tensor_value_info("y")], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"])
@pytest.mark.parametrize("sizes", [(17, 97), (7, 12)])
def test_places_in_float32_agree(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], mode: str, coordinates: str, sizes: tuple[int, int]
) -> None:
    onnx.save(resized(mode, sizes, coordinates), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=(RNG.standard_normal((1, 4, 13, 29)) * 3).astype(np.float32))
    code = main(["cosim", str(tmp_path / "m.onnx"), "--input", str(tmp_path / "x.npz"), "--engines", "vm,onnxruntime"])
    assert code == 0, capsys.readouterr().out


def test_another_place_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that was changed behind the program's back: places that are half an element off."""
    path = tmp_path / "m.onnx"
    onnx.save(resized("linear", (17, 97), "half_pixel"), path)
    np.savez(tmp_path / "x.npz", x=RNG.standard_normal((1, 4, 13, 29)).astype(np.float32))
    run = OnnxRuntimeEngine.run

    def changed(self: OnnxRuntimeEngine, *given: object) -> object:
        onnx.save(resized("linear", (17, 97), "asymmetric"), path)
        return run(self, *given)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(OnnxRuntimeEngine, "run", changed)
    code = main(["cosim", str(path), "--input", str(tmp_path / "x.npz"), "--engines", "vm,onnxruntime"])
    assert code == 1
    assert "resize" in capsys.readouterr().out


def test_what_is_stated_is_small_and_counts_axes_that_change_alone() -> None:
    node = OnnxNode("Resize", "", "r", "r", ("x", "", "", "sizes"), ("y",), {"mode": "linear"})
    stated = resizing_of(node)
    assert stated is not None
    x = np.zeros((2, 1, 31), np.float32)
    x[0, 0, 3] = 2
    one = stated.rounding({"x": x, "y": np.zeros((2, 1, 50), np.float32)})
    assert 0 < one <= 6 * 2.0**-24 * 32 * 2
    assert stated.rounding({"x": x, "y": x}) == 0
    assert stated.rounding({"x": x}) == 0
    nearest = OnnxNode("Resize", "", "r", "r", ("x",), ("y",), {"mode": "nearest"})
    assert resizing_of(nearest) is None
