"""GGUF's names of tensors, and properties of llama.cpp's architectures that the files do not state.

Sources: package `gguf` (names, keys); llama.cpp's loader (rotary pairs, windows, factors).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fleet.errors import ModelError
from fleet.llm.config import Rope
from fleet.llm.files.gguf_file import GgufFile, Value
from fleet.llm.files.naming import FileLayout

NAMES: Mapping[str, str] = {
    "embedding": "token_embd", "position_embedding": "position_embd", "norm": "output_norm", "head": "output", "block": "blk.{}.",
    "norm1": "attn_norm", "norm2": "ffn_norm", "norm1_after": "post_attention_norm", "norm2_after": "post_ffw_norm",
    "attention.q": "attn_q", "attention.k": "attn_k", "attention.v": "attn_v", "attention.o": "attn_output",
    "attention.q_norm": "attn_q_norm", "attention.k_norm": "attn_k_norm", "ffn.gate": "ffn_gate", "ffn.up": "ffn_up",
    "ffn.down": "ffn_down",
}  # fmt: skip
_FUSED: Mapping[str, str] = dict.fromkeys(("attention.q", "attention.k", "attention.v"), "attn_qkv")
_FUSED_UP = {"ffn.gate": "ffn_up"}


class GgufFields:
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
        """Return an integer. Raises ModelError if it is missing and there is no default."""
        value = self._get(key, (int,), "an integer")
        if value is None and default is None:
            raise ModelError(f"{self._prefix}.{key} is missing", where=self._file.place)
        return default if value is None else value  # pyright: ignore[reportReturnType]

    def optional(self, key: str) -> int | None:
        """Return an integer, None if it is missing."""
        return self._get(key, (int,), "an integer")  # pyright: ignore[reportReturnType]

    def number(self, key: str, default: float) -> float:
        """Return a number."""
        value = self._get(key, (float, int), "a number")
        return default if value is None else float(value)  # pyright: ignore[reportArgumentType]

    def text(self, key: str) -> str:
        """Return a string, "" if it is missing."""
        return self._get(key, (str,), "a string") or ""  # pyright: ignore[reportReturnType]

    def flag(self, key: str, default: bool) -> bool:
        """Return a boolean."""
        value = self._get(key, (bool,), "true or false")
        return default if value is None else bool(value)

    def slides(self, blocks: int, period: int) -> list[bool]:
        """Return whether each block sees a window: all but each `period`-th, if the file has no pattern of its own."""
        key = "attention.sliding_window_pattern"
        found = self._file.fields.get(f"{self._prefix}.{key}")
        if isinstance(found, list | np.ndarray):
            flags = [bool(flag) for flag in found]
            if len(flags) != blocks:
                raise ModelError(f"{self._prefix}.{key} has {len(flags)} entries, expected {blocks}, one a block")
            return flags
        period = self.integer(key, period)
        return [period <= 0 or i % period < period - 1 for i in range(blocks)]


@dataclass(frozen=True)
class GgufDraft:
    """A model on its way to a `ModelConfig` and a `FileLayout`: the file's fields; those of the config; `FileLayout.factors`."""

    fields: GgufFields
    config: dict[str, Any]
    factors: dict[str, float]


@dataclass(frozen=True)
class GgufFamily:
    """Properties of an architecture that a file's fields and tensors do not state.

    halves: rotary pairs are half a head apart; config: fields of `ModelConfig`; more: function for what depends on the file.
    """

    halves: bool = True
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    more: Callable[[GgufDraft], None] | None = None


def _granite(d: GgufDraft) -> None:
    d.factors["embedding"] = d.fields.number("embedding_scale", 1.0)
    d.factors["head"] = 1 / d.fields.number("logit_scale", 1.0)
    d.factors["attention.o"] = d.factors["ffn.down"] = d.fields.number("residual_scale", 1.0)
    root = math.sqrt(d.config["head_channels"])
    d.factors["attention.q"] = d.fields.number("attention.scale", 1 / root) * root


def _gemma(d: GgufDraft) -> None:
    d.factors["embedding"] = math.sqrt(d.config["channels"])


