"""A manifest that builds on another set's: an `Extension` and its base give one `InstructionSet`; and what `isa add --like` added.

The description says the same with `fleet_extends`: its maps hold the base's registers and instructions, then its own.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fleet.errors import DeviceError
from fleet.isa.checking.finding import class_place
from fleet.isa.reading.cache import load
from fleet.sdk import Extension, InstructionSet, RtlFiles, generated_files, instructions_in, patterns_in
from fleet.sdk.likeness import LikeInstruction, LikeSource, like_coverage, like_sources


def inherited_device(name: str, device: str) -> str:
    """Return the name of a base's device in the set `name`."""
    return f"{name}_{device}"


def extended(extension: Extension, base: InstructionSet) -> InstructionSet:
    """All of the base and all of the extension. Raises DeviceError for an instruction that both have."""
    e = extension
    for name, cls in e.instructions.items():
        if name in base.instructions:
            raise DeviceError(f"instruction '{name}' is one of {base.name} already", where=f"instruction set '{e.name}'")
        if issubclass(cls, LikeInstruction):
            cls.bind(base)
    own = {name: source for name, source in e.conformance.items() if not isinstance(source, LikeSource) or source.there}
    inherited = {
        inherited_device(e.name, d.name): replace(d, name=inherited_device(e.name, d.name), instruction_set=e.name)
        for d in base.devices.values()
    }
    return replace(
        base,
        name=e.name,
        sdk=e.sdk,
        description=e.description,
        instructions={**base.instructions, **e.instructions},
        patterns=(*e.patterns, *base.patterns),
        devices={**inherited, **e.devices},
        rtl=_hardware(base, e.description, e.rtl),
        cases=e.cases,
        sources=(*base.sources, *e.sources),
        conformance={**base.conformance, **own},
        coverage=like_coverage(e.coverage or base.coverage, e.instructions),
        composites=tuple(dict.fromkeys((*base.composites, *e.composites))),
        added=e.added,
    )


def with_added(s: InstructionSet) -> InstructionSet:
    """The set with the instructions of its package `added`. Raises DeviceError for one that it has, or that is like none of it."""
    if not s.added:
        return s
    new = instructions_in(s.added)
    for name, cls in new.items():
        if name in s.instructions or not issubclass(cls, LikeInstruction):
            raise DeviceError(f"instruction '{name}' is not a LikeInstruction, or the set has it already", where=class_place(cls))
        cls.bind(s)
    sources = {name: source for name, source in like_sources(new).items() if source.there}
    return replace(
        s,
        instructions={**s.instructions, **new},
        patterns=(*patterns_in(s.added), *s.patterns),
        conformance={**s.conformance, **sources},
        coverage=like_coverage(s.coverage, new),
    )


def _hardware(base: InstructionSet, description: Path, folder: Path | None) -> RtlFiles | None:
    """The base's files with those of the folder put in their place."""
    if base.rtl is None or folder is None:
        return None
    own = {p.name: p for p in (*sorted((folder / "generated").glob("*")), *sorted(folder.glob("*.sv")))}
    generated = set(generated_files(load(description).hardware))
    missing = [n for n in generated & {p.name for p in base.rtl.written} if n not in own]
    if missing:
        raise DeviceError(f"{missing[0]} is missing", where=str(folder / "generated"), hint="run `python -m fleet.isa.export`")
    first, rest = ([p for p in base.rtl.sources if (p.name in generated) == kind] for kind in (True, False))
    known = {p.name for p in base.rtl.sources}
    new = [p for n, p in own.items() if n not in known and p.suffix == ".sv"]
    return replace(base.rtl, sources=(*(own.get(p.name, p) for p in first), *new, *(own.get(p.name, p) for p in rest)))
