"""Layers that correct what the rounding of the layers before them did."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
import pytest

from fleet.llm import corrected_layers as module
from fleet.llm.corrected_layers import corrected_layers
from fleet.llm.reference import hidden_states
from fleet.llm.tiny import tiny_model
from fleet.llm.weights import ModelWeights, linear_names
from fleet.transforms.quantise import Quantised, QuantiseOptions, quantise
from fleet.transforms.quantise_refined import quantise_refined

TEXT = [int(t) for t in np.random.default_rng(3).integers(0, 320, 300)] * 3
Round = dict[str, Quantised]


def coarse(names: Sequence[str], matrices: Sequence[np.ndarray], _moments: np.ndarray) -> Round:
    """Round badly enough that there is something to correct."""
    return {n: quantise(m, group=128, levels=3, options=QuantiseOptions()) for n, m in zip(names, matrices, strict=True)}


def rounded(model: ModelWeights) -> dict[str, np.ndarray]:
    layers = corrected_layers(model, TEXT, linear_names(model.config), coarse, lambda *_: None)
    assert list(layers) == linear_names(model.config)
    return dict(model) | {name: layer.values(np.float32) for name, layer in layers.items()}


@pytest.mark.parametrize("architecture", ["qwen2", "chatglm2", "gpt2"])
def test_what_rounding_did_is_partly_undone(architecture: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, text = tiny_model(architecture), TEXT[:400]
    exact = hidden_states(model.config, dict(model), text)
    errors: list[float] = []
    for strength in (0.0, module.STRENGTH):
        monkeypatch.setattr(module, "STRENGTH", strength)
        errors.append(float(np.square(hidden_states(model.config, rounded(model), text) - exact).sum()))
    assert errors[1] < 0.97 * errors[0]


def test_layers_that_nothing_was_done_to_are_given_as_they_are() -> None:
    """Rounding that changes nothing leaves nothing to correct, in any layer."""
    model = tiny_model("qwen2")
    met: dict[str, np.ndarray] = {}

    class Exact(Quantised):
        def values(self, dtype: object) -> np.ndarray:
            return met[self.name]

        name: str

    def nothing(names: Sequence[str], matrices: Sequence[np.ndarray], moments: np.ndarray) -> Round:
        made: Round = {}
        for name, matrix in zip(names, matrices, strict=True):
            np.testing.assert_allclose(matrix, model[name], atol=1e-5)
            assert moments.shape == (len(matrix), len(matrix))
            met[name] = model[name]
            one = Exact(np.zeros((1, 1), np.int8), np.zeros((1, 1), np.float16), 1)
            object.__setattr__(one, "name", name)
            made[name] = one
        return made

    assert list(corrected_layers(model, TEXT, linear_names(model.config), nothing, lambda *_: None)) == list(met)


def test_bits_are_those_of_any_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny_model("qwen2")

    def refined(names: Sequence[str], matrices: Sequence[np.ndarray], moments: np.ndarray) -> Round:
        return {
            n: quantise_refined(m, moments, group=64, levels=7, options=QuantiseOptions())
            for n, m in zip(names, matrices, strict=True)
        }

    def bits(processors: int) -> dict[str, tuple[bytes, bytes]]:
        monkeypatch.setattr(os, "cpu_count", lambda: processors)
        layers = corrected_layers(model, TEXT * 2, linear_names(model.config), refined, lambda *_: None)
        return {name: (layer.codes.tobytes(), layer.scales.tobytes()) for name, layer in layers.items()}

    assert bits(1) == bits(2) == bits(7)


def test_layers_of_the_host_are_left_out() -> None:
    model = tiny_model()
    names = [name for name in linear_names(model.config) if name not in {"head", "blocks.0.attention.k", "blocks.1.ffn.down"}]
    assert list(corrected_layers(model, TEXT, names, coarse, lambda *_: None)) == names
