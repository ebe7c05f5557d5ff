"""Descriptions of families of language models, by the `model_type` of config.json: names of tensors, keys of sizes, computation.

A family is data that overrides llama's; `more` handles the rest. Biases exist if the file has tensors for them; what a key means
that a file leaves out is in `missing_keys`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fleet.core.codec import is_list
from fleet.errors import ModelError

_NO_WORDS: Mapping[str, Any] = {}


@dataclass
class Draft:
    """A model on its way from a config.json to a `ModelConfig` and a `FileLayout`.

    Attributes:
        content: the file's, with what the keys mean that it leaves out.
        given: the file's.
        config: fields of the `ModelConfig`.
        layout: fields of the `FileLayout`, names included.
        factors: of weights, as `FileLayout.factors`.
    """

    content: Mapping[str, Any]
    config: dict[str, Any]
    layout: dict[str, Any]
    given: Mapping[str, Any]
    factors: dict[str, float] = field(default_factory=dict[str, float])

    def number(self, key: str) -> float:
        """Return a positive number. Raises ModelError naming the key."""
        value = self.content.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            raise ModelError(f"{key} is {value!r:.40}, expected a positive number")
        return float(value)

    def count(self, key: str) -> int:
        """Return a positive integer. Raises ModelError naming the key."""
        value = self.content.get(key)
        if type(value) is not int or not 0 < value < 1 << 31:
            raise ModelError(f"{key} is {value!r:.40}, expected a positive integer")
        return value

    def scores(self, factor: float) -> None:
        """Scale scores by `factor` instead of a head's 1 / sqrt(channels)."""
        role = "attention.q_norm" if self.config.get("qk_norm") else "attention.q"
        self.factors[role] = factor * math.sqrt(self.config["head_channels"])


@dataclass(frozen=True)
class Sliding:
    """Which blocks see a window of the last positions, where a file has no `layer_types`: all, but for what the fields say.

    Attributes:
        every: each n-th sees everything; n, or the key that has it.
        after: the key with the number of first blocks that see everything.
        optional: a file may state no window; then all blocks see everything.
    """

    every: int | str = 0
    after: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Rotation:
    """How a family's files state the rotary embedding.

    Attributes:
        base: key of the base of the frequencies.
        part: key of the rotated part of a head; "" if the family's code rotates whole heads whatever the key says.
        channels: key of the number of rotated channels, in place of `part`.
        kinds: kind of attention -> key of its base, in families whose kinds of blocks rotate differently: parameters that name no
            kind are those of full attention. A key that `Family` knows no default of has that of `base`.
        unrotated: kind of the blocks that are not rotated if the others see a window.
        older: other names of ways to stretch.
    """

    base: str = "rope_theta"
    part: str = ""
    channels: str = ""
    kinds: Mapping[str, str] = field(default_factory=dict[str, str])
    unrotated: str = ""
    older: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Family:
    """A family.

    Attributes:
        names: of tensors, those that differ from llama's.
        keys: field of `ModelConfig` -> key in config.json, those that differ from llama's.
        config: fields fixed by the family.
        layout: fields of `FileLayout`.
        expects: key -> supported values, including None if the key may be null.
        more: function for everything else that depends on the file.
        sliding: which blocks see a window; None if `layer_types` says nothing to the family's code.
        rotation: how the rotary embedding is stated.
    """

    names: Mapping[str, str] = field(default_factory=dict[str, str])
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    config: Mapping[str, Any] = field(default_factory=lambda: _NO_WORDS)
    layout: Mapping[str, Any] = field(default_factory=lambda: _NO_WORDS)
    expects: Mapping[str, tuple[object, ...]] = field(default_factory=dict[str, tuple[object, ...]])
    more: Callable[[Draft], None] | None = None
    sliding: Sliding | None = None
    rotation: Rotation = field(default_factory=Rotation)


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


def _smollm3(d: Draft) -> None:
    rotated = d.content.get("no_rope_layers")
    if rotated is None:
        interval = d.count("no_rope_layer_interval")
        rotated = [(i + 1) % interval for i in range(d.config["blocks"])]
    if not is_list(rotated) or len(rotated) < d.config["blocks"]:
        raise ModelError(f"no_rope_layers is {rotated!r:.40}, expected a list with a number for every block")
    d.config["block_ropes"] = tuple(0 if rotates else -1 for rotates in rotated[: d.config["blocks"]])


def _gpt_neo(d: Draft) -> None:
    d.scores(1.0)
    kinds = _attention_types(d)
    if "local" in kinds:
        d.config["context"] = min(d.config["context"], d.count("window_size"))


