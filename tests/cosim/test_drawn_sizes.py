"""Sizes of an ONNX model's free dimensions where no data are given: what the model takes is found, or the first refusal is told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fleet.cli.main import main
from fleet.cosim.models.loaded import load_model
from fleet.errors import ModelError
from fleet.ir.dialect import op_id

onnxruntime = pytest.importorskip("onnxruntime")


def spectrogram(path: Path, frame: int = 320) -> Path:
    """Frames of a signal [batch, N] and their spectra; the nodes have names as TensorFlow Lite joins them."""
    given = {"step": np.array(160), "window": np.hanning(frame).astype(np.float32)}
    nodes = [
        helper.make_node("STFT", ["signal", "step", "window"], ["spectra"], "frames/stft;frames/stft;frames/real"),
        helper.make_node("ReduceSumSquare", ["spectra", "last"], ["power"], "frames/power;frames/power", keepdims=0),
    ]
    given["last"] = np.array([-1])
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("signal", TensorProto.FLOAT, ["batch", "N"])],
        [helper.make_tensor_value_info("power", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(a, n) for n, a in given.items()],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


def test_a_signal_is_drawn_as_long_as_a_frame(tmp_path: Path) -> None:
    path = spectrogram(tmp_path / "m.onnx")
    loaded = load_model(str(path), None, None, 0, None)
    assert loaded.spec == f"{path}?dim=N:512"
    assert loaded.inputs["signal"].shape == (8, 512)
    again = load_model(loaded.spec, None, None, 0, None)
    assert again.program.hash == loaded.program.hash
    np.testing.assert_array_equal(again.inputs["signal"], loaded.inputs["signal"])


def test_sizes_that_are_given_stay(tmp_path: Path) -> None:
    path = spectrogram(tmp_path / "m.onnx")
    assert load_model(f"{path}?dim=N:320", None, None, 0, 2).inputs["signal"].shape == (2, 320)
    with pytest.raises(ModelError, match="frames of 320"):
        load_model(f"{path}?dim=N:319", None, None, 0, 2)


def test_the_first_refusal_is_told_where_no_size_will_do(tmp_path: Path) -> None:
    path = spectrogram(tmp_path / "m.onnx", 20_000)
    with pytest.raises(ModelError, match=r"frames of 20000 .* \[8, 8\]") as told:
        load_model(str(path), None, None, 0, None)
    assert told.value.hint is not None
    assert "N with --dim NAME=SIZE" in told.value.hint


def test_try_takes_it_and_says_the_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = spectrogram(tmp_path / "m.onnx")
    assert main(["try", str(path)]) == 0
    said = capsys.readouterr().out
    assert "m.onnx?dim=N:512, 8 is refused" in said
    assert "fleet try" not in said
    assert f"fleet cosim '{path}?dim=N:512'" in said


def test_joined_names_are_the_first_of_them(tmp_path: Path) -> None:
    program = load_model(str(spectrogram(tmp_path / "m.onnx")), None, None, 0, None).program
    names = {op_id(op) for op in program.operations()}
    assert any(name.startswith("frames.power") for name in names)
    assert not [name for name in names if name.count("frames") > 1]
