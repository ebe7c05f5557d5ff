"""Descriptions of families of language models, by the `model_type` of config.json: names of tensors, keys of sizes, computation.

A family is data that overrides llama's; `more` handles the rest. Biases exist if the file has tensors for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.errors import ModelError

_NO_WORDS: Mapping[str, Any] = {}


@dataclass
class Draft:
    """A model on its way from a config.json to a `ModelConfig` and a `FileLayout`.

    Attributes:
        content: the file's.
        config: fields of the `ModelConfig`.
        layout: fields of the `FileLayout`, names included.
        factors: of weights, as `FileLayout.factors`.
    """

    content: Mapping[str, Any]
    config: dict[str, Any]
    layout: dict[str, Any]
    factors: dict[str, float] = field(default_factory=dict[str, float])

    def number(self, key: str) -> float:
        """Return a positive number. Raises ModelError naming the key."""
        value = self.content.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            raise ModelError(f"{key} is {value!r:.40}, expected a positive number")
        return float(value)

    def scores(self, factor: float) -> None:
        """Scale scores by `factor` instead of a head's 1 / sqrt(channels)."""
        role = "attention.q_norm" if self.config.get("qk_norm") else "attention.q"
        self.factors[role] = factor * math.sqrt(self.config["head_channels"])


@dataclass(frozen=True)
class Family:
    """A family.

    Attributes:
        names: of tensors, those that differ from llama's.
        keys: field of `ModelConfig` -> key in config.json, those that differ from llama's.
        config: fields fixed by the family.
        layout: fields of `FileLayout`.
        expects: key -> supported values, including None if the key may be missing.
        activation, context: defaults for files that state none; the first by Hugging Face's name.
        more: function for everything else that depends on the file.
    """

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    config: Mapping[str, Any] = field(default_factory=lambda: _NO_WORDS)
    layout: Mapping[str, Any] = field(default_factory=lambda: _NO_WORDS)
    expects: Mapping[str, tuple[object, ...]] = field(default_factory=dict[str, tuple[object, ...]])
    more: Callable[[Draft], None] | None = None
    activation: str = "silu"
    context: int | None = None


NAMES: Mapping[str, str] = {
    "embedding": "model.embed_tokens", "norm": "model.norm", "head": "lm_head", "block": "model.layers.{}.",
    "norm1": "input_layernorm", "norm2": "post_attention_layernorm", "attention.q": "self_attn.q_proj",
    "attention.k": "self_attn.k_proj", "attention.v": "self_attn.v_proj", "attention.o": "self_attn.o_proj",
    "attention.q_norm": "self_attn.q_norm", "attention.k_norm": "self_attn.k_norm", "ffn.gate": "mlp.gate_proj",
    "ffn.up": "mlp.up_proj", "ffn.down": "mlp.down_proj",
}  # fmt: skip
"""Llama's names."""
KEYS: Mapping[str, str] = {
    "blocks": "num_hidden_layers", "channels": "hidden_size", "heads": "num_attention_heads", "kv_heads": "num_key_value_heads",
    "head_channels": "head_dim", "ffn": "intermediate_size", "vocabulary": "vocab_size", "context": "max_position_embeddings",
    "norm_eps": "rms_norm_eps", "activation": "hidden_act",
}  # fmt: skip
"""Llama's keys."""
ACTIVATIONS: Mapping[str, str] = {
    "silu": "silu", "swish": "silu", "gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_fast": "gelu_tanh", "relu": "relu", "relu2": "relu2",
}  # fmt: skip
"""Hugging Face's name -> that of `ModelConfig`."""

