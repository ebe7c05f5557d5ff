"""The work of `fleet isa diff`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fleet.core.scratch import Scratch

if TYPE_CHECKING:
    from fleet.verify.changes.set_diff import ModelChange, SetDiff

_SHOWN = 12


def run_diff(old: str, new: str, device: str | None, cases: int, models: Sequence[str], folder: Path, *, machine: bool) -> int:
    """Print the differences. Returns 0, with or without differences. Raises FleetError if a side cannot be read."""
    from fleet.isa.registry import find_instruction_set
    from fleet.verify.changes.revisions import find_side
    from fleet.verify.changes.set_diff import case_models, set_diff

    with Scratch("isa-diff") as temporary:
        sides = [find_side(text, temporary) for text in (old, new)]
        installed = next((s.set_name for s in reversed(sides) if s.set_name is not None and s.path is None), None)
        found = find_instruction_set(installed) if installed is not None else None
        # A set without cases of its own may have some in the regression.
        brought = (found.cases or folder / "sim" / "cases") if found is not None else None
        tables = case_models(brought, models, found.devices if found is not None and found.cases is None else None)
        diff = set_diff(sides[0], sides[1], device=device, cases=cases, models=tables, folder=folder)
        lines = [json.dumps(diff.table(), indent=1)] if machine else list(_lines(diff, temporary))
    for line in lines:
        click.echo(line)
    return 0


def _lines(diff: SetDiff, temporary: Path) -> Iterator[str]:
    yield f"{diff.old} {diff.hashes[0][:16]} -> {diff.new} {diff.hashes[1][:16]} (descriptions)"
    if diff.full_hashes is not None:
        yield f"with semantics and device: {diff.full_hashes[0][:16]} -> {diff.full_hashes[1][:16]}"
    yield from _part("description", [str(c).replace(f"{temporary}/", "") for c in diff.changes], "no encoding differs")
    looked = f"{diff.programs} programs looked at"
    forms = {"writes": "register writes", "binary": "binaries"}
    of = f"; their {' and '.join(forms[f] for f in diff.forms)}" if diff.forms else ""
    yield from _part(f"streams changed: {len(diff.changed)} ({looked}{of})", diff.changed, "")
    yield from _part(f"programs now illegal: {len(diff.illegal)} ({looked})", [f"{n}: {why}" for n, why in diff.illegal], "")
    if diff.emptied is not None:
        yield from _part(f"coverage bins emptied: {len(diff.emptied)}", diff.emptied, "")
    for m in diff.models:
        yield from _model(m)
    yield from _part(f"to be made again: {len(diff.stale)} files", [f"{f}: {command}" for f, command in diff.stale], "")
    yield from diff.notes


def _part(title: str, items: Sequence[str], none: str) -> Iterator[str]:
    yield title
    yield from (f"  {item}" for item in items[:_SHOWN])
    if len(items) > _SHOWN:
        yield f"  ... and {len(items) - _SHOWN} more (--json has all)"
    if not items and none:
        yield f"  {none}"


def _model(m: ModelChange) -> Iterator[str]:
    yield f"model {m.model}"
    for side, found in (("before", m.before), ("after", m.after)):
        if found.figures is None:
            yield f"  {side}: {found.error}"
    before, after = m.before.figures, m.after.figures
    if before is None or after is None:
        return
    for name, a, b in (
        ("instructions", before.instructions, after.instructions),
        ("cycles", before.cycles, after.cycles),
        ("bytes", before.bytes, after.bytes),
        ("stream", before.stream, after.stream),
    ):
        share = f" ({100 * (b - a) / a:+.1f} %)" if a and a != b else ""
        yield f"  {name:<13} {a:>12,} -> {b:>12,}{share}"
    if before.digest != after.digest:
        yield "  its register writes differ"
