"""Quantises a language model for the device: INT4 codes from -7 to 7 with one FP16 scale per group, some layers on the host.

Five roundings, from the cheapest to the best:

    absmax       a group's scale is its largest weight / 7
    search       the one of nine scales with the least squared error of the weights
    weighted     the same, each error weighted by the mean square of its input
    compensated  weighted; inputs rounded later also compensate the output error of inputs rounded before
    corrected    the best order of the inputs, scales and codes improved in turn; layers also correct errors of layers before

The last three need typical inputs. They come from texts (`Quantisation.texts`), computed through the layers that are already
quantised: block by block, or layer by layer for `corrected` (`fleet.llm.corrected_layers`, `fleet.transforms.quantise_refined`).
Layers that stay on the host are rounded to FP16. Results are cached under a hash of weights, choice, text and the rounding code.

Sparse matrices are pruned as they are rounded: of each block of 8 inputs those weights stay that have the largest

    absmax, search          magnitude
    weighted                magnitude times the root mean square of their input
    compensated, corrected  error of the outputs that all later inputs cannot compensate (`fleet.transforms.quantise_compensated`)
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fleet.core.codec import Json
from fleet.core.sealed import code_digest
from fleet.errors import ModelError
from fleet.llm import corrected_layers as corrected
from fleet.llm import reference
from fleet.llm.config import ModelConfig
from fleet.llm.corrected_layers import LAYERS_TOGETHER, corrected_layers, embedded
from fleet.llm.files.cache import models_folder, store
from fleet.llm.sparsity import DENSE, Sparsity
from fleet.llm.weights import ModelWeights, WeightArray, linear_names, weight_shapes
from fleet.transforms import prune
from fleet.transforms import quantise as nearest
from fleet.transforms import quantise_compensated as compensated
from fleet.transforms import quantise_refined as refined
from fleet.transforms.quantise import Quantised, QuantiseOptions

GROUPS, LEVELS = (32, 64, 128), 7
_CODE_BITS, _SCALE_BITS = 4, 16
_PLACES = {4: 8, 2: 6, 1: 3, 0: 0}
"""Bits of the places of a block of 8 inputs, by its kept weights."""
ROUNDINGS = ("absmax", "search", "weighted", "compensated", "corrected")
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "weighted": ("calibration",),
    "compensated": ("calibration",),
    "corrected": ("calibration", "calibration_more"),
}
KEPT = 12
"""Calibrated results kept in the cache; one of a model with 135 million weights takes 70 MB."""
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Quantisation:
    """A choice of quantisation.

    Attributes:
        group: inputs that share a scale: 32, 64 or 128.
        rounding: one of `ROUNDINGS`.
        host: canonical names of the layers that stay FP16 on the host ("head").
        sparse: matrices with sparse weights.
    """

    group: int = 64
    rounding: str = "corrected"
    host: tuple[str, ...] = ()
    sparse: Sparsity = DENSE

    def __post_init__(self) -> None:
        """Raises ModelError if a value is not known."""
        if self.group not in GROUPS:
            raise ModelError(f"group is {self.group}, expected {', '.join(map(str, GROUPS))}", where="quantisation")
        if self.rounding not in ROUNDINGS:
            raise ModelError(f"rounding is '{self.rounding!s:.40}', expected {', '.join(ROUNDINGS)}", where="quantisation")

    @property
    def calibrated(self) -> bool:
        """True if the rounding needs the inputs of layers."""
        return bool(self.texts)

    @property
    def texts(self) -> tuple[str, ...]:
        """Names of the bundled texts to calibrate with (`fleet.llm.perplexity.bundled_text`); () if it needs no inputs."""
        return _TEXTS.get(self.rounding, ())

    @property
    def bits(self) -> float:
        """Bits per dense weight on the device, including its share of the scale."""
        return _CODE_BITS + _SCALE_BITS / self.group

    def stored_bits(self, config: ModelConfig) -> int:
        """Return the bits of all matrices on the device, without padding of groups and beats."""
        shapes, total = weight_shapes(config), 0
        for name in linear_names(config):
            if name not in self.host:
                (inputs, outputs), kept = shapes[name], self.sparse.kept(name)
                blocks = -(-inputs // prune.BLOCK)
                codes = blocks * (kept * _CODE_BITS + _PLACES[kept]) if kept else inputs * _CODE_BITS
                total += (codes + -(-inputs // self.group) * _SCALE_BITS) * outputs
        return total

    def mean_bits(self, config: ModelConfig) -> float:
        """Return the bits per weight of the matrices on the device; zeros count as weights."""
        shapes = weight_shapes(config)
        weights = sum(shapes[name][0] * shapes[name][1] for name in linear_names(config) if name not in self.host)
        return self.stored_bits(config) / weights

    @property
    def clip(self) -> QuantiseOptions:
        """Method of choosing a group's scale."""
        return QuantiseOptions(clip="absmax" if self.rounding == "absmax" else "mse")

    def __str__(self) -> str:
        host = f", {' and '.join(self.host)} FP16 on the host" if self.host else ""
        sparse = f", sparse {self.sparse}" if self.sparse else ""
        return f"group {self.group}, {self.rounding}{sparse}{host}"


