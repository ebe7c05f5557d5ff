"""`python -m fleet.isa.properties [--check]`: the table of all properties in docs/instruction-sets.md, out of `fleet_udp.rdl`.

The values that a property may have are those that the reader of descriptions holds it to.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.errors import FleetError
from fleet.ir.tables import write_page
from fleet.isa.description import FETCH_WORDS, KINDS, MAPS, SPACES
from fleet.isa.reading.rdl import UDP_FILE
from fleet.isa.reading.state import RESETS

_VALUES: Mapping[str, Sequence[str]] = {
    "fleet_map": MAPS,
    "fleet_kind": KINDS,
    "fleet_space": SPACES,
    "fleet_fetch_word": FETCH_WORDS,
    "fleet_reset": RESETS,
}
_DEFINITION = re.compile(r"((?:^//[^\n]*\n)+)^property (\w+) \{ component = (\w+); type = ([\w \[\]]+); \};$", re.M)
_LABEL = re.compile(r"^(on|default|example): (.+)$")


@dataclass(frozen=True)
class Property:
    """One property. component, type: of SystemRDL; on: which of these components it stands on; example: as it is written."""

    name: str
    component: str
    type: str
    meaning: str
    on: str
    default: str
    example: str


def properties(text: str) -> tuple[Property, ...]:
    """Return the properties that a text like `fleet_udp.rdl` defines, in its order. Raises FleetError if one lacks a part."""
    found: list[Property] = []
    for comment, name, component, kind in _DEFINITION.findall(text):
        lines = [line.removeprefix("//").strip() for line in comment.splitlines()]
        labels = {m[1]: m[2] for line in lines if (m := _LABEL.match(line))}
        meaning = " ".join(line for line in lines if not _LABEL.match(line))
        missing = [label for label in ("on", "default", "example") if label not in labels] or ["meaning"] * (not meaning)
        if missing:
            raise FleetError(f"{name}: the comment in front of it does not say `{missing[0]}`", where=UDP_FILE.name)
        found.append(Property(name, component, kind, meaning, **labels))
    silent = set(re.findall(r"^\s*property (\w+)", text, re.M)) - {p.name for p in found}
    if silent:
        raise FleetError(f"{min(silent)}: no comment in front of it, or not written in one line", where=UDP_FILE.name)
    return tuple(found)


def properties_table() -> str:
    """Every property."""
    rows = ["| property | stands on | type | meaning | default | example |", "|---|---|---|---|---|---|"]
    return "\n".join([*rows, *map(_row, properties(UDP_FILE.read_text(encoding="utf-8")))]) + "\n"


def _row(p: Property) -> str:
    values = ", ".join(f"`{v}`" for v in _VALUES.get(p.name, ()))
    meaning = f"{p.meaning.removesuffix('.')}: {values}" if values else p.meaning.removesuffix(".")
    return f"| `{p.name}` | {p.on} | {p.type} | {meaning} | {p.default} | `{p.example}` |"


def main(arguments: Sequence[str]) -> int:
    """In the repository's root."""
    return write_page(Path("docs/instruction-sets.md"), {"properties": properties_table()}, "--check" in arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
