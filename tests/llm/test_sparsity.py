"""Sparse weights of language models: strategies as text, what a model then stores, and that rounding keeps to it."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import numpy as np
import pytest

from fleet.errors import FleetError, ModelError
from fleet.isa.registry import find_device
from fleet.llm.config import preset
from fleet.llm.contestants import GenerateRequest, compile_model, generate
from fleet.llm.load import LoadedLanguageModel, load_model
from fleet.llm.models import ModelOptions
from fleet.llm.quantisation import ROUNDINGS, Quantisation, quantise_model
from fleet.llm.reference import forward
from fleet.llm.shapes import ShapeTokenizer, ShapeWeights
from fleet.llm.sparsity import STRATEGIES, Sparsity
from fleet.llm.tiny import tiny_model
from fleet.llm.weights import linear_names

MODEL = tiny_model("qwen2")
"""With weights that are drawn: those of tiny itself are 0 for the most part."""
TEXT = [int(t) for t in np.random.default_rng(3).integers(0, 320, 60)] * 3
PLAN = ModelOptions(tokens=16, positions=32)
MIXED = Sparsity.of("attention=4,mlp=2,down=1,head=4")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_CACHE", str(tmp_path))


@pytest.mark.parametrize(
    ("text", "qkv_o_gate_up_down_head", "shortest"),
    [
        ("", (0, 0, 0, 0, 0, 0), ""),
        ("4", (4, 4, 4, 4, 4, 4), "all=4"),
        ("half", (4, 4, 4, 4, 4, 0), "attention=4,mlp=4"),
        ("half-quarter", (4, 4, 2, 2, 2, 0), "attention=4,mlp=2"),
        ("mlp=2, down=4", (0, 0, 2, 2, 4, 0), "gate=2,up=2,down=4"),
        ("all=2,head=0,o=4", (2, 4, 2, 2, 2, 0), "mlp=2,qkv=2,o=4"),
    ],
)
def test_strategies_are_read_and_written(text: str, qkv_o_gate_up_down_head: tuple[int, ...], shortest: str) -> None:
    found = Sparsity.of(text)
    assert astuple(found) == qkv_o_gate_up_down_head
    assert str(found) == shortest
    assert Sparsity.of(str(found)) == found
    assert bool(found) == bool(text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("3", "sparse is 3"),
        ("mlp=x", "'mlp=x', expected 4, 2 or 1"),
        ("tail=4", "no part 'tail'"),
        ("mostly", "'all=mostly', expected"),
    ],
)
def test_wrong_strategies_are_named(text: str, says: str) -> None:
    with pytest.raises(ModelError, match=says):
        Sparsity.of(text)


def test_named_strategies_store_less_and_less() -> None:
    config = preset("chatglm2-6b")
    bits = [Quantisation(128, sparse=Sparsity.of(name)).mean_bits(config) for name in ("", *STRATEGIES)]
    assert bits == sorted(bits, reverse=True)
    assert bits[0] == 4.125
    assert [Quantisation(128, sparse=Sparsity.of(n)).mean_bits(config) for n in "421"] == [3.125, 1.875, 1.0]


@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_no_block_of_a_matrix_keeps_more(rounding: str) -> None:
    made = quantise_model(MODEL, Quantisation(128, rounding, sparse=MIXED), TEXT)
    again = quantise_model(MODEL, Quantisation(128, rounding, sparse=MIXED), TEXT)  # from the cache where calibrated
    assert list(made) == linear_names(MODEL.config)
    for name, layer in made.items():
        most = int((layer.codes.reshape(-1, 8, layer.codes.shape[1]) != 0).sum(axis=1).max())
        assert most == MIXED.kept(name), name
        np.testing.assert_array_equal(layer.codes, again[name].codes)


def test_compensation_brings_the_logits_closer_than_magnitudes() -> None:
    exact = forward(MODEL.config, dict(MODEL), TEXT[:60])
    errors: list[float] = []
    for rounding in ("search", "compensated"):
        made = quantise_model(MODEL, Quantisation(128, rounding, sparse=Sparsity.of("half")), TEXT)
        errors.append(float(np.square(forward(MODEL.config, dict(made.rounded), TEXT[:60]) - exact).sum()))
    assert errors[1] < errors[0]


def test_the_device_stores_what_the_strategy_says() -> None:
    device, sizes = find_device("hbm_small_sparse")[1], []
    for text in ("", "half", "quarter"):
        choice = Quantisation(128, "search", sparse=Sparsity.of(text))
        module = compile_model(load_model("tiny"), PLAN, device, choice, aux=True).module
        kept = {
            call.ops[0]: call.fields["mvm_sparse"] for call in module.calls(token=1, last_token=0) if "mvm_sparse" in call.fields
        }
        assert kept["logits"] == 0
        assert {kept[f"blocks.1.{n}"] for n in ("qkv", "wo")} == {choice.sparse.o}
        assert {kept[f"blocks.0.{n}"] for n in ("gate", "up", "down")} == {choice.sparse.down}
        sizes.append(sum(image.data.size for image in module.images()))
    assert sizes[0] > sizes[1] > sizes[2]


def test_a_device_without_sparse_weights_says_so() -> None:
    with pytest.raises(FleetError, match="hbm_small: it has no sparse weights"):
        compile_model(load_model("tiny"), PLAN, find_device("hbm_small")[1], Quantisation(128, "search", sparse=MIXED), aux=True)


def drawn() -> LoadedLanguageModel:
    weights = ShapeWeights(MODEL.config, group=128, seed=5, name="tiny", sparse=MIXED)
    return LoadedLanguageModel("shape tiny", weights, ShapeTokenizer())


@pytest.mark.parametrize("model", ["tiny", "shape"])
def test_every_engine_reads_the_pruned_weights(model: str) -> None:
    loaded = load_model("tiny") if model == "tiny" else drawn()
    request = GenerateRequest(
        model,
        "abcabcab",
        3,
        ("vm", "iss"),
        device="hbm_small_sparse",
        plan=PLAN,
        quantisation=Quantisation(128, "search", sparse=MIXED),
    )
    result = generate(loaded, request)
    assert result.verdict == "pass", result.reasons
    assert result.identity.quantisation["sparse"] == str(MIXED)
    # Of the stored weights nothing but the device's arithmetic is left.
    (rounded,) = (c for c in result.comparisons if c.name == ("iss-vs-vm-rounded" if model == "tiny" else "iss-vs-vm"))
    assert min(step.sqnr_db for step in rounded.steps) > 40