class QuantisedWeights(Mapping[str, Quantised]):
    """Codes and scales of the layers on the device, by canonical name.

    Attributes:
        weights: the model's own.
        choice: how they were rounded.
        key: a hash of everything that determines the result.
    """

    def __init__(self, weights: ModelWeights, choice: Quantisation, key: str, layers: Mapping[str, Quantised]) -> None:
        self.weights, self.choice, self.key = weights, choice, key
        self._layers = dict(layers)

    def __getitem__(self, name: str) -> Quantised:
        return self._layers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    @cached_property
    def rounded(self) -> ModelWeights:
        """The model with rounded weights as device and host hold them, for the rounded golden."""

        def device(name: str) -> Callable[[], np.ndarray]:
            return lambda: self._layers[name].values(np.float32)

        def host(name: str) -> Callable[[], np.ndarray]:
            return lambda: self.weights[name].astype(np.float16)

        readers = {name: device(name) for name in self} | {name: host(name) for name in self.choice.host}
        return self.weights.replaced(readers, f"quantised {self.key}")

    @property
    def options(self) -> dict[str, Json]:
        """Compiler options for `rounded`, with which the compiler finds the same codes and scales again."""
        return {"group": self.choice.group, "clip": "exact"}


def quantise_model(
    weights: ModelWeights, choice: Quantisation, calibration: Sequence[int], *, progress: Progress | None = None
) -> QuantisedWeights:
    """Round a model's weights, or load them from the cache.

    Args:
        weights: the model.
        choice: how to round.
        calibration: tokens of a text; used only by calibrated roundings.
        progress: called with the finished fraction (0 to 1) and a text.

    Raises:
        ModelError: a host layer is not in the model, the text is too short, or weights cannot be rounded.
    """
    names = linear_names(weights.config)
    unknown = [name for name in choice.host if name not in names]
    if unknown:
        raise ModelError(f"no layer '{unknown[0]!s:.60}' to keep on the host", where="quantisation", hint=f"such as {names[-1]}")
    if choice.calibrated and len(calibration) < 2:
        raise ModelError("no text to calibrate with, expected at least 2 tokens", where="quantisation")
    key, report = _key(weights, choice, calibration), progress or _silent
    if not choice.calibrated:
        return QuantisedWeights(weights, choice, key, _plain(weights, choice, report))
    # The head comes last, so no other layer depends on its place: compute and cache both cases as one.
    whole = replace(choice, host=tuple(name for name in choice.host if name != "head"))
    path = models_folder() / "quantised" / f"{_key(weights, whole, calibration)}.npz"
    layers = _load(path, weights, whole)
    if layers is None:
        layers = made = _calibrated(weights, whole, calibration, report)
        store(path, lambda file: np.savez(file, allow_pickle=False, **_packed(made)))
        _prune(path.parent)
    return QuantisedWeights(weights, choice, key, {name: q for name, q in layers.items() if name not in choice.host})


def _prune(folder: Path) -> None:
    """Keep only the newest `KEPT` results."""
    with contextlib.suppress(OSError):  # another process may prune too
        for old in sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
            old.unlink()


def _silent(_fraction: float, _words: str) -> None:
    pass


def _plain(weights: ModelWeights, choice: Quantisation, report: Progress) -> dict[str, Quantised]:
    names = [name for name in linear_names(weights.config) if name not in choice.host]
    layers: dict[str, Quantised] = {}
    for i, name in enumerate(names):
        report(i / len(names), f"rounding {name}")
        stays = prune.pruned(weights[name], choice.sparse.kept(name))
        layers[name] = nearest.quantise(stays, group=choice.group, levels=LEVELS, options=choice.clip, name=name)
    return layers


def _calibrated(weights: ModelWeights, choice: Quantisation, calibration: Sequence[int], report: Progress) -> dict[str, Quantised]:
    if choice.rounding == "corrected":
        names = [name for name in linear_names(weights.config) if name not in choice.host]
        return corrected_layers(weights, calibration, names, partial(_round, choice), report)
    config, streams = weights.config, embedded(weights, calibration)
    layers: dict[str, Quantised] = {}
    for i in range(config.blocks):
        report(i / (config.blocks + 1), f"rounding block {i} of {config.blocks}")
        block = {name: weights[name] for name in weights.shapes if name.startswith(f"blocks.{i}.")}
        moments = _moments(config, block, i, streams)
        for together in LAYERS_TOGETHER:
            names = [f"blocks.{i}.{layer}" for layer in together if f"blocks.{i}.{layer}" in block]
            names = [name for name in names if name not in choice.host]
            if names:
                layers |= _round(choice, names, [block[name] for name in names], moments[names[0]])
        block |= {name: layers[name].values(np.float32) for name in layers if name in block}
        streams = [reference.block_forward(config, block, i, x) for x in streams]
    report(config.blocks / (config.blocks + 1), "rounding the head")
    norm = {name: weights[name] for name in weights.shapes if name.startswith("norm.")}
    inputs = np.concatenate([reference.head_inputs(config, norm, x) for x in streams])
    return layers | _round(choice, ["head"], [weights["head"]], inputs.T @ inputs)


