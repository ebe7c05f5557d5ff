"""Names and layouts of weights in files, for the names of `fleet.llm.weights`: one description, used to read and to write.

A `FileLayout` describes what a family's files have in common: the tensors' names, the order of fused tensors, and the factors
folded into weights on reading, for which a `ModelConfig` therefore needs no field.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from fleet.errors import ModelError
from fleet.llm.config import ModelConfig
from fleet.llm.weights import ModelWeights, interleaved_order, weight_shapes


@dataclass(frozen=True)
class FileLayout:
    """How files of a family store weights.

    Attributes:
        names: of tensors, without ".weight", by canonical name without the block's prefix ("attention.q"); "block" is the prefix
            of a block's, with {} for its number. Equal names of q, k, v, or of gate and up, mean one fused tensor.
        transposed: matrices of blocks are [outputs, inputs]; the head always is.
        halves: rotary pairs of a head are (i, i + rotary / 2), so columns of q and k get another order; else they are adjacent.
        grouped: a fused q, k, v has, for every key head, its query heads, the key and the value; else all of q, of k, of v.
        norms, norm_biases: norms have stored gammas, betas; otherwise gamma is 1 and beta 0.
        gamma: added to the stored gamma.
        factors: factors of the weights of a canonical name (and their biases).
        skipped: rows of the position embedding in front of position 0.
    """

    names: Mapping[str, str]
    transposed: bool = True
    halves: bool = True
    grouped: bool = False
    norms: bool = True
    norm_biases: bool = True
    gamma: float = 0.0
    factors: Mapping[str, float] = field(default_factory=dict[str, float])
    skipped: int = 0

    def stored(self, name: str) -> str:
        """Return the file's name for a canonical one ("blocks.3.ffn.up"), without ".weight"."""
        if not name.startswith("blocks."):
            return self.names[name]
        _, block, rest = name.split(".", 2)
        return self.names["block"].format(block) + self.names[rest]