def _attention_types(d: Draft) -> list[str]:
    """Return the kind of every block: `attention_layers`, or `attention_types`, a list of [kinds, times]."""
    stated, layers = d.content.get("attention_types"), d.content.get("attention_layers")
    kinds = [str(kind) for kind in layers] if is_list(layers) else list[str]()
    for item in stated if is_list(stated) and not is_list(layers) else ():
        if not is_list(item) or len(item) != 2 or not is_list(item[0]) or type(item[1]) is not int or not 0 < item[1] < 1 << 16:
            raise ModelError(f"attention_types has {item!r:.40}, expected [kinds of attention, how often]")
        kinds += [str(kind) for kind in item[0]] * item[1]
    if len(kinds) != d.config["blocks"] or any(kind not in ("global", "local") for kind in kinds):
        shown = layers if is_list(layers) else stated
        raise ModelError(f"attention_types is {shown!r:.80}, expected global or local for each of {d.config['blocks']} blocks")
    return kinds


def _neox(d: Draft) -> None:
    d.config["parallel"] = "two" if d.content.get("use_parallel_residual") else ""


def _stablelm(d: Draft) -> None:
    d.config["parallel"] = "one" if d.content.get("use_parallel_residual") else ""


def _bigcode(d: Draft) -> None:
    d.config["kv_heads"] = 1 if d.content.get("multi_query") else d.config["heads"]


def _falcon(d: Draft) -> None:
    content, names = d.content, d.layout["names"]
    newer = content.get("new_decoder_architecture")
    if newer:
        d.config["kv_heads"] = content.get("num_kv_heads") or d.config["heads"]
    else:
        d.config["kv_heads"] = 1 if content.get("multi_query") else d.config["heads"]
    two = newer and content.get("num_ln_in_parallel_attn") != 1
    if two:
        names |= {"norm1": "ln_attn", "norm2": "ln_mlp"}
    d.config["parallel"] = "two" if two else "one" if newer or content.get("parallel_attn") else ""


def _opt(d: Draft) -> None:
    if (d.content.get("word_embed_proj_dim") or d.config["channels"]) != d.config["channels"]:
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
_PART = "partial_rotary_factor"
_PARTIAL = Rotation(part=_PART)
_PATTERN, _QWEN = Sliding("sliding_window_pattern"), Sliding(after="max_window_layers", optional=True)

