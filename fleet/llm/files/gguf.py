"""Reads language models from GGUF files, of the families in `FAMILIES`. Keys and names: llama.cpp's `gguf` package."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fleet.errors import ModelError
from fleet.llm.chat import chat_of_template
from fleet.llm.config import ModelConfig, Rope, check_sizes
from fleet.llm.files import families
from fleet.llm.files.gguf_families import FAMILIES, GgufDraft, GgufFields, layout_of
from fleet.llm.files.gguf_file import GgufFile, Value
from fleet.llm.files.naming import FileLayout, unknown_tensors, weights_from
from fleet.llm.files.rope import divided, scaled
from fleet.llm.files.unread import MIXTURE, unread_family
from fleet.llm.weights import ModelWeights

_ROTARY_FACTORS = ("rope_freqs.weight", "rope_factors_short.weight", "rope_factors_long.weight")
"""Tensors with divisors of frequencies; the long ones are for positions beyond the original context."""


def open_gguf(path: Path) -> tuple[ModelWeights, Mapping[str, Value]]:
    """Return the weights of a GGUF file and its fields, which include the tokenizer's.

    Raises:
        ModelError: incomplete GGUF file, unknown architecture, invalid sizes, tensors missing or with wrong shapes.
    """
    file = GgufFile(path)
    config, layout = gguf_config(file)
    weights = weights_from(file, config, layout)
    if unknown := [name for name in unknown_tensors(file, config, layout) if name not in _ROTARY_FACTORS]:
        raise ModelError(
            f"tensor {unknown[0]} is not known in a {config.architecture} model: fleet would compute something else",
            where=file.place,
        )
    return weights, file.fields


def gguf_config(file: GgufFile) -> tuple[ModelConfig, FileLayout]:
    """Return the shape described by a file's fields and tensors, and where its weights are. Raises ModelError naming the field."""
    named = file.fields.get("general.architecture")
    if not isinstance(named, str) or named not in FAMILIES:
        elsewhere = dict.fromkeys(families.FAMILIES.keys() - FAMILIES.keys(), "a folder of config.json and safetensors")
        error = unread_family("general.architecture", named, FAMILIES, elsewhere)
        raise ModelError(error.what, where=file.place, hint=error.hint)
    family, fields, tokens = FAMILIES[named], GgufFields(file, named), GgufFields(file, "tokenizer.ggml")
    if fields.integer("expert_count", 0):
        raise ModelError(
            f"{named}.expert_count is {fields.integer('expert_count')}, {MIXTURE}; fleet does not compute it", where=file.place
        )
    channels, heads = fields.integer("embedding_length"), fields.integer("attention.head_count")
    if heads <= 0 or (channels % heads and f"{named}.attention.key_length" not in file.fields):
        raise ModelError(f"{named}.attention.head_count is {heads}, expected a divisor of {channels}", where=file.place)
    head_channels = fields.integer("attention.key_length", channels // heads)
    if fields.integer("attention.value_length", head_channels) != head_channels:
        raise ModelError(f"{named}.attention.value_length differs from key_length ({head_channels})", where=file.place)
    if "token_embd.weight" not in file.tensors:
        raise ModelError("tensor token_embd.weight is missing", where=file.place, hint="the file may be cut, or of another model")
    layout = layout_of(named, fused="blk.0.attn_qkv.weight" in file.tensors)
    if "blk.0.attn_norm_2.weight" in file.tensors:  # falcon with two norms
        layout = replace(layout, names={**layout.names, "norm1": "attn_norm_2", "norm2": "attn_norm"})
    eos = tokens.optional("eos_token_id")
    chat, system = chat_of_template(GgufFields(file, "tokenizer").text("chat_template"))
    window = fields.integer("attention.sliding_window", 0)
    context = fields.integer("context_length")
    config: dict[str, Any] = {
        "architecture": named,
        "blocks": fields.integer("block_count"),
        "channels": channels,
        "heads": heads,
        "kv_heads": fields.integer("attention.head_count_kv", heads),
        "head_channels": head_channels,
        "ffn": fields.integer("feed_forward_length"),
        "vocabulary": file.tensors["token_embd.weight"].shape[0],
        "context": min(context, window) if window > 0 else context,
        "tied": "output.weight" not in file.tensors,
        "bos": tokens.optional("bos_token_id"),
        "eos": () if eos is None else (eos,),
        "chat": chat,
        "system": system,
    }
    factors: dict[str, float] = {}
    try:
        check_sizes(config)
        config |= _structure(file, fields, layout)
        config |= _rotation(file, fields, config)
        config |= family.config
        if layout.names["norm1"] == "attn_norm_2":
            config["parallel"] = "two"
        elif named == "falcon":
            config["parallel"] = "one"
        if family.more is not None:
            family.more(GgufDraft(fields, config, factors))
        norms, biases = (f"output_norm.{end}" in file.tensors for end in ("weight", "bias"))
        return ModelConfig(**config), replace(layout, factors=factors, norms=norms, norm_biases=biases)
    except ModelError as error:
        raise ModelError(error.what, where=file.place) from None


def _structure(file: GgufFile, fields: GgufFields, layout: FileLayout) -> dict[str, Any]:
    """Return which parts a block has, from the tensors of the first block."""

    def has(name: str, end: str = "weight") -> bool:
        return f"{layout.stored(name)}.{end}" in file.tensors

    after, before = has("blocks.0.norm1_after"), has("blocks.0.norm1")
    rms = fields.number("attention.layer_norm_rms_epsilon", 0.0)
    qk = file.tensors.get("blk.0.attn_q_norm.weight")
    head = fields.integer("attention.key_length", fields.integer("embedding_length") // fields.integer("attention.head_count"))
    return {
        "norm": "rms" if rms else "layer",
        "norm_eps": rms or fields.number("attention.layer_norm_epsilon", 1e-5),
        "norm_place": "both" if after and before else "after" if after else "before",
        "qk_norm": "" if qk is None else "head" if math.prod(qk.shape) == head else "all",
        "gated": has("blocks.0.ffn.gate") and (layout.names["ffn.gate"] != layout.names["ffn.up"] or _twice(file, fields)),
        "qkv_bias": has("blocks.0.attention.q", "bias"),
        "o_bias": has("blocks.0.attention.o", "bias"),
        "ffn_bias": has("blocks.0.ffn.down", "bias"),
        "head_bias": has("head", "bias"),
    }


def _twice(file: GgufFile, fields: GgufFields) -> bool:
    """Whether gate and up are one tensor."""
    return file.tensors["blk.0.ffn_up.weight"].shape[0] == 2 * fields.integer("feed_forward_length")


def _rotation(file: GgufFile, fields: GgufFields, config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of rotary positions, with the context if they limit it."""
    if "position_embd.weight" in file.tensors:
        return {"rotary": 0}
    base, context = fields.number("rope.freq_base", 10000.0), config["context"]
    rotary = fields.integer("rope.dimension_count", config["head_channels"])
    check_sizes({"rotary": rotary})
    if not 1 < base <= 1e12 or rotary <= 0:
        return {"rotary": rotary, "rope_base": base}  # `ModelConfig` refuses it by name
    original = fields.integer("rope.scaling.original_context_length", context)
    factor = fields.number("rope.scaling.factor", fields.number("rope.scale_linear", 0.0))
    kind = fields.text("rope.scaling.type") or "linear"  # as in llama.cpp; a factor alone is enough
    parameters = {
        "rope_type": "default" if kind == "linear" and not factor else kind,
        "factor": factor or None,
        "original_max_position_embeddings": original,
        "attention_factor": fields.number("rope.scaling.attn_factor", 0.0) or None,
    }
    factors = next((name for name in _ROTARY_FACTORS[:2] if name in file.tensors), None)
    if factors is None:
        rope, context = scaled(parameters, base, rotary, context, name="rope.scaling")
    else:
        stored = tuple(float(f) for f in file.read(factors).reshape(-1))
        if not all(math.isfinite(f) and f > 0 for f in stored):
            raise ModelError(f"tensor {factors} holds a factor that is not positive")
        rope = divided(Rope.of_base(base, rotary), stored, name=f"tensor {factors}")
        if kind == "linear" and factor:
            rope = divided(rope, (factor,) * len(stored), name="rope.scaling.factor")
        if factors != _ROTARY_FACTORS[0]:
            rope = replace(rope, magnitude=parameters["attention_factor"] or 1.0)
            context = min(context, original)
    return {"rotary": rotary, "rope_base": base, "ropes": () if rope is None else (rope,), "context": context}