@dataclass(frozen=True)
class WeightPart:
    """The place of a canonical weight in a file.

    Attributes:
        stored: the file's name; "" for a weight that is not stored and is `added` everywhere.
        transposed: the file has [outputs, inputs].
        start: its first output in the stored tensor, which may hold several weights.
        groups: groups of outputs of the stored tensor, each with a part of this weight, from `start` on.
        halves: number of heads whose rotary pairs are (i, i + rotary / 2) in the file; 0: no reordering.
        factor: factor of the stored numbers; added: added after the multiplication.
        skipped: rows in front of the first.
    """

    stored: str
    transposed: bool = False
    start: int = 0
    groups: int = 1
    halves: int = 0
    factor: float = 1.0
    added: float = 0.0
    skipped: int = 0

    def outputs(self, count: int, total: int) -> np.ndarray:
        """Return the indices, among `total` stored outputs, of this weight's `count` outputs."""
        group = np.arange(self.groups)[:, None] * (total // self.groups)
        return (group + self.start + np.arange(count // self.groups)).reshape(-1)


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


def parts(c: ModelConfig, layout: FileLayout) -> dict[str, WeightPart]:
    """Return the place of each weight in a family's files; a tied head has none."""
    return {name: _part(c, layout, name) for name in weight_shapes(c) if name != "head" or not c.tied}


def _part(c: ModelConfig, layout: FileLayout, name: str) -> WeightPart:
    base, _, kind = name.rpartition(".")
    if kind == "gamma":
        heads = 0
        if base.endswith(("q_norm", "k_norm")) and layout.halves and c.rotary:
            heads = 1 if c.qk_norm == "head" else c.heads if base.endswith("q_norm") else c.kv_heads
        factor = layout.factors.get(_canonical(base), 1.0)
        stored = f"{layout.stored(base)}.weight" if layout.norms or heads else ""
        return WeightPart(stored, halves=heads, factor=factor, added=factor * layout.gamma if stored else 1.0)
    if kind == "beta":
        return WeightPart(f"{layout.stored(base)}.bias" if layout.norm_biases else "")
    matrix = base if kind == "bias" else name
    role = _canonical(matrix)
    stored = f"{layout.stored(matrix)}.{'bias' if kind == 'bias' else 'weight'}"
    factor = layout.factors.get(role, 1.0)
    if role in {"embedding", "position_embedding"}:
        return WeightPart(stored, factor=factor, skipped=layout.skipped if role == "position_embedding" else 0)
    start, groups = _fused(c, layout, role)
    heads = {"attention.q": c.heads, "attention.k": c.kv_heads}.get(role, 0) if layout.halves and c.rotary else 0
    turned = (layout.transposed or role == "head") and kind != "bias"
    return WeightPart(stored, turned, start, groups, heads, factor)


def _canonical(name: str) -> str:
    """Return a name without its block."""
    return name.split(".", 2)[2] if name.startswith("blocks.") else name


def _fused(c: ModelConfig, layout: FileLayout, role: str) -> tuple[int, int]:
    """Return (first output, groups) of a matrix in the tensor that holds it."""
    names = layout.names
    if role in {"attention.q", "attention.k", "attention.v"} and names["attention.q"] == names["attention.k"]:
        groups = c.kv_heads if layout.grouped else 1
        queries, keys = c.query_channels // groups, c.kv_channels // groups
        return {"q": 0, "k": queries, "v": queries + keys}[role[-1]], groups
    if role == "ffn.up" and c.gated and names["ffn.gate"] == names["ffn.up"]:
        return c.ffn, 1
    return 0, 1


def stored_shapes(config: ModelConfig, found: Mapping[str, WeightPart]) -> dict[str, tuple[int, ...]]:
    """Return the required shapes of a file's tensors, by stored name."""
    shapes = weight_shapes(config)
    expected: dict[str, tuple[int, ...]] = {}
    for name, part in found.items():
        if not part.stored:
            continue
        *inputs, outputs = shapes[name]
        if part.stored in expected:
            outputs += expected[part.stored][0 if part.transposed else -1]
        inputs = [rows + part.skipped for rows in inputs] if part.skipped else inputs
        expected[part.stored] = (outputs, *inputs) if part.transposed else (*inputs, outputs)
    return expected


def weights_from(store: WeightStore, config: ModelConfig, layout: FileLayout) -> ModelWeights:
    """Return weights that are read from `store` on access.

    Raises:
        ModelError: a tensor is missing or has another shape (at once); it cannot be read (on access).
    """
    found = parts(config, layout)
    positions = found["position_embedding"].stored if "position_embedding" in found else ""
    for stored, shape in stored_shapes(config, found).items():
        if stored not in store.shapes:
            raise ModelError(f"tensor {stored} is missing", where=store.place, hint="the file may be cut, or of another model")
        has = _squeezed(store.shapes[stored])
        longer = stored == positions and has[1:] == shape[1:] and has[0] > shape[0]  # if the context is limited to a window
        if has != shape and not longer:
            raise ModelError(f"tensor {stored} has shape {list(store.shapes[stored])}, expected {list(shape)}", where=store.place)
    shapes = weight_shapes(config)

    def reader(name: str, part: WeightPart) -> Callable[[], np.ndarray]:
        def read() -> np.ndarray:
            if not part.stored:
                return np.full(shapes[name], part.added, np.float32)
            array = store.read(part.stored)
            array = (array.T if part.transposed else array).reshape(-1, array.shape[0] if part.transposed else array.shape[-1])
            count, total = shapes[name][-1], array.shape[-1]
            if count != total:
                array = array[:, part.outputs(count, total)] if part.groups > 1 else array[:, part.start : part.start + count]
            if part.stored == positions:
                array = array[part.skipped : part.skipped + config.context]
            array = array.reshape(shapes[name])
            if part.halves:
                array = array[..., interleaved_order(part.halves, shapes[name][-1] // part.halves, config.rotary)]
            if part.factor != 1 or part.added:
                array = np.float32(part.factor) * array + np.float32(part.added)
            return array

        return read

    readers = {name: reader(name, part) for name, part in found.items()}
    if config.tied:
        plain, factor = reader("embedding", WeightPart(found["embedding"].stored)), layout.factors.get("head", 1.0)
        readers["head"] = lambda: (plain() * np.float32(factor) if factor != 1 else plain()).T
    return ModelWeights(config, readers, place=store.place, digest=store.digest)


def unknown_tensors(store: WeightStore, config: ModelConfig, layout: FileLayout) -> Iterator[str]:
    """Yield the names of tensors that no weight of the model uses, in order."""
    used = {part.stored for part in parts(config, layout).values()}
    if config.tied:
        used.add(f"{layout.names['head']}.weight")  # a copy of the embedding
    yield from sorted(store.shapes.keys() - used)


def stored_arrays(weights: Mapping[str, np.ndarray], config: ModelConfig, layout: FileLayout) -> dict[str, np.ndarray]:
    """Return a file's tensors by stored name, float32: the inverse of reading."""
    found = parts(config, layout)
    expected = stored_shapes(config, found)
    made = {stored: np.zeros(shape, np.float32) for stored, shape in expected.items()}
    for name, part in found.items():
        if not part.stored:
            continue
        array = weights[name]
        if part.factor != 1 or part.added:
            array = (array - np.float32(part.added)) / np.float32(part.factor)
        if part.halves:
            split = np.empty_like(array)
            split[..., interleaved_order(part.halves, array.shape[-1] // part.halves, config.rotary)] = array
            array = split
        whole = made[part.stored].T if part.transposed else made[part.stored]
        columns = part.outputs(array.shape[-1], whole.shape[-1])
        if whole.ndim == 1:
            whole[columns] = array
        else:
            whole[part.skipped :, columns] = array
    return made


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape without leading ones, which some files have."""
    return _squeezed(shape[1:]) if len(shape) > 2 and shape[0] == 1 else shape
