"""Weights processed offline: quantised once by content, options and code, in memory and in a folder of the cache."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import asdict
from pathlib import Path

import numpy as np

from fleet.core.cache import cache_root
from fleet.core.sealed import code_digest, read_sealed, write_sealed
from fleet.errors import ModelError
from fleet.sdk.tasks import Quantiser
from fleet.transforms import prune
from fleet.transforms import quantise as nearest
from fleet.transforms import quantise_compensated as compensated
from fleet.transforms.quantise import Quantised, QuantiseOptions, quantise

_KEPT_BYTES = 1 << 28
_LEAST_FILE = 1 << 16
"""Bytes: smaller weights are quantised as quickly as a file is read."""
_LARGEST_FOLDER = 4 << 30
"""Size limit of the folder; beyond it the oldest files are removed."""

_KEPT: OrderedDict[str, tuple[np.ndarray, np.ndarray]] = OrderedDict()


def quantiser(options: QuantiseOptions, name: str, moments: np.ndarray | None = None) -> Quantiser:
    """Return the quantiser of the constant `name` (for messages). Raises ModelError as `fleet.transforms.quantise.quantise`.

    moments: second moments of the constant's inputs, if there is calibration data (`fleet.transforms.quantise_compensated`).
    """

    def quantised(array: np.ndarray, group: int, levels: int, kept: int = 0, /) -> tuple[np.ndarray, np.ndarray]:
        content, met = (hashlib.sha256(np.ascontiguousarray(a).data).hexdigest() if a is not None else "" for a in (array, moments))
        code = code_digest(prune.__file__, nearest.__file__, compensated.__file__, __file__)
        parts = [content, array.dtype.str, list(array.shape), group, levels, asdict(options), met, kept, code]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        found = _KEPT.get(key) or _read(key, array.shape, group)
        if found is None:
            made = _rounded(array, moments, group, levels, options, name, kept)
            found = made.codes, made.scales
            if array.nbytes >= _LEAST_FILE:
                _write(key, found)
        _KEPT[key] = found
        _KEPT.move_to_end(key)
        while sum(c.nbytes for c, _ in _KEPT.values()) > _KEPT_BYTES and len(_KEPT) > 1:
            _KEPT.popitem(last=False)
        return found

    return quantised


def _rounded(
    weight: np.ndarray, moments: np.ndarray | None, group: int, levels: int, options: QuantiseOptions, name: str, kept: int
) -> Quantised:
    """The best available quantiser: weights on the device's grid stay unchanged, else errors are compensated if there is data.

    Without data, sparse weights keep the largest of each block.
    """
    if kept and (moments is None or options.clip == "exact"):
        weight, kept = prune.pruned(weight, kept), 0
    grid = QuantiseOptions("exact", options.rounding)
    few = weight[:, :8]
    if options.clip != "exact" and not kept and np.isfinite(few).all():
        try:
            quantise(few, group=group, levels=levels, options=grid, name=name)
            return quantise(weight, group=group, levels=levels, options=grid, name=name)
        except ModelError:
            pass  # not a model that was quantised for such a grid
    if moments is None or options.clip == "exact":
        return quantise(weight, group=group, levels=levels, options=options, name=name)
    return compensated.quantise_compensated(weight, moments, group=group, levels=levels, options=options, kept=kept, name=name)


def _folder() -> Path | None:
    """Folder `quantised` in fleet's cache; None if it cannot be created."""
    try:
        folder = cache_root() / "quantised"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder


def _read(key: str, shape: tuple[int, ...], group: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the stored entry if it is intact."""
    folder = _folder()
    if folder is None:
        return None
    body = read_sealed(folder / f"{key}.sealed", key, "the quantised weight")
    inputs, outputs = shape
    size, groups = inputs * outputs, -(-inputs // group)
    if body is None or len(body) != size + 2 * groups * outputs:
        return None
    codes = np.frombuffer(body, np.int8, size).reshape(shape)
    return codes, np.frombuffer(body, "<f2", offset=size).reshape(groups, outputs)


def _write(key: str, made: tuple[np.ndarray, np.ndarray]) -> None:
    """Store it; a cache that cannot be written is not an error."""
    folder = _folder()
    if folder is None:
        return
    body = made[0].tobytes() + made[1].astype("<f2").tobytes()
    write_sealed(folder / f"{key}.sealed", key, body)
    try:
        files = sorted(((p.stat().st_mtime, p.stat().st_size, p) for p in folder.iterdir()), reverse=True)
        total = 0
        for _, size, path in files:
            total += size
            if total > _LARGEST_FOLDER:
                path.unlink(missing_ok=True)
    except OSError:
        return
