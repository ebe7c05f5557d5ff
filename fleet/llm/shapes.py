"""Random weights for a published model's shape: for cycles, bits and memory of a model whose real weights are not available.

Matrices are INT4 codes with one FP16 scale per group, as the device stores them: nothing is rounded. All blocks have the weights of
block 0, so that a model of seven billion weights needs the memory of one block. The model's answers are meaningless.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import numpy as np

from fleet.llm.config import ModelConfig
from fleet.llm.sparsity import DENSE, Sparsity
from fleet.llm.weights import ModelWeights, linear_names, weight_shapes
from fleet.transforms.prune import pruned
from fleet.transforms.quantise import Quantised

_LEVELS = 7
_DEVIATION = math.sqrt((_LEVELS * (_LEVELS + 1)) / 3)
"""Standard deviation of a code uniformly distributed over the integers from -7 to 7."""


class ShapeTokenizer:
    """One token per byte of the text; tokens are shown as numbers."""

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text."""
        return list(text.encode("utf-8", "replace"))

    def chat(self, prompt: str, system: str | None = None) -> list[int]:
        """Return the prompt's tokens; there is no template."""
        return self.encode(prompt)

    def token_bytes(self, token: int) -> bytes:
        """Return a token's number as text."""
        return f"<{token}>".encode()

    def token_text(self, token: int) -> str:
        """Return a token's number as text."""
        return f"<{token}>"

    def decode(self, tokens: Iterable[int]) -> str:
        """Return the tokens' numbers as text."""
        return "".join(map(self.token_text, tokens))


class StoredMatrices(Mapping[str, Quantised]):
    """Matrices as the device stores them, by the name of the constant: "blocks.3.attention.q+k+v" is three side by side."""

    def __init__(self, config: ModelConfig, group: int, seed: int, sparse: Sparsity) -> None:
        self._group, self._seed, self._sparse = group, seed, sparse
        self._shapes = {name: weight_shapes(config)[name] for name in linear_names(config)}
        self._made: dict[str, Quantised] = {}

    def __getitem__(self, name: str) -> Quantised:
        kept = _first_block(name)
        if kept not in self._made:
            parts = self._parts(kept)
            if parts is None:
                raise KeyError(name)
            self._made[kept] = self._drawn(kept) if len(parts) == 1 else Quantised.beside([self[part] for part in parts])
        return self._made[kept]

    def _parts(self, name: str) -> list[str] | None:
        """Return the weights of a constant; None if it is not a matrix of the model."""
        first, *others = name.split("+")
        parts = [first, *(f"{first.rpartition('.')[0]}.{other}" for other in others)]
        return parts if all(part in self._shapes for part in parts) else None

    def __iter__(self) -> Iterator[str]:
        return iter(self._shapes)

    def __len__(self) -> int:
        return len(self._shapes)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._parts(name) is not None

    def _drawn(self, name: str) -> Quantised:
        """Return a matrix whose products have the magnitude of their inputs."""
        inputs, outputs = self._shapes[name]
        rng = np.random.default_rng([self._seed, *name.encode()])
        codes = rng.integers(-_LEVELS, _LEVELS + 1, (inputs, outputs), np.int8)
        deviation = _DEVIATION
        if kept := self._sparse.kept(name):
            codes = pruned(codes, kept)
            deviation = math.sqrt(float(np.square(codes.astype(np.float32)).mean()))
        scales = rng.uniform(0.5, 1.5, (-(-inputs // self._group), outputs)) / (deviation * math.sqrt(inputs))
        return Quantised(codes, scales.astype(np.float16), self._group)


def _first_block(name: str) -> str:
    head, _, rest = name.partition(".")
    return f"blocks.0.{rest.partition('.')[2]}" if head == "blocks" else name


class ShapeWeights(ModelWeights):
    """Random weights of a shape.

    Attributes:
        group: inputs that share a scale.
        sparse: matrices with sparse weights: of the codes that are drawn the largest.
        stored: the matrices as the device stores them.
    """

    def __init__(self, config: ModelConfig, *, group: int, seed: int, name: str, sparse: Sparsity = DENSE) -> None:
        """name: of the shape, for messages."""
        self.group, self.sparse, self.stored = group, sparse, StoredMatrices(config, group, seed, sparse)
        label = f"shape {config} group {group} seed {seed}" + (f" sparse {sparse}" if sparse else "")

        @lru_cache(maxsize=64)
        def other(name: str) -> np.ndarray:
            if name == "embedding" and config.tied:
                return np.ascontiguousarray(self.stored["head"].values(np.float32).T)
            noise = np.random.default_rng([seed, *name.encode()]).standard_normal(weight_shapes(config)[name], np.float32)
            gamma = name.endswith("gamma")
            return (1 + np.float32(0.1) * noise) if gamma else np.float32(0.25 if name.endswith("embedding") else 0.1) * noise

        def reader(name: str) -> np.ndarray:
            return self.stored[name].values(np.float32) if name in self.stored else other(_first_block(name))

        readers = {name: (lambda name=name: reader(name)) for name in weight_shapes(config)}
        super().__init__(config, readers, place=f"shape {name}", digest=lambda: hashlib.sha256(label.encode()).hexdigest())
