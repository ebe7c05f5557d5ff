"""Files that are whole or absent: atomic writing, and dataclasses as JSON, alone or with arrays beside them.

A stored form of another version is refused with both numbers; so is one with a part that does not fit (`fleet.core.codec`).
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import json
import os
import shutil
import tempfile
import zipfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Generic, TypeVar

import numpy as np

from fleet.core.archives import check_archive
from fleet.core.codec import Json, decode, encode_record, is_table
from fleet.core.json_text import json_text, parse_json, read_json
from fleet.core.signals import uninterrupted
from fleet.errors import FleetError, ModelError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

_NO_SPACE = "free space or choose another folder; what was there is untouched"


@contextmanager
def replacing(path: Path, *, kind: type[FleetError] = FleetError, hint: str = _NO_SPACE) -> Generator[IO[bytes]]:
    """Open a file under a temporary name in the folder of `path`, to write what shall stand there; its folders are made.

    It is renamed when the block ends, and removed when the block fails. A link stays one: what it leads to is replaced. What is no
    file (/dev/null, /dev/stdout, a pipe) is never replaced: it gets the bytes when the block ends. Raises `kind` if the disk is
    full or the folder cannot be written.
    """
    temporary: str | None = None
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with tempfile.TemporaryFile() as f:
                yield f
                f.seek(0)
                with path.open("wb") as device:
                    shutil.copyfileobj(f, device)
            return
        place = Path(os.path.realpath(path))
        place.parent.mkdir(parents=True, exist_ok=True)
        fd, temporary = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name}", suffix=".tmp")
        with os.fdopen(fd, "wb") as f:
            yield f
        Path(temporary).chmod(0o644)
        os.replace(temporary, place)
        temporary = None
    except OSError as error:
        raise kind(f"cannot be written ({error.strerror or error})", where=str(path), hint=hint) from error
    finally:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a whole file or nothing (`replacing`). Raises FleetError if the disk is full or the folder cannot be written."""
    with replacing(path) as f:
        f.write(data)