_AFTER = {"norm1_after": "post_attention_layernorm", "norm2_after": "post_feedforward_layernorm"}
_FUSED_QKV = dict.fromkeys(("attention.q", "attention.k", "attention.v"), "self_attn.qkv_proj")
_FUSED_UP = {"ffn.gate": "mlp.gate_up_proj", "ffn.up": "mlp.gate_up_proj"}
_GPT2 = {
    "embedding": "transformer.wte", "position_embedding": "transformer.wpe", "norm": "transformer.ln_f",
    "block": "transformer.h.{}.", "norm1": "ln_1", "norm2": "ln_2", "attention.o": "attn.c_proj", "ffn.up": "mlp.c_fc",
    "ffn.down": "mlp.c_proj",
} | dict.fromkeys(("attention.q", "attention.k", "attention.v"), "attn.c_attn")  # fmt: skip
_GPT2_KEYS = {
    "blocks": "n_layer", "channels": "n_embd", "heads": "n_head", "ffn": "n_inner", "context": "n_positions",
    "norm_eps": "layer_norm_epsilon", "activation": "activation_function", "kv_heads": "", "head_channels": "",
}  # fmt: skip
_GPT2_CONFIG = {"norm": "layer", "gated": False, "rotary": 0}
_GPT2_EXPECTS: Mapping[str, tuple[object, ...]] = {
    "scale_attn_weights": (True, None), "scale_attn_by_inverse_layer_idx": (False, None), "add_cross_attention": (False, None),
}  # fmt: skip
_NEOX = {
    "embedding": "gpt_neox.embed_in", "norm": "gpt_neox.final_layer_norm", "head": "embed_out", "block": "gpt_neox.layers.{}.",
    "attention.o": "attention.dense", "ffn.up": "mlp.dense_h_to_4h", "ffn.down": "mlp.dense_4h_to_h",
} | dict.fromkeys(("attention.q", "attention.k", "attention.v"), "attention.query_key_value")  # fmt: skip
_FALCON = {
    "embedding": "transformer.word_embeddings", "norm": "transformer.ln_f", "block": "transformer.h.{}.",
    "attention.o": "self_attention.dense", "ffn.up": "mlp.dense_h_to_4h", "ffn.down": "mlp.dense_4h_to_h",
} | dict.fromkeys(("attention.q", "attention.k", "attention.v"), "self_attention.query_key_value")  # fmt: skip


def _granite(d: Draft) -> None:
    d.factors |= {
        "embedding": d.number("embedding_multiplier"),
        "head": 1 / d.number("logits_scaling"),
        "attention.o": d.number("residual_multiplier"),
        "ffn.down": d.number("residual_multiplier"),
    }
    d.scores(d.number("attention_multiplier"))


def _gemma(d: Draft) -> None:
    d.factors["embedding"] = math.sqrt(d.config["channels"])


def _gemma2(d: Draft) -> None:
    _gemma(d)
    d.scores(d.number("query_pre_attn_scalar") ** -0.5)


def _cohere(d: Draft) -> None:
    d.factors["head"] = d.number("logit_scale")


def _where_it_slides(d: Draft) -> None:
    """Blocks that see everything have no rotary embedding."""
    types = d.content.get("layer_types")
    if isinstance(types, list) and "sliding_attention" in types:
        d.config["block_ropes"] = tuple(0 if kind == "sliding_attention" else -1 for kind in types)


def _cohere2(d: Draft) -> None:
    _cohere(d)
    _where_it_slides(d)


def _smollm3(d: Draft) -> None:
    rotated = d.content.get("no_rope_layers")
    if isinstance(rotated, list):
        d.config["block_ropes"] = tuple(0 if rotates else -1 for rotates in rotated)


def _gpt_neo(d: Draft) -> None:
    d.scores(1.0)
    d.config["ffn"] = d.config["ffn"] or 4 * d.config["channels"]
    kinds = d.content.get("attention_layers")
    if isinstance(kinds, list) and "local" in kinds:
        d.config["context"] = min(d.config["context"], int(d.number("window_size")))


def _neox(d: Draft) -> None:
    d.config["parallel"] = "two" if d.content.get("use_parallel_residual", True) else ""


def _stablelm(d: Draft) -> None:
    d.config["parallel"] = "one" if d.content.get("use_parallel_residual", False) else ""


def _bigcode(d: Draft) -> None:
    d.config["kv_heads"] = 1 if d.content.get("multi_query", True) else d.config["heads"]


def _falcon(d: Draft) -> None:
    content, names = d.content, d.layout["names"]
    newer = content.get("new_decoder_architecture", False)
    if newer:
        d.config["kv_heads"] = content.get("num_kv_heads") or d.config["heads"]
    else:
        d.config["kv_heads"] = 1 if content.get("multi_query", True) else d.config["heads"]
    two = newer and content.get("num_ln_in_parallel_attn") != 1
    if two:
        names |= {"norm1": "ln_attn", "norm2": "ln_mlp"}
    d.config["parallel"] = "two" if two else "one" if newer or content.get("parallel_attn", True) else ""


