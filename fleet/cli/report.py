"""`fleet report`: the pages again, out of a stored result."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="report", epilog="\b\nExample:\n  fleet report reports/digits --since reports/yesterday -o /tmp/again")
@click.argument("result", type=click.Path(path_type=Path))
@click.option("-o", "--out", type=click.Path(path_type=Path, file_okay=False), help="Folder for the pages (default: RESULT).")
@click.option("--since", type=click.Path(path_type=Path), help="An earlier result to say what changed since.")
def command(result: Path, out: Path | None, since: Path | None) -> int:
    """Make the pages again from RESULT (a report's folder, its result.json or generation.json). Runs nothing."""
    from fleet.report.page import write_report

    folder = out or (result if result.is_dir() else result.parent)
    generation = result / "generation.json" if result.is_dir() else result
    if generation.name == "generation.json" and generation.exists() and not (result / "result.json").exists():
        from fleet.report.generation import write_generation

        click.echo(f"report: {write_generation(generation, folder)}")
        return 0
    files = write_report(result, folder, since)
    click.echo(f"report: {files.html}")
    return 0
