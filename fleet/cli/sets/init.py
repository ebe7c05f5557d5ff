"""`fleet init`: creates a workspace."""

from __future__ import annotations

from pathlib import Path

import click

_CI = ("github", "gitlab", "cron", "slurm")


@click.command(name="init", epilog="\b\nExamples:\n  fleet init my_accelerator\n  fleet init --ci github")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--device", help="Device of the example; default: the installed one with the fewest ports.")
@click.option("--ci", multiple=True, type=click.Choice(_CI), help="Add a nightly job for this service; may be given again.")
def command(folder: Path, device: str | None, ci: tuple[str, ...]) -> int:
    """Make a workspace in FOLDER (default: here): models/, examples/, sim/, golden/, reports/ and a README that says what is next.

    With --ci also nightly.sh and a job that runs it every night; in a workspace only these.
    """
    from fleet.isa.registry import find_device
    from fleet.isa.scaffold.workspace import example_device, new_workspace

    device = find_device(device)[1].name if device else example_device()
    for file in new_workspace(folder, device, ci):
        click.echo(f"wrote {file}")
    click.echo(f"next: cd {folder} && {'sh nightly.sh' if ci else 'pytest sim/'}")
    return 0