def _moments(
    config: ModelConfig, block: Mapping[str, WeightArray], i: int, streams: Sequence[WeightArray]
) -> dict[str, WeightArray]:
    """Return X'X of the inputs X of each layer, computed once for layers with the same inputs."""
    first = {f"blocks.{i}.{layer}": f"blocks.{i}.{layers[0]}" for layers in LAYERS_TOGETHER for layer in layers}
    if not config.gated:
        first[f"blocks.{i}.ffn.up"] = f"blocks.{i}.ffn.up"
    sums: dict[str, WeightArray] = {}

    def observe(name: str, x: WeightArray) -> None:
        if first[name] == name:
            sums[name] = sums.get(name, np.float32(0)) + x.T @ x

    for x in streams:
        reference.block_forward(config, block, i, x, observe)
    return {name: sums[seen] for name, seen in first.items() if seen in sums}


def _round(
    choice: Quantisation, names: Sequence[str], matrices: Sequence[WeightArray], moments: WeightArray
) -> dict[str, Quantised]:
    """Round layers with the same inputs side by side, so that work on the inputs is done once."""
    kept = {choice.sparse.kept(name) for name in names}
    if len(kept) > 1:
        return {name: q for n, m in zip(names, matrices, strict=True) for name, q in _round(choice, [n], [m], moments).items()}
    whole, (stay,) = np.concatenate(matrices, axis=1), kept
    if choice.rounding in {"compensated", "corrected"}:
        solve = compensated.quantise_compensated
        if choice.rounding == "corrected":
            solve = partial(refined.quantise_refined, damping=corrected.DAMPING)
        made = solve(whole, moments, group=choice.group, levels=LEVELS, options=choice.clip, kept=stay, name=names[0])
    else:
        counts = np.diag(moments)
        made = nearest.quantise(
            prune.pruned(whole, stay, counts), group=choice.group, levels=LEVELS, options=choice.clip, importance=counts,
            name=names[0],
        )  # fmt: skip
    cuts = np.cumsum([m.shape[1] for m in matrices])[:-1]
    codes, scales = np.split(made.codes, cuts, axis=1), np.split(made.scales, cuts, axis=1)
    return {name: Quantised(c, s, choice.group) for name, c, s in zip(names, codes, scales, strict=True)}


def _key(weights: ModelWeights, choice: Quantisation, calibration: Sequence[int]) -> str:
    parts = {
        "weights": weights.digest,
        "config": asdict(weights.config),
        "choice": asdict(choice),
        "calibration": list(map(int, calibration)) if choice.calibrated else [],
        "code": code_digest(*(m.__file__ for m in (nearest, compensated, refined, prune, reference, corrected)), __file__),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _packed(layers: Mapping[str, Quantised]) -> dict[str, np.ndarray]:
    """Pack two codes per byte; a bias of 8 makes every code a nibble."""
    arrays: dict[str, np.ndarray] = {}
    for name, layer in layers.items():
        nibbles = (layer.codes.reshape(-1) + 8).astype(np.uint8)
        nibbles = np.append(nibbles, np.zeros(nibbles.size % 2, np.uint8))
        arrays[f"{name}.codes"] = nibbles[::2] | nibbles[1::2] << 4
        arrays[f"{name}.scales"] = layer.scales
    return arrays


_DAMAGED = (OSError, ValueError, LookupError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)
"""Errors of zipfile and NumPy on truncated or changed files; the result is then computed again."""


def _load(path: Path, weights: ModelWeights, choice: Quantisation) -> dict[str, Quantised] | None:
    """Return the cached result; None if it is missing or damaged."""
    layers: dict[str, Quantised] = {}
    try:
        with np.load(path, allow_pickle=False) as kept:
            for name in (name for name in linear_names(weights.config) if name not in choice.host):
                inputs, outputs = weights.shapes[name]
                packed: npt.NDArray[np.uint8] = kept[f"{name}.codes"]
                codes = (np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)[: inputs * outputs].astype(np.int8) - 8).astype(
                    np.int8
                )
                scales = kept[f"{name}.scales"]
                if scales.shape != (-(-inputs // choice.group), outputs) or scales.dtype != np.float16:
                    return None
                layers[name] = Quantised(codes.reshape(inputs, outputs), scales, choice.group)
    except _DAMAGED:
        return None
    return layers
