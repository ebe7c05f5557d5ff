"""The hardware of an instruction set with every source as a file: generated ones are made once and kept in fleet's cache.

An entry is known by the hash of all that its text is made from: the description's files, the code and the libraries that generate.
It is used only as it was written; a file that was edited or damaged there is made again, and a notice says so.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path

import fleet.sdk
from fleet.core.cache import cache_root
from fleet.core.notice import notice
from fleet.core.scratch import Scratch
from fleet.core.sealed import BrokenSealError, check_folder, seal_folder
from fleet.errors import DeviceError, SetupError
from fleet.isa.export import generate
from fleet.isa.reading.cache import load
from fleet.sdk import GeneratedSource, InstructionSet, RtlFiles, generated_files

_DAYS = 30
_MADE_BY = (Path(__file__).parent, Path(fleet.sdk.__file__).parent)


def hardware_of(instruction_set: InstructionSet) -> RtlFiles | None:
    """The set's hardware, whose `files` are there; None if the set has none.

    Raises:
        DescriptionError: something is wrong with the description.
        DeviceError: a source is to be generated from the description, which generates no file of that name.
        SetupError: the cache cannot be written.
    """
    rtl = instruction_set.rtl
    if rtl is None or len(rtl.written) == len(rtl.sources):
        return rtl
    made = _made(instruction_set, [s for s in rtl.sources if isinstance(s, GeneratedSource)])
    return replace(rtl, sources=tuple(made[s.name] if isinstance(s, GeneratedSource) else s for s in rtl.sources))


def _made(instruction_set: InstructionSet, wanted: list[GeneratedSource]) -> Mapping[str, Path]:
    """Name -> file in the cache."""
    description = load(instruction_set.description)
    offered = generated_files(description.hardware)
    own = {s.name: s.text() for s in wanted if s.text is not None}
    for source in wanted:
        if source.text is None and source.name not in offered:
            what = f"{source.name} is not generated from it, expected one of {', '.join(offered)}"
            raise DeviceError(what, where=f"{description.path}:1", hint="a source of the set's own needs a `text`")
    digest = hashlib.sha256(_makers())
    for text in (description.path.name, *(f"{name}\0{text}" for name, text in sorted(own.items()))):
        digest.update(f"{len(text)}\0{text}".encode())
    for path in description.files:
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    key = digest.hexdigest()
    folder = _cache() / f"{description.hardware}-{key[:32]}"
    names = [s.name for s in wanted]
    if not _is_whole(folder, key, names):
        _write(folder, key, {**{n: t for n, t in generate(description.path).items() if n in names}, **own})
    return {name: folder / name for name in names}


def _cache() -> Path:
    try:
        return cache_root() / "hardware"
    except RuntimeError as error:
        raise SetupError(f"there is no place for generated hardware ({error})", hint="set FLEET_CACHE to a folder") from error


@cache
def _makers() -> bytes:
    """Hash of what turns a description into text."""
    h = hashlib.sha256(f"{version('systemrdl-compiler')} {version('peakrdl-regblock')}".encode())
    for folder in _MADE_BY:
        for path in sorted(p for p in folder.rglob("*") if p.suffix in {".py", ".rdl"}):
            h.update(f"\0{path.relative_to(folder)}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return h.digest()


def _is_whole(folder: Path, key: str, names: list[str]) -> bool:
    """Return whether the entry is there and as it was written; what is not is removed."""
    if not folder.is_dir():
        return False
    try:
        manifest = check_folder(folder, key)
        for name in names:
            manifest.sha256(name)
        os.utime(folder)  # it is used
    except BrokenSealError as error:
        notice(f"{folder}: generated hardware is not what was stored there: {error}; making it again")
        shutil.rmtree(folder, ignore_errors=True)
        return False
    except OSError:  # a cache that only another user may write
        return True
    return True


def _write(folder: Path, key: str, texts: Mapping[str, str]) -> None:
    try:
        folder.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _remove_unused(folder.parent)
        with Scratch("hardware", folder.parent) as scratch:
            part = scratch / "part"
            part.mkdir()
            for name, text in texts.items():
                (part / name).write_text(text, encoding="utf-8")
            seal_folder(part, key)
            try:
                os.replace(part, folder)
            except OSError:
                check_folder(folder, key)  # another process was faster
    except (OSError, BrokenSealError) as error:
        raise SetupError(
            f"cannot keep generated hardware ({error})", where=str(folder), hint="set FLEET_CACHE to a folder"
        ) from error


def _remove_unused(folder: Path) -> None:
    """Remove entries that nothing used for a month; `_is_whole` touches what is used."""
    for path in folder.iterdir():
        with suppress(OSError):  # another process removed it
            if time.time() - path.stat().st_mtime > _DAYS * 86400:
                shutil.rmtree(path)
