"""Weights of a language model under one set of names, independent of the file; each is read on access.

Names (i is a block, from 0; D = head_channels), all float32, matrices [inputs, outputs]:

    embedding                   [vocabulary, channels]
    position_embedding          [context, channels]              if positions are learned
    blocks.i.norm1.gamma        [channels]                       also .beta for a layer norm; norms before the parts
    blocks.i.attention.q        [channels, heads * D]            q.bias [heads * D] if there are biases
    blocks.i.attention.k        [channels, kv_heads * D]         k.bias
    blocks.i.attention.v        [channels, kv_heads * D]         v.bias
    blocks.i.attention.q_norm.gamma [D] or [heads * D]           and k_norm.gamma [D] or [kv_heads * D], with `qk_norm`
    blocks.i.attention.o        [heads * D, channels]            o.bias
    blocks.i.norm1_after.gamma  [channels]                       and norm2_after.gamma: norms after the parts
    blocks.i.norm2.gamma        [channels]
    blocks.i.ffn.gate           [channels, ffn]                  if gated; gate.bias
    blocks.i.ffn.up             [channels, ffn]                  up.bias
    blocks.i.ffn.down           [ffn, channels]                  down.bias
    norm.gamma                  [channels]
    head                        [channels, vocabulary]           if tied, the transposed embedding; head.bias

Columns of q and k (their biases, and the gammas of their norms) are in the interleaved order of `ModelConfig.rope_interleaved`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig

WeightArray: TypeAlias = npt.NDArray[np.float32]


def weight_shapes(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """Return shapes by canonical name, in the order in which a forward pass uses them."""
    c = config
    shapes: dict[str, tuple[int, ...]] = {"embedding": (c.vocabulary, c.channels)}

    def norm(name: str) -> None:
        shapes[f"{name}.gamma"] = (c.channels,)
        if c.norm == "layer":
            shapes[f"{name}.beta"] = (c.channels,)

    def linear(name: str, inputs: int, outputs: int, bias: bool) -> None:
        shapes[name] = (inputs, outputs)
        if bias:
            shapes[f"{name}.bias"] = (outputs,)

    if c.learned_positions:
        shapes["position_embedding"] = (c.context, c.channels)
    before, after = c.norm_place != "after", c.norm_place != "before"
    for i in range(c.blocks):
        if before:
            norm(f"blocks.{i}.norm1")
        linear(f"blocks.{i}.attention.q", c.channels, c.query_channels, c.qkv_bias)
        linear(f"blocks.{i}.attention.k", c.channels, c.kv_channels, c.qkv_bias)
        linear(f"blocks.{i}.attention.v", c.channels, c.kv_channels, c.qkv_bias)
        for kind, heads in (("q", c.heads), ("k", c.kv_heads)) if c.qk_norm else ():
            shapes[f"blocks.{i}.attention.{kind}_norm.gamma"] = (c.head_channels * (heads if c.qk_norm == "all" else 1),)
        linear(f"blocks.{i}.attention.o", c.query_channels, c.channels, c.o_bias)
        if after:
            norm(f"blocks.{i}.norm1_after")
        if before and c.parallel != "one":
            norm(f"blocks.{i}.norm2")
        if c.gated:
            linear(f"blocks.{i}.ffn.gate", c.channels, c.ffn, c.ffn_bias)
        linear(f"blocks.{i}.ffn.up", c.channels, c.ffn, c.ffn_bias)
        linear(f"blocks.{i}.ffn.down", c.ffn, c.channels, c.ffn_bias)
        if after:
            norm(f"blocks.{i}.norm2_after")
    norm("norm")
    linear("head", c.channels, c.vocabulary, c.head_bias)
    return shapes


def linear_names(config: ModelConfig) -> list[str]:
    """Return the matrices that the device multiplies by, in the order of a forward pass; the head is the last."""
    return [name for name, shape in weight_shapes(config).items() if len(shape) == 2 and not name.endswith("embedding")]


def interleaved_order(heads: int, head_channels: int, rotary: int) -> npt.NDArray[np.intp]:
    """Return the column order that converts a q or k with pairs (i, i + rotary / 2) to the interleaved order.

    Returns: [heads * head_channels]; `half_split[:, order]` is interleaved. Attention scores are the same in both orders.
    """
    head = np.arange(head_channels)
    head[:rotary] = np.arange(rotary).reshape(2, rotary // 2).T.reshape(-1)
    return (np.arange(heads)[:, None] * head_channels + head).reshape(-1)


class ModelWeights(Mapping[str, WeightArray]):
    """Mapping from canonical names to arrays. Each access reads anew and nothing is cached, so a large model needs little memory.

    Attributes:
        config: the model's shape.
        place: the file or folder, for messages.
        shapes: by name; needs no reading.
    """

    def __init__(
        self, config: ModelConfig, readers: Mapping[str, Callable[[], np.ndarray]], *, place: str, digest: Callable[[], str]
    ) -> None:
        """Args:
            config: the model's shape; determines the names.
            readers: by canonical name, returns the array; a tied head may be missing.
            place: for messages.
            digest: returns a SHA-256 (hex) over the content; called at most once.

        Raises:
            ModelError: a name is missing.
        """
        self.config, self.place = config, place
        self.shapes = weight_shapes(config)
        self._readers = dict(readers)
        self._digest = digest
        if config.tied and "head" not in self._readers and "embedding" in self._readers:
            self._readers["head"] = lambda: self._readers["embedding"]().T
        missing = [name for name in self.shapes if name not in self._readers]
        if missing:
            more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
            raise ModelError(f"weight {missing[0]}{more} missing, expected {len(self.shapes)} weights", where=place)

    @classmethod
    def of(cls, config: ModelConfig, arrays: Mapping[str, np.ndarray], *, place: str = "weights") -> ModelWeights:
        """Wrap arrays in memory. Raises ModelError at once if `__init__` or reading would."""

        def digest() -> str:
            h = hashlib.sha256(repr(config).encode())
            for name in sorted(arrays):
                h.update(f"{name}{arrays[name].shape}".encode())
                h.update(np.ascontiguousarray(arrays[name], np.float32).tobytes())
            return h.hexdigest()

        made = cls(config, {name: (lambda a=array: a) for name, array in arrays.items()}, place=place, digest=digest)
        for name in made:
            made[name]
        return made

    def replaced(
        self, readers: Mapping[str, Callable[[], np.ndarray]], label: str, config: ModelConfig | None = None
    ) -> ModelWeights:
        """Return the same weights, except those in `readers`. label: describes the change; it enters the digest.

        config: the shape with them, if it is another.
        """
        return ModelWeights(
            config or self.config,
            {**self._readers, **readers},
            place=self.place,
            digest=lambda: hashlib.sha256(f"{self.digest} {label}".encode()).hexdigest(),
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 (hex) of the content: equal digests mean equal weights."""
        return self._digest()

    def __getitem__(self, name: str) -> WeightArray:
        """Return the array: float32, C-contiguous. Raises ModelError if the shape is wrong or a number is not finite."""
        if name not in self.shapes:
            raise KeyError(name)
        array = np.ascontiguousarray(self._readers[name](), np.float32)
        if array.shape != self.shapes[name]:
            raise ModelError(f"weight {name} has shape {list(array.shape)}, expected {list(self.shapes[name])}", where=self.place)
        if not np.isfinite(array).all():
            at = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
            raise ModelError(f"weight {name} holds {array[tuple(at)]} at {at}, expected finite numbers", where=self.place)
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)
