"""The shape of a language model: everything except its weights and its tokenizer.

`ModelConfig` alone defines the computation, independent of the family that a file names. It excludes everything that is folded into
weights on reading (`fleet.llm.files.naming`): factors of embeddings, residuals, scores, logits; norms that store gamma - 1.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

from fleet.errors import ModelError
from fleet.llm.chat import TEMPLATES

ARCHITECTURES = ("llama", "qwen2", "chatglm2", "gpt2")

_LIMITS: Mapping[str, tuple[int, int]] = {
    "blocks": (1, 1024),
    "channels": (1, 1 << 16),
    "heads": (1, 1024),
    "kv_heads": (1, 1024),
    "head_channels": (1, 1 << 12),
    "ffn": (1, 1 << 18),
    "vocabulary": (2, 1 << 20),
    "context": (1, 1 << 22),
    "rotary": (0, 1 << 12),
}
"""Inclusive limits. Far above any model of these architectures, but low enough that a product of a few stays below 2^63."""

_WORDS: Mapping[str, tuple[str, ...]] = {
    "norm": ("rms", "layer"),
    "norm_place": ("before", "after", "both"),
    "qk_norm": ("", "head", "all"),
    "parallel": ("", "one", "two"),
    "activation": ("silu", "gelu_tanh", "gelu", "relu", "relu2"),
    "chat": ("plain", *TEMPLATES),
}


def check_sizes(fields: Mapping[str, object], where: str | None = None) -> None:
    """Raise ModelError for the first of some fields that is not a size within the limits, before it is used to allocate."""
    for field, (low, high) in _LIMITS.items():
        value = fields.get(field, low)
        if type(value) is not int or not low <= value <= high:
            raise ModelError(f"{field} is {value!r:.40}, expected an integer from {low} to {high}", where=where)


@dataclass(frozen=True)
class Rope:
    """One kind of rotary embedding: the rotation angles of a head's pairs.

    Attributes:
        frequencies: of every pair, in radians per position.
        magnitude: factor of cosines and sines, so that scores are multiplied by its square.
    """

    frequencies: tuple[float, ...]
    magnitude: float = 1.0

    @classmethod
    def of_base(cls, base: float, rotary: int) -> Rope:
        """Return the plain one: pair i has frequency base ** (-2 i / rotary)."""
        return cls(tuple(base ** (-2.0 * i / rotary) for i in range(rotary // 2)))


@dataclass(frozen=True)
class ModelConfig:
    """A decoder-only transformer.

    Attributes:
        architecture: the family, for messages. What a model computes follows from the other fields.
        blocks: transformer blocks.
        channels: channels of the residual stream.
        heads: query heads.
        kv_heads: key and value heads; divides `heads`.
        head_channels: channels of a head.
        ffn: hidden channels of the feed-forward part.
        vocabulary: tokens.
        context: positions that the model was made for; if its blocks see a window of the last ones, at most that window,
            within which it sees everything.
        rotary: channels of a head that are rotated by position, even; 0: learned positions instead.
        rope_base: base of the rotation's frequencies, rope_base ** (-2 i / rotary) for pair i.
        ropes: kinds of rotary embedding, if `rope_base` alone does not define it; () for the one that it defines.
        block_ropes: for every block an index into `ropes`, or -1 for a block without rotation; () for the first everywhere.
        rope_interleaved: pair i is channels (2i, 2i + 1) of a head, the order of the device; else (i, i + rotary / 2).
            Weights that `fleet.llm` loads are in the interleaved order, whatever the order in the file.
        norm: "rms" or "layer".
        norm_eps: added to the mean square or the variance.
        norm_place: norms of the inputs of a block's attention and feed-forward part ("before"), the outputs ("after"), or both.
        qk_norm: RMS norm of queries and keys before they are rotated: "" for none, "head" of every head, "all" over all heads.
        parallel: "" if the feed-forward part reads the attention's result; else both read the block's input, and add to it,
            through "one" norm or "two".
        tied: the head is the transposed embedding.
        qkv_bias: q, k and v have biases.
        o_bias, ffn_bias, head_bias: the attention's output, the feed-forward part, the head have biases.
        activation: "silu", "gelu_tanh", "gelu" (by the error function), "relu" or "relu2" (its square).
        gated: the feed-forward part is down(activation(gate) * up), else down(activation(up)).
        bos: token at the start of a text, or None.
        eos: tokens that end an answer.
        chat: the name of a template of `fleet.llm.chat`, or "plain" (none).
        system: the template's default system message.
    """

    architecture: str
    blocks: int
    channels: int
    heads: int
    kv_heads: int
    head_channels: int
    ffn: int
    vocabulary: int
    context: int
    rotary: int
    rope_base: float = 10000.0
    ropes: tuple[Rope, ...] = ()
    block_ropes: tuple[int, ...] = ()
    rope_interleaved: bool = True
    norm: str = "rms"
    norm_eps: float = 1e-5
    norm_place: str = "before"
    qk_norm: str = ""
    parallel: str = ""
    tied: bool = False
    qkv_bias: bool = False
    o_bias: bool = False
    ffn_bias: bool = False
    head_bias: bool = False
    activation: str = "silu"
    gated: bool = True
    bos: int | None = None
    eos: tuple[int, ...] = ()
    chat: str = "plain"
    system: str = ""

    def __post_init__(self) -> None:
        """Raises ModelError naming the first invalid field."""
        check_sizes({field: getattr(self, field) for field in _LIMITS}, self._where)
        for field, words in _WORDS.items():
            if getattr(self, field) not in words:
                raise ModelError(f"{field} is {getattr(self, field)!r:.40}, expected {' or '.join(words)}", where=self._where)
        if self.heads % self.kv_heads:
            raise ModelError(f"kv_heads is {self.kv_heads}, expected a divisor of heads ({self.heads})", where=self._where)
        if self.rotary % 2 or self.rotary > self.head_channels:
            raise ModelError(
                f"rotary is {self.rotary}, expected an even number up to head_channels ({self.head_channels})", where=self._where
            )
        if not (math.isfinite(self.rope_base) and 1 < self.rope_base <= 1e12):
            raise ModelError(f"rope_base is {self.rope_base}, expected more than 1 and at most 1e12", where=self._where)
        self._check_ropes()
        if self.parallel and self.norm_place != "before":
            raise ModelError("a parallel block has its norms before attention and feed-forward part alone", where=self._where)
        if not (math.isfinite(self.norm_eps) and 0 < self.norm_eps <= 0.1):
            raise ModelError(f"norm_eps is {self.norm_eps}, expected more than 0 and at most 0.1", where=self._where)
        for field, token in (("bos", self.bos), *(("eos", t) for t in self.eos)):
            if token is not None and (type(token) is not int or not 0 <= token < self.vocabulary):
                raise ModelError(
                    f"{field} is {token!r:.40}, expected a token below the vocabulary ({self.vocabulary})", where=self._where
                )

    def _check_ropes(self) -> None:
        """Raises ModelError if the rotary embeddings do not fit the heads or the blocks."""
        for rope in self.ropes:
            if len(rope.frequencies) != self.rotary // 2:
                what = f"{len(rope.frequencies)} rotary frequencies, expected {self.rotary // 2}, one a pair"
                raise ModelError(what, where=self._where)
            if not all(math.isfinite(f) and f >= 0 for f in (*rope.frequencies, rope.magnitude)):
                raise ModelError("a rotary frequency is negative or not finite", where=self._where)
        if self.block_ropes and len(self.block_ropes) != self.blocks:
            raise ModelError(f"{len(self.block_ropes)} blocks are said to rotate, expected {self.blocks}", where=self._where)
        if any(not -1 <= index < max(1, len(self.ropes)) for index in self.block_ropes):
            raise ModelError("a block rotates in a way that is not there", where=self._where)

    def rope_of(self, block: int) -> Rope | None:
        """Return the rotary embedding of a block; None if it has none."""
        index = self.block_ropes[block] if self.block_ropes else 0
        if not self.rotary or index < 0:
            return None
        return self.ropes[index] if self.ropes else Rope.of_base(self.rope_base, self.rotary)

    @property
    def _where(self) -> str:
        return f"{self.architecture!s:.40} model"

    @property
    def query_channels(self) -> int:
        """Channels of all query heads."""
        return self.heads * self.head_channels

    @property
    def kv_channels(self) -> int:
        """Channels of all key (or value) heads."""
        return self.kv_heads * self.head_channels

    @property
    def learned_positions(self) -> bool:
        """True if positions are looked up and added instead of rotated."""
        return self.rotary == 0

    def shortened(self, blocks: int) -> ModelConfig:
        """Return the same shape with fewer blocks, for a quick test or a figure per block."""
        return dataclasses.replace(self, blocks=blocks, block_ropes=self.block_ropes[:blocks])


_LLAMA2 = ModelConfig("llama", 32, 4096, 32, 32, 128, 11008, 32000, 4096, rotary=128, rope_base=1e4, norm_eps=1e-5, bos=1, eos=(2,))

PRESETS: Mapping[str, ModelConfig] = {
    "smollm2-135m": ModelConfig(
        "llama", 30, 576, 9, 3, 64, 1536, 49152, 8192, rotary=64, rope_base=1e5, norm_eps=1e-5, tied=True, bos=1, eos=(2,),
        chat="chatml", system="You are a helpful AI assistant named SmolLM, trained by Hugging Face",
    ),
    "llama2-7b": _LLAMA2,
    "qwen2-7b": ModelConfig(
        "qwen2", 28, 3584, 28, 4, 128, 18944, 152064, 32768, rotary=128, rope_base=1e6, norm_eps=1e-6, qkv_bias=True, bos=151643,
        eos=(151645, 151643), chat="chatml", system="You are a helpful assistant.",
    ),
    "chatglm2-6b": ModelConfig(
        "chatglm2", 28, 4096, 32, 2, 128, 13696, 65024, 32768, rotary=64, rope_base=1e4, norm_eps=1e-5, qkv_bias=True, bos=1,
        eos=(2,),
    ),
    "gpt2": ModelConfig(
        "gpt2", 12, 768, 12, 12, 64, 3072, 50257, 1024, rotary=0, norm="layer", norm_eps=1e-5, tied=True, qkv_bias=True,
        o_bias=True, ffn_bias=True, activation="gelu_tanh", gated=False, bos=50256, eos=(50256,),
    ),
}  # fmt: skip
"""Published shapes, by name."""


def preset(name: str) -> ModelConfig:
    """Return the shape of a published model. Raises ModelError if the name is not known."""
    if name not in PRESETS:
        raise ModelError("no such model shape", where=f"{name!s:.60}", hint=f"known: {', '.join(PRESETS)}")
    return PRESETS[name]
