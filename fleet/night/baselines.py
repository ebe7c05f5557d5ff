"""Accepted figures: `sim/baselines.toml`, written by `fleet night accept`, reviewed in git.

    [[accepted]]
    key = "digits[hbm_small-fixed-0]"
    figure = "cycles rtl"
    value = 24102
    before = 21869                # what it was, for the reader
    reason = "the memory answers later"
    owner = "ada"
    night = "20260131T021000Z-1a2b3c"
    until = 2026-03-01            # a figure that is accepted for a time; without it, for good

A figure that stands here is held to its value and to nothing else. The day after `until` it is red whatever its value: it was to be
put right by then.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fleet.core.toml_file import TomlTable, read_toml
from fleet.cosim.files import write_atomically
from fleet.errors import FleetError, ModelError

__all__ = ["FILE", "Accepted", "accept", "load_baselines"]

FILE = Path("sim/baselines.toml")
_TEXTS = ("key", "figure", "reason", "owner", "night")


@dataclass(frozen=True)
class Accepted:
    """One figure that was accepted. until: None for good; place: file:line."""

    key: str
    figure: str
    value: float
    before: float | None
    reason: str
    owner: str
    night: str
    until: datetime.date | None = None
    place: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.owner}: {self.reason}" + (f" (until {self.until.isoformat()})" if self.until else "")

    def expired(self, day: datetime.date) -> bool:
        """Whether its time was over before `day`."""
        return self.until is not None and self.until < day


def load_baselines(path: Path) -> Mapping[tuple[str, str], Accepted]:
    """(key, figure) -> what was accepted; a missing file accepts nothing. Raises ModelError naming file, line and key."""
    if not path.exists():
        return {}
    file = read_toml(path)
    file.only("accepted")
    found: dict[tuple[str, str], Accepted] = {}
    for entry in file.tables("accepted"):
        one = _accepted(entry)
        if (one.key, one.figure) in found:
            raise ModelError(f"{one.figure} of {one.key} is accepted twice", where=one.place, hint="keep the later one")
        found[one.key, one.figure] = one
    return found


def _accepted(entry: TomlTable) -> Accepted:
    entry.need(*_TEXTS, "value")
    entry.only(*_TEXTS, "value", "before", "until")

    def number(key: str) -> float:
        return float(entry.get(key, "a number", lambda v: type(v) in (int, float)))

    before = number("before") if "before" in entry else None
    until = entry.date("until") if "until" in entry else None
    texts = {key: entry.text(key) for key in _TEXTS}
    return Accepted(**texts, value=number("value"), before=before, until=until, place=entry.at("key"))


def accept(path: Path, made: Sequence[Accepted]) -> None:
    """Adds figures to the file, each in place of an earlier entry of it. Raises FleetError without a reason or an owner."""
    for one in made:
        if not one.reason.strip() or not one.owner.strip():
            raise FleetError("a figure is accepted with a reason and an owner", where=one.key, hint="give --reason and --owner")
    entries = {**load_baselines(path), **{(one.key, one.figure): one for one in made}}
    lines = ["# Figures that were accepted, and why (`fleet help nights`). Written by `fleet night accept`."]
    for one in sorted(entries.values(), key=lambda a: (a.key, a.figure)):
        lines += ["", "[[accepted]]", f"key = {_text(one.key)}", f"figure = {_text(one.figure)}", f"value = {one.value:.12g}"]
        lines += [f"before = {one.before:.12g}"] if one.before is not None else []
        lines += [f"{name} = {_text(getattr(one, name))}" for name in ("reason", "owner", "night")]
        lines += [f"until = {one.until.isoformat()}"] if one.until else []
    write_atomically(path, ("\n".join(lines) + "\n").encode())


def _text(value: str) -> str:
    """JSON's strings are TOML's basic strings."""
    return json.dumps(value, ensure_ascii=False)
