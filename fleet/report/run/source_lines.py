"""The model's source beside its operations: which line each comes from, with links both ways."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fleet.cosim.result import CosimResult

_AROUND = 2
_WHOLE = 120
"""Longest source that is shown completely, in lines."""
_MOST = 400


@dataclass(frozen=True)
class Line:
    """A line of source. ops: the operations that come from it. anchor: its id in the page."""

    number: int
    text: str
    ops: tuple[str, ...]
    anchor: str


@dataclass(frozen=True)
class SourceListing:
    """The lines of a file. cut: whether lines without operations are left out."""

    file: str
    lines: tuple[Line, ...]
    cut: bool


def model_file(result: CosimResult) -> str:
    """Return the model's file as the user gave it."""
    return result.identity.model.partition(":")[0]


def case_file(result: CosimResult) -> str | None:
    """Return the file of the case that was run; None for a run by hand."""
    request = result.identity.request
    return request.arguments[2] if request is not None and request.is_command("case", "run") else None


def anchors(result: CosimResult) -> Mapping[str, str]:
    """Return place of an operation ("model.py:12:9") -> id of its line in the page; empty if the source is not shown."""
    if _text(result) is None:
        return {}
    return {at: f"line-{number}" for at in _places(result).values() if (number := _number(at)) is not None}


def sources(result: CosimResult) -> tuple[SourceListing, ...]:
    """Return the model's source if its file still exists and is the one that ran; else nothing."""
    text = _text(result)
    if text is None:
        return ()
    at: dict[int, list[str]] = {}
    for op, place in _places(result).items():
        if (number := _number(place)) is not None:
            at.setdefault(number, []).append(op)
    lines = text.splitlines()
    known = range(1, len(lines) + 1)
    near = [n for n in known if len(lines) <= _WHOLE or any(n + d in at for d in range(-_AROUND, _AROUND + 1))]
    shown = tuple(Line(n, lines[n - 1], tuple(at.get(n, ())), f"line-{n}") for n in near[:_MOST])
    return (SourceListing(model_file(result), shown, len(shown) < len(lines)),) if at else ()


def _text(result: CosimResult) -> str | None:
    """Return the source text; None if the file is not Python, is missing or is not what ran."""
    path = Path(model_file(result))
    try:
        text = path.read_text(encoding="utf-8") if path.suffix == ".py" else ""
    except (OSError, ValueError):
        return None
    same = hashlib.sha256(text.encode()).hexdigest() == result.identity.source_hash
    return text if text and same else None


def _places(result: CosimResult) -> dict[str, str]:
    """Return operation -> place, for operations in the model's own file."""
    name = Path(model_file(result)).name
    rows = (row for c in result.comparisons for row in c.operations if row.at)
    return {row.op: row.at for row in rows if Path(row.at.split(":")[0]).name == name}


def _number(at: str) -> int | None:
    parts = at.split(":")
    return int(parts[1]) if len(parts) > 1 and parts[1].isdigit() else None
