"""Families of published models: what transformers computes, from the files that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_drawn import drawn

from fleet.engines.base import RunOptions
from fleet.engines.iss import IssBackend
from fleet.errors import DeviceError, ModelError
from fleet.isa.registry import find_device
from fleet.llm.contestants import compile_model
from fleet.llm.files.families import FAMILIES
from fleet.llm.files.hugging_face import open_hugging_face
from fleet.llm.files.safetensors import write_safetensors
from fleet.llm.generate import sqnr_db
from fleet.llm.load import LoadedLanguageModel, TinyTokenizer
from fleet.llm.models import ModelOptions, build_model
from fleet.llm.quantisation import Quantisation
from fleet.llm.reference import forward
from fleet.llm.sessions.device_session import DeviceSession
from fleet.llm.sessions.program_session import VmSession
from fleet.llm.sessions.session import Embedding
from fleet.llm.weights import ModelWeights
from fleet.transforms.conversion.weights import GraphWeights

HERE = Path(__file__).parent / "families"
STORED: dict[str, Any] = json.loads((HERE / "models.json").read_text())
LOGITS = dict(np.load(HERE / "logits.npz"))
TOKENS: list[int] = STORED["tokens"]
REFUSED = {
    "bloom": "model_type is 'bloom', a model with positions by ALiBi",
    "cohere-qk": "use_qk_norm is True, expected False",
    "hunyuan": "model_type is 'hunyuan_v1_dense', which is not one of the 35 supported families",
    "mixtral": "a mixture of experts",
    "gemma2-soft": "attn_logit_softcapping is 50.0, expected None",
}
TAKEN = [name for name in STORED["models"] if name not in REFUSED]
PLAN = ModelOptions(tokens=16, positions=32)
SHORT_HEADS = ("exaone4", "olmo2", "olmo3")
"""Models whose heads of 32 channels are normalised: no zeros fill them to the device's 64."""
QUICK = ("gemma3_text", "granite", "gptj", "gpt_neox", "llama31", "nemotron", "opt", "qwen3")


def written(name: str, folder: Path) -> Path:
    model = STORED["models"][name]
    (folder / "config.json").write_text(json.dumps(model["config"]))
    write_safetensors(folder / "model.safetensors", {key: drawn(key, tuple(shape)) for key, shape in model["shapes"].items()})
    return folder


def opened(name: str, folder: Path) -> ModelWeights:
    return open_hugging_face(written(name, folder))


def test_every_family_has_a_model() -> None:
    """ChatGLM's code is not part of transformers; its files are held by literal names elsewhere."""
    assert {model["config"]["model_type"] for model in STORED["models"].values()} >= FAMILIES.keys() - {"chatglm"}


@pytest.mark.parametrize("name", TAKEN)
def test_logits_are_those_of_the_familys_own_code(name: str, tmp_path: Path) -> None:
    weights = opened(name, tmp_path)
    expected, scale = LOGITS[name], float(np.abs(LOGITS[name]).max())
    found = forward(weights.config, weights, TOKENS)[-len(expected) :]
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5 * scale)


@pytest.mark.parametrize("name", TAKEN)
def test_a_graph_step_by_step_gives_them_too(name: str, tmp_path: Path) -> None:
    weights = opened(name, tmp_path)
    expected, scale = LOGITS[name], float(np.abs(LOGITS[name]).max())
    session = VmSession(build_model(weights.config, weights, PLAN), Embedding(weights), GraphWeights(label=weights.digest))
    at = len(TOKENS) - len(expected)
    session.step(TOKENS[:at])
    for token, row in zip(TOKENS[at:], expected, strict=True):
        np.testing.assert_allclose(session.step([token]).logits, row, rtol=0, atol=3e-5 * scale)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.nightly) for n in TAKEN if n not in SHORT_HEADS]
)
def test_a_device_computes_what_the_rounded_weights_mean(name: str, tmp_path: Path) -> None:
    weights = opened(name, tmp_path)
    loaded = LoadedLanguageModel(name, weights, TinyTokenizer())
    made = compile_model(loaded, PLAN, find_device("hbm_small")[1], Quantisation(128, "search"), aux=True)
    golden = VmSession(made.model, Embedding(weights), made.rounded, "vm-rounded")
    with DeviceSession(
        made.model, Embedding(weights), made.module, IssBackend(), tmp_path, RunOptions(), made.images, inside=True
    ) as device:
        names = tuple(call.label for call in made.model.calls() if call.label and not call.op.endswith("dat_hbm"))
        for part in (TOKENS[:6], TOKENS[6:7], TOKENS[7:10]):
            mine, theirs = golden.step(part, names).ran, device.step(part, names).ran
            assert sqnr_db(mine.logits, theirs.logits) > 35
            assert theirs.tensors.keys() == set(names)
            assert all(sqnr_db(mine.tensors[n].reshape(-1), v.reshape(-1)) > 25 for n, v in theirs.tensors.items())


