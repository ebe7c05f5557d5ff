"""Fast Fourier transforms of onnxruntime: their stated error holds, is no more than a few times what is seen, and is used."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fleet.cli.main import main
from fleet.engines.onnxruntime.transforms import transform_of
from fleet.frontend.onnx.graph import OnnxNode

RNG = np.random.default_rng(6)


def of(op: str, inputs: tuple[str, ...], **attributes: Any) -> Any:
    found = transform_of(OnnxNode(op, "", op, op, inputs, ("y",), attributes))
    assert found is not None
    return found


@pytest.mark.parametrize("length", [8, 64, 512, 12, 15, 100, 400])
def test_the_stated_error_of_a_transform_holds(length: int) -> None:
    import onnxruntime

    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [3, length, 1])]
    node = helper.make_node("DFT", ["x", "", "axis"], ["y"])
    graph = helper.make_graph(
        [node], "g", ports, [helper.make_empty_tensor_value_info("y")], [numpy_helper.from_array(np.array(1, np.int64), "axis")]
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    x = RNG.standard_normal((3, length, 1)).astype(np.float32)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": x})
    exact = np.fft.fft(x[..., 0].astype(np.float64), axis=1)
    error = max(np.abs(found[..., 0] - exact.real).max(), np.abs(found[..., 1] - exact.imag).max())
    stated = of("DFT", ("x", "", "axis")).rounding({"x": x, "axis": np.array(1)})
    assert error <= stated
    assert stated < 1e-3 * math.sqrt(length) * np.abs(exact).max()


def test_an_inverse_is_divided_by_its_length_and_missing_values_state_nothing() -> None:
    x = np.ones((1, 16, 2), np.float32)
    assert of("DFT", ("x",), axis=1, inverse=1).rounding({"x": x}) == of("DFT", ("x",), axis=1).rounding({"x": x}) / 16
    assert of("DFT", ("x",), axis=1).rounding({}) == 0
    assert of("STFT", ("x", "step")).rounding({"x": np.ones((1, 40), np.float32), "step": np.array(4)}) == 0


@pytest.mark.parametrize("signal", ["noise", "zeros in every other place", "a constant"])
def test_a_window_that_nodes_make(signal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As exporters of audio models write it: HannWindow, step and length of Constant nodes, none of which the program computes."""
    nodes = [
        helper.make_node("Constant", [], ["step"], value=numpy_helper.from_array(np.array(8))),
        helper.make_node("Constant", [], ["length"], value=numpy_helper.from_array(np.array(16))),
        helper.make_node("HannWindow", ["length"], ["window"]),
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node("STFT", ["square", "step", "window", "length"], ["y"], onesided=1),
    ]
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])]
    graph = helper.make_graph(nodes, "g", ports, [helper.make_empty_tensor_value_info("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    x = RNG.standard_normal((1, 64)).astype(np.float32)
    x = (
        x * (np.arange(64) % 2).astype(np.float32)
        if signal.startswith("zeros")
        else np.ones_like(x)
        if signal == "a constant"
        else x
    )
    np.savez(tmp_path / "x.npz", x=x)
    code = main(["cosim", str(tmp_path / "m.onnx"), "--input", str(tmp_path / "x.npz"), "--engines", "vm,onnxruntime"])
    assert code == 0, capsys.readouterr().out


def test_a_spectrogram_agrees(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Imaginary parts at 0 and at half the rate have factors of 0: onnxruntime's are not 0."""
    weights = {"step": np.array(8), "window": np.hanning(33)[:32].astype(np.float32), "length": np.array(32)}
    node = helper.make_node("STFT", ["x", *weights], ["y"], onesided=1)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 160])], [helper.make_empty_tensor_value_info("y")],
        [numpy_helper.from_array(a, n) for n, a in weights.items()],
    )  # fmt: skip
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", x=RNG.standard_normal((1, 160)).astype(np.float32))
    code = main(["cosim", str(tmp_path / "m.onnx"), "--input", str(tmp_path / "x.npz"), "--engines", "vm,onnxruntime"])
    assert code == 0, capsys.readouterr().out
