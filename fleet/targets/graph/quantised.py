"""Weights processed offline: quantised once by content, in memory and in a folder of the cache."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from pathlib import Path

import numpy as np

from fleet.core.cache import cache_root
from fleet.core.sealed import read_sealed, write_sealed
from fleet.sdk.tasks import Quantiser
from fleet.transforms.quantise import QuantiseOptions, quantise

__all__ = ["quantiser"]

_KEPT_BYTES = 1 << 28
_LARGEST_FOLDER = 4 << 30
"""The folder is emptied of its oldest files beyond this."""

_KEPT: OrderedDict[str, tuple[np.ndarray, np.ndarray]] = OrderedDict()


def quantiser(options: QuantiseOptions, name: str) -> Quantiser:
    """What quantises the constant `name` (for messages); raises ModelError as `fleet.transforms.quantise.quantise`."""

    def quantised(array: np.ndarray, group: int, levels: int) -> tuple[np.ndarray, np.ndarray]:
        content = hashlib.sha256(np.ascontiguousarray(array).data).hexdigest()
        parts = [content, array.dtype.str, list(array.shape), group, levels, options.clip, options.rounding]
        key = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        found = _KEPT.get(key) or _read(key, array.shape, group)
        if found is None:
            made = quantise(array, group=group, levels=levels, options=options, name=name)
            found = made.codes, made.scales
            _write(key, found)
        _KEPT[key] = found
        _KEPT.move_to_end(key)
        while sum(c.nbytes for c, _ in _KEPT.values()) > _KEPT_BYTES and len(_KEPT) > 1:
            _KEPT.popitem(last=False)
        return found

    return quantised


def _folder() -> Path | None:
    """`quantised` in fleet's cache; None where it cannot be made."""
    try:
        folder = cache_root() / "quantised"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder


def _read(key: str, shape: tuple[int, ...], group: int) -> tuple[np.ndarray, np.ndarray] | None:
    """What was kept, where it is whole."""
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
    """Keeps it; a cache that cannot be written is no error."""
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
