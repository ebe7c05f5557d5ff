"""Encoder layers from ONNX through the accelerator: `iss` and `rtl` bit by bit, the arithmetic within its derived bounds."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/frontend/onnx"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/onnx"))
from onnx_models import encoder_layer
from sentences import tokens, vocabulary

from fleet.cli.main import main
from fleet.llm.files.cache import model_file

MINILM = model_file("minilm", ".onnx")
GRAPH = "/model/model.0/auto_model"


def comparisons(capsys: pytest.CaptureFixture[str], command: list[str]) -> dict[str, str]:
    """Name -> verdict; the command must have passed."""
    code, shown = main([*command, "--json"]), capsys.readouterr()
    assert code == 0, shown.err + shown.out[-2000:]
    return {c["name"]: c["verdict"] for c in json.loads(shown.out)["comparisons"]}


def passed(found: dict[str, str]) -> None:
    assert found["rtl-vs-iss"] == "pass"
    assert found["iss-vs-vm-rounded"] == "pass"


@pytest.mark.parametrize("sequences", [1, 3])
def test_a_layer_with_random_weights(sequences: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "layer.onnx"
    path.write_bytes(encoder_layer(6, 64, 2, 128, batch=sequences).SerializeToString())
    x = np.random.default_rng(5).standard_normal((sequences, 6, 64)).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x, mask=np.ones((sequences, 6), np.int64))
    command = ["cosim", str(path), "--input", str(tmp_path / "in.npz"), "--known", "mask", "--device", "hbm_small"]
    passed(comparisons(capsys, [*command, "--engines", "vm,riscv,iss,rtl"]))


@pytest.mark.nightly
@pytest.mark.skipif(not MINILM.is_file(), reason="MiniLM is not here (fleet models fetch minilm)")
@pytest.mark.parametrize("layer", [0, 1, 2])
def test_a_layer_of_minilm(layer: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What enters the layer is computed of a real sentence."""
    np.savez(tmp_path / "in.npz", **tokens(["The quick brown fox jumps over the lazy dog."], vocabulary()))
    first = f"{GRAPH}/embeddings/LayerNorm" if layer == 0 else f"{GRAPH}/encoder/layer.{layer - 1}/output/LayerNorm"
    begin = f"{first}/LayerNormalization_output_0"
    end = "onnx::Shape_422" if layer == 2 else f"{GRAPH}/encoder/layer.{layer}/output/LayerNorm/LayerNormalization_output_0"
    command = ["cosim", str(MINILM), "--input", str(tmp_path / "in.npz"), "--known", "attention_mask", "--from", begin, "--to", end]
    passed(comparisons(capsys, [*command, "--device", "hbm_small", "--engines", "vm,iss,rtl"]))
