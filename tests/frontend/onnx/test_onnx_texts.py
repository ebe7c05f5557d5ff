"""Inputs of text: numbers of the texts that a model names, moved and compared; beside onnxruntime, which gets the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx_models import model, node, program, run

from fleet.cosim.models.loaded import load_model
from fleet.engines.base import RunOptions
from fleet.engines.registry import find_engine
from fleet.errors import ModelError
from fleet.frontend.onnx.reader import read_model
from fleet.frontend.onnx.texts import decoded, encoded

RNG = np.random.default_rng(4)
LEARNING = "ai.onnx.ml"
WORDS = np.array([["red", "blue"], ["green", "red"], ["pink", "blue"], ["", "pink"]])


def made(nodes: list[onnx.NodeProto], outputs: list[str], weights: dict[str, np.ndarray] | None = None) -> onnx.ModelProto:
    found = model(nodes, {"n": (np.int64, 4, 2)}, outputs, weights, opset=17, domains=(LEARNING,))
    found.graph.input[0].CopyFrom(helper.make_tensor_value_info("words", onnx.TensorProto.STRING, [4, 2]))
    found.opset_import[1].version = 2
    return found


ENCODED = [
    node("Transpose", ["words"], ["turned"], perm=[1, 0]),
    node("Reshape", ["turned", "shape"], ["flat"]),
    node("OneHotEncoder", ["flat"], ["hot"], domain=LEARNING, cats_strings=["blue", "green", "red"], zeros=1),
    node(
        "LabelEncoder", ["words"], ["label"], domain=LEARNING, keys_strings=["red", "green"], values_int64s=[7, 9], default_int64=-3
    ),
]


def test_text_is_moved_and_compared(tmp_path: Path) -> None:
    onnx.save(made(ENCODED, ["hot", "label"], {"shape": np.array([8], np.int64)}), tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", words=WORDS)
    loaded = load_model(str(tmp_path / "m.onnx"), None, tmp_path / "x.npz", 0, None)
    assert [(a.name, a.dtype, a.shape) for a in loaded.program.inputs] == [("words", np.dtype(np.int64), (4, 2))]
    for name in ("vm", "onnxruntime"):
        found = find_engine(name).engine.run(loaded.program, loaded.inputs, RunOptions()).outputs
        np.testing.assert_array_equal(found["label"], [[7, -3], [9, 7], [-3, -3], [-3, -3]])
        hot = WORDS.T.reshape(-1)[:, None] == np.array(["blue", "green", "red"])
        np.testing.assert_array_equal(found["hot"], hot.astype(np.float32))


def test_texts_that_the_model_does_not_name_are_told_apart() -> None:
    read = read_model(made(ENCODED, ["hot", "label"], {"shape": np.array([8], np.int64)}).SerializeToString(), "m.onnx")
    numbers = encoded(read, {"words": WORDS})["words"]
    assert numbers.tolist() == [[2, 0], [1, 2], [-1, 0], [-2, -1]]
    back = decoded(read.words, numbers)
    assert back[:2].tolist() == WORDS[:2].tolist()
    assert back[2, 0] == back[3, 1] != back[3, 0]
    assert not {back[2, 0], back[3, 0]} & read.words.keys()


def test_what_needs_letters_is_refused() -> None:
    cut = made([node("Cast", ["words"], ["y"], "cast", to=1)], ["y"])
    with pytest.raises(ModelError, match=r"\(Cast cast\): Cast of text is not supported"):
        program(cut, encoded(read_model(cut.SerializeToString(), "m.onnx"), {"words": WORDS}))


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize(("low", "high", "skips"), [(1, 1, 0), (1, 2, 0), (2, 2, 3), (1, 3, 2), (3, 3, 1)])
@pytest.mark.parametrize("rank", [1, 2])
def test_sequences_of_words_are_counted(mode: str, low: int, high: int, skips: int, rank: int) -> None:
    import onnxruntime

    how: dict[str, Any] = {
        "mode": mode, "min_gram_length": low, "max_gram_length": high, "max_skip_count": skips, "ngram_counts": [0, 3, 7],
        "pool_int64s": [2, 3, 5, 5, 4, 5, 6, 1, 2, 3], "ngram_indexes": [3, 1, 0, 5, 2, 4],
        "weights": RNG.uniform(0, 2, 6).tolist(),
    }  # fmt: skip
    shape = (3, 14)[-rank:]
    found = model([node("TfIdfVectorizer", ["x"], ["y"], "words", **how)], {"x": (np.int64, *shape)}, ["y"], opset=17)
    x = RNG.integers(1, 7, shape)
    session = onnxruntime.InferenceSession(found.SerializeToString(), providers=["CPUExecutionProvider"])
    (wanted,) = session.run(None, {"x": x})
    (got,) = run(found, {"x": x})
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(got, wanted, 1e-6)
