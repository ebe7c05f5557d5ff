"""`fleet isa add`: one more instruction. At most five files are touched, and they are all written or none is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fleet.core.files import write_atomically
from fleet.errors import DeviceError, FleetError
from fleet.isa.checking.files import generated_folder
from fleet.isa.description import Description
from fleet.isa.export import export
from fleet.isa.generate.modules import generated_modules, python_modules
from fleet.isa.generate.operands import OPERANDS_FILE
from fleet.isa.installed import entry_point
from fleet.isa.manifest_check import manifest_file
from fleet.isa.reading.cache import load
from fleet.isa.registry import find_instruction_set
from fleet.isa.scaffold.hardware import with_like
from fleet.isa.scaffold.home import UNIT, home_of
from fleet.isa.scaffold.kinds import exemplar
from fleet.isa.scaffold.new_set import FIRST_OPCODE, check_new_name
from fleet.isa.scaffold.operations import OPERATIONS
from fleet.isa.scaffold.render import camel, render
from fleet.sdk import InstructionSet

_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|[{}]', re.S)
_IS_INSTRUCTIONS = re.compile(r'fleet_map\s*=\s*"instructions"')
_DEFAULT = "      default: ;\n"
_MANIFEST = re.compile(r"^\w+\b.*= (?:InstructionSet|Extension)\(\n", re.M)


@dataclass(frozen=True)
class Added:
    """touched: files that are edited by people; generated: files made again from the description."""

    touched: tuple[Path, ...]
    generated: tuple[Path, ...]


def add_instruction(set_name: str, name: str, operation: str = "", like: str = "", kind: str = "") -> Added:
    """Adds instruction `name` to an installed set, to begin with computing `operation`, or doing what instruction `like` does.

    The first is for sets of the template's unit; the second for any set, where its own hardware decides by the instructions'
    constants (`with_like`); kind: one of `KINDS`, like the first instruction of that kind. Raises DeviceError for a set that is
    neither, a name that is taken, or a hardware file without the place for it; FleetError where a file is there or cannot be
    written. Then nothing has changed.
    """
    found = find_instruction_set(set_name)
    d = load(found.description)
    check_new_name(name, "instruction")
    if name in d.instructions or name in d.units:
        raise DeviceError(f"'{name}' is an instruction or a unit already", where=set_name)
    texts = _computing(found, d, name, operation) if operation else _as_like(found, d, name, like or exemplar(found, kind))
    return Added(tuple(texts), _written(found, texts))


def _computing(found: InstructionSet, d: Description, name: str, operation: str) -> dict[Path, str]:
    home = home_of(found)
    if home is None:
        raise DeviceError("its instructions are not those of the vector template: say --like or --kind, not --op", where=found.name)
    if OPERANDS_FILE not in {p.name for p in generated_modules(d)}:
        raise DeviceError(
            "operands.py is not generated, the new instruction needs its class there", where=found.name,
            hint=f"`fleet isa generate {found.name}`",
        )  # fmt: skip
    mine = [i for i in d.instructions.values() if i.unit == UNIT]
    opcodes = {i.opcode for i in d.instructions.values()}
    free = next((o for o in range(FIRST_OPCODE, 256) if o not in opcodes), None)
    if free is None:
        raise DeviceError("all opcodes are taken", where=found.name)
    values = {
        "name": home.folder.name, "home": home.package, "instruction": name, "op": OPERATIONS[operation],
        "start": 1 + max((i.start for i in mine), default=0), "opcode": free,
    }  # fmt: skip
    rdl = found.description.resolve()
    texts = {
        rdl: _with_word(rdl, render("instruction/word.rdl.j2", values)),
        home.folder / "semantics" / f"{name}.py": render("instruction/semantics.py.j2", values),
        home.folder / "lowering" / f"{name}.py": render("instruction/lowering.py.j2", values),
    }
    if home.lanes is not None:
        texts[home.lanes] = _with_lane(home.lanes, render("instruction/lane.sv.j2", values), home.folder)
    return texts


def _as_like(found: InstructionSet, d: Description, name: str, like: str) -> dict[Path, str]:
    if like not in found.instructions:
        raise DeviceError(f"has no '{like}': --like takes one of {', '.join(found.instructions)}", where=found.name)
    place = manifest_file(entry_point(found.name))
    assert place is not None, "its manifest was imported"
    manifest, package = place
    word = d.instructions[like]
    register = d.units[word.unit].start
    opcodes = {i.opcode for i in d.instructions.values()}
    alike = all(i.opcode == i.start for i in d.instructions.values() if i.unit == word.unit)  # hardware may take one for the other
    starts = [s for s in range(FIRST_OPCODE, 256) if s not in opcodes] if alike else range(1, 1 << 16)
    start = next((s for s in starts if _is_free(d, word.unit, s, word.start_optional)), None)
    opcode = start if alike else next((o for o in range(FIRST_OPCODE, 256) if o not in opcodes), None)
    if start is None or opcode is None:
        raise DeviceError(f"no opcode or value of {register.name} is left", where=found.name)
    view = word.view or ()
    values = {
        "base": found.name, "instruction": name, "like": like, "unit": word.unit, "opcode": opcode, "start": start, "view": view,
        "enumerations": list({f.enumeration: f.encode for r in view for f in r.fields if f.enumeration}.items()),
        "start_register": register.name, "optional": word.start_optional, "like_start": word.start, "beats": word.beats,
        "names": [(f"{name}_{r.local_name}", r.name) for r in view],
    }  # fmt: skip
    texts = {d.path: _with_word(d.path, render("like/word.rdl.j2", values)), **_hardware(found, d, name, like)}
    texts[manifest.parent / "added" / f"{name}.py"] = render("like/added.py.j2", values)
    if not found.added:
        texts[manifest] = _with_part(manifest, f"{package}.added")
        texts[manifest.parent / "added" / "__init__.py"] = '"""One module an instruction that begins as another."""\n'
    return texts


def _hardware(found: InstructionSet, d: Description, name: str, like: str) -> dict[Path, str]:
    """The set's own files that know `like`. Those of the set that it extends stay as they are, and refuse the new instruction."""
    folder, made = d.path.resolve().parent, generated_folder(found)
    files = [p for p in (found.rtl.written if found.rtl else ()) if p.parent != made]
    own = {p: p.read_text(encoding="utf-8") for p in files if p.resolve().is_relative_to(folder)}
    new = {p: edited for p, text in own.items() if (edited := with_like(text, like, name, str(p))) != text}
    if files and not new and d.extends is None:
        raise DeviceError(
            f"no file of its hardware below {folder} decides by Start{camel(like)} or Op{camel(like)}", where=found.name,
            hint=f"`fleet isa new NAME --extends {found.name}` makes a set with room for it",
        )  # fmt: skip
    return new


