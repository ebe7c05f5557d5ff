"""`fleet isa export`: writes an instruction set in the format of other tools, into a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import cast

import click

from fleet.cli.sets.target import find_set
from fleet.core.files import check_writable, write_atomically
from fleet.errors import FleetError
from fleet.isa.exports.formats import exported

__all__ = ["LIST", "run_export", "write_export"]

LIST = ".fleet-exports.json"
"""File in the folder that lists the exported files by set and format. All other files there belong to the user."""


def run_export(name: str, form: str, output: Path | None) -> int:
    """Export SET, or the set of DEVICE. Returns the exit code. Raises FleetError before anything is written."""
    found = find_set(name)[0]
    folder = output or Path("exports") / found.name / form
    files = exported(found.description, form)
    write_export(folder, f"{found.name}/{form}", files)
    shown = next(iter(files)) if len(files) == 1 else f"{len(files)} files"
    click.echo(f"wrote {shown} in {folder}")
    if form == "html":
        click.echo(f"to read it: python -m http.server -d {folder}")
    return 0


def write_export(folder: Path, key: str, files: Mapping[str, bytes]) -> None:
    """Write one export into a folder, each file atomically; remove files that an earlier export of this key left.

    Raises FleetError, before anything is written, if a file exists, differs and was not written by an export.
    """
    known = _known(folder)
    ours = {name for names in known.values() for name in names}
    for name, data in files.items():
        path = folder / name
        there = path.is_symlink() or path.exists()
        if there and name not in ours and not (path.is_file() and not path.is_symlink() and path.read_bytes() == data):
            raise FleetError("is there, and no export wrote it", where=str(path), hint="choose another folder with -o")
    check_writable(folder)
    old = set(known.get(key, ())) - files.keys()
    # Write the list first, with the old names: after an interruption the export can run again.
    _write_list(folder, {**known, key: sorted(old | files.keys())})
    for name, data in files.items():
        write_atomically(folder / name, data)
    kept = {name for other, names in known.items() if other != key for name in names}
    for name in old - kept:
        (folder / name).unlink(missing_ok=True)
    _write_list(folder, {**known, key: sorted(files)})


def _write_list(folder: Path, known: Mapping[str, list[str]]) -> None:
    write_atomically(folder / LIST, (json.dumps(known, indent=1, sort_keys=True) + "\n").encode())


def _known(folder: Path) -> dict[str, list[str]]:
    """Read key -> names from the folder's list of exported files; empty if there is none. Raises FleetError if it is damaged."""
    path = folder / LIST
    try:
        table: object = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        table = error
    if not isinstance(table, dict) or not all(_names(v) for v in cast("dict[str, object]", table).values()):
        raise FleetError("is no list of exported files", where=str(path), hint="remove it, or choose another folder with -o")
    return cast("dict[str, list[str]]", table)


def _names(value: object) -> bool:
    """Whether it is a list of names inside the folder, because the export may replace or remove these files."""
    paths = (
        [PurePosixPath(v) if isinstance(v, str) else None for v in cast("list[object]", value)]
        if isinstance(value, list)
        else [None]
    )
    return all(p is not None and p.parts and not p.is_absolute() and ".." not in p.parts for p in paths)
