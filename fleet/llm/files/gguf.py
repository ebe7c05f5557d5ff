"""Reads language models from GGUF files: llama, qwen2, chatglm and gpt2."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig
from fleet.llm.files.gguf_file import GgufFile, Value
from fleet.llm.files.naming import gguf_parts, weights_from
from fleet.llm.weights import ModelWeights

_ARCHITECTURES: Mapping[str, str] = {"llama": "llama", "qwen2": "qwen2", "chatglm": "chatglm2", "gpt2": "gpt2"}
_SYSTEM = re.compile(r"<\|im_start\|>system\n(.{0,400}?)<\|im_end\|>")


def open_gguf(path: Path) -> tuple[ModelWeights, Mapping[str, Value]]:
    """Return the weights of a GGUF file and its fields, which include the tokenizer's.

    Raises:
        ModelError: incomplete GGUF file, unknown architecture, invalid sizes, tensors missing or with wrong shapes.
    """
    file = GgufFile(path)
    config = gguf_config(file)
    parts = gguf_parts(config)
    weights = weights_from(file, config, parts)
    unknown = sorted(file.tensors.keys() - {part.stored for part in parts.values()})
    if unknown:
        raise ModelError(
            f"tensor {unknown[0]} is not known in a {config.architecture} model: fleet would compute something else",
            where=file.place,
        )
    return weights, file.fields


class _Fields:
    """Values by key, with checked types."""

    def __init__(self, file: GgufFile, prefix: str) -> None:
        self._file, self._prefix = file, prefix

    def _get(self, key: str, kinds: tuple[type, ...], words: str) -> Value | None:
        full = f"{self._prefix}.{key}"
        value = self._file.fields.get(full)
        if value is not None and type(value) not in kinds:
            shown = repr(value)[:40] if not isinstance(value, list | np.ndarray) else f"an array of {len(value)}"
            raise ModelError(f"{full} is {shown}, expected {words}", where=self._file.place)
        return value

    def integer(self, key: str, default: int | None = None) -> int:
        value = self._get(key, (int,), "an integer")
        if value is None and default is None:
            raise ModelError(f"{self._prefix}.{key} is missing", where=self._file.place)
        return default if value is None else value  # pyright: ignore[reportReturnType]

    def optional(self, key: str) -> int | None:
        return self._get(key, (int,), "an integer")  # pyright: ignore[reportReturnType]

    def number(self, key: str, default: float) -> float:
        value = self._get(key, (float, int), "a number")
        return default if value is None else float(value)  # pyright: ignore[reportArgumentType]

    def text(self, key: str) -> str:
        return self._get(key, (str,), "a string") or ""  # pyright: ignore[reportReturnType]


def gguf_config(file: GgufFile) -> ModelConfig:
    """Return the shape described by a file's fields. Raises ModelError naming the field."""
    named = file.fields.get("general.architecture")
    if not isinstance(named, str) or named not in _ARCHITECTURES:
        shown = repr(named)[:60] if isinstance(named, str) else "missing"
        raise ModelError(f"general.architecture is {shown}, expected {', '.join(_ARCHITECTURES)}", where=file.place)
    architecture, fields, tokens = _ARCHITECTURES[named], _Fields(file, named), _Fields(file, "tokenizer.ggml")
    if fields.text("rope.scaling.type") not in {"", "none"}:
        raise ModelError(f"{named}.rope.scaling.type is {fields.text('rope.scaling.type')!r:.40}, expected none", where=file.place)
    if fields.integer("expert_count", 0):
        raise ModelError(f"{named}.expert_count is not 0: mixtures of experts are not known", where=file.place)
    channels, heads = fields.integer("embedding_length"), fields.integer("attention.head_count")
    if heads <= 0 or (channels % heads and f"{named}.attention.key_length" not in file.fields):
        raise ModelError(f"{named}.attention.head_count is {heads}, expected a divisor of {channels}", where=file.place)
    head_channels = fields.integer("attention.key_length", channels // heads)
    if fields.integer("attention.value_length", head_channels) != head_channels:
        raise ModelError(f"{named}.attention.value_length differs from key_length ({head_channels})", where=file.place)
    gpt2 = architecture == "gpt2"
    if "token_embd.weight" not in file.tensors:
        raise ModelError("tensor token_embd.weight is missing", where=file.place, hint="the file may be cut, or of another model")
    eos = tokens.optional("eos_token_id")
    chat, system = chat_of_template(_Fields(file, "tokenizer").text("chat_template"))
    try:
        return ModelConfig(
            architecture=architecture,
            blocks=fields.integer("block_count"),
            channels=channels,
            heads=heads,
            kv_heads=fields.integer("attention.head_count_kv", heads),
            head_channels=head_channels,
            ffn=fields.integer("feed_forward_length"),
            vocabulary=file.tensors["token_embd.weight"].shape[0],
            context=fields.integer("context_length"),
            rotary=0 if gpt2 else fields.integer("rope.dimension_count", head_channels),
            rope_base=fields.number("rope.freq_base", 10000.0),
            norm="layer" if gpt2 else "rms",
            norm_eps=fields.number(f"attention.layer_norm_{'' if gpt2 else 'rms_'}epsilon", 1e-5),
            tied="output.weight" not in file.tensors,
            qkv_bias=any(f"blk.0.{name}.bias" in file.tensors for name in ("attn_q", "attn_qkv")),
            linear_bias="blk.0.ffn_down.bias" in file.tensors,
            activation="gelu" if gpt2 else "silu",
            gated=not gpt2,
            bos=tokens.optional("bos_token_id"),
            eos=() if eos is None else (eos,),
            chat=chat,
            system=system,
        )
    except ModelError as error:
        raise ModelError(error.what, where=file.place) from None


def chat_of_template(template: str) -> tuple[str, str]:
    """Return (chat, system) of `ModelConfig` for a Jinja template. The template is recognised, never executed."""
    if "<|im_start|>" not in template or "<|im_end|>" not in template:
        return "plain", ""
    found = _SYSTEM.search(template.replace("\\n", "\n"))
    return "chatml", found[1] if found else ""
