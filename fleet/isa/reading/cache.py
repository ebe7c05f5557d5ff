"""Compiled descriptions on disk: a SystemRDL file is compiled once for its text, not once a command.

What is stored is JSON in a sealed file of fleet's cache, known by the hash of all that it was made from. A description that extends
another is compiled each time: which file the other is depends on what is installed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path

from fleet.core.cache import cache_root
from fleet.core.codec import decode, encode_record
from fleet.core.sealed import code_digest, read_sealed, remove_unused, write_sealed
from fleet.isa.description import Description, DescriptionError, InstructionWord, MemoryWord, Register, Unit

_HERE = Path(__file__).parent
_MADE_BY = (_HERE.parent / "description.py", *sorted(_HERE.glob("*.py")), _HERE / "fleet_udp.rdl")


def compiled(path: Path) -> Description:
    """Return `fleet.isa.reading.rdl.compile_description` of an absolute path, from the cache if it is there.

    Raises DescriptionError.
    """
    try:
        key = _key(path)
        folder = cache_root() / "descriptions"
        entry = folder / f"{path.stem}-{key[:32]}.json"
        kept = read_sealed(entry, key, "the compiled description")
    except (OSError, RuntimeError):  # compiling says what is wrong with the file; without a cache there is nothing to look up
        return _compile(path)
    if kept is not None:
        with contextlib.suppress(OSError):
            entry.touch()  # it is used
        return _decoded(kept, entry, path)
    found = _compile(path)
    if found.files == (path,):
        with contextlib.suppress(OSError):
            if _key(path) != key:  # it was written meanwhile: nobody knows which text was compiled
                return found
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_sealed(entry, key, _encoded(found))
            remove_unused(folder)
    return found


def _compile(path: Path) -> Description:
    from fleet.isa.reading.rdl import compile_description

    return compile_description(path)


@lru_cache(maxsize=1)
def _makers() -> bytes:
    versions = f"{version('systemrdl-compiler')} {version('peakrdl-regblock')}"
    return f"{versions} {code_digest(*map(str, _MADE_BY))}".encode()


def _key(path: Path) -> str:
    """SHA-256 (hex) of the file, its place (messages name it) and what compiles it. Raises OSError."""
    return hashlib.sha256(_makers() + f"{path}\0".encode() + path.read_bytes()).hexdigest()


@dataclass(frozen=True)
class _StoredUnit:
    """A unit, its registers by name."""

    name: str
    start: str
    status: str | None
    result: str | None
    operands: tuple[str, ...]


@dataclass(frozen=True)
class _Stored:
    """A description that extends no other, without its place."""

    name: str
    title: str
    desc: str
    hardware: str
    registers: tuple[Register, ...]
    units: tuple[_StoredUnit, ...]
    instructions: tuple[InstructionWord, ...]
    memories: tuple[MemoryWord, ...]
    state_registers: tuple[Register, ...]


def _encoded(d: Description) -> bytes:
    units = tuple(
        _StoredUnit(u.name, u.start.name, u.status and u.status.name, u.result and u.result.name, tuple(o.name for o in u.operands))
        for u in d.units.values()
    )
    instructions = tuple(d.instructions.values())
    stored = _Stored(d.name, d.title, d.desc, d.hardware, d.registers, units, instructions, d.memories, d.state_registers)
    return json.dumps(encode_record(stored), separators=(",", ":")).encode()


def _decoded(kept: bytes, entry: Path, path: Path) -> Description:
    d = decode(_Stored, json.loads(kept), str(entry), "description")
    by_name: dict[str | None, Register] = {r.name: r for r in d.registers}
    units = {
        u.name: Unit(u.name, tuple(by_name[o] for o in u.operands), by_name[u.start], by_name.get(u.status), by_name.get(u.result))
        for u in d.units
    }
    viewed = (r for i in d.instructions for r in i.view or ())
    return Description(
        name=d.name,
        path=path,
        title=d.title,
        desc=d.desc,
        registers=d.registers,
        units=units,
        instructions={i.name: i for i in d.instructions},
        hardware=d.hardware,
        files=(path,),
        memories=d.memories,
        state_registers=d.state_registers,
        _by_name={r.name: r for r in (*d.registers, *viewed, *d.state_registers)},
    )


_CACHE: dict[Path, tuple[tuple[tuple[int, int], ...], Description]] = {}
"""Path -> when and how large its files were, and what they say."""


def load(path: Path | str) -> Description:
    """Reads and checks a SystemRDL description.

    Returns the same object for an unchanged file. Raises DescriptionError (file:line, one line) for anything wrong in
    it: SystemRDL's own errors, overlapping registers or fields, registers that are no 32-bit words, an address field
    without a space, an instruction of a unit that does not exist, two instructions with one opcode, and so on.
    """
    path = Path(path).resolve()
    known = _CACHE.get(path)
    if known is None or known[0] != _state((path, *known[1].files[1:])):
        found = compiled(path)
        _CACHE[path] = known = _state(found.files), found
    return known[1]


def _state(files: Sequence[Path]) -> tuple[tuple[int, int], ...]:
    try:
        return tuple((s.st_mtime_ns, s.st_size) for s in (f.stat() for f in files))
    except OSError as error:
        raise DescriptionError(f"the description cannot be read ({error.strerror})", where=str(files[0])) from error
