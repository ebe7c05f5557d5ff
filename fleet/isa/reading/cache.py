"""Compiled descriptions on disk: a SystemRDL file is compiled once for its text, not once a command.

What is stored is JSON in a sealed file of fleet's cache, known by the hash of all that it was made from. A description that extends
another is compiled each time: which file the other is depends on what is installed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fleet.core.cache import cache_root
from fleet.core.sealed import read_sealed, remove_unused, write_sealed
from fleet.isa.description import Description, DescriptionError, EnumValue, Field, InstructionWord, MemoryWord, Register, Unit
from fleet.sdk.hardware.state import OnChipMemory

__all__ = ["compiled", "load"]

_HERE = Path(__file__).parent
_MADE_BY = (_HERE.parent / "description.py", *sorted(_HERE.glob("*.py")), _HERE / "fleet_udp.rdl")
_Json = Mapping[str, Any]


def compiled(path: Path) -> Description:
    """What `fleet.isa.reading.rdl.compile_description` gives for an absolute path, from the disk where it is there.

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
        return _decoded(json.loads(kept), path)
    found = _compile(path)
    if found.files == (path,):
        with contextlib.suppress(OSError):
            if _key(path) != key:  # it was written meanwhile: nobody knows which text was compiled
                return found
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_sealed(entry, key, json.dumps(_encoded(found), separators=(",", ":")).encode())
            remove_unused(folder)
    return found


def _compile(path: Path) -> Description:
    from fleet.isa.reading.rdl import compile_description

    return compile_description(path)


@lru_cache(maxsize=1)
def _makers() -> bytes:
    h = hashlib.sha256(f"{version('systemrdl-compiler')} {version('peakrdl-regblock')}".encode())
    for source in _MADE_BY:
        h.update(hashlib.sha256(source.read_bytes()).digest())
    return h.digest()


def _key(path: Path) -> str:
    """SHA-256 (hex) of the file, its place (messages name it) and what compiles it. Raises OSError."""
    return hashlib.sha256(_makers() + f"{path}\0".encode() + path.read_bytes()).hexdigest()


def _encoded(d: Description) -> _Json:
    def names(registers: Sequence[Register | None]) -> list[str | None]:
        return [r and r.name for r in registers]

    return {
        "name": d.name,
        "title": d.title,
        "desc": d.desc,
        "hardware": d.hardware,
        "registers": [asdict(r) for r in d.registers],
        "units": {u.name: names((u.start, u.status, u.result, *u.operands)) for u in d.units.values()},
        "instructions": [asdict(i) for i in d.instructions.values()],
        "memories": [asdict(m) for m in d.memories],
        "state_registers": [asdict(r) for r in d.state_registers],
    }


def _decoded(j: _Json, path: Path) -> Description:
    registers = tuple(_register(r) for r in j["registers"])
    by_name: dict[str | None, Register] = {r.name: r for r in registers}
    units: dict[str, Unit] = {}
    for name, (start, status, result, *operands) in j["units"].items():
        units[name] = Unit(name, tuple(by_name[o] for o in operands), by_name[start], by_name.get(status), by_name.get(result))
    instructions = {i["name"]: _instruction(i) for i in j["instructions"]}
    viewed = (r for i in instructions.values() for r in i.view or ())
    state_registers = tuple(_register(r) for r in j["state_registers"])
    return Description(
        name=j["name"],
        path=path,
        title=j["title"],
        desc=j["desc"],
        registers=registers,
        units=units,
        instructions=instructions,
        hardware=j["hardware"],
        files=(path,),
        memories=tuple(_memory(m) for m in j["memories"]),
        state_registers=state_registers,
        _by_name={r.name: r for r in (*registers, *viewed, *state_registers)},
    )


def _register(j: _Json) -> Register:
    changed: dict[str, Any] = {**j, "fields": tuple(_field(f) for f in j["fields"])}
    return Register(**changed)


def _field(j: _Json) -> Field:
    allowed = None if j["allowed"] is None else tuple(j["allowed"])
    changed: dict[str, Any] = {**j, "allowed": allowed, "encode": tuple(EnumValue(**e) for e in j["encode"])}
    return Field(**changed)


def _memory(j: _Json) -> MemoryWord:
    changed: dict[str, Any] = {**j, "memory": OnChipMemory(**j["memory"])}
    return MemoryWord(**changed)


def _instruction(j: _Json) -> InstructionWord:
    changed: dict[str, Any] = {**j, "view": None if j["view"] is None else tuple(_register(r) for r in j["view"])}
    return InstructionWord(**changed)


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
