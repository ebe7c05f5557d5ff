"""`fleet report`: the pages again, out of a stored result."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="report", epilog="\b\nExample:\n  fleet report reports/digits --since reports/yesterday -o /tmp/again")
@click.argument("result", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for the pages (default: RESULT).")
@click.option("--since", type=click.Path(path_type=Path), help="An earlier result to say what changed since.")
def command(result: Path, out: Path | None, since: Path | None) -> int:
    """Make the page, JSON, JUnit and Markdown again from RESULT (a report's folder or its result.json). Runs nothing."""
    from fleet.report.page import write_report

    folder = out or (result if result.is_dir() else result.parent)
    files = write_report(result, folder, since)
    click.echo(f"report: {files.html}")
    return 0
