"""The report of planted faults: what was planted where, what found it, and whether the right place was named.

    write_faults_report(rows, Path("reports/faults"), revision="1a2b3c", descriptions={"my_set": "..."})

writes faults.json (`faults`: the rows as given) and index.html. A row has at least `name`, `class`, `what`, `place` (where it is
planted), `found`, `test` (what found it), `localised`, `seconds`, `right_place`, `named` (what the output named), `command`,
`exit_code`, `output` and `why_not`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from fleet.core.codec import Json, decode
from fleet.core.files import write_together
from fleet.core.json_text import json_text
from fleet.errors import ModelError
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render


@dataclass(frozen=True)
class FaultRow:
    """One planted fault; the module's docstring says what its fields are."""

    name: str
    kind: str
    what: str
    place: str
    found: bool
    test: str
    localised: bool
    seconds: float
    right_place: str
    named: str
    command: str
    exit_code: int
    output: str
    why_not: str

    @classmethod
    def of(cls, stored: Mapping[str, Json]) -> FaultRow:
        """Read a row. Other keys are ignored. Raises ModelError if one is missing or does not fit."""
        where = str(stored.get("name", "a fault without a name"))
        keys = {"class" if f.name == "kind" else f.name: f.name for f in fields(cls)}
        if missing := [key for key in keys if key not in stored]:
            raise ModelError(f"the row of a fault has no '{missing[0]}'", where=where)
        return decode(cls, {name: stored[key] for key, name in keys.items()}, where)


@dataclass(frozen=True)
class FaultClass:
    """The faults of one class. id: of its section in the page."""

    id: str
    name: str
    rows: tuple[FaultRow, ...]

    @property
    def found(self) -> int:
        """The number of faults that were found."""
        return sum(row.found for row in self.rows)

    @property
    def localised(self) -> int:
        """The number of faults that were found at their place."""
        return sum(row.localised for row in self.rows)

    @property
    def seconds(self) -> float:
        """The seconds of all commands together."""
        return sum(row.seconds for row in self.rows)


@dataclass(frozen=True)
class _FaultsPage:
    """The values of the page. total, found, localised: numbers of faults. seconds: of all commands."""

    revision: str
    descriptions: Mapping[str, str]
    total: int
    found: int
    localised: int
    classes: tuple[FaultClass, ...]
    verdict: str
    seconds: float


def classes_of(rows: Sequence[FaultRow]) -> tuple[FaultClass, ...]:
    """Return the rows by class, classes in the order of their first row."""
    names = list(dict.fromkeys(row.kind for row in rows))
    return tuple(FaultClass(f"class-{i}", n, tuple(r for r in rows if r.kind == n)) for i, n in enumerate(names))


def write_faults_report(
    rows: Sequence[Mapping[str, Json]], folder: Path | str, *, revision: str, descriptions: Mapping[str, str]
) -> Path:
    """Write both files together and return the page's path.

    Args:
        rows: one per fault, with the keys that the module's docstring lists.
        folder: is created if it is missing.
        revision: of the sources in which the faults were planted.
        descriptions: instruction set -> hash of its description.

    Raises:
        ModelError: a row lacks a key.
        FleetError: the folder cannot be written.
    """

    classes = classes_of([FaultRow.of(row) for row in rows])
    found, localised = sum(c.found for c in classes), sum(c.localised for c in classes)
    verdict = "pass" if rows and found == len(rows) else "fail"
    shown = _FaultsPage(revision, descriptions, len(rows), found, localised, classes, verdict, sum(c.seconds for c in classes))
    table = {
        "schema": 1,
        "revision": revision,
        "descriptions": dict(descriptions),
        "total": len(rows),
        "found": found,
        "localised": localised,
        "faults": [dict(row) for row in rows],
    }
    page = Path(folder) / "index.html"
    about = About("planted faults", "Planted faults", verdict, f"{found} of {len(rows)} found")
    text = render("faults.html.j2", shown, frame_of(page, about))
    write_together({page: text, page.with_name("faults.json"): json_text(table)})
    published(page)
    return page
