"""Compiled objects that several simulations share: Verilator's runtime, bench and memories are compiled once per version.

An object is known by the hash of its compiler's version, its flags, and the text of its source with every header that it includes
and that a build may change (the design's, the bench's, Verilator's). Headers of the system come with the compiler. A macro of
Verilator's that is given to all sources and that none of these texts mentions is left out: most of the runtime and of the bench is
the same with waves and without.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.core.sealed import read_sealed, write_sealed

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_SWITCH = re.compile(rb"\bV[LM]_\w+")
_UNREAD = re.compile(rb"^#if VM_TRACE\b.*\n# *define WAVES 1\b.*\n#endif\b", re.MULTILINE)
"""In verilated.h, so in all: a word that the runtime itself never reads."""
_COMPILED = ".gch"
_FEW = 3
"""Objects for which compiling their header first does not pay."""


@dataclass(frozen=True)
class Compilation:
    """One object of a build.

    Attributes:
        path: the object.
        key: hash of all that decides its content.
        header: the precompiled header that it is compiled with, without its suffix; its source includes the same text. Empty: none.
    """

    path: Path
    key: str
    header: str


def compilations(listing: str, obj: Path, compiler: str) -> tuple[Compilation, ...]:
    """The compilations of a build, in order.

    Args:
        listing: what `make -n -B` prints in `obj`.
        compiler: its name and version.
    """
    closure = _Closure()
    found: list[Compilation] = []
    for line in listing.splitlines():
        words = line.split()
        if "-c" not in words or not words[-1].endswith(".cpp"):
            continue
        source = (obj / words[-1]).resolve()
        header = words[words.index("-include") + 1] if "-include" in words else ""
        out = words[words.index("-o") + 1] if "-o" in words else f"{source.stem}.o"
        left_out = ("-c", "-o", "-MMD", "-include", out, header)
        flags = [w for w in words[:-1] if not w.startswith("-I") and w not in left_out]
        folders = [(obj / w[2:]).resolve() for w in words if w.startswith("-I")]
        files = list(closure.of(source, folders))
        if not files:
            continue  # make writes it first
        read = set[bytes]().union(*(file.switches for file in files))
        flags = [w for w in flags if not w.startswith(("-DVL_", "-DVM_")) or w[2:].partition("=")[0].encode() in read]
        digest = hashlib.sha256(f"{compiler}\0{' '.join(flags)}\0".encode())
        for file in files:
            digest.update(f"{file.name}\0{len(file.text)}\0".encode() + file.text)
        found.append(Compilation(obj / out, digest.hexdigest()[:32], header))
    return tuple(found)


@dataclass(frozen=True)
class _File:
    """A source or header: its text, what it includes, and the macros of Verilator's that it mentions."""

    name: str
    text: bytes
    included: tuple[str, ...]
    switches: frozenset[bytes]


class _Closure:
    """Files and what they include, each read once."""

    def __init__(self) -> None:
        self._files: dict[Path, _File | None] = {}

    def of(self, source: Path, folders: Sequence[Path]) -> Iterable[_File]:
        """A source and all that it includes out of the folders, in the order in which it meets them."""
        todo, seen = [source], {source}
        while todo:
            path = todo.pop(0)
            file = self._read(path)
            if file is None:
                continue
            yield file
            for name in file.included:
                places = (folder / name for folder in (path.parent, *folders))
                there = next((p for p in places if self._read(p) is not None), None)
                if there is not None and there not in seen:
                    seen.add(there)
                    todo.append(there)

    def _read(self, path: Path) -> _File | None:
        if path not in self._files:
            self._files[path] = None
            with contextlib.suppress(OSError):
                text = path.read_bytes()
                included = tuple(name.decode(errors="replace") for name in _INCLUDE.findall(text))
                self._files[path] = _File(path.name, text, included, frozenset(_SWITCH.findall(_UNREAD.sub(b"", text))))
        return self._files[path]


def place(folder: Path, wanted: Iterable[Compilation], headers: Callable[[Sequence[str]], None]) -> tuple[Compilation, ...]:
    """Put the objects that are kept in `folder` where a build wants them; returns the others.

    headers: compiles precompiled headers. Where few objects are left to compile with one, each reads the text instead: make takes
    the header that stands there as compiled, and the compiler refuses it and includes the text.
    """
    wanted = [c for c in wanted if not c.path.is_file()]  # an interrupted build left the others
    kept = {c: read_sealed(folder / f"{c.key}.o", c.key, "the compiled object") for c in wanted}
    missing = tuple(c for c in wanted if kept[c] is None)
    users = Counter(c.header for c in missing if c.header)
    headers(sorted(f"{header}{_COMPILED}" for header, count in users.items() if count > _FEW))
    for header in {c.header for c in wanted if c.header and users[c.header] <= _FEW}:
        obj = wanted[0].path.parent
        (obj / header).write_text(f'#include "{header.rpartition(".")[0]}"\n')
        (obj / f"{header}{_COMPILED}").touch()
    for c in wanted:
        body = kept[c]
        if body is None:
            continue
        part = c.path.with_suffix(".o.part")
        part.write_bytes(body)
        part.replace(c.path)
        with contextlib.suppress(OSError):
            (folder / f"{c.key}.o").touch()  # it is used
    return missing


def make_sharing(
    folder: Path,
    make: Sequence[str],
    obj: Path,
    environment: Mapping[str, str],
    compiler: str,
    run: Callable[[Sequence[str], int], None],
) -> None:
    """Make what Verilator wrote in `obj`; objects come from `folder` where it has them, and go there.

    Args:
        make: the command, which runs in the folder above `obj`.
        compiler: its name and version.
        run: runs a command that compiles at most so many objects (1 or more), and raises where it fails.
    """
    listing = subprocess.run(
        [*make, "-n", "-B"], cwd=obj.parent, env=environment, capture_output=True, text=True, check=False
    ).stdout
    objects = compilations(listing, obj, compiler)

    def headers(names: Sequence[str]) -> None:
        if names:
            run([*make, *names], max(1, len(objects)))

    missing = place(folder, objects, headers)
    run(make, max(1, len(missing)))
    keep(folder, objects)


def keep(folder: Path, compiled: Iterable[Compilation]) -> None:
    """Keep objects for other builds. A cache that cannot be written is no error."""
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        for c in compiled:
            kept = folder / f"{c.key}.o"
            if not kept.exists():
                write_sealed(kept, c.key, c.path.read_bytes())
