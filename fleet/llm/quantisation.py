"""How a language model's weights become the device's: INT4 codes from -7 to 7 with one FP16 scale a group, some layers on the host.

Four roundings, from the cheapest to the best:

    absmax       a group's scale is its largest weight / 7
    search       of nine scales the one with the least squared error of the weights
    weighted     the same, each error counted by how large that input is on average
    compensated  weighted, and what rounding one input's weights does to the outputs is made up for by the inputs rounded later

The last two need inputs as they occur. They are taken from a text (fleet/llm/data/calibration.txt), block by block, through the
blocks that are quantised already, so that later blocks also make up for the error of earlier ones. Layers that stay on the host are
rounded to FP16. What was computed is kept in the cache, under a hash of weights, choice, text and the code that rounds.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fleet.errors import ModelError
from fleet.llm import reference
from fleet.llm.config import ModelConfig
from fleet.llm.files.cache import models_folder, store
from fleet.llm.weights import ModelWeights, WeightArray, linear_names
from fleet.transforms import quantise as nearest
from fleet.transforms import quantise_compensated as compensated
from fleet.transforms.quantise import Quantised, QuantiseOptions

__all__ = ["GROUPS", "LEVELS", "ROUNDINGS", "Quantisation", "QuantisedWeights", "quantise_model"]

GROUPS, LEVELS = (32, 64, 128), 7
ROUNDINGS = ("absmax", "search", "weighted", "compensated")
KEPT = 8
"""Calibrated results in the cache; one of a model of 135 million weights has 70 MB."""
CHUNK = 410
"""Tokens of a calibration sequence: long enough for the attention's habits, short enough to be quick."""
_TOGETHER = (("attention.q", "attention.k", "attention.v"), ("attention.o",), ("ffn.gate", "ffn.up"), ("ffn.down",))
"""Layers of a block that see the same inputs."""
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class Quantisation:
    """A choice.

    Attributes:
        group: inputs that share a scale: 32, 64 or 128.
        rounding: one of `ROUNDINGS`.
        host: canonical names of the layers that stay FP16 on the host ("head").
    """

    group: int = 64
    rounding: str = "compensated"
    host: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raises ModelError for a value that is not known."""
        if self.group not in GROUPS:
            raise ModelError(f"group is {self.group}, expected {', '.join(map(str, GROUPS))}", where="quantisation")
        if self.rounding not in ROUNDINGS:
            raise ModelError(f"rounding is '{self.rounding!s:.40}', expected {', '.join(ROUNDINGS)}", where="quantisation")

    @property
    def calibrated(self) -> bool:
        """Needs the inputs of layers."""
        return self.rounding in {"weighted", "compensated"}

    @property
    def bits(self) -> float:
        """Bits of a weight on the device, its part of the scale counted."""
        return 4 + 16 / self.group

    @property
    def clip(self) -> QuantiseOptions:
        """How a group's scale is found."""
        return QuantiseOptions(clip="absmax" if self.rounding == "absmax" else "mse")

    def __str__(self) -> str:
        host = f", {' and '.join(self.host)} FP16 on the host" if self.host else ""
        return f"group {self.group}, {self.rounding}{host}"


class QuantisedWeights(Mapping[str, Quantised]):
    """Codes and scales of the layers on the device, by canonical name.

    Attributes:
        weights: the model's own.
        choice: how they were rounded.
        key: a hash of everything that they follow from.
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
        """The model with the weights as the device and the host have them: the rounded golden's."""

        def device(name: str) -> Callable[[], np.ndarray]:
            return lambda: self._layers[name].values(np.float32)

        def host(name: str) -> Callable[[], np.ndarray]:
            return lambda: self.weights[name].astype(np.float16)

        readers = {name: device(name) for name in self} | {name: host(name) for name in self.choice.host}
        return self.weights.replaced(readers, f"quantised {self.key}")

    @property
    def options(self) -> dict[str, Any]:
        """What a compiler is told that is given `rounded`: it finds the very codes and scales again."""
        return {"group": self.choice.group, "clip": "exact"}