def npz_bytes(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Return the bytes of a compressed .npz. Keys may be any strings; the array "names" lists them.

    At the fastest level, which numpy.savez_compressed cannot be told: float32 values take a quarter of the time and 8 % more room.
    """
    keys = list(arrays)
    names = np.frombuffer(json.dumps(keys).encode(), np.uint8)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in {"names": names, **{f"a{i}": arrays[k] for i, k in enumerate(keys)}}.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:  # without a date: the same arrays are the same bytes
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
    return buffer.getvalue()


def read_npz(path: Path, sha256: str, *, recorded_in: str, hint: str | None) -> dict[str, np.ndarray]:
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
    folder: Path, name: str, header: Mapping[str, Json], table: Mapping[str, Json], arrays: Mapping[str, np.ndarray],
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
    text = json_text({**header, "arrays_file": arrays_file, "arrays_sha256": digest, **table})
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


def copy_pair(path: Path, folder: Path) -> Path:
    """Copy what `save_pair` wrote into another folder, in place of a pair of its name there. Raises FleetError."""
    arrays = _arrays_of(path)
    try:
        text = path.read_text(encoding="utf-8")
        with _locked(folder):
            if arrays is not None:
                write_atomically(folder / arrays.name, arrays.read_bytes())
            write_together({folder / path.name: text})
            for old in folder.glob("arrays-*.npz"):
                if arrays is None or old.name != arrays.name:
                    old.unlink(missing_ok=True)
    except OSError as error:
        raise FleetError(f"cannot be copied ({error.strerror or error})", where=str(path), hint=_NO_SPACE) from error
    return folder / path.name


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


def load_pair(
    path: Path, *, name: str = "pair", hint: str | None = None, again: str | None = None
) -> tuple[dict[str, Json], dict[str, np.ndarray]]:
    """The JSON table (without the keys that name the arrays) and the arrays. Raises ModelError.

    name: of what is stored, for messages; hint: where to look for one that is not here; again: what to do with damaged arrays.
    """
    try:
        table = parse_json(path.read_bytes(), path)
    except OSError as error:
        raise ModelError(f"no {name} here ({error.strerror})", where=str(path), hint=hint) from error
    if not is_table(table):
        raise ModelError(f"expected a table, a stored {name}", where=str(path))
    file, sha256 = table.pop("arrays_file", None), table.pop("arrays_sha256", None)
    if not isinstance(file, str) or Path(file).name != file:
        raise ModelError("arrays_file: expected a file name without folders", where=str(path))
    return table, read_npz(path.parent / file, str(sha256), recorded_in=path.name, hint=again)


def read_table(path: Path, wrong: str, hint: str | None = None) -> dict[str, Json]:
    """The table of a JSON file. wrong: what a file is that does not hold it ("not an account of coverage"). Raises ModelError."""
    value = read_json(path, wrong, hint)
    if not is_table(value):
        raise ModelError(f"{wrong} (it holds no table)", where=str(path), hint=hint)
    return value


def read_form(path: Path, form: int, wrong: str, hint: str | None = None) -> dict[str, Json]:
    """Read a table whose key "form" must be this version; return it without that key. Raises ModelError."""
    table = read_table(path, wrong, hint)
    if (found := table.pop("form", None)) != form:
        raise ModelError(f"{wrong} of form {form} (found {found!r})", where=str(path), hint=hint)
    return table


def write_table(path: Path, table: Mapping[str, Json], indent: int | None = None) -> None:
    """Write a table as JSON, whole or not at all. Raises FleetError."""
    text = json.dumps(table, indent=indent, ensure_ascii=False, allow_nan=False)
    write_atomically(path, f"{text}\n".encode(errors="replace"))


@dataclass(frozen=True)
class RecordFile(Generic[T]):
    """Storage of a dataclass as one JSON file.

    form: version; wrong: as in `read_table`; name: of the record in messages; hint: what to do with a file that cannot be read.
    """

    cls: type[T]
    form: int
    wrong: str
    name: str
    hint: str | None = None
    indent: int | None = None

    def save(self, path: Path, record: T) -> None:
        """Write the file, whole or not at all. Raises FleetError."""
        write_table(path, {"form": self.form, **encode_record(record)}, self.indent)

    def load(self, path: Path) -> T:
        """Read what `save` wrote. Raises ModelError for any other file."""
        return decode(self.cls, read_form(path, self.form, self.wrong, self.hint), str(path), self.name)


@dataclass(frozen=True)
class RecordPair(Generic[T]):
    """Storage of a dataclass as JSON with an .npz beside it (`fleet.core.files.save_pair`).

    name: of the record in messages ("stream"). schema: version, or None for a cache that never meets another one; a reader refuses
    any other. kind: a second key that must fit, or None. made_by: the command that writes such a folder. again: what to do with
    a file that cannot be read.
    """

    cls: type[T]
    name: str
    schema: int | None
    kind: str | None = None
    made_by: str | None = None
    again: str | None = None

    def header(self) -> dict[str, Json]:
        """The keys in front of the record."""
        kind: dict[str, Json] = {} if self.kind is None else {"kind": self.kind}
        return kind if self.schema is None else {"schema": self.schema, **kind}

    def table(self, record: T) -> dict[str, Json]:
        """The JSON table of a record, without its arrays."""
        return {**self.header(), **encode_record(record)}

    def record(self, value: object, where: str) -> T:
        """Invert `table`. Raises ModelError if version, kind or a field does not fit."""
        if not is_table(value):
            raise ModelError(f"expected a table, a stored {self.name}", where=where)
        table = dict(value)
        for key, wanted in self.header().items():
            if (found := table.pop(key, None)) != wanted:
                raise ModelError(f"{self.name} has {key} {found!r}, this fleet reads {wanted!r}", where=where, hint=self.again)
        return decode(self.cls, table, where, self.name)

    def save(
        self, path: Path, record: T, arrays: Mapping[str, np.ndarray], beside: Mapping[Path, str] | None = None
    ) -> Path:  # fmt: skip
        """Write the JSON and its arrays, and return the path. An old pair stays whole until the end. Raises FleetError.

        beside: path -> text of files that are replaced together with the JSON, or not at all.
        """
        return save_pair(path.parent, path.name, self.header(), encode_record(record), arrays, beside)

    def load(self, path: Path) -> tuple[T, dict[str, np.ndarray]]:
        """Read what `save` wrote. Raises ModelError if it is not a complete pair."""
        hint = None if self.made_by is None else f"give a folder that `{self.made_by}` wrote"
        table, arrays = load_pair(path, name=self.name, hint=hint, again=self.again)
        return self.record(table, str(path)), arrays
