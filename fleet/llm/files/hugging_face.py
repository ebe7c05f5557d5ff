"""Reads language models in Hugging Face's layout: a folder with config.json and *.safetensors.

Architectures: llama, qwen2, chatglm (2) and gpt2. Nothing in the folder is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig
from fleet.llm.files.gguf import chat_of_template
from fleet.llm.files.naming import WeightPart, hugging_face_parts, weights_from
from fleet.llm.files.safetensors import TensorFolder, read_json
from fleet.llm.weights import ModelWeights

_MAX_CONFIG = 1 << 20
_COMPUTED = (".rotary_emb.inv_freq", "rotary_pos_emb.inv_freq", ".attn.bias", ".attn.masked_bias")
"""Tensors that some checkpoints store although they follow from the configuration."""
T = TypeVar("T")
_Get = Callable[..., Any]
_Refuse = Callable[..., None]


def open_hugging_face(folder: Path) -> ModelWeights:
    """Return the weights in a folder.

    Raises:
        ModelError: files missing, truncated or contradictory, unknown architecture, invalid sizes.
    """
    tensors = TensorFolder(folder)
    config = hugging_face_config(folder / "config.json", tensors)
    if config.architecture == "gpt2":
        tensors.renamed(lambda name: name.removeprefix("transformer."))
    chat, system = _chat(folder / "tokenizer_config.json")
    config = replace(config, chat=chat, system=system)
    parts: Mapping[str, WeightPart] = hugging_face_parts(config)
    weights = weights_from(tensors, config, parts)
    used = {part.stored for part in parts.values()}
    unknown = sorted(name for name in tensors.shapes if name not in used and not name.endswith(_COMPUTED))
    if config.tied:
        unknown = [name for name in unknown if name != "lm_head.weight"]  # a copy of the embedding
    if unknown:
        raise ModelError(
            f"tensor {unknown[0]!s:.80} is not known in a {config.architecture} model: fleet would compute something else",
            where=str(folder),
        )
    return weights


def hugging_face_config(path: Path, tensors: TensorFolder) -> ModelConfig:
    """Return the shape described by a config.json. Raises ModelError naming the field."""
    content = read_json(path, _MAX_CONFIG)

    def get(key: str, kind: type[T], default: T | None = None) -> T:
        value = content.get(key)
        if value is None and default is not None:
            return default
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise ModelError(f"{key} is {value!r:.40}, expected {kind.__name__}", where=str(path))
        return value

    def refuse(key: str, *fine: object) -> None:
        value = content.get(key)
        if value is not None and value not in fine:
            raise ModelError(
                f"{key} is {value!r:.40}, expected {fine[0]!r}", where=str(path), hint="fleet would compute something else"
            )

    kind = get("model_type", str)
    tokens = {"bos": content.get("bos_token_id"), "eos": content.get("eos_token_id")}
    eos = tokens["eos"] if isinstance(tokens["eos"], list) else [] if tokens["eos"] is None else [tokens["eos"]]
    try:
        match kind:
            case "llama" | "qwen2":
                config = _llama_config(kind, get, refuse)
            case "chatglm":
                config = _chatglm_config(get, refuse)
            case "gpt2":
                config = _gpt2_config(get, refuse)
            case _:
                raise ModelError(f"model_type is {kind!r:.40}, expected llama, qwen2, chatglm or gpt2")
        if kind != "chatglm" and content.get("tie_word_embeddings") is None:
            config = replace(config, tied="lm_head.weight" not in tensors)  # the families have different defaults
        if config.rotary and content.get("rope_parameters") is not None:  # newer files have the base here
            config = replace(config, rope_base=_rope_base(content["rope_parameters"]))
        return replace(config, bos=tokens["bos"], eos=tuple(eos))
    except ModelError as error:
        raise ModelError(error.what, where=str(path), hint=error.hint) from None


def _rope_base(parameters: Any) -> float:
    match parameters:
        case {"rope_theta": int() | float() as base} if parameters.get("rope_type", "default") == "default":
            return float(base)
        case _:
            raise ModelError(f"rope_parameters is {parameters!r:.80}, expected rope_theta and rope_type 'default'")


def _llama_config(kind: str, get: _Get, refuse: _Refuse) -> ModelConfig:
    refuse("hidden_act", "silu")
    refuse("rope_scaling", None)
    refuse("use_sliding_window", False)
    refuse("attention_bias", False)
    refuse("mlp_bias", False)
    channels, heads = get("hidden_size", int), get("num_attention_heads", int)
    return ModelConfig(
        kind,
        blocks=get("num_hidden_layers", int),
        channels=channels,
        heads=heads,
        kv_heads=get("num_key_value_heads", int, heads),
        head_channels=get("head_dim", int, channels // max(heads, 1)),
        ffn=get("intermediate_size", int),
        vocabulary=get("vocab_size", int),
        context=get("max_position_embeddings", int),
        rotary=get("head_dim", int, channels // max(heads, 1)),
        rope_base=get("rope_theta", float, 10000.0),
        norm_eps=get("rms_norm_eps", float, 1e-6),
        tied=get("tie_word_embeddings", bool, False),
        qkv_bias=kind == "qwen2",
    )


def _chatglm_config(get: _Get, refuse: _Refuse) -> ModelConfig:
    refuse("rmsnorm", True)
    refuse("add_bias_linear", False)
    refuse("apply_residual_connection_post_layernorm", False)
    refuse("tie_word_embeddings", False)
    refuse("rope_ratio", 1, 1.0)
    heads, head_channels = get("num_attention_heads", int), get("kv_channels", int)
    return ModelConfig(
        "chatglm2",
        blocks=get("num_layers", int),
        channels=get("hidden_size", int),
        heads=heads,
        kv_heads=get("multi_query_group_num", int) if get("multi_query_attention", bool, False) else heads,
        head_channels=head_channels,
        ffn=get("ffn_hidden_size", int),
        vocabulary=get("padded_vocab_size", int),
        context=get("seq_length", int),
        rotary=head_channels // 2,
        norm_eps=get("layernorm_epsilon", float, 1e-5),
        qkv_bias=get("add_qkv_bias", bool, False),
    )


def _gpt2_config(get: _Get, refuse: _Refuse) -> ModelConfig:
    refuse("activation_function", "gelu_new", "gelu_pytorch_tanh")
    refuse("scale_attn_by_inverse_layer_idx", False)
    refuse("scale_attn_weights", True)
    channels, heads = get("n_embd", int), get("n_head", int)
    return ModelConfig(
        "gpt2",
        blocks=get("n_layer", int),
        channels=channels,
        heads=heads,
        kv_heads=heads,
        head_channels=channels // max(heads, 1),
        ffn=get("n_inner", int, 4 * channels),
        vocabulary=get("vocab_size", int),
        context=get("n_positions", int),
        rotary=0,
        norm="layer",
        norm_eps=get("layer_norm_epsilon", float, 1e-5),
        tied=get("tie_word_embeddings", bool, True),
        qkv_bias=True,
        linear_bias=True,
        activation="gelu",
        gated=False,
    )


def _chat(path: Path) -> tuple[str, str]:
    """Return (chat, system) of the template in tokenizer_config.json; without the file, no template."""
    if not path.is_file():
        return "plain", ""
    template = read_json(path, _MAX_CONFIG).get("chat_template")
    return chat_of_template(template if isinstance(template, str) else "")
