"""What a fault led to, kept under the hash of all that it depends on: a full run that was interrupted goes on where it was."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from planting import COPIED, PROJECT, Fault

from fleet.engines.rtl_sim.cache import cache_folder

Row = dict[str, Any]
_PLANTING = {"data.py", "planted.py", "planting.py", "schema.py"}
_LEFT_OUT = {"__pycache__", ".hypothesis", ".pytest_cache", ".fleet"}


def key_of(fault: Fault) -> str:
    """SHA-256 of the copied sources and of the fault with everything that is asked of it."""
    plant = "" if fault.plant is None else inspect.getsource(inspect.getmodule(fault.plant) or fault.plant)
    asked = (fault.name, fault.command, fault.found_by, fault.places, fault.edits, fault.choices, fault.code, fault.at, plant)
    return hashlib.sha256(f"{sources()}\0{asked!r}".encode()).hexdigest()


@cache
def sources() -> str:
    """SHA-256 of every file that a copy of the project has."""
    digest = hashlib.sha256()
    for name in COPIED:
        top = PROJECT / name
        files = [top] if top.is_file() else sorted(p for p in top.rglob("*") if p.is_file() and not _LEFT_OUT & set(p.parts))
        for path in files:
            if path.parent == PROJECT / "sim" / "faults" and path.name not in _PLANTING:
                continue  # other faults: what is planted of this one is in its key
            digest.update(f"\0{path.relative_to(PROJECT)}\0".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def stored(fault: Fault) -> Row | None:
    """The row of an earlier run in which the same fault was found in the same sources."""
    path = _path(fault)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def store(fault: Fault, row: Mapping[str, Any]) -> None:
    """Keeps a row, whole or not at all."""
    path = _path(fault)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps(row), encoding="utf-8")
    os.replace(temporary, path)


def _path(fault: Fault) -> Path:
    return cache_folder().parent / "faults" / f"{key_of(fault)}.json"
