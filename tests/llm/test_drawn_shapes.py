"""Shapes with drawn weights: what is stored is what the compiler would find in the float weights, each block's once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fleet.errors import FleetError, ModelError
from fleet.isa.registry import find_device
from fleet.llm.contestants import GenerateRequest, compile_model, generate
from fleet.llm.load import LoadedLanguageModel, load_shape
from fleet.llm.models import CLASSIC, SHORT, ModelOptions, build_model
from fleet.llm.quantisation import Quantisation
from fleet.llm.shapes import ShapeTokenizer, ShapeWeights
from fleet.llm.tiny import tiny_config
from fleet.targets.accel.build import build
from fleet.transforms.simplify.infer_types import infer_type

SMALL = ModelOptions(tokens=4, positions=16)


def shape(architecture: str = "llama", group: int = 64) -> LoadedLanguageModel:
    config = replace(tiny_config(architecture), blocks=3)
    return LoadedLanguageModel("shape tiny", ShapeWeights(config, group=group, seed=5, name="tiny"), ShapeTokenizer())


@pytest.mark.parametrize("architecture", ["llama", "qwen2", "chatglm2", "gpt2"])
@pytest.mark.parametrize("plan", [SHORT, CLASSIC], ids=["short", "classic"])
@pytest.mark.parametrize("group", [32, 64, 128])
def test_stored_matrices_are_what_the_compiler_finds_in_the_float_weights(
    architecture: str, plan: ModelOptions, group: int
) -> None:
    loaded, (_, device) = shape(architecture, group), find_device("hbm_small")
    plan = replace(plan, tokens=4, positions=16)
    compiled = compile_model(loaded, plan, device, Quantisation(group, "absmax"), aux=False)
    model = build_model(loaded.weights.config, loaded.weights, plan)
    typed = infer_type(model.root, device, attrs={"last_token": model.last_token})
    config = {"align": 0x1000, "spill": True}
    other = build(typed, build_config=config, options={"group": group, "clip": "exact"}, device=device)
    assert tuple(other.images()) == compiled.images


def test_blocks_share_their_bytes() -> None:
    loaded, (_, device) = shape(), find_device("hbm_small")
    compiled = compile_model(loaded, SMALL, device, Quantisation(64, "absmax"), aux=False)
    hbm = [image for image in compiled.images if image.space == "hbm"]
    assert len(hbm) == (3 * 5 + 1) * device.parameters["HbmPorts"]
    assert len({id(image.data) for image in hbm}) == (5 + 1) * device.parameters["HbmPorts"]
    assert len({(image.bank, image.offset) for image in hbm}) == len(hbm)


def test_equal_seeds_give_equal_weights_and_others_do_not() -> None:
    a, b, c = (ShapeWeights(tiny_config(), group=64, seed=seed, name="t") for seed in (1, 1, 2))
    assert all(np.array_equal(a[name], b[name]) for name in a)
    assert a.digest == b.digest != c.digest
    assert not np.array_equal(a["blocks.0.ffn.up"], c["blocks.0.ffn.up"])
    assert "blocks.0.attention.q+k+v" in a.stored
    assert "blocks.0.attention.q+k+v.bn" not in a.stored
    with pytest.raises(KeyError):
        a.stored["blocks.0.norm1"]


def test_products_keep_the_size_of_their_inputs() -> None:
    weights = ShapeWeights(tiny_config(), group=64, seed=0, name="t")
    x = np.random.default_rng(0).standard_normal((64, 128))
    assert 0.8 < (x @ weights["blocks.0.ffn.up"]).std() < 1.25


def test_iss_answers_as_the_golden_does() -> None:
    request = GenerateRequest(
        "shape tiny", "abc", 3, ("vm", "iss"), device="hbm_small", plan=SMALL, quantisation=Quantisation(64, "absmax")
    )
    result = generate(shape(), request)
    assert result.verdict == "pass"
    assert [c.name for c in result.comparisons if c.kind == "bound"] == ["iss-vs-vm-rounded"]
    assert result.identity.quantisation["rounding"] == "drawn"


def test_without_vm_there_is_no_golden() -> None:
    request = GenerateRequest(
        "shape tiny", "abc", 2, ("iss",), device="hbm_small", plan=SMALL, quantisation=Quantisation(64, "absmax")
    )
    result = generate(shape(), request)
    assert [e.name for e in result.engines] == ["iss"]
    assert result.verdict == "nothing compared"


def test_what_drawn_weights_cannot_give_is_refused() -> None:
    request = GenerateRequest(
        "shape tiny", "a", 1, ("iss",), device="hbm_small", plan=SMALL, quantisation=Quantisation(64, "absmax")
    )
    with pytest.raises(FleetError, match="drawn have no text to be measured on"):
        generate(shape(), replace(request, perplexity=4))
    large = load_shape("qwen2-7b", group=64, seed=0)
    with pytest.raises(FleetError, match="weights in float32, which vm, riscv and cvm need"):
        generate(large, replace(request, engines=("vm", "iss"), device="hbm0923"))
    with pytest.raises(ModelError, match="known: smollm2-135m, llama2-7b"):
        load_shape("llama3", group=64, seed=0)