def _gemma3(d: GgufDraft) -> None:
    _gemma(d)
    if d.fields.number("attn_logit_softcapping", 0.0) or d.fields.number("final_logit_softcapping", 0.0):
        raise ModelError("logits are capped by a tanh, which fleet does not compute")
    if d.config["blocks"] == 62:  # 27B scales by channels and heads, all others by a head's channels
        d.factors["attention.q_norm"] = math.sqrt(d.config["head_channels"] / (d.config["channels"] / d.config["heads"]))
    _local(d, 6, 10000.0)


def _local(d: GgufDraft, period: int, base: float) -> None:
    """Rotate blocks that see a window plainly, with a base of their own."""
    c = d.config
    local = Rope.of_base(d.fields.number("rope.freq_base_swa", base), c["rotary"])
    every = c["ropes"] or (Rope.of_base(c["rope_base"], c["rotary"]),)
    c["ropes"] = (*every, local)
    c["block_ropes"] = tuple(int(slides) for slides in d.fields.slides(c["blocks"], period))


def _olmo2(d: GgufDraft) -> None:
    """The third OLMo has the second's name; its blocks with a window are not stretched."""
    if d.fields.integer("attention.sliding_window", 0) > 0:
        _local(d, 4, d.config["rope_base"])


def _cohere(d: GgufDraft) -> None:
    d.factors["head"] = d.fields.number("logit_scale", 1.0)


def _cohere2(d: GgufDraft) -> None:
    _cohere(d)
    _sliding_rotate(d)


def _sliding_rotate(d: GgufDraft) -> None:
    if d.fields.integer("attention.sliding_window", 0):
        d.config["block_ropes"] = tuple(0 if slides else -1 for slides in d.fields.slides(d.config["blocks"], 4))


def _smollm3(d: GgufDraft) -> None:
    d.config["block_ropes"] = tuple(0 if (i + 1) % 4 else -1 for i in range(d.config["blocks"]))


def _parallel(kind: str) -> Callable[[GgufDraft], None]:
    def more(d: GgufDraft) -> None:
        d.config["parallel"] = kind if d.fields.flag("use_parallel_residual", kind == "two") else ""

    return more


def _olmo(d: GgufDraft) -> None:
    if d.fields.number("attention.clamp_kqv", 0.0):
        raise ModelError("queries, keys and values are clamped, which fleet does not compute")


FAMILIES: Mapping[str, GgufFamily] = {
    "llama": GgufFamily(False),
    "qwen2": GgufFamily(),
    "qwen3": GgufFamily(),
    "smollm3": GgufFamily(False, more=_smollm3),
    "granite": GgufFamily(False, more=_granite),
    "olmo": GgufFamily(False, more=_olmo),
    "olmo2": GgufFamily(more=_olmo2),
    "exaone4": GgufFamily(more=_sliding_rotate),
    "gemma": GgufFamily(config={"activation": "gelu_tanh"}, more=_gemma),
    "gemma3": GgufFamily(config={"activation": "gelu_tanh"}, more=_gemma3),
    "phi2": GgufFamily(config={"activation": "gelu_tanh", "parallel": "one"}),
    "phi3": GgufFamily(names=_FUSED_UP),
    "chatglm": GgufFamily(False, _FUSED_UP, {"architecture": "chatglm2"}),
    "glm4": GgufFamily(False, _FUSED_UP),
    "command-r": GgufFamily(False, config={"parallel": "one"}, more=_cohere),
    "cohere2": GgufFamily(False, config={"parallel": "one"}, more=_cohere2),
    "stablelm": GgufFamily(more=_parallel("one")),
    "gptneox": GgufFamily(config={"activation": "gelu"}, more=_parallel("two")),
    "falcon": GgufFamily(config={"activation": "gelu"}),
    "starcoder2": GgufFamily(config={"activation": "gelu_tanh"}),
    "starcoder": GgufFamily(config={"activation": "gelu_tanh"}),
    "gpt2": GgufFamily(config={"activation": "gelu_tanh"}),
}
"""general.architecture -> its family."""


def layout_of(architecture: str, *, fused: bool) -> FileLayout:
    """Return the layout of an architecture's files. fused: q, k and v are one tensor."""
    family = FAMILIES[architecture]
    together: Mapping[str, str] = _FUSED if fused else {}
    return FileLayout({**NAMES, **family.names, **together}, halves=family.halves)
