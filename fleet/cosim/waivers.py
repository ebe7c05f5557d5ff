"""Waivers: exceptions to a derived bound. Each has an owner, a reason and a day on which it ends.

    [[waiver]]
    case = "digits"
    comparison = "iss-vs-vm-rounded"
    op = "logits"
    owner = "name or address"
    reason = "why this may be beyond its bound for now"
    expires = 2026-01-31

An expired waiver fails the regression, and so does one that names no case or no operation: it would hide what comes next.
"""

from __future__ import annotations

import datetime
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from fleet.errors import ComparisonFailure, ModelError

__all__ = ["Waiver", "check_waivers", "load_waivers", "waivers_of"]

_KEYS = ("case", "comparison", "op", "owner", "reason", "expires")


@dataclass(frozen=True)
class Waiver:
    """One exception; where: file and number, for messages."""

    case: str
    comparison: str
    op: str
    owner: str
    reason: str
    expires: datetime.date
    where: str

    def __str__(self) -> str:
        return f"{self.owner}: {self.reason} (until {self.expires.isoformat()})"


def load_waivers(path: Path) -> tuple[Waiver, ...]:
    """Reads the file; a missing file holds no waiver. Raises ModelError naming file and key."""
    if not path.exists():
        return ()
    where = str(path)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ModelError(f"not TOML: {error}", where=where) from error
    if unknown := [k for k in table if k != "waiver"]:
        raise ModelError(f"{unknown[0]}: no such key; expected tables [[waiver]]", where=where)
    entries: Any = table.get("waiver", [])
    if not isinstance(entries, list):
        raise ModelError("waiver: expected tables [[waiver]]", where=where)
    found: list[Waiver] = []
    for i, entry in enumerate(cast("list[Any]", entries)):
        label = f"waiver[{i}]"
        if not isinstance(entry, dict):
            raise ModelError(f"{label}: expected a table", where=where)
        values = cast("dict[str, Any]", entry)
        if wrong := sorted(values.keys() ^ set(_KEYS)):
            what = "missing" if wrong[0] in _KEYS else "no such key"
            raise ModelError(f"{label}.{wrong[0]}: {what}; expected {', '.join(_KEYS)}", where=where)
        for key in _KEYS[:-1]:
            if not isinstance(values[key], str) or not values[key].strip():
                raise ModelError(f"{label}.{key}: expected a text, got {values[key]!r}", where=where)
        expires = values["expires"]
        if not isinstance(expires, datetime.date) or isinstance(expires, datetime.datetime):
            raise ModelError(f"{label}.expires: expected a date like 2026-01-31, got {expires!r}", where=where)
        texts = [str(values[key]) for key in _KEYS[:-1]]
        found.append(Waiver(*texts, expires=expires, where=f"{where}, {label}"))
    return tuple(found)


def check_waivers(waivers: Sequence[Waiver], today: datetime.date, cases: Collection[str] | None = None) -> None:
    """Raises ComparisonFailure for an expired waiver, or one whose case is not among `cases` (None: not checked)."""
    for w in waivers:
        if w.expires < today:
            what = f"the waiver of {w.op} in {w.case} by {w.owner} expired on {w.expires.isoformat()} ({w.reason})"
            raise ComparisonFailure(what, where=w.where, hint="mend the cause, or let its owner renew it")
        if cases is not None and w.case not in cases:
            raise ComparisonFailure(f"the waiver names case '{w.case}', which does not exist", where=w.where, hint="remove it")


def waivers_of(
    waivers: Sequence[Waiver], case: str, operations: Collection[str], today: datetime.date
) -> Mapping[str, Mapping[str, str]]:
    """comparison -> operation id -> text, for one case. Raises ComparisonFailure for an unknown operation or an expired one."""
    table: dict[str, dict[str, str]] = {}
    mine = [w for w in waivers if w.case == case]
    check_waivers(mine, today)
    for w in mine:
        if w.op not in operations:
            what = f"the waiver names operation '{w.op}', which {case} does not have"
            raise ComparisonFailure(what, where=w.where, hint="remove it")
        table.setdefault(w.comparison, {})[w.op] = str(w)
    return table
