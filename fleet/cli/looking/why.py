"""`fleet why`: explains the last failed comparison from its stored result."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(
    name="why",
    epilog="\b\nExamples:\n  fleet why\n  fleet why digits\n  fleet why reports/streams/hbm_small-mvm-random-3-ideal-regs",
)
@click.argument("failure", required=False)
@click.option(
    "-o", "--output", "html", type=click.Path(path_type=Path, dir_okay=False), help="Write the page with pictures here as well."
)
@click.option(
    "--waves",
    type=click.Path(path_type=Path),
    help="Replay a stored stream or co-simulation and leave waves of the divergence here.",
)
@click.option(
    "--reports",
    type=click.Path(path_type=Path),
    help="Folder of stored results (default: reports, and the last run in this folder).",
)
def command(failure: str | None, reports: Path | None, html: Path | None, waves: Path | None) -> int:
    """Explain the last failed comparison, or FAILURE (a path, a case's name or a stream's name), on one page.

    Operation, instruction, field, address, register writes, values expected and found, the chain of its inputs. Nothing runs but
    with --waves, which plays the instructions of the replay again and shows the units that they run in. Exit code 1 when it
    explains a failure, 2 when there is none.
    """
    from fleet.cosim.last_run import kept_folder
    from fleet.report.run.why import find_failure, page

    found = find_failure(failure, *((Path("reports"), kept_folder()) if reports is None else (reports,)))
    click.echo(page(found), nl=False)
    if html is not None:
        from fleet.report.run.divergence import write_divergence

        click.echo(f"\npage: {write_divergence(found, html)}")
    if waves is not None:
        from fleet.cli.looking.why_waves import waves_of

        left = waves_of(found, waves)
        first, last = left.window
        size = left.path.stat().st_size
        click.echo(f"\nwaves           {left.path} ({size:,} bytes), cycles {first} to {last} of the replay")
        for levels, scope in left.scopes:
            click.echo(f"                {scope}{' and below' if levels > 1 else ''}")
    return 1
