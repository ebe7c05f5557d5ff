"""Files that are whole or absent: atomic writing, and a JSON file with its arrays beside it."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from fleet.errors import FleetError, ModelError

__all__ = ["load_pair", "npz_bytes", "read_npz", "save_pair", "write_atomically"]


def write_atomically(path: Path, data: bytes) -> None:
    """Writes under a temporary name in the same folder, then renames; nothing is left behind when it fails.

    Raises FleetError when the disk is full or the folder cannot be written.
    """
    temporary: str | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}", suffix=".tmp")
        with os.fdopen(fd, "wb") as f:
            f.write(data)
        Path(temporary).chmod(0o644)
        os.replace(temporary, path)
        temporary = None
    except OSError as error:
        raise FleetError(
            f"cannot be written ({error.strerror})", where=str(path), hint="free space or choose another folder"
        ) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """A compressed .npz in memory. Any string may be a key: they stand in a list of their own ("names")."""
    keys = list(arrays)
    names = np.frombuffer(json.dumps(keys).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, names=names, **{f"a{i}": arrays[k] for i, k in enumerate(keys)})  # pyright: ignore[reportArgumentType]
    return buffer.getvalue()


def read_npz(path: Path, sha256: str, *, recorded_in: str, hint: str) -> dict[str, np.ndarray]:
    """Reads what `npz_bytes` made, after checking the checksum that `recorded_in` states. Raises ModelError."""
    try:
        data = path.read_bytes()
        if hashlib.sha256(data).hexdigest() != sha256:
            raise ModelError(f"checksum is not the one in {recorded_in}", where=str(path), hint=hint)
        with np.load(io.BytesIO(data), allow_pickle=False) as z:
            names: list[str] = json.loads(z["names"].tobytes())
            return {name: z[f"a{i}"] for i, name in enumerate(names)}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"arrays cannot be read ({error})", where=str(path), hint=hint) from error


def save_pair(
    folder: Path, name: str, header: Mapping[str, Any], table: Mapping[str, Any], arrays: Mapping[str, np.ndarray]
) -> Path:
    """Writes `folder/name` (JSON) and its arrays. The JSON names the .npz and is renamed into place last.

    Two runs that write into one folder at once take turns; the last one's pair stays.
    """
    data = npz_bytes(arrays)
    digest = hashlib.sha256(data).hexdigest()
    arrays_file = f"arrays-{digest[:16]}.npz"
    text = json.dumps({**header, "arrays_file": arrays_file, "arrays_sha256": digest, **table}, indent=1, allow_nan=False) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_atomically(folder / arrays_file, data)
        write_atomically(folder / name, text.encode())
        for old in folder.glob("arrays-*.npz"):
            if old.name != arrays_file:
                old.unlink(missing_ok=True)
    return folder / name


def load_pair(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The JSON table (without the keys that name the arrays) and the arrays. Raises ModelError."""
    try:
        value: Any = json.loads(path.read_text())
    except OSError as error:
        what = f"no result here ({error.strerror})"
        raise ModelError(what, where=str(path), hint="give a folder that `fleet cosim` wrote") from error
    except ValueError as error:
        raise ModelError(f"not JSON ({error})", where=str(path)) from error
    if not isinstance(value, dict):
        raise ModelError("expected a table, the result of a co-simulation", where=str(path))
    table = cast("dict[str, Any]", value)
    name, sha256 = table.pop("arrays_file", None), table.pop("arrays_sha256", None)
    if not isinstance(name, str) or Path(name).name != name:
        raise ModelError("arrays_file: expected a file name without folders", where=str(path))
    hint = "run the co-simulation again"
    return table, read_npz(path.parent / name, str(sha256), recorded_in=path.name, hint=hint)
