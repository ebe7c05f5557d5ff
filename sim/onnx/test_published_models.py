"""Models of other people, whole, on `riscv`: every operation within its derived bound, and the task's result."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/onnx"))
import file_types
import sentences
from engines import TOLERANCE, difference

from fleet.cli.main import main
from fleet.llm.files.cache import model_file

pytestmark = pytest.mark.nightly


def needs(name: str) -> pytest.MarkDecorator:
    there = model_file(name, ".onnx").is_file()
    return pytest.mark.skipif(not there, reason=f"{name} is not here (fleet models fetch {name})")


def within_bounds(capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    code, shown = main(["cosim", *command, "--engines", "vm,riscv", "--json"]), capsys.readouterr()
    assert code == 0, shown.err + shown.out[-2000:]
    assert {c["name"]: c["verdict"] for c in json.loads(shown.out)["comparisons"]}["riscv-vs-vm"] == "pass"


@needs("minilm")
def test_sentences(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "in.npz", **sentences.tokens(sentences.SENTENCES[:4], sentences.vocabulary()))
    command = [str(model_file("minilm", ".onnx")), "--input", str(tmp_path / "in.npz"), "--to", sentences.STATES]
    within_bounds(capsys, command)
    states, tables = sentences.compare(sentences.SENTENCES, ["vm", "riscv", "onnxruntime"])
    for name, table in tables.items():
        assert difference(states, name) <= TOLERANCE
        assert sentences.closest(table) == sentences.closest(tables["vm"])
        np.testing.assert_allclose(table, tables["vm"], atol=1e-5)


@needs("magika")
def test_file_types(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [file_types.ROOT / name for name in file_types.FILES]
    config = json.loads(model_file("magika", ".json").read_text())
    np.savez(tmp_path / "in.npz", bytes=np.stack([file_types.features(f.read_bytes(), config) for f in files[:2]]))
    within_bounds(capsys, [str(model_file("magika", ".onnx")), "--input", str(tmp_path / "in.npz")])
    scores, found = file_types.compare(files, ["vm", "riscv", "onnxruntime"])
    expected = ["markdown", "txt", "makefile", "toml", "svg", "python", "npz", "cpp", "verilog", "json", "html", "png"]
    for name, rows in found.items():
        assert difference(scores, name) <= TOLERANCE
        assert [kind for kind, _ in rows] == expected
