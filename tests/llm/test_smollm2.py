"""The published model, where it was fetched: its shape, its tokens, its answer."""

from __future__ import annotations

import pytest

from fleet.llm.config import preset
from fleet.llm.files.cache import model_file
from fleet.llm.load import load_model
from fleet.llm.reference import forward

pytest.importorskip("gguf", reason="package gguf is not installed (extra llm)")
pytest.importorskip("tokenizers", reason="package tokenizers is not installed (extra llm)")
pytestmark = pytest.mark.skipif(
    not model_file("smollm2").exists(), reason="the weights of smollm2 are not here (fleet models fetch smollm2)"
)


def test_it_says_paris() -> None:
    model = load_model("smollm2")
    assert model.weights.config == preset("smollm2-135m")
    tokens = model.tokenizer.chat("What is the capital of France?")
    assert len(tokens) == 37
    assert tokens[:4] == [1, 9690, 198, 2683]  # as the model's own tokenizer.json has them
    weights = {name: model.weights[name] for name in model.weights if name != "head"}
    weights["head"] = weights["embedding"].T
    answer: list[int] = []
    for _ in range(10):
        answer.append(int(forward(model.weights.config, weights, tokens + answer)[-1].argmax()))
        if answer[-1] in model.weights.config.eos:
            break
    assert model.tokenizer.decode(answer) == "The capital of France is Paris."
