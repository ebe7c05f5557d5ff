"""VHDL in a design's sources: ghdl's synthesis makes Verilog of it, which takes its place.

Each entity that no other VHDL instantiates is made whole, in one text that the cache keeps. Signals that nothing reads vanish
on the way; a path of observe.toml that names one is refused as any path that is not there.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fleet.adopt import ghdl_verilog
from fleet.adopt.filelist import Sources
from fleet.adopt.ghdl_verilog import GhdlOutputs, mended
from fleet.core.files import write_atomically
from fleet.core.scratch import Scratch
from fleet.core.sealed import code_digest
from fleet.engines.rtl_sim.cache import cache_folder
from fleet.engines.rtl_sim.tools import GHDL_HINT
from fleet.errors import DeviceError, SetupError

_SECONDS = 300
_OPTIONS = ("--std=08", "-fsynopsys", "--no-formal")
"""Without assertions: each would end the simulation, before the reset and with severity `warning`, too."""
_ENTITY = re.compile(r"^\s*entity\s+(\w+)\s+is\b", re.I | re.M)
_PORT_OF = r"\bentity\s+\w+\.({})\b|^\s*component\s+({})\b"
_COMMENT = re.compile(r"--[^\n]*")
_ERROR = re.compile(r"^(\S+?):(\d+):\d+:(?:error:)? ?(.*)$")


def with_verilog(sources: Sources, top: str, parameters: Mapping[str, str]) -> tuple[Sources, Mapping[str, str]]:
    """The sources with Verilog in place of their VHDL, and the parameters that are left: those of a VHDL top are in the text.

    top: name of the top module, "" if it is not named. Raises SetupError if ghdl is not installed, DeviceError for what it does not
    read.
    """
    if not sources.vhdl:
        return sources, parameters
    program = shutil.which("ghdl")
    if program is None:
        raise SetupError(f"`ghdl` is needed for VHDL ({sources.vhdl[0].name}) and was not found", hint=GHDL_HINT)
    texts = {path: _COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace")) for path in sources.vhdl}
    entities = list(dict.fromkeys(name.lower() for text in texts.values() for name in _ENTITY.findall(text)))
    if not entities:
        raise DeviceError("there is no entity in the VHDL", where=str(sources.vhdl[0]))
    whole = "\n".join(texts.values())
    names = "|".join(entities)
    inside = {name.lower() for found in re.findall(_PORT_OF.format(names, names), whole, re.I | re.M) for name in found if name}
    roots = [name for name in entities if name not in inside]
    wanted = (top or sources.top).lower()
    if wanted in entities:
        roots = [wanted]
    mine = parameters if wanted in entities or (not sources.files and len(roots) == 1) else {}
    made = [_made(program, sources.vhdl, name, mine) for name in roots]
    left = {name: value for name, value in parameters.items() if name not in mine}
    return replace(sources, files=(*made, *sources.files), vhdl=()), left


def made_folder() -> Path:
    """The folder of the Verilog that was made of VHDL."""
    return cache_folder().parent / "vhdl"


def _made(program: str, files: Sequence[Path], entity: str, generics: Mapping[str, str]) -> Path:
    """The Verilog of an entity, from the cache or made now."""
    words = [*_OPTIONS, *(f"-g{name}={value}" for name, value in generics.items())]
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout.partition("\n")[0]
    digest = hashlib.sha256("\0".join([version, entity, *words]).encode())
    digest.update(code_digest(ghdl_verilog.__file__).encode())  # what mends the text decides it, too
    for path in files:
        digest.update(f"\0{path.name}\0".encode() + path.read_bytes())
    kept = made_folder() / digest.hexdigest()[:32] / f"{entity}.v"
    if kept.is_file():
        return kept
    with Scratch("vhdl") as work:

        def written(language: str) -> str:
            command = [program, "synth", *words, f"--out={language}", *map(str, files), "-e", entity]
            try:
                done = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False, timeout=_SECONDS)
            except subprocess.TimeoutExpired:
                raise DeviceError(f"ghdl took more than {_SECONDS} s", where=entity) from None
            if done.returncode or not done.stdout.strip():
                raise _refused(entity, done.stderr)
            return done.stdout

        text = mended(GhdlOutputs(version, entity, written("verilog"), written))
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(kept, text.encode())
    return kept


def _refused(entity: str, said: str) -> DeviceError:
    """The first complaint of ghdl, with its place."""
    for line in said.splitlines():
        found = _ERROR.match(line)
        if found is not None and not found[3].startswith(("note:", "warning:")):
            return DeviceError(f"ghdl does not synthesise it: {found[3].strip()}", where=f"{found[1]}:{found[2]}")
    if "GHDL Bug" in said:
        return DeviceError(
            "ghdl crashes on it, a bug of ghdl's", where=entity, hint="leave out parts of the VHDL to find the statement"
        )
    first = next((line for line in said.splitlines() if line.strip(" *")), "no message")
    return DeviceError(f"ghdl does not synthesise it: {first.strip()}", where=entity)
