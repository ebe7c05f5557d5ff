"""Finds instruction sets: every entry point of the group `fleet.instruction_sets`, loaded when first asked for.

A plug-in that cannot be loaded breaks nothing but itself: it is left out of `instruction_sets`, with one line on standard error.
`broken` says why, and so does looking for one of its devices.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from importlib.metadata import EntryPoint

from fleet.core.notice import notice
from fleet.core.plugins import installed, raised_by_code
from fleet.core.toml_places import place
from fleet.errors import DeviceError, FleetError, ModelError
from fleet.isa.checking.finding import class_place
from fleet.isa.closure import semantics_files
from fleet.isa.extending import extended, with_added
from fleet.isa.generate.operands import differs
from fleet.isa.installed import GROUP, PluginError, entry_point, manifest_of, point_place, reason_of, set_place
from fleet.isa.manifest_check import raised_at, wrong_kinds
from fleet.isa.reading.cache import load
from fleet.isa.variants import MARK, changes_of, variant
from fleet.sdk import Device, Extension, InstructionSet, State

_CACHE: dict[tuple[str, ...], tuple[dict[str, InstructionSet], dict[str, FleetError]]] = {}
_TOLD: set[str] = set()


def instruction_sets(*, tell: bool = True) -> dict[str, InstructionSet]:
    """Name -> every instruction set that is installed and whole, ascending by name.

    tell: print a notice of each one left out, once a process; False for a caller that shows `broken`.
    """
    good, bad = _load_all()
    if tell:
        _tell(bad)
    return dict(good)


def broken() -> dict[str, FleetError]:
    """Entry point name -> why it could not be loaded, for every instruction set left out of `instruction_sets`."""
    return dict(_load_all()[1])


def find_instruction_set(name: str) -> InstructionSet:
    """The instruction set of that name. Raises what is wrong with it, or DeviceError when none has the name."""
    good, bad = _load_all()
    _tell({other: error for other, error in bad.items() if other != name})
    if name in good:
        return good[name]
    if name in bad:
        raise bad[name]
    raise DeviceError(f"no instruction set '{name}'", hint=_installed(good, bad))


def load_one(name: str) -> InstructionSet:
    """The instruction set of that name, without looking at any other: for sets that build on it while they are loaded themselves.

    Raises PluginError when it is not installed or cannot be loaded.
    """
    return _load(entry_point(name))


def device_names() -> tuple[str, ...]:
    """Return the devices of the installed instruction sets."""
    return tuple(name for s in instruction_sets(tell=False).values() for name in s.devices)


def find_device(name: str) -> tuple[InstructionSet, Device]:
    """The device of that name and its instruction set; "hbm_small@Tin=128" is a variant (`fleet.isa.variants`).

    Raises DeviceError naming what there is, or the rule that a variant breaks.
    """
    base, mark, changes = str(name).partition(MARK)  # dlavm passes on what its user gave
    if mark:
        instruction_set, device = find_device(base)
        return instruction_set, variant(device, changes_of(changes, name))
    good, bad = _load_all()
    found = [(s, s.devices[name]) for s in good.values() if name in s.devices]
    if len(found) > 1:
        owners = " and ".join(f"'{s.name}' ({d.path})" for s, d in found)
        raise DeviceError(f"device '{name}' belongs to {owners}", hint="rename one of the device files")
    if not found:
        devices = ", ".join(sorted(d for s in good.values() for d in s.devices)) or "none"
        problems = "".join(f"; left out: {error}" for error in bad.values())
        raise DeviceError(f"no device '{name}'", hint=f"known devices: {devices}{problems}")
    _tell(bad)
    return found[0]


def description_hash(instruction_set: InstructionSet, device: Device) -> str:
    """SHA-256 (hex) over the canonical description, the semantics and the device's values.

    Titles, prose and file places of the description do not enter. Of the semantics it is every byte of `InstructionSet.sources`, of
    the classes' files and of all that they import (`fleet.isa.closure`). The hardware's `DescHash` is the first 32 bits.

    Raises PluginError if a source cannot be read.
    """
    h = hashlib.sha256(load(instruction_set.description).canonical().encode())
    try:
        for member in semantics_files(instruction_set):
            text = member.read()
            h.update(f"source {member.name} {len(text)}\n".encode() + text)
    except ModelError as error:
        raise PluginError(error.what, where=error.where, hint=f"instruction set '{instruction_set.name}' is made of it") from error
    h.update(_values(device))
    return h.hexdigest()


def interface_hash(instruction_set: InstructionSet, device: Device) -> str:
    """SHA-256 (hex) over the canonical description and the device's values: what a call means, not what it does.

    For what compares the results themselves; everything else is held by `description_hash`.
    """
    return hashlib.sha256(load(instruction_set.description).canonical().encode() + _values(device)).hexdigest()


def _values(device: Device) -> bytes:
    """The device as it enters hashes."""
    lines = [f"device {device.name} clock_mhz={device.clock_mhz!r}\n"]
    for part, table in (("parameters", device.parameters), ("memory", device.memory), ("limits", device.limits)):
        lines += [f"{part}.{key}={table[key]!r}\n" for key in sorted(table)]
    return "".join(lines).encode()


def check_binding(instruction_set: InstructionSet) -> None:
    """Refuses (PluginError, naming both sides) a manifest whose classes, description and devices disagree."""
    s = instruction_set
    description = load(s.description)
    owner = f"instruction set '{s.name}'"
    if description.name != s.name:
        raise PluginError(f"its description {s.description.name} is that of '{description.name}'", where=f"{s.description}:1")
    classes, words = set(s.instructions), set(description.instructions)
    # The fetch of a binary is not a task of a stream: nothing executes it.
    needed = {w.name for w in description.instructions.values() if not w.fetch}
    if not needed <= classes <= words:
        only_python, only_rdl = sorted(classes - words), sorted(needed - classes)
        parts = [f"classes without a description: {', '.join(only_python)}"] if only_python else []
        parts += [f"described without a class: {', '.join(only_rdl)}"] if only_rdl else []
        at = class_place(s.instructions[only_python[0]]) if only_python else description.instructions[only_rdl[0]].where
        at = at if ":" in at else f"{s.description}:1"  # of a class that no file has
        raise PluginError(f"{owner}: Python and {s.description.name} disagree: {'; '.join(parts)}", where=at)
    for name, cls in s.instructions.items():
        if cls.name != name:
            what = f"{owner}: class {cls.__name__} calls itself '{cls.name}', the manifest '{name}'"
            raise PluginError(what, where=class_place(cls))
        registers = {r.name for r in description.state_registers}
        if unknown := [n for n in cls.uses if n not in registers]:
            what = f"{owner}: class {cls.__name__} uses '{unknown[0]}', which is no state register of {s.description.name}"
            raise PluginError(what, where=class_place(cls))
        if cls.operands is not None and (other := differs(description, name, cls.operands)):
            what = f"{owner}: {s.description.name} and the operands of {cls.__name__} disagree: {other}"
            raise PluginError(what, where=class_place(cls.operands), hint=f"run `fleet isa generate {s.description}`")
    for name, device in s.devices.items():
        if device.state != description.state:
            what = f"{owner}: device '{name}' has {_state(device.state)}, {s.description.name} has {_state(description.state)}"
            hint = f"run `fleet isa generate {s.description}` and give load_devices the STATE of state.py"
            raise PluginError(what, where=place(device.path, "memories"), hint=hint)
        if device.name != name or device.instruction_set != s.name:
            what = f"{owner}: device '{name}' is '{device.name}' of set '{device.instruction_set}'"
            raise PluginError(what, where=place(device.path, "name"))
    for word in description.instructions.values():
        for register in description.words(word.name):
            for f in register.fields:
                without = [d for d in s.devices.values() if f.space is not None and f.space not in (*d.arrays, *d.memory)]
                if without:
                    what = f"{owner}: {register.name} is an address in {f.space}, device '{without[0].name}' has no such memory"
                    raise PluginError(what, where=place(without[0].path, f"memory.{f.space}"))
    missing = [p for p in (*s.sources, *(s.rtl.written if s.rtl else ())) if not p.is_file()]
    if missing:
        raise PluginError(f"file {missing[0]} does not exist", where=f"{s.description}:1", hint=f"the manifest of {owner} names it")


def _state(state: State) -> str:
    """In words: "memories acc (<i4 x Block), registers stride = 0x4", or "no state"."""
    memories = [
        f"{m.name} ({m.dtype} x {m.columns}{f' x {m.banks} banks' if m.banks > 1 else ''}{'' if m.undefined else ', zeros'})"
        for m in state.memories
    ]
    registers = [f"{r.name} = {r.reset:#x}" for r in state.registers]
    parts = [f"{word} {', '.join(names)}" for word, names in (("memories", memories), ("registers", registers)) if names]
    return ", ".join(parts) or "no state"


def _tell(left_out: Mapping[str, FleetError]) -> None:
    for name, error in left_out.items():
        if name not in _TOLD:
            _TOLD.add(name)
            notice(f"instruction set {name} is left out: {error}")


def _load_all() -> tuple[dict[str, InstructionSet], dict[str, FleetError]]:
    # What is installed depends on the import path; a test (or a notebook) that adds a folder must see it.
    key = tuple(sys.path)
    if key not in _CACHE:
        good: dict[str, InstructionSet] = {}
        bad: dict[str, FleetError] = {}
        for point in sorted(installed(GROUP), key=lambda p: p.name):
            if point.name in good and _same(point, good[point.name]):
                continue
            try:
                if point.name in good:
                    raise PluginError("a second plug-in of this name is installed", where=point_place(point))
                good[point.name] = _load(point)
            except FleetError as error:
                bad[point.name] = error
        _CACHE[key] = good, bad
    return _CACHE[key]


def _same(point: EntryPoint, loaded: InstructionSet) -> bool:
    """One distribution seen twice on the import path (an editable install and its folder)."""
    try:
        return point.load().description == loaded.description
    except BaseException as error:  # the same module failed to load: a second line would say nothing new
        if not raised_by_code(error):
            raise
        return True


def _load(point: EntryPoint) -> InstructionSet:
    manifest = manifest_of(point)
    if isinstance(manifest, Extension):
        try:
            manifest = extended(manifest, load_one(manifest.base))
        except FleetError as error:
            raise error if error.where else PluginError(str(error), where=set_place(point)) from error
    wrong = next(wrong_kinds(manifest), None)
    if wrong is not None:
        raise PluginError(f"instruction set '{point.name}': {wrong}", where=set_place(point))
    try:
        manifest = with_added(manifest)
        check_binding(manifest)
    except FleetError as error:
        raise error if error.where else PluginError(str(error), where=set_place(point)) from error
    except BaseException as error:
        if not raised_by_code(error):
            raise
        what = f"instruction set '{point.name}': its manifest is not usable ({reason_of(error)})"
        raise PluginError(what, where=raised_at(point, error) or set_place(point)) from error
    return manifest


def _installed(good: Mapping[str, InstructionSet], bad: Mapping[str, FleetError]) -> str:
    return f"installed: {', '.join(sorted((*good, *bad))) or 'none'}"
