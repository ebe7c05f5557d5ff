"""A manifest that builds on another set's, perhaps in another package: `extend` gives what the base has and what is new.

The description says the same with `fleet_extends`: its maps hold the base's registers and instructions, then its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from fleet.errors import DeviceError
from fleet.isa.contract import Device, Instruction, InstructionSet, RtlFiles
from fleet.isa.description import load
from fleet.isa.export import file_names
from fleet.isa.registry import load_one

if TYPE_CHECKING:
    from fleet.isa.lowering import Pattern

__all__ = ["extend", "inherited_device"]


def inherited_device(name: str, device: str) -> str:
    """What a set called `name` calls a device of its base."""
    return f"{name}_{device}"


def extend(
    base: str,
    *,
    name: str,
    description: Path,
    instructions: Mapping[str, type[Instruction]],
    patterns: Sequence[Pattern] = (),
    rtl: Path | None = None,
    devices: Mapping[str, Device] | None = None,
    cases: Path | None = None,
    sources: Sequence[Path] = (),
    extra: Mapping[str, Any] | None = None,
    composites: Sequence[str] = (),
) -> InstructionSet:
    """The manifest of a set that adds to an installed one.

    Args:
        base: name of the set that it extends, as the description's fleet_extends has it.
        name, description, cases: as in `InstructionSet`.
        instructions, patterns, sources, extra, composites: the new ones; the base's are there too. New patterns are tried first; of
            two tables in `extra` under one key the entries are put together.
        rtl: a folder: its .sv files (also in `generated/`) take the place of the base's of the same name; others are compiled after
            the generated ones. None: no hardware yet (the base's carries another description's hash, so it would not run).
        devices: further ones; every device of the base is there as "<name>_<device>".

    Layout, loader and tasks are the base's. Raises PluginError when the base is not installed, DeviceError for a name that it has.
    """
    below = load_one(base)
    for instruction in instructions:
        if instruction in below.instructions:
            raise DeviceError(f"instruction '{instruction}' is one of {base} already", where=f"instruction set '{name}'")
    inherited = {
        inherited_device(name, d.name): replace(d, name=inherited_device(name, d.name), instruction_set=name)
        for d in below.devices.values()
    }
    return replace(
        below,
        name=name,
        description=description,
        instructions={**below.instructions, **instructions},
        patterns=(*patterns, *below.patterns),
        devices={**inherited, **(devices or {})},
        rtl=_hardware(below, description, rtl),
        cases=cases,
        sources=(*below.sources, *sources),
        extra=_extra(below.extra, extra or {}),
        composites=tuple(dict.fromkeys((*below.composites, *composites))),
    )


def _extra(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    both = {**base, **own}
    for key in base.keys() & own.keys():
        if isinstance(base[key], Mapping) and isinstance(own[key], Mapping):
            both[key] = {**cast("Mapping[str, Any]", base[key]), **cast("Mapping[str, Any]", own[key])}
    return both


def _hardware(base: InstructionSet, description: Path, folder: Path | None) -> RtlFiles | None:
    """The base's files with those of the folder put in their place."""
    if base.rtl is None or folder is None:
        return None
    own = {p.name: p for p in (*sorted((folder / "generated").iterdir()), *sorted(folder.glob("*.sv")))}
    generated = set(file_names(load(description).hardware))
    missing = [n for n in generated & {p.name for p in base.rtl.sources} if n not in own]
    if missing:
        raise DeviceError(f"{missing[0]} is missing", where=str(folder / "generated"), hint="run `python -m fleet.isa.export`")
    first, rest = ([p for p in base.rtl.sources if (p.name in generated) == kind] for kind in (True, False))
    known = {p.name for p in base.rtl.sources}
    new = [p for n, p in own.items() if n not in known and p.suffix == ".sv"]
    return replace(base.rtl, sources=(*(own.get(p.name, p) for p in first), *new, *(own.get(p.name, p) for p in rest)))
