"""Records of a run that another run of the same test must repeat: all that is seen from outside, or declared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

_SEEN = {"R": "a read", "W": "a write", "A": "a response", "C": "a commit", "S": "a word", "V": "a broken rule", "E": "the end"}
_FIELDS = {
    "R": ("operation", "cycle", "value", "time", "taken"), "W": ("cycle", "time", "space", "address", "byte", "burst"),
    "A": ("cycle", "time", "burst"), "C": ("cycle", "time", "commit", "tag"), "S": ("cycle", "port", "word", "time"),
    "V": ("cycle", "port", "rule", "by"), "E": ("cycle", "by", "operation", "rules broken", "bytes read unwritten"),
}  # fmt: skip
_HEX = frozenset({"value", "space", "address", "byte", "tag", "word"})


def seen_in(folder: Path) -> Sequence[str]:
    """The records that a run left in its folder, in an order that is the same for all simulators: blocks of one edge have none."""
    lines = (folder / "results.txt").read_text(errors="replace").splitlines()
    return sorted((line for line in lines if line.partition("|")[0] in _SEEN), key=_place)


def _place(line: str) -> tuple[object, ...]:
    """By cycle, kind and time, then by what happens at most once at an edge; the end comes last."""
    kind, *values = line.split("|")
    fields = dict(zip(_FIELDS[kind], values, strict=False))
    # A part of a user's own may leave the time of a word out.
    numbers = (kind == "E", int(fields["cycle"])), kind, int(fields.get("time", 0))
    return *numbers, *(fields.get(name, "") for name in ("space", "address", "commit", "port", "rule"))


def first_difference(expected: Sequence[str], got: Sequence[str]) -> tuple[str, str] | None:
    """The first record of each that differs, in words; None if all are the same."""
    if expected == got:
        return None
    n = next((n for n, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b), min(len(expected), len(got)))
    return _words(expected, n), _words(got, n)


def _words(lines: Sequence[str], n: int) -> str:
    if n >= len(lines):
        return "nothing more"
    kind, *values = lines[n].split("|")
    named = (f"{name} {_short(name, value)}" for name, value in zip(_FIELDS[kind], values, strict=False))
    return f"{_SEEN[kind]} ({', '.join(named)})"


def _short(name: str, value: str) -> str:
    return f"0x{int(value, 16):x}" if name in _HEX else value
