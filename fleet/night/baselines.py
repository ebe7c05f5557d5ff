"""Accepted figures: `sim/baselines.toml`, written by `fleet night accept`, reviewed in git.

    [[accepted]]
    key = "digits[hbm_small-fixed-0]"
    figure = "cycles rtl"
    value = 24102
    before = 21869                # the value before, for the reader
    reason = "the memory answers later"
    owner = "ada"
    night = "20260131T021000Z-1a2b3c"
    until = 2026-03-01            # the last day; without it, the figure is accepted for good

An accepted figure is compared with the accepted value, not with that of the last night. From the day after `until` it is red,
whatever its value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet.core.exemption import Exemption, read_exemption
from fleet.core.files import write_atomically
from fleet.core.toml_file import TomlTable, is_number, read_toml, toml_value
from fleet.errors import ModelError

FILE = Path("sim/baselines.toml")
_TEXTS = ("key", "figure", "night")


@dataclass(frozen=True)
class Accepted:
    """An accepted figure. key: of the run or group. before: the value before; None if there was none. night: id of the night."""

    key: str
    figure: str
    value: float
    before: float | None
    night: str
    exemption: Exemption


def load_baselines(path: Path) -> Mapping[tuple[str, str], Accepted]:
    """Read the accepted figures by (key, figure); none if the file is missing. Raises ModelError with file, line and key."""
    if not path.exists():
        return {}
    file = read_toml(path)
    file.only("accepted")
    found: dict[tuple[str, str], Accepted] = {}
    for entry in file.tables("accepted"):
        one = _accepted(entry)
        if (one.key, one.figure) in found:
            raise ModelError(f"{one.figure} of {one.key} is accepted twice", where=one.exemption.place, hint="keep the later one")
        found[one.key, one.figure] = one
    return found


def _accepted(entry: TomlTable) -> Accepted:
    entry.need(*_TEXTS, "owner", "reason", "value")
    entry.only(*_TEXTS, "owner", "reason", "value", "before", "until")

    def number(key: str) -> float:
        return float(entry.get(key, "a number", is_number))

    before = number("before") if "before" in entry else None
    exemption = replace(read_exemption(entry, "until"), place=entry.at("key"))
    return Accepted(entry.text("key"), entry.text("figure"), number("value"), before, entry.text("night"), exemption)


def accept(path: Path, made: Sequence[Accepted]) -> None:
    """Add figures to the file; an entry of the same figure is replaced. Raises FleetError if the file cannot be written."""
    entries = {**load_baselines(path), **{(one.key, one.figure): one for one in made}}
    lines = ["# Figures that were accepted, and why (`fleet help nights`). Written by `fleet night accept`."]
    for one in sorted(entries.values(), key=lambda a: (a.key, a.figure)):
        lines += ["", "[[accepted]]", f"key = {toml_value(one.key)}", f"figure = {toml_value(one.figure)}"]
        lines += [f"value = {one.value:.12g}"]
        lines += [f"before = {one.before:.12g}"] if one.before is not None else []
        lines += [f"reason = {toml_value(one.exemption.reason)}", f"owner = {toml_value(one.exemption.owner)}"]
        lines += [f"night = {toml_value(one.night)}"]
        lines += [f"until = {one.exemption.expires.isoformat()}"] if one.exemption.expires else []
    write_atomically(path, ("\n".join(lines) + "\n").encode())