def quantise_model(
    weights: ModelWeights, choice: Quantisation, calibration: Sequence[int], *, progress: Progress | None = None
) -> QuantisedWeights:
    """Rounds a model's weights, or finds them in the cache.

    Args:
        weights: the model.
        choice: how.
        calibration: tokens of a text, for the roundings that look at inputs; the others do not.
        progress: called with the finished part (0 to 1) and words.

    Raises:
        ModelError: a host layer that is none of the model's, too little text, weights that cannot be rounded.
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
    # The head comes last, so nothing else depends on where it is: with and without it are computed and kept once.
    whole = replace(choice, host=tuple(name for name in choice.host if name != "head"))
    path = models_folder() / "quantised" / f"{_key(weights, whole, calibration)}.npz"
    layers = _load(path, weights, whole)
    if layers is None:
        layers = made = _calibrated(weights, whole, calibration, report)
        store(path, lambda file: np.savez(file, allow_pickle=False, **_packed(made)))
        _prune(path.parent)
    return QuantisedWeights(weights, choice, key, {name: q for name, q in layers.items() if name not in choice.host})


def _prune(folder: Path) -> None:
    """Leaves the newest `KEPT` results."""
    with contextlib.suppress(OSError):  # another process may be at it too
        for old in sorted(folder.glob("*.npz"), key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
            old.unlink()


def _silent(_fraction: float, _words: str) -> None:
    pass


def _plain(weights: ModelWeights, choice: Quantisation, report: Progress) -> dict[str, Quantised]:
    names = [name for name in linear_names(weights.config) if name not in choice.host]
    layers: dict[str, Quantised] = {}
    for i, name in enumerate(names):
        report(i / len(names), f"rounding {name}")
        layers[name] = nearest.quantise(weights[name], group=choice.group, levels=LEVELS, options=choice.clip, name=name)
    return layers


def _calibrated(weights: ModelWeights, choice: Quantisation, calibration: Sequence[int], report: Progress) -> dict[str, Quantised]:
    config = weights.config
    length = min(CHUNK, config.context)
    embedding = {name: weights[name] for name in weights.shapes if name.endswith("embedding")}
    streams = [reference.embed(config, embedding, calibration[at : at + length]) for at in range(0, len(calibration), length)]
    layers: dict[str, Quantised] = {}
    for i in range(config.blocks):
        report(i / (config.blocks + 1), f"rounding block {i} of {config.blocks}")
        block = {name: weights[name] for name in weights.shapes if name.startswith(f"blocks.{i}.")}
        moments = _moments(config, block, i, streams)
        for together in _TOGETHER:
            names = [f"blocks.{i}.{layer}" for layer in together if f"blocks.{i}.{layer}" in block]
            names = [name for name in names if name not in choice.host]
            if names:
                layers |= _round(names, [block[name] for name in names], moments[names[0]], choice)
        block |= {name: layers[name].values(np.float32) for name in layers if name in block}
        streams = [reference.block_forward(config, block, i, x) for x in streams]
    report(config.blocks / (config.blocks + 1), "rounding the head")
    norm = {name: weights[name] for name in weights.shapes if name.startswith("norm.")}
    inputs = np.concatenate([reference.head_inputs(config, norm, x) for x in streams])
    return layers | _round(["head"], [weights["head"]], inputs.T @ inputs, choice)


def _moments(
    config: ModelConfig, block: Mapping[str, WeightArray], i: int, streams: Sequence[WeightArray]
) -> dict[str, WeightArray]:
    """X'X over the inputs X of each layer, shared by the layers that see the same."""
    first = {f"blocks.{i}.{layer}": f"blocks.{i}.{layers[0]}" for layers in _TOGETHER for layer in layers}
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
    names: Sequence[str], matrices: Sequence[WeightArray], moments: WeightArray, choice: Quantisation
) -> dict[str, Quantised]:
    """Layers with the same inputs, side by side: the work on the inputs is done once."""
    whole = np.concatenate(matrices, axis=1)
    if choice.rounding == "compensated":
        made = compensated.quantise_compensated(
            whole, moments, group=choice.group, levels=LEVELS, options=choice.clip, name=names[0]
        )
    else:
        made = nearest.quantise(
            whole, group=choice.group, levels=LEVELS, options=choice.clip, importance=np.diag(moments), name=names[0]
        )
    cuts = np.cumsum([m.shape[1] for m in matrices])[:-1]
    codes, scales = np.split(made.codes, cuts, axis=1), np.split(made.scales, cuts, axis=1)
    return {name: Quantised(c, s, choice.group) for name, c, s in zip(names, codes, scales, strict=True)}


@cache
def _code_digest() -> str:
    """Of the sources that decide what a rounding gives: a cached result never outlives them."""
    total = hashlib.sha256()
    for module in (nearest, compensated, reference):
        total.update(Path(str(module.__file__)).read_bytes())
    total.update(Path(__file__).read_bytes())
    return total.hexdigest()


def _key(weights: ModelWeights, choice: Quantisation, calibration: Sequence[int]) -> str:
    parts = {
        "weights": weights.digest,
        "config": asdict(weights.config),
        "choice": asdict(choice),
        "calibration": list(map(int, calibration)) if choice.calibrated else [],
        "code": _code_digest(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _packed(layers: Mapping[str, Quantised]) -> dict[str, np.ndarray]:
    """Two codes a byte, biased by 8 so that every code is a nibble."""
    arrays: dict[str, np.ndarray] = {}
    for name, layer in layers.items():
        nibbles = (layer.codes.reshape(-1) + 8).astype(np.uint8)
        nibbles = np.append(nibbles, np.zeros(nibbles.size % 2, np.uint8))
        arrays[f"{name}.codes"] = nibbles[::2] | nibbles[1::2] << 4
        arrays[f"{name}.scales"] = layer.scales
    return arrays


_DAMAGED = (OSError, ValueError, LookupError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile, zlib.error)
"""What zipfile and NumPy raise for a file that is cut or changed: it is computed again."""


def _load(path: Path, weights: ModelWeights, choice: Quantisation) -> dict[str, Quantised] | None:
    """What the cache has; None where it has nothing, or something damaged."""
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
