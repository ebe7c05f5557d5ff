"""Writes models as files: for tests that read them back, and to show the tiny model to other programs."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from fleet.core.codec import Json
from fleet.errors import SetupError
from fleet.llm.config import ModelConfig
from fleet.llm.files import families, gguf_families
from fleet.llm.files.naming import FileLayout, stored_arrays
from fleet.llm.files.safetensors import write_safetensors
from fleet.llm.tiny import FIRST_BYTE, VOCABULARY
from fleet.llm.tokenizer import byte_characters
from fleet.llm.weights import ModelWeights

_FUSED = ("chatglm2", "gpt2")
"""Architectures whose GGUF files have q, k and v in one tensor."""
_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_MERGES = (
    "t h", "th e", "Ġ the", "a n", "an d", "Ġ and", "i n", "in g", "Ġ a", "Ġ t", "e r", "o n", "r e", "Ġ o", "Ġo f", "Ġ w", "i s",
    "e s", "e n", "Ġ s", "o u", "a t", "o r", "Ġ h", "i t", "Ġ in", "Ġ b", "e d", "Ġ c", "a l", "Ġ p", "h a", "Ġt o", "a r", "Ġ f",
    "l e", "s t", "o m", "Ġ m", "i c", "e l", "Ġ d", "Ġ l", "r o", "Ġ is", "Ġw h", "Ġwh at", "a s", "Ġ n", "l l", "v e", "Ġh e",
    "Ġ e", "c h", "o w", "Ġ g", "Ġ r", "u r", "Ġw as", "Ġ k", "i d",
)  # fmt: skip
"""Pairs in merge order."""
_CHATML = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nSYSTEM<|im_end|>\n' }}{% endif %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def tiny_vocabulary() -> tuple[list[str], list[str]]:
    """Return (tokens by id, merges) of the tiny model: control tokens, merged tokens, then the bytes from `FIRST_BYTE` on."""
    merged = [merge.replace(" ", "") for merge in _MERGES]
    tokens = [*_SPECIAL, *merged, *byte_characters()]
    if len(set(tokens)) != VOCABULARY or tokens.index("Ā") != FIRST_BYTE:
        raise AssertionError("the tiny model's vocabulary does not fill its ids")
    return tokens, list(_MERGES)


def _template(config: ModelConfig) -> str:
    return _CHATML.replace("SYSTEM", config.system) if config.chat == "chatml" else ""


def describe(writer: Any, c: ModelConfig) -> None:
    """Add a model's sizes to the header of a `gguf.GGUFWriter`."""
    writer.add_block_count(c.blocks)
    writer.add_context_length(c.context)
    writer.add_embedding_length(c.channels)
    writer.add_feed_forward_length(c.ffn)
    writer.add_head_count(c.heads)
    writer.add_head_count_kv(c.kv_heads)
    if c.rotary:
        writer.add_rope_dimension_count(c.rotary)
        writer.add_rope_freq_base(c.rope_base)
    (writer.add_layer_norm_rms_eps if c.norm == "rms" else writer.add_layer_norm_eps)(c.norm_eps)


def write_gguf(path: Path, weights: ModelWeights, *, form: str = "F32") -> None:
    """Write a GGUF file with the tiny vocabulary.

    Args:
        path: the file.
        weights: a model with `VOCABULARY` tokens.
        form: of the matrices, GGML's name: "F32", "F16", "Q8_0", "Q4_1" ...

    Raises:
        SetupError: package gguf is missing.
    """
    try:
        gguf: Any = importlib.import_module("gguf")
    except ImportError:
        raise SetupError("package gguf is missing", where=str(path), hint="pip install 'fleet-cosim[llm]'") from None
    c = weights.config
    architecture = {"chatglm2": "chatglm"}.get(c.architecture, c.architecture)
    writer = gguf.GGUFWriter(str(path), architecture)
    describe(writer, c)
    tokens, merges = tiny_vocabulary()
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * len(_SPECIAL) + [1] * (len(tokens) - len(_SPECIAL)))
    writer.add_token_merges(merges)
    if c.bos is not None:
        writer.add_bos_token_id(c.bos)
    writer.add_eos_token_id(c.eos[0])
    writer.add_chat_template(_template(c))
    kind = gguf.GGMLQuantizationType[form]
    for name, array in stored_arrays(weights, c, gguf_families.layout_of(architecture, fused=c.architecture in _FUSED)).items():
        if array.ndim == 2 and form != "F32":
            writer.add_tensor(name, gguf.quants.quantize(array, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, array)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_hugging_face(folder: Path, weights: ModelWeights, *, files: int = 1) -> None:
    """Write config.json, tokenizer.json, tokenizer_config.json and safetensors; with an index if there are several `files`."""
    folder.mkdir(parents=True, exist_ok=True)
    c = weights.config
    (folder / "config.json").write_text(json.dumps(_hugging_face_config(c)))
    (folder / "tokenizer_config.json").write_text(json.dumps({"chat_template": _template(c)}))
    tokens, merges = tiny_vocabulary()
    digits = {"type": "Digits", "individual_digits": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [{"id": i, "content": token, **flags} for i, token in enumerate(_SPECIAL)],
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [digits, level]},
        "decoder": level,
        "model": {"type": "BPE", "vocab": {token: i for i, token in enumerate(tokens)}, "merges": merges},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    family = families.FAMILIES[{"chatglm2": "chatglm"}.get(c.architecture, c.architecture)]
    layout = FileLayout({**families.NAMES, **family.names}, **family.layout)
    arrays = stored_arrays(weights, c, layout)
    if files == 1:
        write_safetensors(folder / "model.safetensors", arrays)
        return
    names, places = list(arrays), dict[str, str]()
    for part, chosen in enumerate(np.array_split(np.arange(len(names)), files), start=1):
        file = f"model-{part:05}-of-{files:05}.safetensors"
        write_safetensors(folder / file, {names[i]: arrays[names[i]] for i in chosen})
        places.update({names[i]: file for i in chosen})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))


def _hugging_face_config(c: ModelConfig) -> dict[str, Json]:
    common: dict[str, Json] = {"bos_token_id": c.bos, "eos_token_id": c.eos[0], "tie_word_embeddings": c.tied}
    if c.architecture == "gpt2":
        return common | {
            "model_type": "gpt2", "n_layer": c.blocks, "n_embd": c.channels, "n_head": c.heads, "n_inner": c.ffn,
            "vocab_size": c.vocabulary, "n_positions": c.context, "layer_norm_epsilon": c.norm_eps,
            "activation_function": "gelu_new",
        }  # fmt: skip
    if c.architecture == "chatglm2":
        return common | {
            "model_type": "chatglm", "num_layers": c.blocks, "hidden_size": c.channels, "num_attention_heads": c.heads,
            "kv_channels": c.head_channels, "multi_query_attention": True, "multi_query_group_num": c.kv_heads,
            "ffn_hidden_size": c.ffn, "padded_vocab_size": c.vocabulary, "seq_length": c.context, "rmsnorm": True,
            "layernorm_epsilon": c.norm_eps, "add_qkv_bias": c.qkv_bias, "add_bias_linear": False,
        }  # fmt: skip
    return common | {
        "model_type": c.architecture, "num_hidden_layers": c.blocks, "hidden_size": c.channels, "num_attention_heads": c.heads,
        "num_key_value_heads": c.kv_heads, "intermediate_size": c.ffn, "vocab_size": c.vocabulary,
        "max_position_embeddings": c.context, "rope_theta": c.rope_base, "rms_norm_eps": c.norm_eps, "hidden_act": "silu",
    }  # fmt: skip
