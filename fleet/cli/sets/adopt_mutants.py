"""The work of `fleet isa mutants` on hardware that was adopted."""

from __future__ import annotations

from pathlib import Path

import click

from fleet.cli.sets.mutants import shown_mutant, told
from fleet.core.scratch import Scratch
from fleet.errors import ExitCode, ModelError


def run_adopted_mutants(folder: Path, count: int, seed: int, only: str | None) -> int:
    """Return DIFFERS if a mutant survives that survivors.toml of the workspace does not explain."""
    from fleet.adopt.workspace import open_workspace
    from fleet.verify.adopted.mutants import AdoptedMutants, tests_of
    from fleet.verify.mutation.survivors import load_survivors

    work = open_workspace(folder)
    known = load_survivors(folder / "survivors.toml")
    mutants = AdoptedMutants(work, tests_of(work))
    if only is None:
        wanted = mutants.draw(count, seed)
        click.echo(f"{work.top.name}: {len(wanted)} of {len(mutants.mutants):,} mutants, seed {seed}")
    else:
        wanted = [m for m in mutants.mutants if m.id == only]
        if not wanted:
            raise ModelError(
                f"there is no mutant '{only}'", hint="fleet isa mutants prints ids; they change with the text around them"
            )
        click.echo(shown_mutant(wanted[0]))
    found = explained = 0
    holes: list[str] = []
    with Scratch("mutants") as scratch:
        for result in mutants.look(wanted, scratch, click.echo):
            told(result)
            if result.verdict == "found":
                found += 1
            elif result.mutant.id in known and only is None:
                explained += 1
            else:
                holes.append(result.mutant.id)
    word = click.style("FAIL", fg="red", bold=True) if holes else click.style("PASS", fg="green", bold=True)
    again = f"; again: fleet isa mutants {folder} --only {holes[0]}" if holes else ""
    click.echo(f"{word} {len(wanted)} mutants: {found} found, {explained} explained, {len(holes)} holes{again}")
    return ExitCode.DIFFERS if holes else ExitCode.AGREED