FAMILIES: Mapping[str, Family] = {
    "llama": Family(),
    "mistral": Family(),
    "ministral": Family(sliding=Sliding(optional=True)),
    "seed_oss": Family(),
    "qwen2": Family(sliding=_QWEN),
    "qwen3": Family(config={"qk_norm": "head"}, sliding=_QWEN),
    "smollm3": Family(more=_smollm3, sliding=Sliding(optional=True)),
    "helium": Family(layout={"halves": False}),
    "ernie4_5": Family(layout={"halves": False}),
    "granite": Family(more=_granite),
    "olmo": Family(
        keys={"norm_eps": ""}, config={"norm": "layer", "norm_eps": 1e-5}, layout={"norms": False},
        expects={"clip_qkv": (None,)},
    ),
    "olmo2": Family(_AFTER, config={"norm_place": "after", "qk_norm": "all"}),
    "olmo3": Family(
        _AFTER, config={"norm_place": "after", "qk_norm": "all"}, sliding=Sliding(4),
        rotation=Rotation(kinds={"full_attention": "rope_theta", "sliding_attention": ""}),
    ),
    "exaone4": Family(
        _AFTER, config={"norm_place": "after", "qk_norm": "head"}, sliding=Sliding("sliding_window_pattern", optional=True),
        rotation=Rotation(unrotated="full_attention"),
    ),
    "gemma": Family(
        keys={"activation": "hidden_activation"}, layout={"gamma": 1.0}, expects=_CAUSAL, more=_gemma,
    ),
    "gemma2": Family(
        _AFTER | {"norm2": "pre_feedforward_layernorm"}, {"activation": "hidden_activation"}, _BOTH, {"gamma": 1.0},
        _NOT_SOFT, _gemma2, Sliding(2),
    ),
    "gemma3_text": Family(
        _AFTER | {"norm2": "pre_feedforward_layernorm"}, {"activation": "hidden_activation"}, _BOTH | {"qk_norm": "head"},
        {"gamma": 1.0}, _NOT_SOFT, _gemma2, _PATTERN,
        Rotation(kinds={"full_attention": "rope_theta", "sliding_attention": "rope_local_base_freq"}),
    ),
    "phi": Family(
        {"norm": "model.final_layernorm", "attention.o": "self_attn.dense", "ffn.up": "mlp.fc1", "ffn.down": "mlp.fc2"},
        {"norm_eps": "layer_norm_eps"}, {"norm": "layer", "gated": False, "parallel": "one"},
        expects={"qk_layernorm": (False, None)}, rotation=_PARTIAL,
    ),
    "phi3": Family(_FUSED_QKV | _FUSED_UP, rotation=Rotation(part=_PART, older={"su": "longrope", "yarn": "longrope"})),
    "glm": Family(_FUSED_UP, layout={"halves": False}, rotation=_PARTIAL),
    "glm4": Family(
        _FUSED_UP | {"norm1_after": "post_self_attn_layernorm", "norm2_after": "post_mlp_layernorm"}, config=_BOTH,
        layout={"halves": False}, rotation=_PARTIAL,
    ),
    "cohere": Family(
        keys={"norm_eps": "layer_norm_eps"}, config={"norm": "layer", "parallel": "one"}, layout={"halves": False},
        expects={"use_qk_norm": (False, None)}, more=_cohere,
    ),
    "cohere2": Family(
        keys={"norm_eps": "layer_norm_eps"}, config={"norm": "layer", "parallel": "one"}, layout={"halves": False}, more=_cohere,
        sliding=_PATTERN, rotation=Rotation(unrotated="full_attention"),
    ),
    "stablelm": Family(
        keys={"norm_eps": "layer_norm_eps"}, config={"norm": "layer"}, expects={"qk_layernorm": (False, None)}, more=_stablelm,
        rotation=_PARTIAL,
    ),
    "nemotron": Family(
        keys={"norm_eps": "norm_eps"}, config={"norm": "layer", "gated": False}, layout={"gamma": 1.0}, rotation=_PARTIAL,
    ),
    "arcee": Family(config={"gated": False}),
    "starcoder2": Family(
        {"ffn.up": "mlp.c_fc", "ffn.down": "mlp.c_proj"}, {"norm_eps": "norm_epsilon"}, {"norm": "layer", "gated": False},
    ),
    "gpt2": Family(_GPT2, _GPT2_KEYS, _GPT2_CONFIG, {"transposed": False}, _GPT2_EXPECTS),
    "gpt_bigcode": Family(
        _GPT2, _GPT2_KEYS, _GPT2_CONFIG, {"grouped": True}, _GPT2_EXPECTS, _bigcode,
    ),
    "gpt_neo": Family(
        _GPT2 | {f"attention.{n}": f"attn.attention.{n}_proj" for n in "qkv"} | {"attention.o": "attn.attention.out_proj"},
        _GPT2_KEYS | {"blocks": "num_layers", "channels": "hidden_size", "heads": "num_heads", "ffn": "intermediate_size",
                      "context": "max_position_embeddings"},
        _GPT2_CONFIG, more=_gpt_neo,
    ),
    "gptj": Family(
        _GPT2 | {f"attention.{n}": f"attn.{n}_proj" for n in "qkv"}
        | {"attention.o": "attn.out_proj", "ffn.up": "mlp.fc_in", "ffn.down": "mlp.fc_out"},
        _GPT2_KEYS, {"norm": "layer", "gated": False, "parallel": "one"}, {"halves": False},
        rotation=Rotation(channels="rotary_dim"),
    ),
    "gpt_neox": Family(
        _NEOX, {"norm_eps": "layer_norm_eps"}, {"norm": "layer", "gated": False}, {"grouped": True}, more=_neox,
        rotation=Rotation("rotary_emb_base", "rotary_pct"),
    ),
    "opt": Family(
        {
            "embedding": "model.decoder.embed_tokens", "position_embedding": "model.decoder.embed_positions",
            "norm": "model.decoder.final_layer_norm", "block": "model.decoder.layers.{}.", "norm1": "self_attn_layer_norm",
            "norm2": "final_layer_norm", "attention.o": "self_attn.out_proj", "ffn.up": "fc1", "ffn.down": "fc2",
        },
        {"ffn": "ffn_dim", "norm_eps": "", "activation": "activation_function", "kv_heads": ""},
        {"norm": "layer", "norm_eps": 1e-5, "gated": False, "rotary": 0}, {"skipped": 2},
        {
            "do_layer_norm_before": (True, None), "_remove_final_layer_norm": (False, None),
            "layer_norm_elementwise_affine": (True, None),
        }, _opt,
    ),
    "falcon": Family(
        _FALCON, {"norm_eps": "layer_norm_epsilon", "activation": "activation", "ffn": "ffn_hidden_size", "kv_heads": ""},
        {"norm": "layer", "gated": False}, {"grouped": True}, {"alibi": (False, None)}, _falcon,
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
        {"tied": False, "activation": "silu"}, {"halves": False},
        {
            "rmsnorm": (True, None), "add_bias_linear": (False, None), "rope_ratio": (1, 1.0, None),
            "apply_residual_connection_post_layernorm": (False, None), "tie_word_embeddings": (False, None),
        }, _chatglm,
    ),
}  # fmt: skip
"""`model_type` -> its family."""
