"""GGUF files of other families: the same logits as from the folder that transformers writes."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers_gguf import gguf, write_plain_gguf
from test_families import LOGITS, TOKENS, opened

from fleet.errors import ModelError
from fleet.llm.config import Rope
from fleet.llm.files.gguf import open_gguf
from fleet.llm.files.gguf_families import FAMILIES
from fleet.llm.reference import forward

_GRANITE_FIELDS = {"embedding_scale": 6.0, "residual_scale": 0.4, "logit_scale": 3.0, "attention.scale": 0.05}
_GRANITE = {"embedding": 6.0, "attention.o": 0.4, "ffn.down": 0.4, "head": 1 / 3, "attention.q": 0.05 * math.sqrt(32)}
CASES: dict[str, tuple[str, dict[str, Any], dict[str, float]]] = {
    "llama": ("llama", {}, {}),
    "llama-biases": ("llama", {}, {}),
    "llama-linear": ("llama", {"rope.scaling.type": "linear", "rope.scaling.factor": 4.0}, {}),
    "mistral": ("llama", {"attention.sliding_window": 64}, {}),
    "qwen2": ("qwen2", {}, {}),
    "qwen2-yarn": (
        "qwen2", {"rope.scaling.type": "yarn", "rope.scaling.factor": 4.0, "rope.scaling.original_context_length": 64}, {},
    ),
    "qwen3": ("qwen3", {}, {}),
    "granite": ("granite", _GRANITE_FIELDS, _GRANITE),
    "olmo": ("olmo", {}, {}),
    "olmo2": ("olmo2", {}, {}),
    "gemma": ("gemma", {}, {"embedding": math.sqrt(128)}),
    "phi": ("phi2", {}, {}),
    "phi3": ("phi3", {}, {}),
    "gpt_neox": ("gptneox", {"use_parallel_residual": True}, {}),
    "gpt_neox-serial": ("gptneox", {"use_parallel_residual": False}, {}),
    "falcon": ("falcon", {}, {}),
    "falcon-40b": ("falcon", {}, {}),
    "stablelm": ("stablelm", {}, {}),
    "starcoder2": ("starcoder2", {}, {}),
    "gpt_bigcode": ("starcoder", {}, {}),
    "cohere": ("command-r", {"logit_scale": 0.5}, {"head": 0.5}),
    "glm4": ("glm4", {}, {}),
    "gpt2": ("gpt2", {}, {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_logits_are_those_of_the_folder(name: str, tmp_path: Path) -> None:
    architecture, fields, factors = CASES[name]
    (tmp_path / "hf").mkdir()
    weights = opened(name, tmp_path / "hf")
    write_plain_gguf(tmp_path / "m.gguf", weights, architecture, fields, factors)
    found, _ = open_gguf(tmp_path / "m.gguf")
    logits = forward(found.config, found, TOKENS)[-5:]
    np.testing.assert_allclose(logits, LOGITS[name], rtol=0, atol=2e-5 * float(np.abs(LOGITS[name]).max()))
    assert found.config.context == weights.config.context


@pytest.mark.parametrize("name", CASES)
def test_names_are_those_of_the_package(name: str, tmp_path: Path) -> None:
    """Every tensor's name is one that llama.cpp's package lists for the architecture."""
    architecture, fields, factors = CASES[name]
    weights = opened(name, tmp_path)
    write_plain_gguf(tmp_path / "m.gguf", weights, architecture, fields, factors)
    kind = next(arch for arch, word in gguf.MODEL_ARCH_NAMES.items() if word == architecture)
    known = {gguf.TENSOR_NAMES[tensor].format(bid=block) for tensor in gguf.MODEL_TENSORS[kind] for block in range(3)}
    stored = {t.name.rpartition(".")[0] for t in gguf.GGUFReader(tmp_path / "m.gguf").tensors}
    assert stored <= known, sorted(stored - known)


def test_architectures_are_names_of_the_package() -> None:
    assert FAMILIES.keys() <= set(gguf.MODEL_ARCH_NAMES.values())


def test_frequencies_are_divided_by_a_stored_tensor(tmp_path: Path) -> None:
    """As llama.cpp's converter stores llama 3's."""
    (tmp_path / "hf").mkdir()
    weights = opened("llama31", tmp_path / "hf")
    plain = np.array(Rope.of_base(5e5, 32).frequencies)
    factors = (plain / np.array(weights.config.ropes[0].frequencies)).astype(np.float32)
    assert factors.max() == 8
    write_plain_gguf(tmp_path / "m.gguf", weights, "llama", tensors={"rope_freqs.weight": factors})
    found, _ = open_gguf(tmp_path / "m.gguf")
    logits = forward(found.config, found, TOKENS)[-5:]
    np.testing.assert_allclose(logits, LOGITS["llama31"], rtol=0, atol=2e-5 * float(np.abs(LOGITS["llama31"]).max()))


def test_short_factors_and_their_magnitude(tmp_path: Path) -> None:
    (tmp_path / "hf").mkdir()
    weights = opened("phi3-long", tmp_path / "hf")
    rope = weights.config.ropes[0]
    factors = (np.array(Rope.of_base(1e4, 32).frequencies) / np.array(rope.frequencies)).astype(np.float32)
    fields = {"rope.scaling.attn_factor": rope.magnitude, "rope.scaling.original_context_length": 64}
    tensors = {"rope_factors_short.weight": factors, "rope_factors_long.weight": 2 * factors}
    write_plain_gguf(tmp_path / "m.gguf", weights, "phi3", fields, tensors=tensors)
    found, _ = open_gguf(tmp_path / "m.gguf")
    assert found.config.context == 64
    logits = forward(found.config, found, TOKENS)[-5:]
    np.testing.assert_allclose(logits, LOGITS["phi3-long"], rtol=0, atol=2e-5 * float(np.abs(LOGITS["phi3-long"]).max()))


def test_local_and_global_blocks_rotate_differently(tmp_path: Path) -> None:
    """Gemma 3: five of six blocks see a window, with a base of 10,000; the reference has another pattern."""
    (tmp_path / "hf").mkdir()
    weights = opened("gemma3_text", tmp_path / "hf")
    fields = {"rope.scaling.type": "linear", "rope.scaling.factor": 8.0, "attention.sliding_window": 64}
    factors = {"embedding": math.sqrt(128)}
    write_plain_gguf(tmp_path / "m.gguf", weights, "gemma3", fields, factors)
    found = open_gguf(tmp_path / "m.gguf")[0].config
    theirs = weights.config
    assert found.block_ropes == (1, 1, 1)
    assert {found.ropes[1]} == {theirs.rope_of(0)}
    assert theirs.rope_of(2) in found.ropes
    assert (found.context, found.qk_norm, found.norm_place) == (64, "head", "both")


@pytest.mark.parametrize("key", ["block_count", "rope.dimension_count"])
def test_an_absurd_size_is_refused_before_anything_has_it(key: str, tmp_path: Path) -> None:
    (tmp_path / "hf").mkdir()
    weights = opened("gemma3_text", tmp_path / "hf")
    write_plain_gguf(tmp_path / "m.gguf", weights, "gemma3", {key: (1 << 32) - 1}, {"embedding": math.sqrt(128)})
    with pytest.raises(ModelError, match="blocks is 4294967295" if key == "block_count" else "rotary is 4294967295"):
        open_gguf(tmp_path / "m.gguf")


@pytest.mark.parametrize("key", ["rope.scaling.factor", "rope.scale_linear"])
def test_a_factor_without_a_type_is_linear(key: str, tmp_path: Path) -> None:
    """As in llama.cpp; the second key is the older one."""
    (tmp_path / "hf").mkdir()
    weights = opened("llama", tmp_path / "hf")
    write_plain_gguf(tmp_path / "m.gguf", weights, "llama", {key: 4.0})
    rope = open_gguf(tmp_path / "m.gguf")[0].config.rope_of(0)
    assert rope is not None
    assert rope.frequencies == tuple(f / 4 for f in Rope.of_base(1e4, 32).frequencies)


def test_a_factor_and_stored_divisors_are_both_taken(tmp_path: Path) -> None:
    (tmp_path / "hf").mkdir()
    weights = opened("llama", tmp_path / "hf")
    write_plain_gguf(
        tmp_path / "m.gguf",
        weights,
        "llama",
        {"rope.scaling.factor": 4.0},
        tensors={"rope_freqs.weight": np.full(16, 2, np.float32)},
    )
    rope = open_gguf(tmp_path / "m.gguf")[0].config.rope_of(0)
    assert rope is not None
    assert rope.frequencies == tuple(f / 8 for f in Rope.of_base(1e4, 32).frequencies)


YARN = {"rope.scaling.type": "yarn", "rope.scaling.factor": 8.0, "rope.scaling.original_context_length": 16}


@pytest.mark.parametrize(("pattern", "turns"), [(0, (1, 1, 1)), (2, (1, 0, 1)), (3, (1, 1, 0))])
def test_olmo3s_blocks_with_a_window_are_not_stretched(pattern: int, turns: tuple[int, ...], tmp_path: Path) -> None:
    """Its architecture is olmo2; without a window, as OLMo 2 itself, all blocks are stretched."""
    (tmp_path / "hf").mkdir()
    weights = opened("olmo2", tmp_path / "hf")
    fields = YARN | {"attention.sliding_window": 64} | ({"attention.sliding_window_pattern": pattern} if pattern else {})
    write_plain_gguf(tmp_path / "m.gguf", weights, "olmo2", fields)
    c = open_gguf(tmp_path / "m.gguf")[0].config
    assert (c.block_ropes, c.context) == (turns, 64)
    assert c.ropes[1] == Rope.of_base(c.rope_base, 32)
    write_plain_gguf(tmp_path / "m.gguf", weights, "olmo2", YARN)
    plain = open_gguf(tmp_path / "m.gguf")[0].config
    assert (plain.ropes, plain.block_ropes) == (c.ropes[:1], ())


def test_a_base_of_blocks_with_a_window_is_read(tmp_path: Path) -> None:
    (tmp_path / "hf").mkdir()
    weights = opened("gemma3_text", tmp_path / "hf")
    fields = {"attention.sliding_window": 64, "rope.freq_base_swa": 25000.0}
    write_plain_gguf(tmp_path / "m.gguf", weights, "gemma3", fields, {"embedding": math.sqrt(128)})
    c = open_gguf(tmp_path / "m.gguf")[0].config
    assert c.ropes[1] == Rope.of_base(25000.0, c.rotary)