@pytest.mark.parametrize("name", SHORT_HEADS)
def test_normalised_heads_that_no_zeros_can_fill_are_said(name: str, tmp_path: Path) -> None:
    loaded = LoadedLanguageModel(name, opened(name, tmp_path), TinyTokenizer())
    with pytest.raises(
        DeviceError, match="heads of 32 channels, normalised, so that no zeros can fill them; the device takes 64 or 128"
    ):
        compile_model(loaded, PLAN, find_device("hbm_small")[1], Quantisation(128, "search"), aux=True)


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_be_computed_differently_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError) as caught:
        opened(name, tmp_path)
    assert REFUSED[name] in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("gemma3_text", "use_bidirectional_attention"),
        ("gemma", "use_bidirectional_attention"),
        ("gpt2", "add_cross_attention"),
    ],
)
def test_what_looks_ahead_or_elsewhere_is_refused(name: str, key: str, tmp_path: Path) -> None:
    """Embedding models have the same names and tensors as the causal ones."""
    path = written(name, tmp_path) / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: True}))
    with pytest.raises(ModelError, match=f"{key} is True, expected False"):
        open_hugging_face(tmp_path)


def test_a_window_ends_the_context(tmp_path: Path) -> None:
    """Within it every block sees everything, so nothing else is computed."""
    assert STORED["models"]["mistral"]["config"]["sliding_window"] == 64
    weights = opened("mistral", tmp_path)
    assert weights.config.context == 64
    plan = ModelOptions(tokens=32, positions=128)
    session = VmSession(build_model(weights.config, weights, plan), Embedding(weights), GraphWeights(label=weights.digest))
    list(session.prefill([5] * 64))
    with pytest.raises(ModelError, match=r"64 of 64 positions.*the model's context is no longer"):
        session.step([5])


def test_a_base_models_names_have_no_prefix(tmp_path: Path) -> None:
    """Checkpoints without a head leave out the model's own prefix."""
    model = STORED["models"]["qwen3"]
    arrays = {key.removeprefix("model."): drawn(key, tuple(s)) for key, s in model["shapes"].items() if key != "lm_head.weight"}
    (tmp_path / "config.json").write_text(json.dumps(model["config"] | {"tie_word_embeddings": True}))
    write_safetensors(tmp_path / "model.safetensors", arrays)
    weights = open_hugging_face(tmp_path)
    np.testing.assert_array_equal(weights["head"], weights["embedding"].T)


def test_what_a_norm_or_a_rope_changes_is_seen(tmp_path: Path) -> None:
    """The comparison finds a family whose file says something else than what is computed."""
    weights = opened("llama31", tmp_path)
    path = tmp_path / "config.json"
    content = json.loads(path.read_text())
    content["rope_parameters"]["factor"] = 4.0
    path.write_text(json.dumps(content))
    expected = LOGITS["llama31"]
    other = open_hugging_face(tmp_path)
    assert (
        np.abs(forward(other.config, other, TOKENS)[-5:] - expected).max()
        > 100 * np.abs(forward(weights.config, weights, TOKENS)[-5:] - expected).max()
    )


@pytest.mark.parametrize("vocabulary", [160, 128])
def test_the_head_of_gpt2_is_outputs_first(vocabulary: int, tmp_path: Path) -> None:
    """Its other matrices are inputs first."""
    model = STORED["models"]["gpt2"]
    shapes = model["shapes"] | {"transformer.wte.weight": [vocabulary, 128], "lm_head.weight": [vocabulary, 128]}
    arrays = {key: drawn(key, tuple(shape)) for key, shape in shapes.items()}
    write_safetensors(tmp_path / "model.safetensors", arrays)
    (tmp_path / "config.json").write_text(json.dumps(model["config"] | {"tie_word_embeddings": False, "vocab_size": vocabulary}))
    weights = open_hugging_face(tmp_path)
    np.testing.assert_array_equal(weights["head"], arrays["lm_head.weight"].T)
    np.testing.assert_array_equal(weights["blocks.0.ffn.up"], arrays["transformer.h.0.mlp.c_fc.weight"])
