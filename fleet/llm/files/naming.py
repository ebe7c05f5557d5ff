"""Names and layouts of weights in files, for the names of `fleet.llm.weights`: one description, used to read and to write.

GGUF stores matrices as [outputs, inputs]. So does Hugging Face, except for GPT-2, which has [inputs, outputs]. GPT-2 and ChatGLM2
concatenate q, k and v along the outputs, ChatGLM2 also gate and up. In GGUF, llama's and chatglm's q and k have adjacent rotary
pairs; Hugging Face's llama and qwen2, and GGUF's qwen2, pair the halves of a head.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig
from fleet.llm.weights import ModelWeights, interleaved_order, weight_shapes


@dataclass(frozen=True)
class WeightPart:
    """The place of a canonical weight in a file.

    Attributes:
        stored: the file's name.
        transposed: the file has [outputs, inputs].
        start: its first output in the stored tensor, which may hold several weights.
        halves: number of heads whose rotary pairs are (i, i + rotary / 2) in the file; 0: no reordering.
    """

    stored: str
    transposed: bool = False
    start: int = 0
    halves: int = 0


class WeightStore(Protocol):
    """A file or folder of named tensors."""

    place: str
    shapes: Mapping[str, tuple[int, ...]]
    """Shapes by stored name; matrices rows first."""

    def read(self, name: str) -> np.ndarray:
        """Return the tensor, float32. Raises ModelError if it cannot be read."""
        ...

    def digest(self) -> str:
        """Return the SHA-256 (hex) of the content."""
        ...


def _norms(config: ModelConfig, names: Mapping[str, str]) -> dict[str, WeightPart]:
    parts = {f"{name}.gamma": WeightPart(f"{stored}.weight") for name, stored in names.items()}
    if config.norm == "layer":
        parts.update({f"{name}.beta": WeightPart(f"{stored}.bias") for name, stored in names.items()})
    return parts


def _linear(
    name: str, stored: str, bias: bool, *, transposed: bool = True, start: int = 0, halves: int = 0
) -> dict[str, WeightPart]:
    parts = {name: WeightPart(f"{stored}.weight", transposed, start, halves)}
    if bias:
        parts[f"{name}.bias"] = WeightPart(f"{stored}.bias", False, start, halves)
    return parts


def _attention(
    c: ModelConfig, block: str, stored: Mapping[str, str], *, transposed: bool = True, halves: bool = False
) -> dict[str, WeightPart]:
    """Return the places of attention weights. stored: names of "q", "k", "v", "o"; equal names of q, k and v mean one tensor."""
    fused = stored["q"] == stored["k"]
    starts = (0, c.query_channels, c.query_channels + c.kv_channels) if fused else (0, 0, 0)
    heads = (c.heads, c.kv_heads, 0) if halves else (0, 0, 0)
    parts: dict[str, WeightPart] = {}
    for kind, start, count in zip("qkv", starts, heads, strict=True):
        parts |= _linear(f"{block}.attention.{kind}", stored[kind], c.qkv_bias, transposed=transposed, start=start, halves=count)
    return parts | _linear(f"{block}.attention.o", stored["o"], c.linear_bias, transposed=transposed)


def _ffn(c: ModelConfig, block: str, stored: Mapping[str, str], *, transposed: bool = True) -> dict[str, WeightPart]:
    """Return the places of feed-forward weights. stored: names of "gate" (if gated), "up", "down"; equal names mean one tensor."""
    parts: dict[str, WeightPart] = {}
    up = 0
    if c.gated:
        parts |= _linear(f"{block}.ffn.gate", stored["gate"], c.linear_bias, transposed=transposed)
        up = c.ffn if stored["gate"] == stored["up"] else 0
    parts |= _linear(f"{block}.ffn.up", stored["up"], c.linear_bias, transposed=transposed, start=up)
    return parts | _linear(f"{block}.ffn.down", stored["down"], c.linear_bias, transposed=transposed)


def gguf_parts(c: ModelConfig) -> dict[str, WeightPart]:
    """Return the place of each weight in a GGUF file; a tied head has none."""
    fused = c.architecture in {"gpt2", "chatglm2"}
    parts = {"embedding": WeightPart("token_embd.weight")} | _norms(c, {"norm": "output_norm"})
    if c.learned_positions:
        parts["position_embedding"] = WeightPart("position_embd.weight")
    if not c.tied:
        parts["head"] = WeightPart("output.weight", True)
    for i in range(c.blocks):
        b = f"blk.{i}"
        parts |= _norms(c, {f"blocks.{i}.norm1": f"{b}.attn_norm", f"blocks.{i}.norm2": f"{b}.ffn_norm"})
        names = {kind: f"{b}.attn_qkv" if fused else f"{b}.attn_{kind}" for kind in "qkv"} | {"o": f"{b}.attn_output"}
        parts |= _attention(c, f"blocks.{i}", names, halves=c.architecture == "qwen2")
        gate = f"{b}.ffn_up" if c.architecture == "chatglm2" else f"{b}.ffn_gate"
        parts |= _ffn(c, f"blocks.{i}", {"gate": gate, "up": f"{b}.ffn_up", "down": f"{b}.ffn_down"})
    return parts


def hugging_face_parts(c: ModelConfig) -> dict[str, WeightPart]:
    """Return the place of each weight in a Hugging Face checkpoint; a tied head has none."""
    match c.architecture:
        case "gpt2":
            return _hugging_face_gpt2(c)
        case "chatglm2":
            return _hugging_face_chatglm2(c)
        case _:
            return _hugging_face_llama(c)


def _hugging_face_llama(c: ModelConfig) -> dict[str, WeightPart]:
    parts = {"embedding": WeightPart("model.embed_tokens.weight")} | _norms(c, {"norm": "model.norm"})
    if not c.tied:
        parts["head"] = WeightPart("lm_head.weight", True)
    for i in range(c.blocks):
        b = f"model.layers.{i}"
        parts |= _norms(c, {f"blocks.{i}.norm1": f"{b}.input_layernorm", f"blocks.{i}.norm2": f"{b}.post_attention_layernorm"})
        parts |= _attention(c, f"blocks.{i}", {kind: f"{b}.self_attn.{kind}_proj" for kind in "qkvo"}, halves=True)
        parts |= _ffn(c, f"blocks.{i}", {kind: f"{b}.mlp.{kind}_proj" for kind in ("gate", "up", "down")})
    return parts


def _hugging_face_chatglm2(c: ModelConfig) -> dict[str, WeightPart]:
    parts = {
        "embedding": WeightPart("transformer.embedding.word_embeddings.weight"),
        "head": WeightPart("transformer.output_layer.weight", True),
    } | _norms(c, {"norm": "transformer.encoder.final_layernorm"})
    for i in range(c.blocks):
        b = f"transformer.encoder.layers.{i}"
        parts |= _norms(c, {f"blocks.{i}.norm1": f"{b}.input_layernorm", f"blocks.{i}.norm2": f"{b}.post_attention_layernorm"})
        fused = dict.fromkeys("qkv", f"{b}.self_attention.query_key_value")
        parts |= _attention(c, f"blocks.{i}", fused | {"o": f"{b}.self_attention.dense"})
        up = f"{b}.mlp.dense_h_to_4h"
        parts |= _ffn(c, f"blocks.{i}", {"gate": up, "up": up, "down": f"{b}.mlp.dense_4h_to_h"})
    return parts


def _hugging_face_gpt2(c: ModelConfig) -> dict[str, WeightPart]:
    parts = {"embedding": WeightPart("wte.weight"), "position_embedding": WeightPart("wpe.weight")} | _norms(c, {"norm": "ln_f"})
    if not c.tied:
        parts["head"] = WeightPart("lm_head.weight", True)
    for i in range(c.blocks):
        b = f"h.{i}"
        parts |= _norms(c, {f"blocks.{i}.norm1": f"{b}.ln_1", f"blocks.{i}.norm2": f"{b}.ln_2"})
        fused = dict.fromkeys("qkv", f"{b}.attn.c_attn")
        parts |= _attention(c, f"blocks.{i}", fused | {"o": f"{b}.attn.c_proj"}, transposed=False)
        parts |= _ffn(c, f"blocks.{i}", {"up": f"{b}.mlp.c_fc", "down": f"{b}.mlp.c_proj"}, transposed=False)
    return parts


def stored_shapes(config: ModelConfig, parts: Mapping[str, WeightPart]) -> dict[str, tuple[int, ...]]:
    """Return the required shapes of a file's tensors, by stored name."""
    shapes = weight_shapes(config)
    expected: dict[str, tuple[int, ...]] = {}
    for name, part in parts.items():
        *inputs, outputs = shapes[name]
        axis = 0 if part.transposed else -1
        end = max(part.start + outputs, expected[part.stored][axis] if part.stored in expected else 0)
        expected[part.stored] = (end, *inputs) if part.transposed else (*inputs, end)
    return expected


