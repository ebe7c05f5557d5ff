"""Configurations as published models have them, with what they leave out: what is read from them."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fleet.errors import ModelError
from fleet.llm.files.hugging_face import hugging_face_config
from fleet.llm.files.safetensors import TensorFolder

# fmt: off
CONFIGS: dict[str, dict[str, Any]] = {
    "llama32": {
        "model_type": "llama", "attention_bias": False, "head_dim": 64, "hidden_size": 2048, "intermediate_size": 8192,
        "mlp_bias": False, "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size":
        128256, "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 32.0,
        "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192, "rope_type":
        "llama3"}, "rope_theta": 500000.0, "hidden_act": "silu", "tie_word_embeddings": True, "bos_token_id": 128000,
        "eos_token_id": [128001, 128008, 128009],
    },
    "mistral01": {
        "model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "sliding_window": 4096, "hidden_act": "silu",
        "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 2,
    },
    "pythia": {
        "model_type": "gpt_neox", "hidden_size": 512, "intermediate_size": 2048, "num_hidden_layers": 6,
        "num_attention_heads": 8, "vocab_size": 50304, "max_position_embeddings": 2048, "rotary_pct": 0.25,
        "rotary_emb_base": 10000, "layer_norm_eps": 1e-05, "hidden_act": "gelu", "use_parallel_residual": True,
        "tie_word_embeddings": False, "bos_token_id": 0, "eos_token_id": 0,
    },
    "phi2": {
        "model_type": "phi", "hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 51200, "max_position_embeddings": 2048,
        "layer_norm_eps": 1e-05, "partial_rotary_factor": 0.4, "rope_theta": 10000.0, "rope_scaling": None,
        "qk_layernorm": False, "hidden_act": "gelu_new", "tie_word_embeddings": False, "bos_token_id": 50256,
        "eos_token_id": 50256,
    },
    "phi35": {
        "model_type": "phi3", "hidden_size": 3072, "intermediate_size": 8192, "num_hidden_layers": 32,
        "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32064, "max_position_embeddings": 131072,
        "original_max_position_embeddings": 4096, "rms_norm_eps": 1e-05, "rope_theta": 10000.0, "rope_scaling": {"type":
        "longrope", "short_factor": [1.0] * 48, "long_factor": [1.0] * 48}, "sliding_window": 262144, "hidden_act":
        "silu", "tie_word_embeddings": False, "bos_token_id": 1, "eos_token_id": 32000,
    },
    "gemma2b": {
        "model_type": "gemma", "hidden_size": 2048, "intermediate_size": 16384, "num_hidden_layers": 18,
        "num_attention_heads": 8, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 256000,
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-06, "rope_theta": 10000.0, "rope_scaling": None,
        "hidden_act": "gelu", "bos_token_id": 2, "eos_token_id": 1,
    },
    "gemma3-1b": {
        "model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912, "num_hidden_layers": 26,
        "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 256, "vocab_size": 262144,
        "max_position_embeddings": 32768, "rms_norm_eps": 1e-06, "rope_theta": 1000000, "rope_local_base_freq": 10000,
        "rope_scaling": None, "hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": 256, "sliding_window":
        512, "sliding_window_pattern": 6, "attn_logit_softcapping": None, "final_logit_softcapping": None,
        "bos_token_id": 2, "eos_token_id": [1, 106],
    },
    "falcon7b": {
        "model_type": "falcon", "alibi": False, "bias": False, "hidden_size": 4544, "num_hidden_layers": 32,
        "num_attention_heads": 71, "multi_query": True, "parallel_attn": True, "new_decoder_architecture": False,
        "vocab_size": 65024, "layer_norm_epsilon": 1e-05, "bos_token_id": 11, "eos_token_id": 11,
    },
    "opt": {
        "model_type": "opt", "hidden_size": 768, "ffn_dim": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
        "vocab_size": 50272, "max_position_embeddings": 2048, "word_embed_proj_dim": 768, "do_layer_norm_before": True,
        "activation_function": "relu", "bos_token_id": 2, "eos_token_id": 2, "_remove_final_layer_norm": False,
    },
    "gptneo": {
        "model_type": "gpt_neo", "activation_function": "gelu_new", "attention_layers": ["global", "local"] * 6,
        "attention_types": [[["global", "local"], 6]], "hidden_size": 768, "intermediate_size": None,
        "layer_norm_epsilon": 1e-05, "max_position_embeddings": 2048, "num_heads": 12, "num_layers": 12, "window_size":
        256, "vocab_size": 50257, "bos_token_id": 50256, "eos_token_id": 50256,
    },
    "gptj": {
        "model_type": "gptj", "activation_function": "gelu_new", "n_embd": 4096, "n_head": 16, "n_inner": None,
        "n_layer": 28, "n_positions": 2048, "rotary": True, "rotary_dim": 64, "vocab_size": 50400, "layer_norm_epsilon":
        1e-05, "tie_word_embeddings": False, "bos_token_id": 50256, "eos_token_id": 50256,
    },
    "smollm3": {
        "model_type": "smollm3", "hidden_size": 2048, "intermediate_size": 11008, "num_hidden_layers": 36,
        "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 128256, "max_position_embeddings": 65536,
        "rms_norm_eps": 1e-06, "rope_theta": 5000000.0, "rope_scaling": None, "no_rope_layers": [1, 1, 1, 0] * 9,
        "no_rope_layer_interval": 4, "layer_types": ["full_attention"] * 36, "use_sliding_window": False,
        "sliding_window": None, "hidden_act": "silu", "tie_word_embeddings": True, "bos_token_id": 128000,
        "eos_token_id": 128012,
    },
}
EXPECTED: dict[str, tuple[str, str, bool, tuple[int, ...]]] = {
    "llama32": ("silu", "", True, (16, 2048, 32, 8, 64, 8192, 131072, 64)),
    "mistral01": ("silu", "", False, (32, 4096, 32, 8, 128, 14336, 4096, 128)),
    "pythia": ("gelu", "two", False, (6, 512, 8, 8, 64, 2048, 2048, 16)),
    "phi2": ("gelu_tanh", "one", False, (32, 2560, 32, 32, 80, 10240, 2048, 32)),
    "phi35": ("silu", "", False, (32, 3072, 32, 32, 96, 8192, 4096, 96)),
    "gemma2b": ("gelu_tanh", "", True, (18, 2048, 8, 1, 256, 16384, 8192, 256)),
    "gemma3-1b": ("gelu_tanh", "", True, (26, 1152, 4, 1, 256, 6912, 512, 256)),
    "falcon7b": ("gelu", "one", True, (32, 4544, 71, 1, 64, 18176, 2048, 64)),
    "opt": ("relu", "", True, (12, 768, 12, 12, 64, 3072, 2048, 0)),
    "gptneo": ("gelu_tanh", "", True, (12, 768, 12, 12, 64, 3072, 256, 0)),
    "gptj": ("gelu_tanh", "one", False, (28, 4096, 16, 16, 256, 16384, 2048, 64)),
    "smollm3": ("silu", "", True, (36, 2048, 16, 4, 128, 11008, 65536, 128)),
}
# fmt: on
"""Activation, parallel, tied; blocks, channels, heads, key heads, channels of a head, ffn, context, rotary."""


class NoTensors:
    def __init__(self) -> None:
        self.shapes: dict[str, tuple[int, ...]] = {}


@pytest.mark.parametrize("name", CONFIGS)
def test_what_a_published_configuration_says(name: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIGS[name]))
    c, _ = hugging_face_config(path, cast("TensorFolder", NoTensors()))
    sizes = (c.blocks, c.channels, c.heads, c.kv_heads, c.head_channels, c.ffn, c.context, c.rotary)
    assert (c.activation, c.parallel, c.tied, sizes) == EXPECTED[name]


def test_local_blocks_of_a_first_gemma3_file(tmp_path: Path) -> None:
    """Five of six see a window and have a base of their own."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIGS["gemma3-1b"]))
    c, _ = hugging_face_config(path, cast("TensorFolder", NoTensors()))
    bases = [rope.frequencies[1] ** -128 for rope in c.ropes]
    assert bases == pytest.approx([1e6, 1e4])
    assert [i for i, way in enumerate(c.block_ropes) if way == 0] == [5, 11, 17, 23]