def _opt(d: Draft) -> None:
    if d.content.get("word_embed_proj_dim", d.config["channels"]) != d.config["channels"]:
        raise ModelError(f"word_embed_proj_dim is {d.content['word_embed_proj_dim']!r:.40}, expected {d.config['channels']}")


def _chatglm(d: Draft) -> None:
    if not d.content.get("multi_query_attention", False):
        d.config["kv_heads"] = d.config["heads"]
    d.config["rotary"] = d.config["head_channels"] // 2


_CAUSAL: Mapping[str, tuple[object, ...]] = {"use_bidirectional_attention": (False, None)}
_NOT_SOFT: Mapping[str, tuple[object, ...]] = {
    **_CAUSAL, "attn_logit_softcapping": (None,), "final_logit_softcapping": (None,),
}  # fmt: skip
_BOTH = {"norm_place": "both"}

FAMILIES: Mapping[str, Family] = {
    "llama": Family(),
    "mistral": Family(),
    "ministral": Family(),
    "seed_oss": Family(),
    "qwen2": Family(),
    "qwen3": Family(config={"qk_norm": "head"}),
    "smollm3": Family(more=_smollm3),
    "helium": Family(layout={"halves": False}),
    "ernie4_5": Family(layout={"halves": False}),
    "granite": Family(more=_granite),
    "olmo": Family(
        keys={"norm_eps": ""}, config={"norm": "layer"}, layout={"norms": False}, expects={"clip_qkv": (None,)},
    ),
    "olmo2": Family(_AFTER, config={"norm_place": "after", "qk_norm": "all"}),
    "olmo3": Family(_AFTER, config={"norm_place": "after", "qk_norm": "all"}),
    "exaone4": Family(_AFTER, config={"norm_place": "after", "qk_norm": "head"}, more=_where_it_slides),
    "gemma": Family(
        keys={"activation": "hidden_activation"}, layout={"gamma": 1.0}, expects=_CAUSAL, more=_gemma,
        activation="gelu_pytorch_tanh",
    ),
    "gemma2": Family(
        _AFTER | {"norm2": "pre_feedforward_layernorm"}, {"activation": "hidden_activation"}, _BOTH, {"gamma": 1.0},
        _NOT_SOFT, _gemma2, activation="gelu_pytorch_tanh",
    ),
    "gemma3_text": Family(
        _AFTER | {"norm2": "pre_feedforward_layernorm"}, {"activation": "hidden_activation"}, _BOTH | {"qk_norm": "head"},
        {"gamma": 1.0}, _NOT_SOFT, _gemma2, activation="gelu_pytorch_tanh",
    ),
    "phi": Family(
        {"norm": "model.final_layernorm", "attention.o": "self_attn.dense", "ffn.up": "mlp.fc1", "ffn.down": "mlp.fc2"},
        {"norm_eps": "layer_norm_eps"}, {"norm": "layer", "gated": False, "parallel": "one"},
        expects={"qk_layernorm": (False, None)}, activation="gelu_new",
    ),
    "phi3": Family(_FUSED_QKV | _FUSED_UP),
    "glm": Family(_FUSED_UP, layout={"halves": False}),
    "glm4": Family(
        _FUSED_UP | {"norm1_after": "post_self_attn_layernorm", "norm2_after": "post_mlp_layernorm"}, config=_BOTH,
        layout={"halves": False},
    ),
    "cohere": Family(
        keys={"norm_eps": "layer_norm_eps"}, config={"norm": "layer", "parallel": "one"}, layout={"halves": False},
        expects={"use_qk_norm": (False, None)}, more=_cohere,
    ),
    "cohere2": Family(
        keys={"norm_eps": "layer_norm_eps"}, config={"norm": "layer", "parallel": "one"}, layout={"halves": False}, more=_cohere2,
    ),
    "stablelm": Family(
        keys={"norm_eps": "layer_norm_eps"}, config={"norm": "layer"}, expects={"qk_layernorm": (False, None)}, more=_stablelm,
    ),
    "nemotron": Family(
        keys={"norm_eps": "norm_eps"}, config={"norm": "layer", "gated": False}, layout={"gamma": 1.0}, activation="relu2",
    ),
    "arcee": Family(config={"gated": False}, activation="relu2"),
    "starcoder2": Family(
        {"ffn.up": "mlp.c_fc", "ffn.down": "mlp.c_proj"}, {"norm_eps": "norm_epsilon"}, {"norm": "layer", "gated": False},
        activation="gelu_pytorch_tanh",
    ),
    "gpt2": Family(_GPT2, _GPT2_KEYS, _GPT2_CONFIG, {"transposed": False}, _GPT2_EXPECTS, activation="gelu_new"),
    "gpt_bigcode": Family(
        _GPT2, _GPT2_KEYS, _GPT2_CONFIG, {"grouped": True}, _GPT2_EXPECTS, _bigcode, activation="gelu_pytorch_tanh",
    ),
    "gpt_neo": Family(
        _GPT2 | {f"attention.{n}": f"attn.attention.{n}_proj" for n in "qkv"} | {"attention.o": "attn.attention.out_proj"},
        _GPT2_KEYS | {"blocks": "num_layers", "channels": "hidden_size", "heads": "num_heads", "ffn": "intermediate_size",
                      "context": "max_position_embeddings"},
        _GPT2_CONFIG, more=_gpt_neo, activation="gelu_new",
    ),
    "gptj": Family(
        _GPT2 | {f"attention.{n}": f"attn.{n}_proj" for n in "qkv"}
        | {"attention.o": "attn.out_proj", "ffn.up": "mlp.fc_in", "ffn.down": "mlp.fc_out"},
        _GPT2_KEYS, {"norm": "layer", "gated": False, "parallel": "one"}, {"halves": False}, activation="gelu_new",
    ),
    "gpt_neox": Family(
        _NEOX, {"norm_eps": "layer_norm_eps"}, {"norm": "layer", "gated": False}, {"grouped": True}, more=_neox, activation="gelu",
    ),
    "opt": Family(
        {
            "embedding": "model.decoder.embed_tokens", "position_embedding": "model.decoder.embed_positions",
            "norm": "model.decoder.final_layer_norm", "block": "model.decoder.layers.{}.", "norm1": "self_attn_layer_norm",
            "norm2": "final_layer_norm", "attention.o": "self_attn.out_proj", "ffn.up": "fc1", "ffn.down": "fc2",
        },
        {"ffn": "ffn_dim", "norm_eps": "", "activation": "activation_function", "kv_heads": ""},
        {"norm": "layer", "gated": False, "rotary": 0}, {"skipped": 2},
        {"do_layer_norm_before": (True, None), "_remove_final_layer_norm": (False, None)}, _opt, activation="relu",
    ),
    "falcon": Family(
        _FALCON, {"norm_eps": "layer_norm_epsilon", "activation": "activation", "ffn": "ffn_hidden_size", "kv_heads": ""},
        {"norm": "layer", "gated": False}, {"grouped": True}, {"alibi": (False, None)}, _falcon, activation="gelu",
        context=2048,
    ),
    "chatglm": Family(
        {
            "embedding": "transformer.embedding.word_embeddings", "head": "transformer.output_layer",
            "norm": "transformer.encoder.final_layernorm", "block": "transformer.encoder.layers.{}.",
            "attention.o": "self_attention.dense", "ffn.gate": "mlp.dense_h_to_4h", "ffn.up": "mlp.dense_h_to_4h",
            "ffn.down": "mlp.dense_4h_to_h",
        } | dict.fromkeys(("attention.q", "attention.k", "attention.v"), "self_attention.query_key_value"),
        {
            "blocks": "num_layers", "kv_heads": "multi_query_group_num", "head_channels": "kv_channels", "ffn": "ffn_hidden_size",
            "vocabulary": "padded_vocab_size", "context": "seq_length", "norm_eps": "layernorm_epsilon", "activation": "",
        },
        {"tied": False}, {"halves": False},
        {
            "rmsnorm": (True, None), "add_bias_linear": (False, None), "rope_ratio": (1, 1.0, None),
            "apply_residual_connection_post_layernorm": (False, None), "tie_word_embeddings": (False, None),
        }, _chatglm,
    ),
}  # fmt: skip
"""`model_type` -> its family."""
