"""The examples with models of other people: their own arithmetic always, the models where they were fetched."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "examples/onnx"))
import file_types
import sentences
from engines import TOLERANCE, difference

from fleet.errors import ModelError
from fleet.llm.files.cache import model_file

CONFIG = {
    "beg_size": 4, "end_size": 6, "block_size": 16, "padding_token": 256, "thresholds": {"b": 0.9},
    "medium_confidence_threshold": 0.5, "overwrite_map": {"c": "d"}, "target_labels_space": ["a", "b", "c"],
}  # fmt: skip


def needs(name: str) -> pytest.MarkDecorator:
    there = model_file(name, ".onnx").is_file()
    return pytest.mark.skipif(not there, reason=f"{name} is not here (fleet models fetch {name})")


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"  abcdefgh  ", b"abcd" + b"cdefgh"),
        (b"ab", b"ab..." + b"...ab"),
        (b" \n" + b"x" * 20 + b"yz\n", b"xxxx" + b"xxxxyz"),
    ],
)
def test_features_are_the_ends_of_a_file(content: bytes, seen: bytes) -> None:
    """A dot stands for the filling."""
    np.testing.assert_array_equal(file_types.features(content, CONFIG), [256 if c == ord(".") else c for c in seen])


def test_only_classes_that_are_sure_are_told() -> None:
    scores = np.array([[0.6, 0.3, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.4, 0.3, 0.3]])
    assert [name for name, _ in file_types.types(scores, CONFIG)] == ["a", file_types.UNSURE, "d", file_types.UNSURE]


def test_sentences_become_tokens_as_bert_has_them() -> None:
    """Ids known from elsewhere: 101 and 102 around, 100 for a word that is unknown, 0 behind the shorter one."""
    made = sentences.tokens(["The cat sits outside.", "Zebra!"], sentences.vocabulary())
    np.testing.assert_array_equal(made["input_ids"], [[101, 1996, 4937, 7719, 2648, 1012, 102], [101, 100, 999, 102, 0, 0, 0]])
    np.testing.assert_array_equal(made["attention_mask"], [[1] * 7, [1, 1, 1, 1, 0, 0, 0]])


def test_the_mean_leaves_out_what_is_no_token() -> None:
    states = np.array([[[1.0, 0.0], [0.0, 1.0], [9.0, 9.0]], [[1.0, 1.0], [5.0, 5.0], [7.0, -7.0]]])
    table = sentences.similarities(states, np.array([[1, 1, 0], [1, 1, 0]]))
    np.testing.assert_allclose(table, 1, rtol=1e-12)
    assert sentences.closest(np.array([[1, 0.2, 0.9], [0.2, 1, 0.3], [0.9, 0.3, 1]])) == [2, 2, 0]


def test_without_the_model_the_command_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path))
    with pytest.raises(ModelError, match="fleet models fetch minilm"):
        sentences.compare(sentences.SENTENCES, ["vm"])


@needs("minilm")
def test_sentences_mean_the_same_to_fleet_and_onnxruntime() -> None:
    states, tables = sentences.compare(sentences.SENTENCES[:7], ["vm", "onnxruntime"])
    assert difference(states, "onnxruntime") <= TOLERANCE
    assert sentences.closest(tables["vm"]) == sentences.closest(tables["onnxruntime"])
    assert sentences.closest(tables["vm"])[:5] == [4, 4, 6, 6, 0]  # the cats, and the movies
    assert tables["vm"][3, 6] > 0.8
    assert tables["vm"][0, 5] < 0.3


@needs("magika")
def test_files_have_the_same_types_for_fleet_and_onnxruntime() -> None:
    names = ("README.md", "examples/digits/model.py", "examples/digits/weights.npz")
    scores, found = file_types.compare([file_types.ROOT / name for name in names], ["vm", "onnxruntime"])
    assert difference(scores, "onnxruntime") <= TOLERANCE
    assert [name for name, _ in found["vm"]] == ["markdown", "python", "npz"] == [name for name, _ in found["onnxruntime"]]
    config = json.loads(model_file("magika", ".json").read_text())
    assert (config["beg_size"], config["end_size"], config["padding_token"]) == (1024, 1024, 256)
