"""Files that are used only as they were written: a manifest with SHA-256 in a folder, or a seal in front of one file's content.

A seal finds what a full disk, a copy, a backup or an edit did to a file between two runs. It does not stop who can write the cache:
they could write the manifest too. Therefore the cache belongs to one user.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fleet.core.codec import decode, encode, is_table
from fleet.core.notice import notice
from fleet.errors import ModelError

MANIFEST = "manifest.json"
_FORMAT = 1
_BLOCK = 1 << 20
_DAYS = 30


class BrokenSealError(Exception):
    """A file is not what was sealed; the text says which and how, without the folder."""


@dataclass(frozen=True)
class SealedFile:
    """One file of a sealed folder: its name relative to the folder, SHA-256 (hex), bytes, and whether it is executable."""

    name: str
    sha256: str
    size: int
    executable: bool


@dataclass(frozen=True)
class Manifest:
    """The record of a sealed folder. key: the hash of all inputs."""

    key: str
    files: tuple[SealedFile, ...]

    def sha256(self, name: str) -> str:
        """SHA-256 (hex) of a file. Raises BrokenSealError if the manifest does not list it."""
        for file in self.files:
            if file.name == name:
                return file.sha256
        raise BrokenSealError(f"{MANIFEST} does not list {name}")


@dataclass(frozen=True)
class _StoredFile:
    """The stored form of `SealedFile`, by its name."""

    sha256: str
    size: int
    executable: bool


@dataclass(frozen=True)
class _Stored:
    """The stored form of `Manifest`."""

    format: int
    key: str
    files: Mapping[str, _StoredFile]


def seal_folder(folder: Path, key: str) -> Manifest:
    """Write the manifest of every regular file below `folder` (links lead out of it and are left out). Raises OSError."""
    files: list[SealedFile] = []
    for path in sorted(folder.rglob("*")):
        found = path.lstat()
        name = str(path.relative_to(folder))
        if stat.S_ISREG(found.st_mode) and name != MANIFEST:
            files.append(SealedFile(name, _digest(path, found), found.st_size, bool(found.st_mode & stat.S_IXUSR)))
    manifest = Manifest(key, tuple(files))
    stored = _Stored(_FORMAT, key, {f.name: _StoredFile(f.sha256, f.size, f.executable) for f in files})
    text = json.dumps(encode(stored), indent=1)
    with (folder / MANIFEST).open("w", encoding="utf-8") as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    return manifest


def check_folder(folder: Path, key: str | None = None) -> Manifest:
    """The manifest of a folder whose every file is what was sealed.

    A file is hashed once in a process, and again when its inode, size or times change.

    Args:
        folder: which `seal_folder` sealed.
        key: what it must have been made from; None for any.

    Raises:
        BrokenSealError: the manifest or a file is missing, garbled or changed.
    """
    manifest = _load(folder)
    if key is not None and manifest.key != key:
        raise BrokenSealError(f"{MANIFEST} is that of {manifest.key}")
    for file in manifest.files:
        path = folder / file.name
        try:
            found = path.lstat()
        except OSError as error:
            raise BrokenSealError(f"{file.name} is missing ({error.strerror})") from error
        if not stat.S_ISREG(found.st_mode):
            raise BrokenSealError(f"{file.name} is not a file")
        if found.st_size != file.size:
            raise BrokenSealError(f"{file.name} has {found.st_size:,} bytes, {file.size:,} were written")
        if file.executable and not found.st_mode & stat.S_IXUSR:
            raise BrokenSealError(f"{file.name} is not executable any more")
        try:
            digest = _digest(path, found)
        except OSError as error:
            raise BrokenSealError(f"{file.name} cannot be read ({error.strerror})") from error
        if digest != file.sha256:
            raise BrokenSealError(f"{file.name} has SHA-256 {digest[:16]}, {file.sha256[:16]} was written")
    return manifest


_Identity = tuple[int, int, int, int, int]
_digests: dict[_Identity, str] = {}
"""(device, inode, bytes, modified, changed) -> SHA-256. The kernel sets the time of change: nobody can set it back."""
_SETTLED_NS = 100_000_000
"""A file that changed less than this before it was read is read again the next time: file systems' clocks have steps."""


def _digest(path: Path, found: os.stat_result) -> str:
    identity = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    if identity not in _digests:
        h = hashlib.sha256()
        with path.open("rb") as f:
            while block := f.read(_BLOCK):
                h.update(block)
        if time.time_ns() - found.st_ctime_ns < _SETTLED_NS:
            return h.hexdigest()
        _digests[identity] = h.hexdigest()
    return _digests[identity]


def _load(folder: Path) -> Manifest:
    try:
        value: object = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BrokenSealError(f"it has no {MANIFEST}") from None
    except (OSError, ValueError) as error:
        raise BrokenSealError(f"{MANIFEST} cannot be read ({type(error).__name__})") from error
    if is_table(value) and value.get("format") != _FORMAT:
        raise BrokenSealError(f"{MANIFEST} has format {value.get('format')}, this fleet writes {_FORMAT}")
    try:
        stored = decode(_Stored, value, MANIFEST)
    except ModelError as error:
        raise BrokenSealError(f"{MANIFEST} is garbled ({error.what})") from error
    return Manifest(stored.key, tuple(SealedFile(n, f.sha256, f.size, f.executable) for n, f in stored.files.items()))


def read_sealed(path: Path, key: str, what: str) -> bytes | None:
    """Read what `write_sealed` wrote; None if it is missing or was changed (a notice tells which).

    key: the hash of all that the content was made from. what: for the notice ("the compiled kernel").
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        notice(f"{path}: {what} cannot be read ({error.strerror}); making it again")
        return None
    seal, body = data[:32], data[32:]
    if seal == _seal(key, body):
        return body
    notice(f"{path}: {what} is not what was stored there; making it again")
    return None


def write_sealed(path: Path, key: str, body: bytes) -> None:
    """Keep `body` for `read_sealed`, whole or not at all. A cache that cannot be written is no error."""
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as f:
            try:
                f.write(_seal(key, body) + body)
                f.flush()
                Path(f.name).replace(path)
            except BaseException:
                with contextlib.suppress(OSError):
                    Path(f.name).unlink()
                raise
    except OSError:
        return


def remove_unused(folder: Path) -> None:
    """Remove files that nothing used for a month; using one touches it. A folder that cannot be read is no error."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            with contextlib.suppress(OSError):  # another process removed it
                if time.time() - path.stat().st_mtime > _DAYS * 86400:
                    path.unlink()


def _seal(key: str, body: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + body).digest()


@cache
def code_digest(*files: str) -> str:
    """Return the SHA-256 (hex) of source files (a module's `__file__`), for keys: nothing kept outlives the code that made it."""
    total = hashlib.sha256()
    for file in files:
        total.update(hashlib.sha256(Path(file).read_bytes()).digest())
    return total.hexdigest()
