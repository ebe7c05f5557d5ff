"""Read arrays that users bring, and draw seeded random ones if they bring none."""

from __future__ import annotations

import math
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from fleet.core.archives import check_archive
from fleet.core.file_kinds import refuse_foreign
from fleet.core.room import bytes_of, check_room
from fleet.errors import ModelError
from fleet.frontend.drawn import drawn_weight

_OWN = ("npz", "npy", "zip", "pickle", "python", "text", "json", "toml", "empty", "unknown")
"""Kinds of files for which the reader of arrays itself reports what is wrong."""


def load_arrays(path: Path, *, what: str) -> dict[str, np.ndarray]:
    """Read a .npz (all arrays, by name) or a .npy (one array, named after the file's stem).

    Args:
        path: the file.
        what: "weights", "input" or "labels", for messages.

    Raises:
        ModelError: the file is missing, truncated, holds Python objects, or is neither format.
    """
    where = str(path)
    if not path.exists():
        raise ModelError(f"no such {what} file", where=where, hint="check the path")
    if path.is_dir():
        raise ModelError(f"is a folder; the {what} file should be a .npz", where=where)
    refuse_foreign(path, f"{what} (.npz or .npy)", _OWN, "weights")
    try:
        check_archive(path, where)
        if zipfile.is_zipfile(path):
            with np.load(path, allow_pickle=False) as archive:
                return {name: archive[name] for name in archive.files}
        with path.open("rb") as f:
            magic = f.read(6)
        if magic == b"\x93NUMPY":
            return {path.stem: np.load(path, allow_pickle=False)}
    except (ValueError, OSError, EOFError, KeyError, zipfile.BadZipFile, zlib.error, MemoryError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        hint = "save plain numeric arrays with numpy.savez" if "pickle" in reason else "write it again; the file is damaged"
        raise ModelError(f"cannot read the {what} ({reason})", where=where, hint=hint) from error
    start = "is cut short or is not a .npz" if magic[:2] == b"PK" else "is not a .npz or .npy file"
    raise ModelError(f"{start}", where=where, hint=f"save the {what} with numpy.savez")


def load_labels(path: Path) -> np.ndarray:
    """Return the one array of a labels file as 1-D int64. Raises ModelError if the file holds anything else."""
    arrays = load_arrays(path, what="labels")
    if len(arrays) != 1:
        raise ModelError(f"holds {len(arrays)} arrays ({', '.join(arrays)}); labels are one array", where=str(path))
    (labels,) = arrays.values()
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise ModelError(f"labels are {labels.dtype}{list(labels.shape)}; expected a 1-D integer array", where=str(path))
    return labels.astype(np.int64)


def random_like(shapes: Mapping[str, tuple[tuple[int, ...], np.dtype]], seed: int) -> dict[str, np.ndarray]:
    """Draw one seeded array per name. Each name has its own stream, so adding one does not change the others.

    Floats of two or more dimensions are scaled by the root of their fan-in (LeCun et al. 1998), so that layers keep the magnitude
    of their activations. Otherwise a softmax after a few layers would be a step function, and no error in it would have a useful
    bound.
    """
    made: dict[str, np.ndarray] = {}
    for name, (shape, dtype) in shapes.items():
        check_room(bytes_of(shape, np.dtype(np.float64)), f"a drawn {name}, {dtype}{list(shape)},")
        stream = np.random.default_rng([seed, zlib.crc32(name.encode())])
        fan_in = 1 if len(shape) < 2 else shape[-2] if len(shape) < 4 else math.prod(shape[1:])  # 4: a convolution
        scale = 1 / math.sqrt(max(fan_in, 1))
        array = drawn_weight(stream, shape, dtype)
        made[name] = (array * scale).astype(dtype) if np.issubdtype(dtype, np.floating) else array
    return made
