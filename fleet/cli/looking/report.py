"""`fleet report`: the pages again, out of a stored result."""

from __future__ import annotations

from pathlib import Path

import click

from fleet.errors import FleetError

_EPILOG = """\b
Examples:
  fleet report reports/digits --since reports/yesterday --report /tmp/again
  fleet report --last                             (of a run without --report: pages in reports/last)
"""


@click.command(name="report", epilog=_EPILOG)
@click.argument("result", type=click.Path(path_type=Path), required=False)
@click.option("--last", is_flag=True, help="The last run in this folder, also one without --report.")
@click.option("--report", "out", type=click.Path(path_type=Path, file_okay=False), help="Folder for the pages (default: RESULT).")
@click.option("--since", type=click.Path(path_type=Path), help="An earlier result to say what changed since.")
def command(result: Path | None, last: bool, out: Path | None, since: Path | None) -> int:
    """Make the pages again from RESULT (a report's folder, its result.json or generation.json). Runs nothing."""
    from fleet.cosim.last_run import kept
    from fleet.report.run.page import write_report

    if (result is None) != last:
        raise FleetError("names RESULT or --last, one of them", where="fleet report", hint="for instance `fleet report --last`")
    if result is None:
        result, out = kept(), out or Path("reports/last")
    folder = out or (result if result.is_dir() else result.parent)
    generation = result / "generation.json" if result.is_dir() else result
    if generation.name == "generation.json" and generation.exists() and not (result / "result.json").exists():
        from fleet.report.run.generation import write_generation

        click.echo(f"report: {write_generation(generation, folder)}")
        return 0
    files = write_report(result, folder, since)
    click.echo(f"report: {files.html}")
    return 0
