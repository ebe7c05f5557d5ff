"""Garbage collection of nights: remove old records and keep the figures in the history."""

from __future__ import annotations

import datetime
import shutil
from dataclasses import dataclass
from pathlib import Path

from fleet.errors import ModelError
from fleet.night import history as h
from fleet.regress.night_records import nights


@dataclass(frozen=True)
class Removed:
    """Result of a garbage collection. nights: removed ids. bytes: freed. kept: lines about nights that were never collected."""

    nights: tuple[str, ...]
    bytes: int
    kept: tuple[str, ...]


def collect_garbage(folder: Path, now: datetime.datetime, keep: float, keep_failing: float, *, dry_run: bool = False) -> Removed:
    """Remove the folders of old nights, except the last night and nights that were never collected.

    keep, keep_failing: age in seconds at which a good night (`NightRow.good`) or another one is removed. dry_run: remove nothing.
    """
    try:
        with h.NightHistory(folder / h.FILE) as store:
            known = {n.id: n for n in store.nights()}
    except ModelError:
        known = {}
    removed: list[str] = []
    kept: list[str] = []
    size = 0
    for path in nights(folder)[:-1]:  # people look at the last one
        night = known.get(path.name)
        if night is None:
            kept.append(f"{path.name}: was never collected")
            continue
        age = (now - datetime.datetime.fromisoformat(night.until)).total_seconds()
        if age > (keep if night.good else keep_failing):
            removed.append(path.name)
            size += sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
            if not dry_run:
                shutil.rmtree(path)
    return Removed(tuple(removed), size, tuple(kept))
