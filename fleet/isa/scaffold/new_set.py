"""`fleet isa new`: a whole instruction set of one instruction, that works at once."""

from __future__ import annotations

import keyword
import re
import sys
from pathlib import Path

from fleet.errors import DeviceError
from fleet.isa.export import export
from fleet.isa.generate.modules import python_modules
from fleet.isa.reading.cache import load
from fleet.isa.scaffold.operations import OPERATIONS
from fleet.isa.scaffold.render import render, render_folder, write_all

FIRST_OPCODE = 0x21
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def check_new_name(name: str, what: str) -> None:
    """Raises DeviceError for a name that cannot be one of a package, a module, a SystemVerilog package and a register."""
    from peakrdl_regblock.identifier_filter import SV_KEYWORDS

    if not _NAME.fullmatch(name):
        raise DeviceError(f"{what} names are lower case words joined by single underscores", where=name)
    if keyword.iskeyword(name) or name in SV_KEYWORDS or name in sys.stdlib_module_names:
        raise DeviceError("is a keyword or a standard module of Python or a keyword of SystemVerilog", where=name)


def new_set(name: str, folder: Path, instruction: str = "", operation: str = "add") -> list[Path]:
    """Writes `folder/<name>/` and what is generated from its description; returns the files.

    instruction: the name of its one instruction, default "v<operation>"; operation: one of `OPERATIONS`.
    Raises DeviceError for names that cannot be used or are taken, FleetError for files that are there.
    """
    instruction = instruction or f"v{operation}"
    check_new_set(name)
    check_new_name(instruction, "instruction")
    if instruction in ("vec", name):
        raise DeviceError("is the name of the unit or of the set", where=instruction)
    values = {
        "name": name, "home": name, "instruction": instruction, "op": OPERATIONS[operation], "start": 1, "opcode": FIRST_OPCODE,
    }  # fmt: skip
    parts = {key: render(f"instruction/{file}", values) for key, file in (("word", "word.rdl.j2"), ("lane", "lane.sv.j2"))}
    texts = render_folder("set", {**values, **parts})
    for kind in ("semantics", "lowering"):
        texts[f"{name}/{kind}/{instruction}.py"] = render(f"instruction/{kind}.py.j2", values)
    home = folder / name
    files = write_all(home, texts)
    rdl = home / name / f"{name}.rdl"
    return [*files, *write_modules(rdl), *export(rdl, home / name / "rtl" / "generated")]


def write_modules(rdl: Path) -> list[Path]:
    """Writes the Python modules of a new description beside it."""
    return write_all(rdl.parent, python_modules(load(rdl)))


def check_new_set(name: str) -> None:
    """Raises DeviceError for a name that cannot be a set's, or that a set or a Python package has."""
    import importlib.util

    from fleet.isa.registry import broken, instruction_sets

    check_new_name(name, "set")
    if name in instruction_sets() or name in broken():
        raise DeviceError("an instruction set of this name is installed", where=name, hint="choose another name")
    found = importlib.util.find_spec(name)
    if found is not None and found.origin is not None:
        raise DeviceError(f"a Python package of this name is installed ({found.origin})", where=name, hint="choose another name")