def weights_from(store: WeightStore, config: ModelConfig, parts: Mapping[str, WeightPart]) -> ModelWeights:
    """Return weights that are read from `store` on access.

    Raises:
        ModelError: a tensor is missing or has another shape (at once); it cannot be read (on access).
    """
    for stored, shape in stored_shapes(config, parts).items():
        if stored not in store.shapes:
            raise ModelError(f"tensor {stored} is missing", where=store.place, hint="the file may be cut, or of another model")
        if store.shapes[stored] != shape:
            raise ModelError(f"tensor {stored} has shape {list(store.shapes[stored])}, expected {list(shape)}", where=store.place)
    shapes = weight_shapes(config)

    def reader(name: str, part: WeightPart) -> Callable[[], np.ndarray]:
        def read() -> np.ndarray:
            array = store.read(part.stored)
            array = (array.T if part.transposed else array)[..., part.start : part.start + shapes[name][-1]]
            if part.halves:
                array = array[..., interleaved_order(part.halves, config.head_channels, config.rotary)]
            return array

        return read

    return ModelWeights(config, {name: reader(name, part) for name, part in parts.items()}, place=store.place, digest=store.digest)


def stored_arrays(weights: Mapping[str, np.ndarray], config: ModelConfig, parts: Mapping[str, WeightPart]) -> dict[str, np.ndarray]:
    """Return a file's tensors by stored name, float32: the inverse of reading."""
    made: dict[str, np.ndarray] = {}
    for name, part in sorted(parts.items(), key=lambda item: item[1].start):
        array = weights[name]
        if part.halves:
            split = np.empty_like(array)
            split[..., interleaved_order(part.halves, config.head_channels, config.rotary)] = array
            array = split
        array = array.T if part.transposed else array
        before = made.get(part.stored)
        if before is not None:
            array = np.concatenate([before, array], axis=0 if part.transposed else -1)
        made[part.stored] = np.asarray(array, order="C")
    return made
