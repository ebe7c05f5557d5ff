"""The report of planted faults: what was planted where, what found it, and whether the right place was named.

    write_faults_report(rows, Path("reports/faults"), revision="1a2b3c", descriptions={"my_set": "..."})

writes faults.json (`faults`: the rows as given) and index.html. A row has at least `name`, `class`, `what`, `place` (where it is
planted), `found`, `test` (what found it), `localised`, `seconds`, `right_place`, `named` (what the output named), `command`,
`exit_code`, `output` and `why_not`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fleet.core.files import write_together
from fleet.errors import ModelError
from fleet.report.frame.index import published
from fleet.report.frame.place import About, frame_of
from fleet.report.frame.render import render

__all__ = ["FaultClass", "classes_of", "write_faults_report"]

_KEYS = (
    "name", "class", "what", "place", "found", "test", "localised", "seconds", "right_place", "named", "command", "exit_code",
    "output", "why_not",
)  # fmt: skip


@dataclass(frozen=True)
class FaultClass:
    """The faults of one class. id: of its section in the page."""

    id: str
    name: str
    rows: tuple[Mapping[str, Any], ...]

    @property
    def found(self) -> int:
        """The number of faults that were found."""
        return sum(bool(row["found"]) for row in self.rows)

    @property
    def localised(self) -> int:
        """The number of faults that were found at their place."""
        return sum(bool(row["localised"]) for row in self.rows)

    @property
    def seconds(self) -> float:
        """The seconds of all commands together."""
        return sum(float(row["seconds"]) for row in self.rows)


def classes_of(rows: Sequence[Mapping[str, Any]]) -> tuple[FaultClass, ...]:
    """Return the rows by class, classes in the order of their first row."""
    names = list(dict.fromkeys(str(row["class"]) for row in rows))
    return tuple(FaultClass(f"class-{i}", n, tuple(r for r in rows if r["class"] == n)) for i, n in enumerate(names))


def write_faults_report(
    rows: Sequence[Mapping[str, Any]], folder: Path | str, *, revision: str, descriptions: Mapping[str, str]
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

    for row in rows:
        if missing := [key for key in _KEYS if key not in row]:
            raise ModelError(f"the row of a fault has no '{missing[0]}'", where=str(row.get("name", "a fault without a name")))
    page = Path(folder) / "index.html"
    found, localised = (sum(bool(row[key]) for row in rows) for key in ("found", "localised"))
    table = {
        "schema": 1,
        "revision": revision,
        "descriptions": dict(descriptions),
        "total": len(rows),
        "found": found,
        "localised": localised,
        "faults": [dict(row) for row in rows],
    }
    context = {
        **table,
        "classes": classes_of(rows),
        "verdict": "pass" if rows and found == len(rows) else "fail",
        "seconds": sum(float(row["seconds"]) for row in rows),
    }
    about = About("planted faults", "Planted faults", str(context["verdict"]), f"{found} of {len(rows)} found")
    text = render("faults.html.j2", context, frame_of(page, about))
    write_together({page: text, page.with_name("faults.json"): json.dumps(table, indent=1) + "\n"})
    published(page)
    return page