JUNK = [None, True, 0, -1, 3, 1 << 70, 0.5, float("nan"), float("inf"), "", "x", [],
        [[]], [0], ["full_attention"], {}, {"rope_type": []},
        {"rope_type": "yarn", "factor": "x"}, {"full_attention": {}}, {"rope_theta": []}]  # fmt: skip


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_configuration_gives_anything_but_a_model_error(tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(CONFIGS)))
    content = dict(CONFIGS[name])
    more = ["rope_parameters", "rope_scaling", "layer_types", "sliding_window", "no_rope_layers", "num_kv_heads", "rotary_dim"]
    for key in data.draw(st.lists(st.sampled_from(sorted({*content, *more} - {"model_type"})), min_size=1, max_size=3)):
        content[key] = data.draw(st.sampled_from(JUNK))
    path = tmp_path / "config.json"
    path.write_text(json.dumps(content))
    with contextlib.suppress(ModelError):
        hugging_face_config(path, cast("TensorFolder", NoTensors()))


@pytest.mark.parametrize(
    ("name", "key", "says"),
    [
        ("gemma3-1b", "num_hidden_layers", "blocks is"),
        ("gptj", "rotary_dim", "rotary_dim is"),
        ("opt", "hidden_size", "channels is"),
    ],
)
def test_absurd_sizes_are_refused_before_anything_has_them(name: str, key: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIGS[name] | {key: 1 << 40}))
    with pytest.raises(ModelError, match=says):
        hugging_face_config(path, cast("TensorFolder", NoTensors()))