def _with_part(manifest: Path, package: str) -> str:
    """The manifest with the package named in it."""
    text = manifest.read_text(encoding="utf-8")
    edited, times = _MANIFEST.subn(rf'\g<0>    added="{package}",\n', text)
    if times != 1:
        what = f'has no line that ends with "InstructionSet(" and nothing else behind it, or several: add added="{package}" to it'
        raise DeviceError(what, where=str(manifest))
    return edited


def _is_free(d: Description, unit: str, value: int, optional: int) -> bool:
    """True if a unit's start register takes the value, and it starts no instruction with any of the optional bits."""
    register = d.units[unit].start
    if (
        value & optional
        or value & ~register.mask
        or any(f.allowed is not None and f.get(value) not in f.allowed for f in register.fields)
    ):
        return False
    both = ((i.start, ~(optional | i.start_optional)) for i in d.instructions.values() if i.unit == unit)
    return not any(value & mask == start & mask for start, mask in both)


def _with_word(rdl: Path, word: str) -> str:
    text = rdl.read_text(encoding="utf-8")
    end = instructions_end(text, rdl)
    line = text.rfind("\n", 0, end) + 1
    at = end if text[line:end].strip() else line  # in front of the line that the brace stands on alone
    return text[:at].rstrip() + "\n" + word.rstrip() + "\n" + text[at:]


def instructions_end(text: str, path: Path) -> int:
    """Index of the brace that closes the instruction map. Raises DeviceError if the file has none."""
    depth, begin = 0, 0
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            begin = token.end() if depth == 0 else begin
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if depth == 0 and _IS_INSTRUCTIONS.search(text, begin, token.start()):
                return token.start()
    raise DeviceError('has no addrmap with fleet_map = "instructions"', where=f"{path}:1")


def _with_lane(lanes: Path, branch: str, folder: Path) -> str:
    if not lanes.resolve().is_relative_to(folder):
        raise DeviceError(f"is not in {folder}", where=str(lanes), hint="copy it into the folder rtl of the set")
    text = lanes.read_text(encoding="utf-8")
    if text.count(_DEFAULT) != 1:
        raise DeviceError(
            f"the line '{_DEFAULT.strip()}' of the case over mode_i stands there {text.count(_DEFAULT)} times, expected once",
            where=str(lanes),
        )
    return text.replace(_DEFAULT, branch + _DEFAULT)


def _written(instruction_set: InstructionSet, texts: Mapping[Path, str]) -> tuple[Path, ...]:
    """Writes all of them and what is generated; where that fails everything is put back."""
    for path in texts:
        if path.parent.name in ("semantics", "lowering", "added") and path.exists():
            raise FleetError("is already there", where=str(path), hint="choose another name")
    modules = generated_modules(load(instruction_set.description))
    before = {p: p.read_bytes() if p.exists() else None for p in (*texts, *modules)}
    folder = generated_folder(instruction_set)
    try:
        for path, text in texts.items():
            write_atomically(path, text.encode())
        current = python_modules(load(instruction_set.description))
        for path in modules:
            write_atomically(path, current[path.name].encode())
        return (*modules, *(export(instruction_set.description, folder) if folder is not None else ()))
    except BaseException:
        for path, data in before.items():
            if data is None:
                path.unlink(missing_ok=True)
            else:
                write_atomically(path, data)
        raise
