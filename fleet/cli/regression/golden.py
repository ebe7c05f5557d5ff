"""`fleet golden`: shows and replaces the reference results of a case."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

import click

from fleet.errors import FleetError


@click.group(name="golden")
def command() -> None:
    """Stored goldens (golden/CASE): small, committed, with provenance."""


@command.command(name="update", epilog='\b\nExample:\n  fleet golden update digits --reason "retrained with seed 7"')
@click.argument("case")
@click.option("--reason", default="", help="Why; kept in the provenance.")
@click.option("--dry-run", is_flag=True, help="Only show the differences.")
@click.option("--json", "machine", is_flag=True, help="The differences as JSON.")
def update(case: str, reason: str, dry_run: bool, machine: bool) -> int:
    """Show how CASE's golden would change, then replace it (needs --reason)."""
    from fleet.cli.regression.case import case_options, find_case
    from fleet.cli.running.cosim import TablePrinter
    from fleet.regress.case_runs import prepare_golden
    from fleet.regress.cases import load_case
    from fleet.regress.golden import as_table

    if not dry_run and not reason.strip():
        raise FleetError("a golden needs a reason", where=case, hint='give one with --reason "...", or look with --dry-run')
    watch = TablePrinter(quiet=True)
    found = prepare_golden(load_case(find_case(case)), reason or "dry run", case_options(watch))
    table = as_table(found.changes)
    if machine:
        click.echo(json.dumps({"folder": str(found.folder), "changes": table, "problem": found.problem}, indent=1))
    else:
        _print(found.problem, table)
    if dry_run:
        return 0
    found.write()
    if not machine:
        click.echo(f"wrote {found.folder}" + (" (values unchanged)" if found.unchanged else ""))
    return 0


def _print(problem: str | None, table: Sequence[Mapping[str, object]]) -> None:
    if problem:
        click.echo(f"the golden that is there: {problem}")
    if not table:
        click.echo("no stored value changes")
        return
    columns = list(table[0])

    def text(value: object) -> str:
        if isinstance(value, float):
            return f"{value:.4g}" if math.isfinite(value) else str(value)
        return "-" if value is None else str(value)

    rows = [columns, *([text(row[c]) for c in columns] for row in table)]
    widths = [max(len(r[i]) for r in rows) for i in range(len(columns))]
    for row in rows[:61]:
        click.echo("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())
    if len(rows) > 61:
        click.echo(f"... and {len(rows) - 61} more")
