"""The table of planted faults: printed, and stored as faults.json with its page."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

LOCALISED = 0.95
"""Least share of the faults that must be localised."""

_COLUMNS = {"name": 26, "place": 44, "test": 28, "seconds": 7, "localised": 9, "named": 100}
_PROJECT = Path(__file__).resolve().parents[2]


def write_faults(rows: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Writes faults.json and index.html, whole or not at all."""
    from fleet.isa.reading.cache import load
    from fleet.isa.registry import instruction_sets
    from fleet.report.regression.faults import write_faults_report

    descriptions = {s.name: load(s.description).hash for s in instruction_sets().values()}
    write_faults_report(_sorted(rows), folder, revision=_revision(), descriptions=descriptions)


def lines(rows: Sequence[Mapping[str, Any]], folder: Path) -> Iterator[str]:
    """One line a fault, and how many were found."""
    yield ""
    yield _line(
        {
            "name": "fault",
            "place": "planted in",
            "test": "found by",
            "seconds": "seconds",
            "localised": "localised",
            "named": "named",
        }
    )
    for row in _sorted(rows):
        named = row["named"] if row["found"] else "NOT FOUND"
        yield _line({**row, "localised": "yes" if row["localised"] else "NO", "named": named})
    found, named = (sum(bool(row[key]) for row in rows) for key in ("found", "localised"))
    share = 100 * named / len(rows)
    yield f"{found} of {len(rows)} planted faults found, {named} localised ({share:.1f} %); {folder / 'index.html'}"


def _sorted(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(rows, key=lambda row: (str(row["class"]), str(row["name"])))


def too_few_localised(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the share is below what is asked for."""
    return bool(rows) and sum(bool(row["localised"]) for row in rows) < LOCALISED * len(rows)


def _revision() -> str:
    """Of the project, with "+" where files are changed; empty outside a repository."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--abbrev=12", "--exclude=*"],
        cwd=_PROJECT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() if done.returncode == 0 else ""


def _line(row: Mapping[str, Any]) -> str:
    def cell(key: str, width: int) -> str:
        text = " ".join(str(row[key]).split())
        text = text if len(text) <= width else text[: width - 3] + "..."
        return text.rjust(width) if key == "seconds" else text.ljust(width)

    return "  ".join(cell(key, width) for key, width in _COLUMNS.items()).rstrip()
