"""Statistics of the inputs of products: ranges for fixed-point activations, second moments for the rounding of weights.

A calibration is a file in the cache whose name contains the hash of its content, so a path in the options identifies the content.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from fleet.core.archives import check_archive
from fleet.core.files import replacing
from fleet.errors import ModelError

RANGES: tuple[str, ...] = ("minmax", "percentile", "entropy")
"""Methods of choosing the range of a tensor; see `largest`."""

_PERCENT = 99.9
_BINS, _LEVELS = 2048, 128


@dataclass(frozen=True)
class Calibration:
    """Statistics of a model's values over sample inputs.

    Attributes:
        method: one of `RANGES`. samples: number of observed runs.
        ranges: id of a product -> the largest magnitude of its left operand that must be represented.
        seen: id of a product -> (least, largest) value of its left operand.
        moments: name of a weight [inputs, outputs] -> the mean of x x' over the rows x that it is multiplied with, float32
            [inputs, inputs].
    """

    method: str
    samples: int
    ranges: Mapping[str, float]
    seen: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])
    moments: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])

    def encoded(self) -> bytes:
        """Return the statistics as an .npz file; equal content gives equal bytes."""
        arrays: dict[str, Any] = {"method": np.array(self.method), "samples": np.array(self.samples)}
        arrays |= {f"range {name}": np.array(value) for name, value in self.ranges.items()}
        arrays |= {f"seen {name}": np.array(value) for name, value in self.seen.items()}
        arrays |= {f"moments {name}": value for name, value in self.moments.items()}
        buffer = io.BytesIO()
        np.savez(buffer, **arrays)
        return buffer.getvalue()

    def save(self, folder: Path) -> Path:
        """Write it into a folder, under its hash. Raises ModelError if the folder cannot be written."""
        digest = hashlib.sha256(self.method.encode())
        for table in (self.ranges, self.seen, self.moments):
            for name, value in sorted(table.items()):
                digest.update(name.encode())
                digest.update(np.ascontiguousarray(value).tobytes())
        path = folder / f"{digest.hexdigest()[:32]}.npz"
        if path.is_file():
            return path
        with replacing(path, kind=ModelError) as file:
            file.write(self.encoded())
        return path


def calibration_of(options: Mapping[str, object]) -> Calibration | None:
    """Return the calibration named by a compile's options ("calibration": a path). Raises ModelError if it cannot be read."""
    path = options.get("calibration")
    return None if path is None else _read(str(path))


@lru_cache(maxsize=8)
def _read(path: str) -> Calibration:
    try:
        check_archive(Path(path), path)
        with np.load(path, allow_pickle=False) as found:
            arrays = {name: found[name] for name in found.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(f"cannot be read ({error})", where=path, hint="calibrate again") from error
    tables: dict[str, dict[str, np.ndarray]] = {"range": {}, "seen": {}, "moments": {}}
    for key, array in arrays.items():
        kind, _, name = key.partition(" ")
        if kind in tables:
            tables[kind][name] = array
    if "method" not in arrays or "samples" not in arrays:
        raise ModelError("is not a calibration", where=path, hint="calibrate again")
    return Calibration(
        str(arrays["method"]),
        int(arrays["samples"]),
        {name: float(a) for name, a in tables["range"].items()},
        {name: (float(a[0]), float(a[1])) for name, a in tables["seen"].items()},
        tables["moments"],
    )


def largest(values: np.ndarray, method: str) -> float:
    """Return the largest magnitude that a range must represent.

    "minmax": of all values. "percentile": such that 99.9 % of the values lie within. "entropy": the limit of magnitudes whose
    distribution in 128 steps is nearest to the whole one (least Kullback-Leibler divergence, as TensorRT calibrates INT8).

    Raises:
        ModelError: the method is unknown.
    """
    if method not in RANGES:
        raise ModelError(f"no range is chosen by {method!r:.40}", where="calibration", hint=f"choose among {', '.join(RANGES)}")
    magnitudes = np.abs(np.asarray(values, np.float64).reshape(-1))
    if not magnitudes.size:
        return 0.0
    top = float(magnitudes.max())
    if method == "minmax" or top == 0:
        return top
    if method == "percentile":
        return float(np.percentile(magnitudes, _PERCENT))
    return _entropy(magnitudes, top)


def _entropy(magnitudes: np.ndarray, top: float) -> float:
    counts, edges = np.histogram(magnitudes, _BINS, (0.0, top))
    best, limit = np.inf, top
    for kept in range(_LEVELS, _BINS + 1, 16):
        wanted = counts[:kept].astype(np.float64)
        wanted[-1] += counts[kept:].sum()  # values beyond the limit are clipped to it
        cuts = np.linspace(0, kept, _LEVELS + 1).astype(int)
        there = counts[:kept] > 0
        sums = np.add.reduceat(counts[:kept].astype(np.float64), cuts[:-1])
        filled = np.add.reduceat(there.astype(np.float64), cuts[:-1])
        each = np.divide(sums, filled, out=np.zeros_like(sums), where=filled > 0)
        coarse = np.repeat(each, np.diff(cuts)) * there
        p, q = wanted / wanted.sum(), coarse / max(coarse.sum(), 1.0)
        at = p > 0
        divergence = float(np.sum(p[at] * np.log(p[at] / np.maximum(q[at], 1e-12))))
        if divergence < best:
            best, limit = divergence, float(edges[kept])
    return limit
