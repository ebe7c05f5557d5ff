"""`fleet diff`: what changed between two runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import click


@click.command(name="diff", epilog="\b\nExample:\n  fleet diff reports/monday reports/tuesday")
@click.argument("run_a", type=click.Path(path_type=Path))
@click.argument("run_b", type=click.Path(path_type=Path))
@click.option("--json", "machine", is_flag=True, help="Machine-readable.")
def command(run_a: Path, run_b: Path, machine: bool) -> int:
    """Compare RUN_A with RUN_B (report folders): hashes, tools, verdict, accuracy, cycles, errors.

    Exit code 0 when RUN_B's verdict is no worse than RUN_A's, else 1.
    """
    from fleet.report.run.diff import diff

    found = diff(run_a, run_b)
    click.echo(found.json_text() if machine else found.text(shutil.get_terminal_size((120, 24)).columns), nl=False)
    before, after = found.verdict
    return 1 if before == "pass" and after != "pass" else 0
