"""The identity of a run, in two parts: its content, which decides every figure, and its provenance, which decides none.

Two runs of the same content give the same bits and, in simulated time, the same cycles. Anything that changes a figure and is in no
hash here is a bug. A change of documentation, of reports or of the command line changes no content.
"""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

import numpy as np

from fleet.core.cache import cache_root
from fleet.core.codec import decode
from fleet.core.files import write_atomically
from fleet.core.plugins import installed
from fleet.core.version import __version__
from fleet.errors import FleetError
from fleet.isa.closure import Imports, closure, imports_of

NOT_CONTENT: Mapping[str, str] = {
    "fleet.cosim.last_run": "where the last result of a folder is kept",
    "fleet.errors": "the classes and texts of errors",
    "fleet.core.toml_places": "the line of a key in a file, for messages",
    "fleet.regress.pytest_plugin": "how a session of pytest is run and what it says",
}
"""Modules that are left out of the closure of fleet's own code, and why. Reports and commands are outside: they import it."""

_PACKAGE = Path(__file__).resolve().parents[1]
_BENCH = ("axi", "bench", "memory")
"""Folders of rtl_models that every simulation is built from; the hardware's own sources have a separate hash."""


@dataclass(frozen=True)
class ContentHashes:
    """Hashes (SHA-256 hex) of everything that can change a figure; None if a run has no such part.

    Attributes:
        model: of the source and of the compiled program, also with rounded weights. data: of weights, inputs and labels.
        description: of the instruction set and its semantics. hardware: of the RTL's sources, top and parameters.
        device: of the device's parameters, memory, clock, limits and timing.
        bench: of the bench and the memory models that the hardware runs in.
        software: of fleet's own code that compiles, runs and compares, with every plug-in's.
        settings: memory model, seed, samples, engines and options of the compile, as text.
        tools: name -> version, without fleet's own.
    """

    model: str
    data: str
    description: str | None
    hardware: str | None
    device: str | None
    bench: str | None
    software: str
    settings: str
    tools: Mapping[str, str]

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of all fields."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return hashlib.sha256(json.dumps(values, sort_keys=True, default=dict).encode()).hexdigest()


@dataclass(frozen=True)
class Provenance:
    """Place and time of a run. revision: of fleet's checkout, "" outside of one. changed: whether files differ from it."""

    revision: str
    changed: bool
    host: str
    processor: str
    system: str
    version: str
    date: str


def arrays_hash(arrays: Mapping[str, np.ndarray]) -> str:
    """Return the SHA-256 (hex) of arrays: names, dtypes, shapes and elements."""
    h = hashlib.sha256()
    for name in sorted(arrays):
        a = np.asarray(arrays[name], order="C")
        h.update(f"{name}:{a.dtype.str}:{a.shape};".encode())
        h.update(a.tobytes())
    return h.hexdigest()


def text_hash(*parts: object) -> str:
    """Return the SHA-256 (hex) of values that `repr` distinguishes."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def software_members(*more: Path) -> tuple[Path, ...]:
    """Return the files of all code that compiles, runs and compares (fleet's and installed plug-ins'), ascending by module.

    more: files of fleet whose imports count, too.
    """
    points = [point for group in ("fleet.engines", "fleet.instruction_sets", "fleet.passes") for point in installed(group)]
    roots = [_PACKAGE / "cosim" / "campaign.py", _PACKAGE / "regress" / "case_runs.py", *more]
    roots += sorted((_PACKAGE / "frontend").glob("*.py"))  # commands choose among these
    roots += [path for point in points if (path := _file_of(point.module)) is not None]
    known = _Known()
    found = closure(roots, NOT_CONTENT.keys(), imports=known.imports)
    known.keep()
    return tuple(member.path for member in found)


@cache
def software_hash(*more: Path) -> str:
    """Return the SHA-256 (hex) of `software_members` and of the data files that fleet's code reads."""
    return _files_hash([*software_members(*more), *_beside()])


@cache
def bench_hash() -> str:
    """Return the SHA-256 (hex) of the bench and the memory models."""
    from fleet.sdk import rtl_models

    models = rtl_models()
    return _files_hash([p for name in _BENCH for p in sorted((models / name).rglob("*")) if p.is_file() and p.suffix != ".md"])


@cache
def _checkout() -> tuple[str, bool]:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(_PACKAGE.parent), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()

    try:
        if Path(git("rev-parse", "--show-toplevel")).resolve() != _PACKAGE.parent:
            return "", False
        return git("rev-parse", "HEAD"), bool(git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.SubprocessError):
        return "", False


def provenance(date: str) -> Provenance:
    """Return the provenance of a run that is made now. date: ISO 8601, from the caller."""
    revision, changed = _checkout()
    return Provenance(revision, changed, platform.node(), _processor(), platform.platform(), __version__, date)


@cache
def _processor() -> str:
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def _file_of(module: str) -> Path | None:
    """Return the file of a module of fleet, or of a plug-in's module that is loaded; else None."""
    parts = module.split(".")
    if parts[0] == "fleet":
        base = _PACKAGE.joinpath(*parts[1:])
        return next((p for p in (base / "__init__.py", base.with_suffix(".py")) if p.is_file()), None)
    file = getattr(sys.modules.get(module), "__file__", None)
    return Path(file) if file else None


def _beside() -> list[Path]:
    """Return the package's data files that its code reads, without pages, templates of workspaces and commands."""
    of_the_wheel = (_PACKAGE / name for name in ("_rtl_models", "_docs", "_examples"))  # a checkout has these elsewhere
    not_read = {_PACKAGE / "report", _PACKAGE / "cli", _PACKAGE / "isa" / "templates", *of_the_wheel}
    return [
        p
        for p in sorted(_PACKAGE.rglob("*"))
        if p.suffix not in (".py", ".pyc", ".md", ".j2") and p.is_file() and not not_read & set(p.parents)
    ]


def _files_hash(files: list[Path]) -> str:
    h = hashlib.sha256()
    for path in files:
        data = path.read_bytes()
        name = path.relative_to(_PACKAGE.parent) if path.is_relative_to(_PACKAGE.parent) else Path(path.name)
        h.update(f"{name} {len(data)}\n".encode() + data)
    return h.hexdigest()


@dataclass(frozen=True)
class _KeptImports:
    """The form of `_Known` on disk."""

    found: dict[str, Imports]


class _Known:
    """Imports by the hash of a file's text and its reader's code, kept between processes: parsing them all takes a second."""

    def __init__(self) -> None:
        self._path = cache_root() / "imports.json"
        self._found: dict[str, Imports] = {}
        self._used: dict[str, Imports] = {}
        self._reader = hashlib.sha256((_PACKAGE / "isa" / "closure.py").read_bytes()).digest()
        with suppress(OSError, ValueError, FleetError):
            self._found = decode(_KeptImports, {"found": json.loads(self._path.read_text(encoding="utf-8"))}, str(self._path)).found

    def imports(self, text: bytes, package: str) -> Imports:
        key = hashlib.sha256(self._reader + package.encode() + b"\0" + text).hexdigest()
        if key not in self._used:
            self._used[key] = self._found[key] if key in self._found else imports_of(text, package)
        return self._used[key]

    def keep(self) -> None:
        """Store the imports of the texts that were asked for, and drop all others."""
        if not self._used.keys() <= self._found.keys():
            with suppress(OSError, FleetError):  # a cache that cannot be written is no error
                write_atomically(self._path, json.dumps(self._used).encode())
