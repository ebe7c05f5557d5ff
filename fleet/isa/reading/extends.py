"""A description that extends another: its address maps hold the other's registers and instructions, then its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from systemrdl.compiler import RDLCompiler
from systemrdl.component import Addrmap, Component

from fleet.errors import FleetError
from fleet.isa.description import DescriptionError
from fleet.isa.installed import entry_point, manifest_of
from fleet.isa.reading.nodes import place_of

Base = tuple[str, Path]


def compile_with_bases(
    compiler: RDLCompiler, path: Path, check: Callable[[Path], None]
) -> tuple[tuple[str, ...], tuple[Base, ...]]:
    """Compiles a file and those that it extends into one compiler, and puts the maps together.

    check: looks at a file before it is compiled. Returns the names of the file's own address maps, and (name of the set, file) of
    what it extends, nearest first. Raises DescriptionError, and the compiler's errors.
    """
    check(path)
    known = set(compiler.root.comp_defs)
    compiler.compile_file(str(path))
    names = tuple(n for n, d in compiler.root.comp_defs.items() if n not in known and isinstance(d, Addrmap))
    maps = _by_kind(compiler, names)
    extending = [
        (n, _value(d, "fleet_extends")) for n in names if (d := compiler.root.comp_defs[n]).properties.get("fleet_extends")
    ]
    if not extending:
        return names, ()
    name, base = extending[0]
    place = place_of(compiler.root.comp_defs[name].def_src_ref) or str(path)
    if len({b for _, b in extending}) > 1 or name != maps.get("registers"):
        raise DescriptionError(f'{name}: fleet_extends stands once, on the map with fleet_map = "registers"', where=place)
    file = _file(str(base), place)
    base_names, further = compile_with_bases(compiler, file, check)
    base_maps = _by_kind(compiler, base_names)
    for kind, own in maps.items():
        if kind in base_maps:
            _merge(compiler.root.comp_defs[own], compiler.root.comp_defs[base_maps[kind]], str(base))
    if "state" in base_maps and "state" not in maps:
        names = (*names, base_maps["state"])
    return names, ((str(base), file), *further)


def _by_kind(compiler: RDLCompiler, names: tuple[str, ...]) -> Mapping[str, str]:
    """fleet_map -> name, of the first map of each kind; a second one is refused where maps are read."""
    found: dict[str, str] = {}
    for name in names:
        found.setdefault(str(_value(compiler.root.comp_defs[name], "fleet_map")), name)
    return found


def _value(component: Component, prop: str) -> Any:
    literal: Any = component.properties.get(prop)
    return literal.get_value() if hasattr(literal, "get_value") else literal


def _file(base: str, place: str) -> Path:
    try:
        return manifest_of(entry_point(base)).description.resolve()
    except FleetError as error:
        raise DescriptionError(f"fleet_extends names '{base}': {error}", where=place) from error


def _merge(own: Component, base: Component, name: str) -> None:
    there = {child.inst_name: child for child in base.children}
    for child in own.children:
        if child.inst_name in there:
            place = place_of(child.inst_src_ref) or place_of(child.def_src_ref)
            raise DescriptionError(f"{child.inst_name}: {name} has it already", where=place)
    own.children = [*base.children, *own.children]
