"""`fleet isa export`: writes an instruction set in the format of other tools, into a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

import click

from fleet.cli.sets.target import find_set
from fleet.core.codec import Json, is_list
from fleet.core.files import check_writable, read_table, write_atomically
from fleet.errors import FleetError
from fleet.isa.exports.formats import exported

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
            raise FleetError("exists, and no export wrote it", where=str(path), hint="choose another folder with -o")
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
    if not path.exists():
        return {}
    hint = "remove it, or choose another folder with -o"
    known: dict[str, list[str]] = {}
    for key, value in read_table(path, "is not a list of exported files", hint).items():
        if (names := _names(value)) is None:
            raise FleetError(f"is not a list of exported files ({key} holds no names of files here)", where=str(path), hint=hint)
        known[key] = names
    return known


def _names(value: Json) -> list[str] | None:
    """Return a list of names inside the folder, whose files the export may replace or remove; None for anything else."""
    names = [v for v in value if isinstance(v, str)] if is_list(value) else []
    paths = [PurePosixPath(name) for name in names]
    inside = all(p.parts and not p.is_absolute() and ".." not in p.parts for p in paths)
    return names if is_list(value) and len(names) == len(value) and inside else None
