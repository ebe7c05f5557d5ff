"""Files that are whole or absent: atomic writing, and a JSON file with its arrays beside it."""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import tempfile
import zipfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np

from fleet.core.archives import check_archive
from fleet.core.signals import uninterrupted
from fleet.errors import FleetError, ModelError

__all__ = ["check_writable", "load_pair", "npz_bytes", "read_npz", "save_pair", "write_atomically", "write_together"]

_NO_SPACE = "free space or choose another folder; what was there is untouched"


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
        raise FleetError(f"cannot be written ({error.strerror or error})", where=str(path), hint=_NO_SPACE) from error
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
        check_archive(io.BytesIO(data), str(path))
        with np.load(io.BytesIO(data), allow_pickle=False) as z:
            names: list[str] = json.loads(z["names"].tobytes())
            return {name: z[f"a{i}"] for i, name in enumerate(names)}
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise ModelError(f"arrays cannot be read ({error})", where=str(path), hint=hint) from error


def save_pair(
    folder: Path, name: str, header: Mapping[str, Any], table: Mapping[str, Any], arrays: Mapping[str, np.ndarray],
    beside: Mapping[Path, str] | None = None,
) -> Path:  # fmt: skip
    """Writes `folder/name` (JSON) and its arrays. The JSON names the .npz and is renamed into place last.

    beside: path -> text of files that are replaced together with the JSON, or not at all.
    Two runs that write into one folder at once take turns; the last one's files stay, and all of them are its own.
    Raises FleetError when the disk is full or the folder cannot be written.
    """
    data = npz_bytes(arrays)
    digest = hashlib.sha256(data).hexdigest()
    arrays_file = f"arrays-{digest[:16]}.npz"
    text = json.dumps({**header, "arrays_file": arrays_file, "arrays_sha256": digest, **table}, indent=1, allow_nan=False) + "\n"
    with _locked(folder):
        try:
            write_atomically(folder / arrays_file, data)
            write_together({**(beside or {}), folder / name: text})
        finally:
            kept = _arrays_of(folder / name)
            for old in folder.glob("arrays-*.npz") if kept else ():
                if old != kept:
                    old.unlink(missing_ok=True)
    return folder / name


def _arrays_of(path: Path) -> Path | None:
    """The arrays file that a JSON names; None when it cannot be read."""
    try:
        return path.parent / str(json.loads(path.read_text(encoding="utf-8"))["arrays_file"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


@contextmanager
def _locked(folder: Path) -> Generator[None]:
    """One writer at a time in a folder, which is made; the lock's file goes with the last of them.

    It is a file, as NFS does not lock a folder. Who waited for one that was taken away meanwhile locks the next.
    """
    path = folder / ".lock"
    while True:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            lock = path.open("w", encoding="utf-8")
        except OSError as error:
            raise FleetError(f"cannot be written ({error.strerror or error})", where=str(folder), hint=_NO_SPACE) from error
        with lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            try:
                held = os.path.samestat(os.fstat(lock.fileno()), path.stat())
            except FileNotFoundError:
                held = False
            if held:
                try:
                    yield
                finally:
                    path.unlink(missing_ok=True)
                return


def check_writable(folder: Path) -> None:
    """Makes the folder. Raises FleetError where nothing can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"fleet")
    except OSError as error:
        raise FleetError(f"cannot be written ({error.strerror or error})", where=str(folder), hint=_NO_SPACE) from error


def write_together(files: Mapping[Path, str]) -> None:
    """Writes every file under a temporary name beside its place, then renames all, in the order given.

    Nothing is renamed before everything is on the disk, and Ctrl-C waits for the renaming, so an interruption or a full
    disk leaves the old files whole. Raises FleetError where the folder cannot be written.
    """
    waiting: list[tuple[str, Path]] = []
    path = Path()
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            fd, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
            waiting.append((temporary, path))
            with os.fdopen(fd, "w", encoding="utf-8", errors="replace", newline="\n") as f:
                f.write(text)
                f.flush()
                os.fsync(f.fileno())
            Path(temporary).chmod(0o644)
        with uninterrupted():
            while waiting:
                temporary, path = waiting[0]
                os.replace(temporary, path)
                waiting.pop(0)
    except OSError as error:
        raise FleetError(f"cannot be written ({error.strerror or error})", where=str(path), hint=_NO_SPACE) from error
    finally:
        for temporary, _ in waiting:
            Path(temporary).unlink(missing_ok=True)


def load_pair(path: Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The JSON table (without the keys that name the arrays) and the arrays. Raises ModelError."""
    try:
        value: Any = json.loads(path.read_text(encoding="utf-8"))
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
